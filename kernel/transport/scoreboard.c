// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The scoreboard records which packets have arrived at either side, which are lost, and which have
 * been retransmitted.
 *
 * Every acknowledgement and response passes through sroce_scoreboard_ack(). The state describes the
 * PSNs from unacked_psn on (f: forward, requests; r: reverse, responses of READs and atomics):
 *
 *     executed_psn       f  the peer has executed everything before it (cumulative ACK)
 *     done                  bitmap: SEND or WRITE queued or executed by the peer, or r received
 *     read_queued        f  bitmap: the peer has queued this READ or atomic, its r will come
 *     top_psn            f  one past the newest PSN executed or SACKed
 *     lost_psn           f  before it, PSNs that are not done are lost
 *     response_high_psn  r  one past the newest response received
 *     lost_response_psn  r  before it, PSNs that are not done have lost their response
 *     unplaced_psn       r  from it to unplaced_end_psn, responses could not be placed and have not
 *                           been requested again, see scoreboard_unplaced.c
 *     rtx[2]                bitmaps: retransmitted lately, so not to be retransmitted again yet,
 *                           see rtx.c
 *
 * A hole is lost, or could not be placed; it is not done and not in rtx. Only executed_psn
 * completes a SEND or WRITE, so a peer that SACKs falsely delays nobody but itself.
 *
 * Selective repeat. A requester offers it in reserved bits of the BTH of its requests. A responder
 * that keeps packets out of order accepts it in those of its responses, and the first response
 * decides. A standard peer ignores the bits on receipt and sends 0 (IBTA 9.2), so it sees nothing
 * that is not standard. The requester withdraws the offer for good
 *
 *   - when a response does not accept it: a peer that sets reserved bits for a purpose of its own
 *     may seem to accept once;
 *   - for its last retry, or when OFFER_TIMEOUTS ACK timeouts pass, before the first response:
 *     something on the path may drop packets with reserved bits.
 *
 * So while it has no ACK timeout or no retry, it does not offer before the first response.
 *
 * A selective peer SACKs what it queues, and only the holes are sent again. A standard peer
 * executes requests in order only, so lost requests need a rewind. Responses of READs and
 * atomics may arrive in any order in both cases. A READ from a standard peer can only be requested
 * to its end, and the peer responds in order.
 *
 * Loss detection, in the manner of RACK (RFC 8985) but counted in packets: a packet is lost when
 * sroce_rtx_reorder_tolerance() later ones have arrived, or when the ACK of a probe (tlp.c) does
 * not cover it. The tolerance is 3 packets (TCP's DupThresh) on a path that was never seen to
 * reorder, else 5/4 of the reordering seen, at least a quarter of the BDP.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/completer.h"
#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/rtt.h"
#include "transport/rtx.h"
#include "transport/scoreboard.h"
#include "transport/tlp.h"

/* Forget that the peer has queued PSNs from @psn on. */
static void clear_sacked(struct sroce_requester *req, u32 psn)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 beyond = SROCE_PSN_MAP_SPAN - min(sroce_requester_forward(req, psn),
					      SROCE_PSN_MAP_SPAN);

	sb->done_data -= sroce_psn_map_count(&sb->done, psn, beyond);
	sroce_psn_map_remove_range(&sb->done, psn, beyond);
	sroce_psn_map_remove_range(&sb->read_queued, psn, beyond);
}

/**
 * sroce_scoreboard_restart() - forget everything known of the PSNs from a PSN on
 * @req: the requester
 * @psn: where sending starts or starts again; everything before it is executed
 */
