/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* No kernel needs a shim. */
#ifndef STAND_IN_COMPAT_H
#define STAND_IN_COMPAT_H

#include "stand_in/route.h"
#include "stand_in/verbs.h"

#define __sroce_uninit
#define compat_cq_attrs	ib_udata
#define compat_cqe	int
#define compat_cq_udata(attrs)	(attrs)
/* As kernels without FLUSH have it. */
struct compat_flush {
	u64	remote_addr;
	u32	length;
	u32	rkey;
	u8	type;
	u8	level;
};

#define compat_flush_of(request)	((const struct compat_flush *)&(request)->wr)
#define SROCE_COMPAT_COUNTER_OPS(bind, unbind)
#define compat_counter_bind_qp		sroce_qp_counter_bind
#define compat_counter_unbind_qp	sroce_qp_counter_unbind
#define COMPAT_COUNTER_SIZE(drv_struct, member)
#define COMPAT_FILL_RES_SRQ(fn)
#define compat_flowi4_set_tos(fl4, tos)	((fl4)->flowi4_dscp = (tos) & ~3)

#endif
