// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The notification point: marked packets are answered with a CNP now and then, those of a
 * connection at its own pace, datagrams at one for each of their sources.
 */
#include <linux/compiler.h>

#include "transport/cc_ops.h"
#include "transport/cnp.h"

/* The least time between CNPs is counted from *@last_ns, 0 before the first. */
static bool cnp_is_due(struct sroce_np *np, const struct sroce_cc_params *params, u64 *last_ns,
		       u64 now_ns)
{
	u64 wait_ns = (u64)READ_ONCE(params->np_min_time_between_cnps) * SROCE_CC_USEC;

	np->ecn_marked++;
	if (*last_ns && sroce_elapsed_ns(now_ns, *last_ns) < wait_ns)
		return false;
	*last_ns = now_ns;
	np->last_cnp_ns = now_ns;
	np->cnps++;
	return true;
}

/**
 * sroce_np_marked() - a CE-marked packet came
 * @np: notification point of the QP
 * @params: of the device
 * @now_ns: the time
 *
 * Return: whether to send a CNP. Not to be asked for CNPs and multicast.
 */
bool sroce_np_marked(struct sroce_np *np, const struct sroce_cc_params *params, u64 now_ns)
{
	return cnp_is_due(np, params, &np->last_cnp_ns, now_ns);
}

static u32 mix_hash(u32 hash, u32 word)
{
	hash = (hash ^ word) * 0x9e3779b1u;
	return hash ^ hash >> 16;
}

static u64 *slot_of(struct sroce_np_sources *sources, const u32 address[4], u32 qpn)
{
	u32 hash = mix_hash(sources->seed, qpn), i;

	for (i = 0; i < 4; i++)
		hash = mix_hash(hash, address[i]);
	/* The upper bits are the better ones. */
	return &sources->last_cnp_ns[(u64)hash * SROCE_NP_SOURCES >> 32];
}

/**
 * sroce_np_marked_datagram() - a CE-marked datagram came
 * @np: notification point of the QP: counts, no more
 * @sources: of the device; the caller sees to it that there is one at a time
 * @params: of the device
 * @address: where it came from
 * @qpn: the QP that sent it
 * @now_ns: the time
 *
 * Many may send to one QP, and each is to be told: the least time between CNPs is kept for each
 * source. Of those that share a slot, who sends more is told more often.
 *
 * Return: whether to send that QP a CNP. Not to be asked for multicast.
 */
bool sroce_np_marked_datagram(struct sroce_np *np, struct sroce_np_sources *sources,
			      const struct sroce_cc_params *params, const u32 address[4],
			      u32 qpn, u64 now_ns)
{
	return cnp_is_due(np, params, slot_of(sources, address, qpn), now_ns);
}
