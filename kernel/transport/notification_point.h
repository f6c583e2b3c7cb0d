/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Notification point: when a receiver tells a sender to slow down (overview in cc.h).
 */
#ifndef SROCE_TRANSPORT_NOTIFICATION_POINT_H
#define SROCE_TRANSPORT_NOTIFICATION_POINT_H

#include <linux/types.h>

#include "transport/cc.h"

/* Slots for sources of datagrams, which the hash of a source selects. */
#define SROCE_NP_SOURCES	64u

/**
 * struct sroce_np - notification point of a QP, protected by the lock of its receive queue
 * @last_cnp_ns: when the last CNP was due, 0 for never
 * @ecn_marked: CE-marked packets
 * @cnps: CNPs sent
 */
struct sroce_np {
	u64	last_cnp_ns;
	u64	ecn_marked;
	u64	cnps;
};

/**
 * struct sroce_np_sources - sources of marked datagrams, one per device
 * @seed: of the hash, a random number
 * @last_cnp_ns: when the last CNP was requested, by hash of the source; 0 for never
 */
struct sroce_np_sources {
	u32	seed;
	u64	last_cnp_ns[SROCE_NP_SOURCES];
};

bool sroce_np_marked(struct sroce_np *np, const struct sroce_cc_params *params, u32 packets,
		     u64 now_ns);
bool sroce_np_marked_datagram(struct sroce_np *np, struct sroce_np_sources *sources,
			      const struct sroce_cc_params *params, u32 packets,
			      const u32 address[4], u32 qpn, u64 now_ns);

/* A CNP that was due is being sent. */
static inline void sroce_np_sent(struct sroce_np *np)
{
	np->cnps++;
}

#endif
