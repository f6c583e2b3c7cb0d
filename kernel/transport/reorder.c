// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The bookkeeping of the reorder queue.
 *
 * A request beyond the expected PSN is queued (the skb by the datapath, the PSN here) until the
 * packets before it have arrived. Nothing is executed out of order. The peer is told of the gap
 * according to its kind:
 *
 *   selective   SACKs, at SACK_FIRST, SACK_SOON and SACK_LATER packets. The peer decides what
 *               is lost and fills the holes. It is one whose last SROCE_OFFERS_MIN requests
 *               offered selective repeat.
 *   standard    a NAK (PSN sequence error) after reo_wnd_ns, because reordering is no loss; the
 *               peer then goes back. If it sends queued packets again but not the missing one,
 *               its retransmission was lost, too, and it gets another NAK.
 *
 * Either peer gets a NAK at once when a packet beyond the gap is dropped for lack of room: it must
 * be sent again in any case, and more packets beyond the gap would be dropped, too.
 *
 * reo_wnd_ns is the reordering window, as in RACK: twice the longest delay of a packet that was
 * late and not lost. It decays when a packet was lost.
 *
 * RNR delay: a request that finds no receive WQE is queued as well, with everything behind it.
 * Its consumer may just be waiting for a CPU, so the datapath checks for a WQE at intervals that
 * double from RWQE_POLL_NS. The RNR NAK is sent after attr.rnr_delay_ns, which is not longer than
 * the peer would have to wait after that NAK. A QP that finds the WQE of a shared receive queue
 * taken checks often again, but its RNR NAK is due as before. A request whose memory is not present
 * waits in the same way, and the datapath knows when its pages are there.
 *
 * Packets that have waited for SROCE_REORDER_MAX_AGE_NS without progress are dropped, because other
 * QPs share the limit on their memory. A peer that is alive has retransmitted the missing one
 * by then.
 *
 * Reneging (RFC 2018 section 8): dropped packets may have been in a SACK, and the NAK that asks for
 * them may be lost. So until they have come again, SACKs take the place of ACKs, and show that they
 * are missing.
 *
 * The SACK bitmap: bit i of octet n, from the least significant, is PSN ACK + 1 + 8n + i. So the
 * first bit is the expected PSN, which is set only if it is queued and about to be executed.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/reorder.h"
#include "transport/reorder_policy.h"
#include "transport/responder_internal.h"
#include "transport/time.h"

/* Not below the jitter of a busy CPU, and not so long that the ACK timeout comes first. */
#define REO_WND_MIN_NS		50000ull
#define REO_WND_MAX_NS		2000000ull
/* The first check for a receive WQE. A consumer that runs reposts one within microseconds. */
#define RWQE_POLL_NS		20000u
/*
 * Packets queued between two SACKs. The first SACK comes after one packet more than the sender's
 * DupThresh of 3, the next one soon, later ones as often as the sender requests ACKs (64, see
 * requester_plan.c). Each AckReq gets a SACK, too, and a final ACK says that all gaps are closed.
 */
#define SACK_FIRST		4u
#define SACK_SOON		16u
#define SACK_LATER		64u

/**
 * sroce_reorder_accepts() - may a packet be put in the reorder queue?
 * @resp: the responder
 * @pkt: the packet
 * @plan: @plan->queued is set if it is there already
 *
 * Return: whether it may, or is there.
 */
bool sroce_reorder_accepts(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			   struct sroce_recv_plan *plan)
{
	u32 ahead = (pkt->psn - resp->epsn) & SROCE_PSN_MASK;

	if (ahead >= min(resp->attr.reorder_packets, SROCE_PSN_MAP_SPAN) ||
	    resp->reorder.rnr_nak_scheduled)
		return false;
	plan->queued = psn_map_has(&resp->reorder.queued, pkt->psn);
	return true;
}

static u64 reo_wnd_ns(const struct sroce_responder *resp)
{
	return clamp(resp->reorder.reo_wnd_ns, REO_WND_MIN_NS, REO_WND_MAX_NS);
}