void sroce_scoreboard_restart(struct sroce_requester *req, u32 psn)
{
	struct sroce_scoreboard *sb = &req->sb;

	clear_sacked(req, psn);
	sroce_rtx_restart(req, psn);
	sb->rtx_backoff = 0;
	sb->lost_psn = psn;
	sb->executed_psn = psn;
	sb->top_psn = psn;
	if (psn == req->unacked_psn) {
		sb->unplaced_psn = psn;
		sb->unplaced_end_psn = psn;
	} else if (psn_before(sb->response_high_psn, psn)) {
		return;
	}
	sb->response_high_psn = psn;
	if (sroce_requester_forward(req, sb->lost_response_psn) > sroce_requester_forward(req, psn))
		sb->lost_response_psn = psn;
}

/**
 * sroce_scoreboard_retransmitted() - a hole has been retransmitted
 * @req: the requester
 * @wqe: the request that it belongs to
 * @psn: the first PSN
 * @count: how many
 * @now_ns: monotonic time
 */
void sroce_scoreboard_retransmitted(struct sroce_requester *req, const struct sroce_send_wqe *wqe,
				    u32 psn, u32 count, u64 now_ns)
{
	if (req->sb.mode == SROCE_SELECTIVE_OFFERED)
		return;
	if (wqe_is_data(wqe))
		sroce_rtx_mark(req, psn, count, now_ns);
	else
		sroce_rtx_mark_read(req, psn, count, now_ns);
	/* The run is over when all of it is done or has been requested again. */
	req->sb.unplaced_psn = sroce_scoreboard_first_unplaced(req);
}

/**
 * sroce_sack_end_psn() - where a SACK bitmap ends
 * @base_psn: the PSN of its first bit
 * @sack: the bitmap
 * @bytes: its length
 *
 * Return: one past the newest PSN that is set, @base_psn when none is.
 */
u32 sroce_sack_end_psn(u32 base_psn, const u8 *sack, u32 bytes)
{
	while (bytes && !sack[bytes - 1])
		bytes--;
	return bytes ? psn_add(base_psn, 8 * bytes - (u32)(__builtin_clz(sack[bytes - 1]) - 24)) :
		       base_psn;
}

static void mark_data(struct sroce_requester *req, u32 psn, u32 count)
{
	req->sb.done_data += count - sroce_psn_map_count(&req->sb.done, psn, count);
	sroce_psn_map_add_range(&req->sb.done, psn, count);
}

/*
 * The peer has queued @count PSNs from @psn on. Returns how many of them have been marked, all in
 * one request; 0 if they belong to none.
 */
static u32 mark_sacked(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns)
{
	const struct sroce_send_wqe *wqe;
	u32 index;

	if (!sroce_requester_locate(req, psn, &index))
		return 0;
	wqe = sroce_requester_wqe(req, index);
	if (!wqe_is_data(wqe)) {
		u32 missing = sroce_scoreboard_missing(req, wqe, psn);

		sroce_psn_map_add_range(&req->sb.read_queued, psn, missing);
		return min(count, missing);
	}
	if (psn_before(psn, req->sb.top_psn)) {
		sroce_rtx_note_reordering(req, psn, req->sb.top_psn, now_ns);
		count = 1;
	}
	count = min(count, (wqe_end_psn(wqe) - psn) & SROCE_PSN_MASK);
	mark_data(req, psn, count);
	return count;
}

/* Eight octets of a bitmap, fewer at its end. */
static u64 sack_word(const u8 *sack, u32 bytes)
{
	u64 word = 0;
	u32 i;

	for (i = 0; i < min(bytes, 8u); i++)
		word |= (u64)sack[i] << 8 * i;
	return word;
}

/*
 * Mark what the peer has queued. Of a READ or an atomic it has the request, and will respond when
 * its turn comes, so it need not be requested again. Most bits were set in the last SACK already.
 */
