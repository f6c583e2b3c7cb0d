/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Values of a queue pair that tools show. See qp_stats.c. */
#ifndef SROCE_DATAPATH_QP_STATS_H
#define SROCE_DATAPATH_QP_STATS_H

#include <linux/in6.h>

#include "transport/requester_state.h"

struct sroce_qp;

/**
 * struct sroce_sq_stats - of the send queue
 * @requester: of its engine
 * @cc: congestion control
 * @wqes: requests posted and not completed
 */
struct sroce_sq_stats {
	struct sroce_requester_stats requester;
	struct sroce_cc_info cc;
	u32	wqes;
};

/**
 * struct sroce_rq_stats - of the receive queue
 * @epsn: expected PSN
 * @cc: congestion control of READ responses
 * @wqes: receives posted and not taken; 0 with a shared receive queue
 * @reorder_packets: packets in the reorder queue
 * @reorder_bytes: their memory
 * @ecn_marked: packets received with CE
 * @cnp_sent: CNPs sent for them
 */
struct sroce_rq_stats {
	u32	epsn;
	struct sroce_cc_info cc;
	u32	wqes;
	u32	reorder_packets;
	u32	reorder_bytes;
	u64	ecn_marked;
	u64	cnp_sent;
};

/**
 * struct sroce_qp_stats - of a queue pair
 * @state: enum ib_qp_state
 * @has_peer: it is connected to the peer that the next fields name
 * @dest_qpn: the peer's QP number
 * @saddr: our address
 * @daddr: the peer's address
 * @sq: of the send queue
 * @rq: of the receive queue
 */
struct sroce_qp_stats {
	u8	state;
	bool	has_peer;
	u32	dest_qpn;
	struct in6_addr saddr;
	struct in6_addr daddr;
	struct sroce_sq_stats sq;
	struct sroce_rq_stats rq;
};

void sroce_qp_get_stats(struct sroce_qp *qp, struct sroce_qp_stats *stats);

#endif