/**
 * sroce_reorder_schedule_nak() - report the gap: the peer goes back
 * @resp: the responder
 */
void sroce_reorder_schedule_nak(struct sroce_responder *resp)
{
	sroce_responder_schedule_nak(resp, SROCE_NAK_PSN_SEQUENCE, resp->epsn);
	resp->nak_scheduled = true;
	resp->reorder.nak_at_ns = SROCE_NEVER;
}

/* Report the gap to a standard peer after the reordering window, unless that is due already. */
static void arm_gap_nak(struct sroce_responder *resp, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (!sroce_reorder_peer_selective(reorder) && reorder->nak_at_ns == SROCE_NEVER)
		reorder->nak_at_ns = now_ns + reo_wnd_ns(resp);
}

/*
 * May a request change what is known of the peer's offers? Not if it is easily forged: half of all
 * PSNs are duplicates, and nearly all others lie beyond the queue. A duplicate may be older than a
 * withdrawal, so it can only withdraw the offer. That is needed when no response has reached the
 * peer and it repeats what was executed.
 */
static bool may_change_offers(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			      const struct sroce_recv_plan *plan)
{
	switch (plan->verdict) {
	case SROCE_RECV_ACK_AGAIN:
		return !pkt->selective &&
		       ((resp->epsn - pkt->psn) & SROCE_PSN_MASK) < SROCE_PSN_MAP_SPAN;
	/* It repeats the address of the original, too, and a READ may be long. */
	case SROCE_RECV_REPLAY:
		return !pkt->selective;
	case SROCE_RECV_NAK:
		return plan->syndrome != SROCE_NAK_PSN_SEQUENCE;
	default:
		return !plan->queued;
	}
}

/**
 * sroce_reorder_note_offer() - count the peer's offers of selective repeat
 * @resp: the responder
 * @pkt: a request that is not dropped
 * @plan: the plan
 * @now_ns: monotonic time
 *
 * A packet counts when it arrives, and not again when it leaves the queue. From now on a gap is
 * reported as a standard or a selective peer expects.
 */
void sroce_reorder_note_offer(struct sroce_responder *resp, const struct sroce_packet *pkt,
			      const struct sroce_recv_plan *plan, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;
	bool was_selective = sroce_reorder_peer_selective(reorder);

	if (pkt->was_queued || !may_change_offers(resp, pkt, plan))
		return;
	if (resp->attr.selective && pkt->selective)
		reorder->offers = (u8)min(reorder->offers + pkt->count, (u32)SROCE_OFFERS_MIN);
	else
		reorder->offers = 0;
	if (sroce_reorder_peer_selective(reorder) == was_selective)
		return;
	if (!was_selective)
		reorder->nak_at_ns = SROCE_NEVER;
	else if (reorder->open && !reorder->waiting_rwqe && !resp->nak_scheduled)
		arm_gap_nak(resp, now_ns);
}

/* One more packet has been queued. Returns whether a SACK is due. */
static bool sack_is_due(struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	struct sroce_reorder *reorder = &resp->reorder;
	/* A READ request counts like an AckReq, because it stands for many packets. */
	bool requested = pkt->ack_req || (pkt->info->flags & SROCE_OPF_RD_ATOMIC);

	if (requested)
		reorder->sack_threshold = max(reorder->sack_threshold, SACK_SOON);
	if (resp->ack_pending)
		return false;
	if (reorder->unsacked < reorder->sack_threshold)
		return requested;
	reorder->sack_threshold = clamp(2 * reorder->sack_threshold, SACK_SOON, SACK_LATER);
	return true;
}

/* Is the RNR NAK of the expected packet delayed, and the packet queued? */
static bool delays_rnr(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		       struct sroce_recv_plan *plan)
{
	plan->waits_rwqe = resp->attr.rnr_delay_ns && sroce_reorder_accepts(resp, pkt, plan);
	return plan->waits_rwqe;
}