static void apply_sack(struct sroce_requester *req, u32 base_psn, const u8 *sack, u32 bytes,
		       u64 now_ns)
{
	/* After a rewind everything from next_psn on is sent again in any case. */
	u32 end = min(sroce_requester_forward(req, req->next_psn), SROCE_PSN_MAP_SPAN);
	u32 i;

	for (i = 0; i < bytes; i += 8) {
		u32 psn = psn_add(base_psn, 8 * i);
		u64 fresh = sack_word(sack + i, bytes - i) & ~psn_map_from(&req->sb.done, psn) &
			    ~psn_map_from(&req->sb.read_queued, psn);

		while (fresh) {
			u32 shift = (u32)__builtin_ctzll(fresh), first_psn = psn_add(psn, shift);
			u32 at = sroce_requester_forward(req, first_psn), count;
			u64 gap = ~(fresh >> shift);

			count = min(gap ? (u32)__builtin_ctzll(gap) : 64, end - min(at, end));
			count = count ? mark_sacked(req, first_psn, count, now_ns) : 0;
			if (!count)
				return;
			fresh &= ~(~0ull >> (64 - count) << shift);
		}
	}
}

/*
 * How far everything is done. SENDs and WRITEs executed behind a READ that is not done are marked,
 * as far as the map reaches.
 */
static u32 settle_executed(struct sroce_requester *req)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 executed = sroce_requester_forward(req, sb->executed_psn);
	u32 at = 0, settled = 0, index;
	bool blocked = false;

	for (index = req->acked; index != req->posted && at < executed &&
	     (!blocked || at < SROCE_PSN_MAP_SPAN); index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 end = sroce_requester_forward(req, wqe_end_psn(wqe));

		if (!wqe->psn_count)
			continue;
		if (wqe_is_data(wqe)) {
			end = min(end, executed);
			if (blocked)
				mark_data(req, psn_add(req->unacked_psn, at),
					  min(end, SROCE_PSN_MAP_SPAN) - at);
		} else if (!blocked) {
			u32 psn = psn_add(req->unacked_psn, at);

			settled = at + sroce_psn_map_leading_present(&sb->done, psn, end - at);
			blocked = settled < end;
		}
		at = end;
		if (!blocked)
			settled = at;
	}
	return psn_add(req->unacked_psn, settled);
}

/* unacked_psn is about to move to @psn: remove the PSNs before it from the maps. */
static void drop_before(struct sroce_requester *req, u32 psn)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 count = sroce_requester_forward(req, psn), at = 0, index;

	for (index = req->acked; sb->done_data && at < min(count, SROCE_PSN_MAP_SPAN); index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 end = min3(sroce_requester_forward(req, wqe_end_psn(wqe)), count,
			       SROCE_PSN_MAP_SPAN);

		if (!wqe->psn_count)
			continue;
		if (wqe_is_data(wqe))
			sb->done_data -= sroce_psn_map_count(&sb->done,
							psn_add(req->unacked_psn, at), end - at);
		at = end;
	}
	sroce_psn_map_remove_range(&sb->done, req->unacked_psn, count);
	sroce_psn_map_remove_range(&sb->read_queued, req->unacked_psn, count);
	sroce_rtx_advance(req, count);
}

/*
 * Does @psn lie beyond @of, and was it sent? A PSN behind unacked_psn counts as far ahead when
 * counted forward. With half of the circle outstanding psn_before() could not tell.
 */
static bool is_beyond(const struct sroce_requester *req, u32 psn, u32 of)
{
	u32 at = sroce_requester_forward(req, psn);

	return at > sroce_requester_forward(req, of) &&
	       at <= sroce_requester_forward(req, req->sent_psn);
}

static void raise_psn(const struct sroce_requester *req, u32 *psn, u32 to)
{
	if (is_beyond(req, to, *psn))
		*psn = to;
}

static void raise_lost(const struct sroce_requester *req, u32 top_psn, u32 tolerance, u32 *lost_psn)
{
	u32 top = sroce_requester_forward(req, top_psn);

	if (top > tolerance)
		raise_psn(req, lost_psn, psn_add(req->unacked_psn, top - tolerance));
}

/*
 * Defer the retransmission of the READ requests from @psn to lost_psn by a round trip: on a path
 * that reorders they may just be late, and each would be responded to with many packets.
 */
