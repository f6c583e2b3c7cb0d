// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that come before their turn.
 *
 * A request beyond the expected PSN is kept (by the shell; its PSN here) until
 * the ones before it have come, then executed in its turn: nothing is ever
 * executed out of order. What the sender is told depends on what it is:
 *
 *   selective   at once, and now and then: an ACK with a bitmap. It fills the
 *               holes; when one is lost is for it to tell.
 *   standard    nothing for a while, since reordering is no loss; then a NAK,
 *               and it goes back. If it sends again what is held and still not
 *               what is missing, its repair was lost: another NAK.
 *
 * How long a while? As long as packets were late of late.
 *
 * A request that finds no receive WQE is kept, too, and what comes behind it: its
 * consumer may only be waiting for the processor, and is looked after now and then. Only
 * when that has taken as long as the peer would have to wait in any case is it refused.
 *
 * The bitmap: bit i of octet n, from the least significant, is PSN
 * ACK + 1 + 8n + i. So the first bit, the expected PSN, is never set.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/reorder.h"
#include "transport/responder.h"
#include "transport/time.h"

/* How long a packet may be late. */
#define REO_WND_MIN_NS		50000ull
#define REO_WND_MAX_NS		2000000ull
/* When to look first whether there is a receive WQE. */
#define RWQE_POLL_NS			20000u
/*
 * A selective peer hears of a gap that so many packets have passed, soon again, and
 * then of so many together: it asks that often itself. It hears whenever it asks,
 * and that all gaps are closed, if it was told of any.
 */
#define SACK_FIRST		4u
#define SACK_SOON		16u
#define SACK_LATER		64u

/**
 * sroce_reorder_accepts() - can a packet beyond the expected PSN be kept?
 * @resp: the responder
 * @pkt: the packet
 * @plan: @plan->queued is set when it is held already
 *
 * Return: whether it can, or is.
 */
bool sroce_reorder_accepts(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			   struct sroce_recv_plan *plan)
{
	u32 ahead = (pkt->psn - resp->epsn) & SROCE_PSN_MASK;

	if (ahead >= min(resp->attr.reorder_packets, SROCE_PSN_MAP_SPAN) ||
	    resp->reorder.rnr_nak_sent)
		return false;
	plan->queued = psn_map_has(&resp->reorder.queued, pkt->psn);
	return true;
}

static u64 reo_wnd_ns(const struct sroce_responder *resp)
{
	return clamp(resp->reorder.reo_wnd_ns, REO_WND_MIN_NS, REO_WND_MAX_NS);
}

/* A standard peer is told in a while, unless it has been. */
static void arm_gap_nak(struct sroce_responder *resp, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (!reorder->peer_selective && reorder->nak_at_ns == SROCE_NEVER)
		reorder->nak_at_ns = now_ns + reo_wnd_ns(resp);
}

/* Returns whether a selective peer is to hear of one more packet that is kept. */
static bool sack_is_due(struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	struct sroce_reorder *reorder = &resp->reorder;
	/* Each READ stands for many packets. */
	bool asked = pkt->ack_req || (pkt->info->flags & (SROCE_OPF_READ | SROCE_OPF_ATOMIC));

	if (asked)
		reorder->sack_at = max(reorder->sack_at, SACK_SOON);
	if (resp->ack_pending)
		return false;
	if (reorder->unsacked < reorder->sack_at)
		return asked;
	reorder->sack_at = clamp(2 * reorder->sack_at, SACK_SOON, SACK_LATER);
	return true;
}

/**
 * sroce_reorder_delays_rnr() - is a request kept that finds no receive WQE?
 * @resp: the responder
 * @pkt: the expected packet
 * @plan: @plan->waits_rwqe and @plan->queued are set
 *
 * Return: whether it is; else it is refused.
 */
bool sroce_reorder_delays_rnr(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			      struct sroce_recv_plan *plan)
{
	plan->waits_rwqe = resp->attr.rnr_delay_ns && sroce_reorder_accepts(resp, pkt, plan);
	return plan->waits_rwqe;
}

static void add_queued(struct sroce_reorder *reorder, u32 psn)
{
	psn_map_add(&reorder->queued, psn);
	reorder->count++;
	if (psn_before(reorder->end_psn, psn_add(psn, 1)))
		reorder->end_psn = psn_add(psn, 1);
}