/**
 * sroce_reorder_plan_wait() - a receive WQE or a page is missing: the request must wait
 * @resp: the responder of an RC queue pair, unchanged since the plan was made
 * @pkt: the expected packet
 * @plan: of the packet; its verdict is set
 *
 * The responder is not ready for it: it sends an RNR NAK, after the RNR delay if there is one
 * (IBTA 9.7.5.2.8).
 */
void sroce_reorder_plan_wait(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			     struct sroce_recv_plan *plan)
{
	plan->verdict = delays_rnr(resp, pkt, plan) ? SROCE_RECV_QUEUE : SROCE_RECV_RNR;
}

static void add_queued(struct sroce_reorder *reorder, u32 psn)
{
	psn_map_add(&reorder->queued, psn);
	reorder->count++;
	if (psn_before(reorder->end_psn, psn_add(psn, 1)))
		reorder->end_psn = psn_add(psn, 1);
}

/* The expected packet has arrived, so there is no gap to be reported. */
static void wait_for_rwqe(struct sroce_responder *resp, u32 srqn, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	reorder->nak_at_ns = SROCE_NEVER;
	reorder->waiting_srqn = srqn;
	if (reorder->waiting_rwqe)
		return;
	reorder->waiting_rwqe = true;
	/* Another QP may have taken the WQE of a shared queue. That is no new delay. */
	if (reorder->rnr_nak_at_ns == SROCE_NEVER)
		reorder->rnr_nak_at_ns = now_ns + resp->attr.rnr_delay_ns;
	reorder->rwqe_poll_ns = RWQE_POLL_NS;
	reorder->rwqe_poll_at_ns = min(now_ns + RWQE_POLL_NS, reorder->rnr_nak_at_ns);
}

/**
 * sroce_reorder_rwqe_posted() - a receive WQE has been posted, or pages are there
 * @resp: the responder
 * @now_ns: monotonic time
 *
 * Queued packets can be executed now, see sroce_reorder_next_queued().
 */
void sroce_reorder_rwqe_posted(struct sroce_responder *resp, u64 now_ns)
{
	resp->reorder.waiting_rwqe = false;
	/* The request waited here, not in the network: that says nothing of reordering. */
	resp->reorder.open_since_ns = now_ns;
}

/**
 * sroce_reorder_waiting_srqn() - which shared receive queue does the expected request wait for?
 * @resp: the responder of an XRC queue pair whose expected request waits for a receive WQE
 *
 * Return: the number that the request names.
 */
u32 sroce_reorder_waiting_srqn(const struct sroce_responder *resp)
{
	return resp->reorder.waiting_srqn;
}

/**
 * sroce_reorder_commit() - a packet has been queued
 * @resp: the responder
 * @pkt: the packet
 * @plan: SROCE_RECV_QUEUE
 * @stored: the datapath has stored it; without memory it could not, and the packet is lost
 * @now_ns: monotonic time
 */
void sroce_reorder_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
			  const struct sroce_recv_plan *plan, bool stored, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (!reorder->open) {
		reorder->open = true;
		reorder->open_since_ns = now_ns;
		reorder->end_psn = resp->epsn;
		reorder->unsacked = 0;
		reorder->sack_threshold = SACK_FIRST;
	}
	if (stored && !plan->queued) {
		add_queued(reorder, pkt->psn);
		reorder->unsacked++;
	}
	if (plan->waits_rwqe && !stored)
		sroce_responder_schedule_rnr_nak(resp);
	else if (plan->waits_rwqe)
		wait_for_rwqe(resp, pkt->srqn, now_ns);
	if (plan->waits_rwqe || reorder->waiting_rwqe)
		return;
	/* It must be sent again in any case, so do not wait for the packets that are missing. */
	if (!stored) {
		if (!resp->nak_scheduled)
			sroce_reorder_schedule_nak(resp);
		return;
	}
	if (sroce_reorder_peer_selective(reorder) && sack_is_due(resp, pkt))
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
	if (!resp->nak_scheduled || plan->queued)
		arm_gap_nak(resp, now_ns);
}

