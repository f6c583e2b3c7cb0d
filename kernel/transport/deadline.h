/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Deadlines: monotonic nanoseconds. */
#ifndef SROCE_TRANSPORT_DEADLINE_H
#define SROCE_TRANSPORT_DEADLINE_H

#include <linux/types.h>

/* A deadline that never comes. */
#define SROCE_NEVER		((u64)-1)

#endif