static void defer_read_rtx(struct sroce_requester *req, u32 psn, u64 now_ns)
{
	u32 end = sroce_requester_forward(req, req->sb.lost_psn), index;

	while (sroce_requester_forward(req, psn) < end &&
	       sroce_requester_locate(req, psn, &index)) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);

		if (!wqe_is_data(wqe)) {
			u32 missing = sroce_scoreboard_missing(req, wqe, psn);

			sroce_rtx_mark_read(req, psn, missing, now_ns);
		}
		psn = wqe_end_psn(wqe);
	}
}

/*
 * A packet is lost when enough others have overtaken it. If the last packet sent has arrived, no
 * more can overtake, and one is enough unless the path reorders.
 */
static void detect_losses(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 tolerance = sroce_rtx_reorder_tolerance(req), lost_psn = sb->lost_psn;
	u32 at_end = sb->reordering ? tolerance : 1;

	raise_lost(req, sb->top_psn, sb->top_psn == req->sent_psn ? at_end : tolerance,
		   &sb->lost_psn);
	raise_psn(req, &lost_psn, sb->executed_psn);
	if (sb->reordering && sroce_requester_is_selective(req))
		defer_read_rtx(req, lost_psn, now_ns);
	raise_lost(req, sb->response_high_psn,
		   sb->response_high_psn == req->sent_psn ? at_end : tolerance,
		   &sb->lost_response_psn);
}

/*
 * The packet at executed_psn, which was missing, has arrived. Nothing can be said of the request
 * of a READ, because its response may have waited for those of others.
 */
static void note_gap_closed(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 index;

	if (psn_before(sb->executed_psn, sb->top_psn) &&
	    sroce_requester_locate(req, sb->executed_psn, &index) &&
	    wqe_is_data(sroce_requester_wqe(req, index)))
		sroce_rtx_note_reordering(req, sb->executed_psn, sb->top_psn, now_ns);
}

/* Step 1, the cumulative ACK. Returns how many packets it covers that were not done. */
static u32 ack_executed(struct sroce_requester *req, const struct sroce_ack_plan *plan, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 count;

	if (!is_beyond(req, plan->executed_psn, sb->executed_psn))
		return 0;
	count = (plan->executed_psn - sb->executed_psn) & SROCE_PSN_MASK;
	count -= sroce_psn_map_count(&sb->done, sb->executed_psn, count);
	note_gap_closed(req, now_ns);
	sb->executed_psn = plan->executed_psn;
	/* Progress, even if a READ still waits for its response; it ends an RNR wait, too. */
	req->rnr_waiting = false;
	req->retry_left = req->attr.retry_cnt;
	req->rnr_retry_left = req->attr.rnr_retry;
	return count;
}

/*
 * A selective ACK names the packet that the peer expects. If an earlier one had that packet as
 * queued, the peer has dropped it, and with it all that was queued. The order in which the two
 * arrive does not matter: the one that has the packet as queued was sent before all others of its
 * turn.
 */
static bool peer_has_reneged(const struct sroce_requester *req, const struct sroce_ack_plan *plan)
{
	const struct sroce_scoreboard *sb = &req->sb;
	u32 psn = plan->executed_psn;

	return psn == sb->executed_psn && !(plan->sack[0] & 1) &&
	       sroce_requester_forward(req, psn) < SROCE_PSN_MAP_SPAN &&
	       (psn_map_has(&sb->done, psn) || psn_map_has(&sb->read_queued, psn));
}

