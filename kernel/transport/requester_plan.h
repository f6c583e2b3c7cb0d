/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which packets the requester sends next. See requester_plan.c.
 */
#ifndef SROCE_TRANSPORT_REQUESTER_PLAN_H
#define SROCE_TRANSPORT_REQUESTER_PLAN_H

#include <linux/types.h>

#include "transport/packet.h"
#include "transport/requester.h"
#include "transport/wqe.h"

enum sroce_send_action {
	SROCE_SEND_NOTHING,	/* nothing posted, or waiting for a response or a timer */
	SROCE_SEND_PACKETS,	/* a burst of packets of one WQE */
	SROCE_SEND_LOCAL,	/* carry out a local operation */
	SROCE_SEND_FAIL,	/* the WQE was invalid when posted, and is now the oldest */
};

/**
 * struct sroce_send_plan - what to do next on the send queue
 * @action: enum sroce_send_action
 * @ack_req: the last packet of the burst requests an ACK
 * @retransmit: these PSNs were sent before
 * @fills_hole: they are retransmitted alone, and next_psn stays where it is
 * @bypass_tsq: send it even if packets of this queue still wait in the stack
 * @implied_nak: later responses showed that a READ response was lost (mlx5: implied_nak_seq_err)
 * @index: position of the WQE
 * @first_psn: PSN of the first packet
 * @packet_count: packets in the burst
 * @offset: where in the message the burst's payload starts
 * @payload_bytes: payload of the burst (0 for READ, atomics and FLUSH)
 * @payload_end: READ: where in the message the requested part ends
 */
struct sroce_send_plan {
	u8	action;
	bool	ack_req;
	bool	retransmit;
	bool	fills_hole;
	bool	bypass_tsq;
	bool	implied_nak;
	u32	index;
	u32	first_psn;
	u32	packet_count;
	u32	offset;
	u32	payload_bytes;
	u32	payload_end;
};

/*
 * Should each packet travel in an skb of its own? Packets that travel together are often lost
 * together, so a GSO batch is no good for a retransmission.
 */
static inline bool sroce_send_plan_is_unbatched(const struct sroce_requester *req,
						const struct sroce_send_plan *plan)
{
	return plan->fills_hole || (plan->retransmit && req->timeout_shift);
}

void sroce_requester_plan(const struct sroce_requester *req, u32 max_packets,
			  struct sroce_send_plan *plan);
void sroce_send_plan_packet(const struct sroce_requester *req, const struct sroce_send_plan *plan,
			    u32 i, struct sroce_packet *pkt);
void sroce_requester_commit(struct sroce_requester *req, const struct sroce_send_plan *plan,
			    enum sroce_wc_status status, u64 now_ns);

#endif
