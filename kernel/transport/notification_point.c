// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The notification point: decides when a marked packet causes a CNP, at most one per
 * np_min_time_between_cnps for each connection, or for each source of datagrams.
 * datapath/cnp.c sends it.
 */
#include <linux/compiler.h>

#include "transport/cc_ops.h"
#include "transport/notification_point.h"

/* *@last_ns is the time of the last CNP, 0 before the first. */
static bool cnp_is_due(struct sroce_np *np, const struct sroce_cc_params *params, u32 packets,
		       u64 *last_ns, u64 now_ns)
{
	u64 wait_ns = (u64)READ_ONCE(params->np_min_time_between_cnps) * SROCE_CC_USEC;

	np->ecn_marked += packets;
	if (*last_ns && sroce_elapsed_ns(now_ns, *last_ns) < wait_ns)
		return false;
	*last_ns = now_ns;
	np->last_cnp_ns = now_ns;
	return true;
}

/**
 * sroce_np_marked() - CE-marked packets arrived
 * @np: notification point of the QP
 * @params: of the device
 * @packets: how many, as one skb
 * @now_ns: the time
 *
 * Must not be called for CNPs and multicast.
 *
 * Return: true if a CNP must be sent.
 */
bool sroce_np_marked(struct sroce_np *np, const struct sroce_cc_params *params, u32 packets,
		     u64 now_ns)
{
	return cnp_is_due(np, params, packets, &np->last_cnp_ns, now_ns);
}

static u32 mix_hash(u32 hash, u32 word)
{
	hash = (hash ^ word) * 0x9e3779b1u;
	return hash ^ hash >> 16;
}

static u64 *source_slot(struct sroce_np_sources *sources, const u32 address[4], u32 qpn)
{
	u32 hash = mix_hash(sources->seed, qpn), i;

	for (i = 0; i < 4; i++)
		hash = mix_hash(hash, address[i]);
	/* The upper bits are mixed better. */
	return &sources->last_cnp_ns[(u64)hash * SROCE_NP_SOURCES >> 32];
}

/**
 * sroce_np_marked_datagram() - CE-marked datagrams arrived
 * @np: notification point of the QP, for its counters
 * @sources: of the device; the caller serializes calls
 * @params: of the device
 * @packets: how many, as one skb
 * @address: its source address
 * @qpn: the QP that sent it
 * @now_ns: the time
 *
 * Many QPs may send to one, so the least time between CNPs is kept per source. If sources share a
 * slot, the one that sends more gets more of the CNPs. Must not be called for multicast.
 *
 * Return: true if a CNP must be sent to @qpn.
 */
bool sroce_np_marked_datagram(struct sroce_np *np, struct sroce_np_sources *sources,
			      const struct sroce_cc_params *params, u32 packets,
			      const u32 address[4], u32 qpn, u64 now_ns)
{
	return cnp_is_due(np, params, packets, source_slot(sources, address, qpn), now_ns);
}