/* The expected packet is here: nothing is missing, and nobody is told. */
static void wait_for_rwqe(struct sroce_responder *resp, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	reorder->nak_at_ns = SROCE_NEVER;
	if (reorder->waiting_rwqe)
		return;
	reorder->waiting_rwqe = true;
	reorder->rnr_nak_at_ns = now_ns + resp->attr.rnr_delay_ns;
	reorder->rwqe_poll_ns = RWQE_POLL_NS;
	reorder->rwqe_poll_at_ns = min(now_ns + RWQE_POLL_NS, reorder->rnr_nak_at_ns);
}

/**
 * sroce_responder_rwqe_posted() - there is a receive WQE again
 * @resp: the responder
 * @now_ns: monotonic time
 *
 * What was kept is to be taken up, see sroce_responder_next_queued().
 */
void sroce_responder_rwqe_posted(struct sroce_responder *resp, u64 now_ns)
{
	resp->reorder.waiting_rwqe = false;
	/* It has waited here, not on its way. */
	resp->reorder.open_since_ns = now_ns;
}

/**
 * sroce_reorder_commit() - a packet came before its turn
 * @resp: the responder
 * @pkt: the packet
 * @plan: SROCE_RECV_QUEUE
 * @kept: the shell keeps it; for want of memory it may not, then it is lost
 * @now_ns: monotonic time
 */
void sroce_reorder_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
			  const struct sroce_recv_plan *plan, bool kept, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (!reorder->open) {
		reorder->open = true;
		reorder->open_since_ns = now_ns;
		reorder->end_psn = resp->epsn;
		reorder->unsacked = 0;
		reorder->sack_at = SACK_FIRST;
	}
	if (kept && !plan->queued) {
		add_queued(reorder, pkt->psn);
		reorder->unsacked++;
	}
	if (plan->waits_rwqe && !kept)
		sroce_responder_send_rnr_nak(resp);
	else if (plan->waits_rwqe)
		wait_for_rwqe(resp, now_ns);
	if (plan->waits_rwqe || reorder->waiting_rwqe)
		return;
	if (reorder->peer_selective && sack_is_due(resp, pkt))
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
	if (!resp->nak_sent || plan->queued)
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

	reorder->rnr_nak_sent = false;
	if (reorder->waiting_rwqe)
		sroce_responder_rwqe_posted(resp, now_ns);
	if (!reorder->open) {
		resp->nak_sent = false;
		return;
	}
	/* It came by itself: it was late, not lost. Who read the clock before may come later. */
	if (!resp->nak_sent && now_ns > reorder->open_since_ns)
		reorder->reo_wnd_ns = max(reorder->reo_wnd_ns,
					  2 * (now_ns - reorder->open_since_ns));
	else if (resp->nak_sent)
		reorder->reo_wnd_ns -= reorder->reo_wnd_ns / 16;
	resp->nak_sent = false;
	reorder->nak_at_ns = SROCE_NEVER;
	reorder->open_since_ns = now_ns;
	/* A READ leaves behind what a peer that keeps no rule sent within it. */
	reorder->count -= sroce_psn_map_count(&reorder->queued, from_psn, count);
	sroce_psn_map_remove_range(&reorder->queued, from_psn, count);
	if (reorder->peer_selective && !reorder->count && reorder->sack_at > SACK_FIRST)
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
	reorder->open = reorder->count;
	if (!reorder->open || psn_map_has(&reorder->queued, resp->epsn))
		return;
	arm_gap_nak(resp, now_ns);
	/* What came behind one that starved, nobody was told of. */
	if (reorder->peer_selective && reorder->unsacked >= reorder->sack_at)
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
}

/**
 * sroce_reorder_nak_sent() - the gap has been reported
 * @resp: the responder
 */
void sroce_reorder_nak_sent(struct sroce_responder *resp)
{
	resp->reorder.nak_at_ns = SROCE_NEVER;
}

/**
 * sroce_reorder_clear() - nothing is kept any more
 * @resp: the responder; the shell drops the packets when @resp->reorder.count is 0
 */
void sroce_reorder_clear(struct sroce_responder *resp)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (reorder->count)
		psn_map_clear(&reorder->queued);
	reorder->count = 0;
	reorder->open = false;
	reorder->waiting_rwqe = false;
	reorder->nak_at_ns = SROCE_NEVER;
}

