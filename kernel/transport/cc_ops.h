/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Between cc.c and the algorithms. An algorithm sets sroce_cc.rate,
 * never 0, and sroce_cc.cwnd; an operation it has no use for is NULL. These
 * are the engine's only function pointers.
 */
#ifndef SROCE_TRANSPORT_CC_OPS_H
#define SROCE_TRANSPORT_CC_OPS_H

#include <linux/limits.h>
#include <linux/types.h>

#include "transport/cc.h"
#include "transport/rtt.h"

#define SROCE_CC_USEC		1000u
#define SROCE_CC_MSEC		1000000u
#define SROCE_CC_SEC		1000000000u

/**
 * struct sroce_cc_ops - an algorithm
 * @name: what it is called
 * @needs_acks: it is of no use where nothing is acknowledged
 * @start: set up; @rate and @cwnd are unlimited when it is called
 * @acked: an ACK came
 * @cnp: a CNP came
 * @lost: a loss was retransmitted, or the ACK timer expired
 * @sent: packets were sent while the rate is limited
 * @state_name: in what state the algorithm is
 * @get_info: fill in what only the algorithm knows; works on a copy, so it may
 *            bring it up to date
 */
struct sroce_cc_ops {
	const char *name;
	bool	needs_acks;
	void (*start)(struct sroce_cc *cc, u64 now_ns);
	void (*acked)(struct sroce_cc *cc, const struct sroce_cc_ack *ack);
	void (*cnp)(struct sroce_cc *cc, u64 now_ns);
	void (*lost)(struct sroce_cc *cc, bool timeout, u64 now_ns);
	void (*sent)(struct sroce_cc *cc, u32 bytes, u64 now_ns);
	const char *(*state_name)(const struct sroce_cc *cc);
	void (*get_info)(struct sroce_cc *copy, u64 now_ns, struct sroce_cc_info *info);
};

extern const struct sroce_cc_ops sroce_dcqcn_ops;
extern const struct sroce_cc_ops sroce_delay_ops;

static inline void cc_note_event(struct sroce_cc *cc, u32 what)
{
	cc->events.mask |= what;
}

/* Decisions made up for in a lump may be many. */
static inline u32 cc_add_count(u32 count, u64 more)
{
	return more < U32_MAX - count ? count + (u32)more : U32_MAX;
}

/* What a packet of full length takes on the wire. */
static inline u64 cc_packet_bytes(const struct sroce_cc *cc)
{
	return (u64)cc->mtu_bytes + SROCE_CC_HEADER_BYTES;
}

/* A rate parameter, in bytes/s. */
static inline u64 cc_mbps(u32 mbps)
{
	return (u64)mbps * SROCE_CC_MBPS;
}

#endif