/**
 * sroce_reorder_advance() - the expected PSN has moved on
 * @resp: the responder
 * @from_psn: where it was
 * @now_ns: monotonic time
 */
void sroce_reorder_advance(struct sroce_responder *resp, u32 from_psn, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;
	u32 count = (resp->epsn - from_psn) & SROCE_PSN_MASK;
	bool selective;

	reorder->rnr_nak_scheduled = false;
	if (!psn_before(resp->epsn, reorder->reneged_psn))
		reorder->reneged = false;
	if (reorder->waiting_rwqe)
		sroce_reorder_rwqe_posted(resp, now_ns);
	reorder->rnr_nak_at_ns = SROCE_NEVER;
	if (!reorder->open) {
		resp->nak_scheduled = false;
		return;
	}
	/* Without a NAK it was late, not lost. The clock of another CPU may be behind. */
	if (!resp->nak_scheduled && now_ns > reorder->open_since_ns)
		reorder->reo_wnd_ns = max(reorder->reo_wnd_ns,
					  2 * (now_ns - reorder->open_since_ns));
	else if (resp->nak_scheduled)
		reorder->reo_wnd_ns -= reorder->reo_wnd_ns / 16;
	resp->nak_scheduled = false;
	reorder->nak_at_ns = SROCE_NEVER;
	reorder->open_since_ns = now_ns;
	/* Packets that came again, or with PSNs inside of a READ, do not wait for their turn. */
	reorder->count -= sroce_psn_map_count(&reorder->queued, from_psn, count);
	sroce_psn_map_remove_range(&reorder->queued, from_psn, count);
	selective = sroce_reorder_peer_selective(reorder);
	/* An ACK that is due already covers what was queued behind its packet, too. */
	if (selective && (resp->ack_pending ||
			  (!reorder->count && reorder->sack_threshold > SACK_FIRST)))
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
	reorder->open = reorder->count;
	if (!reorder->open || psn_map_has(&reorder->queued, resp->epsn))
		return;
	arm_gap_nak(resp, now_ns);
	/* No SACK was sent while a request waited for a receive WQE. */
	if (selective && reorder->unsacked >= reorder->sack_threshold)
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
}

/**
 * sroce_reorder_clear() - empty the reorder queue
 * @resp: the responder; the datapath frees the skbs when sroce_responder_queued() is 0
 */
void sroce_reorder_clear(struct sroce_responder *resp)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (reorder->count) {
		psn_map_clear(&reorder->queued);
		if (!reorder->reneged || psn_before(reorder->reneged_psn, reorder->end_psn))
			reorder->reneged_psn = reorder->end_psn;
		reorder->reneged = true;
	}
	reorder->count = 0;
	reorder->open = false;
	reorder->waiting_rwqe = false;
	reorder->rnr_nak_at_ns = SROCE_NEVER;
	reorder->nak_at_ns = SROCE_NEVER;
}

/**
 * sroce_reorder_next_queued() - take the expected packet out of the reorder queue
 * @resp: the responder
 * @psn: set to its PSN; the datapath handles its skb as if it arrived now
 *
 * Return: whether it was there.
 */
bool sroce_reorder_next_queued(struct sroce_responder *resp, u32 *psn)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (!reorder->count || reorder->waiting_rwqe || !psn_map_has(&reorder->queued, resp->epsn))
		return false;
	*psn = resp->epsn;
	psn_map_remove(&reorder->queued, resp->epsn);
	reorder->count--;
	return true;
}

/**
 * sroce_reorder_queued_behind() - how many queued packets may be handled as one with this one?
 * @resp: the responder
 * @pkt: from sroce_reorder_next_queued()
 *
 * The rules of sroce_responder_can_coalesce() apply to them. Packets that have been executed with
 * @pkt leave the queue. A NAK names the first PSN, as there.
 *
 * Return: how many follow it without a gap, less than a span.
 */
