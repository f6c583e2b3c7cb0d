/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How many packets of a work queue may be in the stack (a qdisc, a slow link), as TCP small queues
 * limit a socket: 128 KiB, but at least 64 packets and at most 256.
 */
#ifndef SROCE_TRANSPORT_TSQ_POLICY_H
#define SROCE_TRANSPORT_TSQ_POLICY_H

#include <linux/minmax.h>
#include <linux/types.h>

/* A queue that has stopped starts again when so few packets are left in the stack. */
#define SROCE_TSQ_PACKETS_LOW		16u
#define SROCE_TSQ_BYTES			(128u * 1024)
#define SROCE_TSQ_PACKETS_MIN		64u
#define SROCE_TSQ_PACKETS_MAX		256u
/* The fq qdisc drops skbs of a flow beyond 100. A plan of 64 packets still fits the low mark. */
#define SROCE_TSQ_SKBS_MAX		80u

/**
 * sroce_tsq_limit() - packets that may be in the stack
 * @mtu_bytes: path MTU
 * @recovery_rounds: round trips, up to two, in which something has been retransmitted: the limit
 *                   is halved for each, because a retransmission waits behind those packets, and
 *                   the peer queues everything that comes meanwhile
 *
 * Return: their number, at least twice SROCE_TSQ_PACKETS_LOW.
 */
static inline u32 sroce_tsq_limit(u32 mtu_bytes, u32 recovery_rounds)
{
	u32 packets = clamp(SROCE_TSQ_BYTES / max(mtu_bytes, 256u), SROCE_TSQ_PACKETS_MIN,
			    SROCE_TSQ_PACKETS_MAX);

	return max(packets >> recovery_rounds, 2 * SROCE_TSQ_PACKETS_LOW);
}

/**
 * sroce_tsq_is_full() - must a work queue wait until the stack has freed packets?
 * @packets: its packets in the stack, and those about to be handed over
 * @skbs: their skbs
 * @next: packets to be sent next; each may need an skb
 * @limit: see sroce_tsq_limit()
 *
 * Return: true if it must.
 */
static inline bool sroce_tsq_is_full(u32 packets, u32 skbs, u32 next, u32 limit)
{
	return packets >= limit || skbs + next > SROCE_TSQ_SKBS_MAX;
}

#endif
