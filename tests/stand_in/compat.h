/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* No kernel needs a shim. */
#ifndef STAND_IN_COMPAT_H
#define STAND_IN_COMPAT_H

#include "stand_in/verbs.h"

#define __sroce_uninit
#define compat_cq_attrs	ib_udata
#define compat_cqe	int

#endif
