/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* No kernel needs a shim. */
#ifndef STAND_IN_COMPAT_H
#define STAND_IN_COMPAT_H

#include "stand_in/route.h"
#include "stand_in/verbs.h"

#define __sroce_uninit
#define compat_cq_attrs	ib_udata
#define compat_cqe	int
#define compat_flowi4_set_tos(fl4, tos)	((fl4)->flowi4_dscp = (tos) & ~3)

#endif
