/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Notification point: when a receiver tells a sender to slow down (see cc.h).
 */
#ifndef SROCE_TRANSPORT_CNP_H
#define SROCE_TRANSPORT_CNP_H

#include <linux/types.h>

#include "transport/cc.h"

/* Sources of datagrams that are told apart. */
#define SROCE_NP_SOURCES	64u

/**
 * struct sroce_np - notification point: one per QP, belongs to the receive half
 * @last_cnp_ns: when the last CNP was asked for
 * @ecn_marked: CE-marked packets
 * @cnps: CNPs asked for
 */
struct sroce_np {
	u64	last_cnp_ns;
	u64	ecn_marked;
	u64	cnps;
};

/**
 * struct sroce_np_sources - who sends datagrams that were marked: one per device
 * @seed: any number
 * @last_cnp_ns: when a CNP was last asked for, by source; 0: never. Sources may share one
 */
struct sroce_np_sources {
	u32	seed;
	u64	last_cnp_ns[SROCE_NP_SOURCES];
};

bool sroce_np_marked(struct sroce_np *np, const struct sroce_cc_params *params, u64 now_ns);
bool sroce_np_marked_datagram(struct sroce_np *np, struct sroce_np_sources *sources,
			      const struct sroce_cc_params *params, const u32 address[4],
			      u32 qpn, u64 now_ns);

#endif