/**
 * sroce_responder_next_queued() - has the turn of a kept packet come?
 * @resp: the responder
 * @psn: set to its PSN: the shell takes it out and handles it as if it came now
 *
 * Return: whether it has. The packet is not counted as kept any more.
 */
bool sroce_responder_next_queued(struct sroce_responder *resp, u32 *psn)
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
 * sroce_responder_queued_behind() - how many kept packets may be looked at as one with this one?
 * @resp: the responder
 * @pkt: from sroce_responder_next_queued()
 *
 * Those of them, in a row, that are alike, as for sroce_responder_can_coalesce(), if @pkt has a BTH
 * and no other header. Once they have been executed with it they do not count as kept any more.
 * What is refused is refused with its first PSN, as there.
 *
 * Return: how many follow it without a gap, less than a span.
 */
u32 sroce_responder_queued_behind(const struct sroce_responder *resp,
				  const struct sroce_packet *pkt)
{
	if (!resp->reorder.count || pkt->psn != resp->epsn ||
	    pkt->info->flags & (SROCE_OPF_FIRST | SROCE_OPF_LAST))
		return 0;
	return sroce_psn_map_leading_present(&resp->reorder.queued, psn_add(pkt->psn, 1),
					     SROCE_PSN_MAP_SPAN - 1);
}

/**
 * sroce_responder_deadline() - when sroce_responder_timeout() wants to be called
 * @resp: the responder
 *
 * Return: monotonic nanoseconds, or SROCE_NEVER.
 */
u64 sroce_responder_deadline(const struct sroce_responder *resp)
{
	const struct sroce_reorder *reorder = &resp->reorder;

	return reorder->waiting_rwqe ? min(reorder->nak_at_ns, reorder->rwqe_poll_at_ns) :
				   reorder->nak_at_ns;
}

static void poll_rwqe(struct sroce_responder *resp, u64 now_ns)
{
	struct sroce_reorder *reorder = &resp->reorder;

	if (now_ns >= reorder->rnr_nak_at_ns) {
		sroce_responder_send_rnr_nak(resp);
		return;
	}
	reorder->rwqe_poll_ns *= 2;
	reorder->rwqe_poll_at_ns = min(now_ns + reorder->rwqe_poll_ns, reorder->rnr_nak_at_ns);
}

/**
 * sroce_responder_timeout() - the deadline may have come
 * @resp: the responder
 * @now_ns: monotonic time; early calls do nothing
 */
void sroce_responder_timeout(struct sroce_responder *resp, u64 now_ns)
{
	if (resp->reorder.waiting_rwqe && now_ns >= resp->reorder.rwqe_poll_at_ns)
		poll_rwqe(resp, now_ns);
	if (now_ns < resp->reorder.nak_at_ns)
		return;
	resp->reorder.nak_at_ns = SROCE_NEVER;
	if (resp->state != SROCE_RQ_READY)
		return;
	sroce_responder_schedule_nak(resp, SROCE_NAK_PSN_SEQUENCE, resp->epsn);
	resp->nak_sent = true;
}

/**
 * sroce_responder_sack_bytes() - length of the bitmap of a selective ACK
 * @resp: the responder, which holds packets
 *
 * Return: bytes, a multiple of eight, at most SROCE_SACK_MAX_BYTES.
 */
u32 sroce_responder_sack_bytes(const struct sroce_responder *resp)
{
	u32 bits = (resp->reorder.end_psn - resp->epsn) & SROCE_PSN_MASK;

	return min((bits + 63) / 64 * 8, (u32)SROCE_SACK_MAX_BYTES);
}

/**
 * sroce_responder_write_sack() - the bitmap of a selective ACK
 * @resp: the responder
 * @bitmap: written to
 * @bytes: from sroce_responder_sack_bytes()
 */
void sroce_responder_write_sack(const struct sroce_responder *resp, u8 *bitmap, u32 bytes)
{
	u32 i, k;

	for (i = 0; i < bytes / 8; i++) {
		u64 word = psn_map_from(&resp->reorder.queued, resp->epsn + 64 * i);

		for (k = 0; k < 8; k++)
			bitmap[8 * i + k] = (u8)(word >> 8 * k);
	}
}
