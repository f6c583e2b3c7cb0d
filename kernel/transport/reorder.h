/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bookkeeping of packets beyond the expected PSN. See reorder.c.
 */
#ifndef SROCE_TRANSPORT_REORDER_H
#define SROCE_TRANSPORT_REORDER_H

#include <linux/types.h>

#include "transport/packet.h"
#include "transport/psn_map.h"

struct sroce_recv_plan;
struct sroce_responder;

/**
 * struct sroce_reorder - the reorder queue, without its skbs
 * @queued: PSNs in the queue
 * @count: how many
 * @end_psn: one past the newest of them
 * @reneged: packets before @reneged_psn were dropped from the queue, perhaps after a SACK with them
 * @reneged_psn: see @reneged
 * @rnr_nak_scheduled: an RNR NAK is due or was sent: nothing is queued until the expected packet
 *                     arrives
 * @offers: new requests in a row that offered selective repeat, up to SROCE_OFFERS_MIN
 * @unsacked: packets queued since the last selective ACK
 * @sack_threshold: value of @unsacked that triggers the next one
 * @open: packets are missing before one that arrived
 * @open_since_ns: since when
 * @nak_at_ns: when the gap is reported to a standard peer, SROCE_NEVER when it is not
 * @reo_wnd_ns: how long a packet may be late before it counts as lost
 * @waiting_rwqe: the expected packet is queued, too: it waits for a receive WQE
 * @waiting_srqn: XRC: number of the shared receive queue that it waits for
 * @rnr_nak_at_ns: when it gets an RNR NAK; SROCE_NEVER if the expected packet has not waited
 * @rwqe_poll_at_ns: when the datapath checks for a receive WQE again
 * @rwqe_poll_ns: the present interval of these checks
 */
struct sroce_reorder {
	struct sroce_psn_map queued;
	u32	count;
	u32	end_psn;
	u32	reneged_psn;
	bool	reneged;
	bool	rnr_nak_scheduled;
	u8	offers;
	u32	unsacked;
	u32	sack_threshold;
	bool	open;
	u64	open_since_ns;
	u64	nak_at_ns;
	u64	reo_wnd_ns;
	bool	waiting_rwqe;
	u32	waiting_srqn;
	u64	rnr_nak_at_ns;
	u64	rwqe_poll_at_ns;
	u32	rwqe_poll_ns;
};

/*
 * Requests in a row that must offer selective repeat before SACKs are sent. A peer that uses
 * reserved bits for a purpose of its own is never heard that often.
 */
#define SROCE_OFFERS_MIN	4

/* Does the last new request offer selective repeat? Then responses accept it. */
static inline bool sroce_reorder_accepts_offer(const struct sroce_reorder *reorder)
{
	return reorder->offers;
}

/* Does the peer speak selective repeat? */
static inline bool sroce_reorder_peer_selective(const struct sroce_reorder *reorder)
{
	return reorder->offers == SROCE_OFFERS_MIN;
}

/*
 * Can a selective ACK report the queue, or that the peer must send packets again that an earlier
 * one reported? The bitmap cannot say that the expected packet waits for a receive WQE.
 */
static inline bool sroce_reorder_can_sack(const struct sroce_reorder *reorder)
{
	return sroce_reorder_peer_selective(reorder) && !reorder->waiting_rwqe &&
	       (reorder->count || reorder->reneged);
}

void sroce_reorder_note_offer(struct sroce_responder *resp, const struct sroce_packet *pkt,
			      const struct sroce_recv_plan *plan, u64 now_ns);
bool sroce_reorder_accepts(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			   struct sroce_recv_plan *plan);
void sroce_reorder_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
			  const struct sroce_recv_plan *plan, bool stored, u64 now_ns);
void sroce_reorder_plan_wait(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			     struct sroce_recv_plan *plan);
void sroce_reorder_rwqe_posted(struct sroce_responder *resp, u64 now_ns);
void sroce_reorder_advance(struct sroce_responder *resp, u32 from_psn, u64 now_ns);
void sroce_reorder_schedule_nak(struct sroce_responder *resp);
void sroce_reorder_clear(struct sroce_responder *resp);
u32 sroce_reorder_waiting_srqn(const struct sroce_responder *resp);
bool sroce_reorder_next_queued(struct sroce_responder *resp, u32 *psn);
u32 sroce_reorder_queued_behind(const struct sroce_responder *resp,
				const struct sroce_packet *pkt);
u64 sroce_reorder_deadline(const struct sroce_responder *resp);
void sroce_reorder_timeout(struct sroce_responder *resp, u64 now_ns);
u32 sroce_reorder_sack_bytes(const struct sroce_responder *resp);
void sroce_reorder_write_sack(const struct sroce_responder *resp, u8 *bitmap, u32 bytes);

#endif