u32 sroce_reorder_queued_behind(const struct sroce_responder *resp,
				const struct sroce_packet *pkt)
{
	if (!resp->reorder.count || pkt->psn != resp->epsn ||
	    pkt->info->flags & (SROCE_OPF_FIRST | SROCE_OPF_LAST | SROCE_OPF_XRCETH))
		return 0;
	return sroce_psn_map_leading_present(&resp->reorder.queued, psn_add(pkt->psn, 1),
					     SROCE_PSN_MAP_SPAN - 1);
}

/* When the queue is dropped. An RNR delay is shorter. */
static u64 age_deadline(const struct sroce_reorder *reorder)
{
	if (!reorder->count || reorder->waiting_rwqe)
		return SROCE_NEVER;
	return reorder->open_since_ns + SROCE_REORDER_MAX_AGE_NS;
}

/**
 * sroce_reorder_deadline() - when sroce_reorder_timeout() is due
 * @resp: the responder
 *
 * Return: monotonic nanoseconds, or SROCE_NEVER.
 */
u64 sroce_reorder_deadline(const struct sroce_responder *resp)
{
	const struct sroce_reorder *reorder = &resp->reorder;

	if (reorder->waiting_rwqe)
		return min(reorder->nak_at_ns, reorder->rwqe_poll_at_ns);
	return min(reorder->nak_at_ns, age_deadline(reorder));
}

static void poll_rwqe(struct sroce_responder *resp, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (now_ns >= reorder->rnr_nak_at_ns) {
		sroce_responder_schedule_rnr_nak(resp);
		return;
	}
	reorder->rwqe_poll_ns *= 2;
	reorder->rwqe_poll_at_ns = min(now_ns + reorder->rwqe_poll_ns, reorder->rnr_nak_at_ns);
}

/**
 * sroce_reorder_timeout() - report a gap, check for a receive WQE, or drop old packets
 * @resp: the responder
 * @now_ns: monotonic time; calls before the deadline do nothing
 */
void sroce_reorder_timeout(struct sroce_responder *resp, u64 now_ns)
{
	if (resp->reorder.waiting_rwqe && now_ns >= resp->reorder.rwqe_poll_at_ns)
		poll_rwqe(resp, now_ns);
	if (now_ns >= age_deadline(&resp->reorder))
		sroce_reorder_clear(resp);
	if (now_ns < resp->reorder.nak_at_ns)
		return;
	resp->reorder.nak_at_ns = SROCE_NEVER;
	if (resp->state == SROCE_RQ_READY)
		sroce_reorder_schedule_nak(resp);
}

/**
 * sroce_reorder_sack_bytes() - length of the bitmap of a selective ACK
 * @resp: the responder
 *
 * Return: bytes, a multiple of eight, at most SROCE_SACK_MAX_BYTES.
 */
u32 sroce_reorder_sack_bytes(const struct sroce_responder *resp)
{
	u32 bits = (resp->reorder.end_psn - resp->epsn) & SROCE_PSN_MASK;

	if (!resp->reorder.count)
		return 8;
	return min((bits + 63) / 64 * 8, (u32)SROCE_SACK_MAX_BYTES);
}

/**
 * sroce_reorder_write_sack() - the bitmap of a selective ACK
 * @resp: the responder
 * @bitmap: written to
 * @bytes: from sroce_reorder_sack_bytes()
 */
void sroce_reorder_write_sack(const struct sroce_responder *resp, u8 *bitmap, u32 bytes)
{
	u32 i, k;

	for (i = 0; i < bytes / 8; i++) {
		u64 word = psn_map_from(&resp->reorder.queued, resp->epsn + 64 * i);

		for (k = 0; k < 8; k++)
			bitmap[8 * i + k] = (u8)(word >> 8 * k);
	}
}
