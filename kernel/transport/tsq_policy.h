/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How many packets of a work queue may be in the stack. See tsq_policy.c. */
#ifndef SROCE_TRANSPORT_TSQ_POLICY_H
#define SROCE_TRANSPORT_TSQ_POLICY_H

#include <linux/types.h>

/* A queue that has stopped starts again when so few packets are left in the stack. */
#define SROCE_TSQ_PACKETS_LOW	16u

u32 sroce_tsq_limit(u32 mtu_bytes, u32 recovery_rounds);

#endif