/* Step 2, the selective ACK. Returns how many SEND and WRITE packets are done because of it. */
static u32 ack_sacked(struct sroce_requester *req, const struct sroce_ack_plan *plan, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 done_data = sb->done_data, end_psn;

	if (plan->sack_bytes) {
		if (peer_has_reneged(req, plan)) {
			clear_sacked(req, sb->executed_psn);
			/* Nothing has been overtaken by what is still queued. */
			sb->top_psn = sb->executed_psn;
		}
		apply_sack(req, plan->executed_psn, plan->sack, plan->sack_bytes, now_ns);
		end_psn = sroce_sack_end_psn(plan->executed_psn, plan->sack, plan->sack_bytes);
		/* Bits beyond the map are not kept, and must not look like losses later. */
		if (sroce_requester_forward(req, end_psn) > SROCE_PSN_MAP_SPAN)
			end_psn = psn_add(req->unacked_psn, SROCE_PSN_MAP_SPAN);
		raise_psn(req, &sb->top_psn, end_psn);
	}
	raise_psn(req, &sb->top_psn, plan->executed_psn);
	/* After reneging there may be fewer. */
	return sb->done_data > done_data ? sb->done_data - done_data : 0;
}

/* Step 3, a READ or atomic response that has been placed. */
static void ack_response(struct sroce_requester *req, const struct sroce_ack_plan *plan, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;

	sb->responses += plan->count;
	sroce_requester_report_acked(req, plan->count, 0, now_ns);
	if (psn_before(plan->response_psn, sb->response_high_psn))
		sroce_rtx_note_reordering(req, plan->response_psn, sb->response_high_psn, now_ns);
	sroce_psn_map_add_range(&sb->done, plan->response_psn, plan->count);
	raise_psn(req, &sb->response_high_psn, psn_add(plan->response_psn, plan->count));
	sroce_rtx_responded(req, plan->response_psn, now_ns);
	sroce_rtx_sample_response_time(req, now_ns);
}

/* Step 4: unacked_psn moves on, the timers restart, the RTT is sampled. */
static void advance_unacked(struct sroce_requester *req, bool progress, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 psn = progress ? settle_executed(req) : req->unacked_psn, count, rtt_ns;

	/* Executed after a rewind, before it was sent again: no ACK need be requested any more. */
	if (sroce_requester_forward(req, sb->executed_psn) >
	    sroce_requester_forward(req, req->next_psn)) {
		sroce_requester_move_cursor(req, sb->executed_psn);
		req->since_ack_req = 0;
	}
	if (psn != req->unacked_psn) {
		sb->rtx_backoff = 0;
		drop_before(req, psn);
		psn_raise(&sb->lost_psn, psn);
		psn_raise(&sb->top_psn, psn);
		psn_raise(&sb->response_high_psn, psn);
		psn_raise(&sb->lost_response_psn, psn);
		psn_raise(&sb->unplaced_psn, psn);
		psn_raise(&sb->unplaced_end_psn, psn);
		count = sroce_requester_forward(req, psn);
		sroce_tlp_acked(req, psn, now_ns);
		/* The maps now reach executed packets that they did not reach before. */
		if (sroce_requester_forward(req, sb->executed_psn) + count > SROCE_PSN_MAP_SPAN)
			settle_executed(req);
	} else if (progress) {
		sroce_tlp_progress(req, now_ns);
	}
	if (req->rtt.timing &&
	    sroce_requester_forward(req, req->rtt.timed_psn) < SROCE_PSN_MAP_SPAN &&
	    psn_map_has(&sb->done, req->rtt.timed_psn)) {
		rtt_ns = sroce_requester_sample_rtt(req, req->rtt.timed_psn, now_ns);
		sroce_requester_report_acked(req, 0, rtt_ns, now_ns);
	}
}

/*
 * Packets before @psn that are not done are lost. Responses that a selective peer owes are lost
 * only with @responses, because they may wait behind others.
 */
static void recover_lost(struct sroce_requester *req, u32 psn, bool responses)
{
	struct sroce_scoreboard *sb = &req->sb;

	if (sroce_requester_is_selective(req)) {
		raise_psn(req, &sb->lost_psn, psn);
		if (responses)
			raise_psn(req, &sb->lost_response_psn,
				  is_beyond(req, psn, sb->executed_psn) ? sb->executed_psn : psn);
		return;
	}
	if (is_beyond(req, psn, sb->executed_psn)) {
		sroce_rtx_clear(req);
		sroce_tlp_go_back(req, sb->executed_psn);
		psn = sb->executed_psn;
	}
	raise_psn(req, &sb->lost_response_psn, psn);
}

/*
 * May packets that the ACK of a probe does not cover be late instead of lost? The probe may have
 * overtaken them on a path that reorders. If a standard peer has executed more than the probe, it
 * may have sent the ACK before the probe came: the rest waits with the probe in a long queue.
 */
static bool probe_ack_is_ambiguous(const struct sroce_requester *req)
{
	return !req->probe.overdue &&
	       (req->sb.reordering || (!sroce_requester_is_selective(req) &&
				       req->unacked_psn != psn_add(req->probe.psn, 1)));
}

static void apply_probe_ack(struct sroce_requester *req)
{
	if (sroce_tlp_probe_newest(req))
		return;
	req->probe.ambiguous = probe_ack_is_ambiguous(req);
	if (!req->probe.ambiguous)
		recover_lost(req, req->probe.end_psn, req->probe.overdue);
}

/**
 * sroce_scoreboard_distrust_rtx() - a response is overdue: retransmissions count as lost
 * @req: the requester
 * @timed_out: the ACK timer has expired: responses that are due count as lost, too
 *
 * So do packets that the ACK of the last probe did not cover and that are still missing.
 */
void sroce_scoreboard_distrust_rtx(struct sroce_requester *req, bool timed_out)
{
	sroce_rtx_clear(req);
	if (req->probe.ambiguous && psn_before(req->unacked_psn, req->probe.end_psn))
		recover_lost(req, req->probe.end_psn, timed_out);
	req->probe.ambiguous = false;
}

/**
 * sroce_scoreboard_distrust_sack() - the peer may have dropped SACKed packets (RFC 2018, 8)
 * @req: the requester
 *
 * A gap below what it has SACKed was not closed for so long that the path reorders less than was
 * thought. Linux TCP concludes this from a retransmission timeout, if it finds more packets SACKed.
 */
void sroce_scoreboard_distrust_sack(struct sroce_requester *req)
{
	if (psn_before(req->sb.executed_psn, req->sb.top_psn))
		req->sb.reordering = 0;
	clear_sacked(req, req->sb.executed_psn);
}

/**
 * sroce_scoreboard_ack() - apply an ACK, a selective ACK, a NAK or a response
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan, not a drop
 * @placed: outcome of placing the payload, if any
 * @now_ns: monotonic time
 */
void sroce_scoreboard_ack(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			  enum sroce_mem_status placed, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 executed_psn = sb->executed_psn;
	u32 packets = ack_executed(req, plan, now_ns);
	u32 sacked = ack_sacked(req, plan, now_ns);
	bool progress = sb->executed_psn != executed_psn || sacked;

	if (progress)
		sb->rtx_backoff = 0;
	if (!plan->has_response) {
		/* Responses to executed requests were sent before an ACK, but not before a SACK. */
		if (!plan->sack)
			raise_psn(req, &sb->response_high_psn, plan->executed_psn);
		sroce_requester_report_acked(req, packets + sacked, 0, now_ns);
	} else if (placed == SROCE_MEM_OK) {
		ack_response(req, plan, now_ns);
		progress = true;
	} else if (placed == SROCE_MEM_NOT_PRESENT) {
		sroce_rtx_responded(req, plan->response_psn, now_ns);
	}
	advance_unacked(req, progress, now_ns);
	if (sroce_tlp_probe_acked(req, now_ns) && !plan->rewind)
		apply_probe_ack(req);
	detect_losses(req, now_ns);
	if (sb->rtx[0].any || sb->rtx[1].any)
		sroce_rtx_expire(req, now_ns);
}
