// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What is known to have arrived, on either side, and what is sent again.
 *
 * Selective repeat: a peer that keeps what comes out of order says what it has,
 * and only the holes are sent again. A standard peer takes requests in their
 * order only: from the first that was lost all are sent again. But the answers to
 * READs, atomics' as well, are ours to put in order, whoever the peer is.
 *
 * Who speaks it? A requester that would like to sets a reserved bit of the BTH
 * in its requests; a responder that can sets it in its answers. The first
 * answer decides. A standard peer ignores the bit on receipt and sends it as 0
 * (IBTA 9.2), so it never sees anything else that is not standard.
 *
 * What is known of the PSNs from unacked_psn on:
 *
 *     executed_psn   everything before it has been executed by the peer: a SEND
 *                    or WRITE there needs nothing more; a READ, its responses
 *     done           bit by bit: held by the peer, or response received
 *     lost_psn       a request that is not done before it was overtaken by so
 *                    many others that it must be lost (reordering is not loss)
 *     lost_response_psn  the same for the answers to READs and atomics
 *     waiting        bit by bit: the peer holds the request of a READ or atomic
 *     repairs        sent again; not to be sent a third time too soon
 *
 * A standard peer tells neither what it holds nor when it will answer. It is asked
 * for a READ from the first missing answer to the end, as the standard has it, and
 * answers in order: what it was asked again is lost when something that was sent
 * later has been answered.
 *
 * A hole is what is lost, not done and not under repair. Nothing here
 * completes a SEND or WRITE but executed_psn, which is the ordinary cumulative
 * acknowledgement: a peer that lies about what it holds delays itself only.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/aeth.h"
#include "transport/psn.h"
#include "transport/requester.h"

/* How many packets may overtake another before it is taken for lost. */
#define REORDER_MIN_PACKETS	3u
#define REORDER_MAX_PACKETS	512u
/* Surely less than a round trip of any path that is worth the care. */
#define REORDER_ROUND_PACKETS	64u

static void clear_rtx(struct sroce_rtx *rtx)
{
	if (rtx->any)
		psn_map_clear(&rtx->map);
	rtx->any = false;
}

/* Nothing from @psn on is done: what the peer said it holds, it may not. */
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
 * sroce_scoreboard_restart() - forget what the peer holds from a PSN on
 * @req: the requester
 * @psn: where sending starts or starts again; everything before it is executed
 */
void sroce_scoreboard_restart(struct sroce_requester *req, u32 psn)
{
	struct sroce_scoreboard *sb = &req->sb;

	clear_sacked(req, psn);
	clear_rtx(&sb->rtx[0]);
	clear_rtx(&sb->rtx[1]);
	sb->response_time.timing = false;
	sb->lost_psn = psn;
	sb->executed_psn = psn;
	sb->top_psn = psn;
	if (psn != req->unacked_psn && psn_before(sb->response_high_psn, psn))
		return;
	sb->response_high_psn = psn;
	if (sroce_requester_forward(req, sb->lost_response_psn) > sroce_requester_forward(req, psn))
		sb->lost_response_psn = psn;
}

/* A path that was never seen to reorder is believed to keep the order. */
static u32 reorder_tolerance(const struct sroce_requester *req)
{
	u32 late = req->sb.reordering;

	if (!late)
		return REORDER_MIN_PACKETS;
	return clamp(max(sroce_rtt_bdp_packets(&req->rtt) / 4, late + late / 4),
		     REORDER_MIN_PACKETS, REORDER_MAX_PACKETS);
}

/* A selective peer repairs at once; before a standard one's answer are all that are due. */
static bool rtx_is_lost(const struct sroce_requester *req, const struct sroce_rtx *rtx,
			u64 now_ns)
{
	u32 end;

	if (sroce_requester_is_selective(req))
		return now_ns >= rtx->until_ns;
	end = sroce_requester_forward(req, rtx->end_psn);
	/* Behind us when it is further ahead than anything that was sent. */
	return end > sroce_requester_forward(req, req->sent_psn) ||
	       sroce_requester_forward(req, req->sb.response_high_psn) >=
		       end + reorder_tolerance(req);
}

/* Repairs that had no effect in a round trip were lost as well. */
static void expire_rtx(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	struct sroce_rtx *old = &sb->rtx[!sb->newest];

	if (old->any && rtx_is_lost(req, old, now_ns))
		clear_rtx(old);
	if (!old->any && sb->rtx[sb->newest].any)
		sb->newest = !sb->newest;
}

/* How long an answer to what was asked for again may take. */
static u64 response_wait_ns(const struct sroce_requester *req)
{
	u64 own_ns = req->sb.response_time.smoothed_ns;

	return max(sroce_rtt_rtx_ns(&req->rtt), own_ns + own_ns / 4);
}

static void time_response(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns)
{
	struct sroce_response_time *time = &req->sb.response_time;

	if (time->timing && ((time->psn - psn) & SROCE_PSN_MASK) >= count)
		return;
	time->last_ns = now_ns;
	if (time->timing)
		return;
	time->timing = true;
	time->psn = psn;
	time->at_ns = now_ns;
}

/*
 * Not Karn's rule: where an answer is not waited for long enough it is asked for once more each
 * time, and would never be timed. So it counts from the first time on. But where it was lost, that
 * counts the wait as well, and with every fifth packet lost waits would grow without end: one such
 * makes them somewhat longer only. Sooner than a round trip it answers an earlier question.
 */
static void sample_response_time(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_response_time *time = &req->sb.response_time;
	u64 sample_ns, most_ns;

	if (!time->timing || !psn_map_has(&req->sb.done, time->psn))
		return;
	time->timing = false;
	sample_ns = sroce_elapsed_ns(now_ns, time->at_ns);
	most_ns = response_wait_ns(req);
	if (time->last_ns != time->at_ns &&
	    sroce_elapsed_ns(now_ns, time->last_ns) >= req->rtt.min_ns)
		sample_ns = min(sample_ns, most_ns + most_ns / 2);
	if (time->smoothed_ns)
		sample_ns = time->smoothed_ns - time->smoothed_ns / 8 + sample_ns / 8;
	time->smoothed_ns = sample_ns;
}

/**
 * sroce_scoreboard_retransmitted() - PSNs have been sent again out of their turn
 * @req: the requester
 * @psn: the first
 * @count: how many
 * @now_ns: monotonic time
 * @is_data: they are of a SEND or WRITE, else requests
 */
void sroce_scoreboard_retransmitted(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns,
				    bool is_data)
{
	struct sroce_rtx *newest;

	if (req->sb.mode == SROCE_SELECTIVE_OFFERED)
		return;
	expire_rtx(req, now_ns);
	newest = &req->sb.rtx[req->sb.newest];
	sroce_psn_map_add_range(&newest->map, psn, count);
	if (!newest->any)
		newest->since_ns = now_ns;
	newest->any = true;
	newest->until_ns = now_ns + (is_data ? sroce_rtt_rtx_ns(&req->rtt) : response_wait_ns(req));
	newest->last_psn = psn_add(psn, count - 1);
	newest->end_psn = req->next_psn;
	if (!is_data)
		time_response(req, psn, count, now_ns);
}

/**
 * sroce_scoreboard_missing() - how much of a READ is missing in one piece
 * @req: the requester
 * @wqe: the READ (or atomic)
 * @psn: a PSN of it without a response
 *
 * What others have not overtaken may be on its way: it is missing only when its request is,
 * or when a probe asks for it. To a standard peer a part has no end of its own.
 *
 * Return: PSNs from @psn on, to the next one with a response or to the end.
 */
u32 sroce_scoreboard_missing(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			     u32 psn)
{
	u32 left = (wqe_end_psn(wqe) - psn) & SROCE_PSN_MASK;
	u32 span = SROCE_PSN_MAP_SPAN - min(sroce_requester_forward(req, psn),
					    SROCE_PSN_MAP_SPAN - 1);
	u32 lost = sroce_requester_forward(req, req->sb.lost_response_psn);
	u32 extent;

	if (!sroce_requester_is_selective(req))
		return left;
	if (!req->probe.due && sroce_requester_forward(req, psn) < lost)
		left = min(left, lost - sroce_requester_forward(req, psn));
	extent = sroce_psn_map_extent(&req->sb.done, psn, min(left, span), false);

	/* Nothing is known of what lies beyond the map. */
	return extent == span ? left : extent;
}

/* The first hole from @from to @to, among requests or answers. */
static bool find_hole(const struct sroce_requester *req, u32 from, u32 to, bool requests,
		      u32 *psn, u32 *count)
{
	const struct sroce_scoreboard *sb = &req->sb;
	u32 at = sroce_requester_forward(req, from);
	u32 end = min3(sroce_requester_forward(req, to), SROCE_PSN_MAP_SPAN,
		       sroce_requester_forward(req, req->next_psn));
	u64 bits, hole;

	while (at < end) {
		*psn = psn_add(req->unacked_psn, at);
		at += psn_map_piece(*psn, end - at, &bits);
		hole = bits & ~(psn_map_word(&sb->done, *psn) |
				psn_map_word(&sb->rtx[0].map, *psn) |
				psn_map_word(&sb->rtx[1].map, *psn));
		if (requests)
			hole &= ~psn_map_word(&sb->read_queued, *psn);
		if (hole) {
			u32 shift = (u32)__builtin_ctzll(hole);

			*psn = psn_add(*psn, shift - *psn % 64);
			hole = ~(hole >> shift);
			*count = hole ? (u32)__builtin_ctzll(hole) : 64;
			return true;
		}
	}
	return false;
}

/**
 * sroce_scoreboard_find_hole() - the oldest hole that is to be filled
 * @req: the requester
 * @psn: set to its first PSN
 * @count: set to how many PSNs it has, of possibly several requests
 *
 * Return: whether there is one.
 */
bool sroce_scoreboard_find_hole(const struct sroce_requester *req, u32 *psn, u32 *count)
{
	const struct sroce_scoreboard *sb = &req->sb;

	/* Mostly nothing is lost. */
	if (sb->lost_response_psn == req->unacked_psn && sb->lost_psn == sb->executed_psn)
		return false;
	if (find_hole(req, req->unacked_psn, sb->lost_response_psn, false, psn, count))
		return true;
	return sroce_requester_is_selective(req) &&
	       find_hole(req, sb->executed_psn, sb->lost_psn, true, psn, count);
}

/**
 * sroce_sack_end_psn() - where a bitmap ends
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
 * A PSN below the top is done only now. If it was not sent again, or so lately
 * that this cannot be the answer to that, it was late: reordering is that large.
 * If it was sent again long enough ago it had been lost, and reordering may be less
 * than it was thought to be. In between nothing can be told.
 */
static void update_reordering(struct sroce_requester *req, u32 psn, u32 top_psn, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 by = sroce_requester_forward(req, top_psn) - sroce_requester_forward(req, psn);
	u64 lately_ns = now_ns + sroce_rtt_rtx_ns(&req->rtt) - req->rtt.min_ns;
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct sroce_rtx *rtx = &sb->rtx[i];

		if (!rtx->any || !psn_map_has(&rtx->map, psn))
			continue;
		if (rtx->until_ns <= lately_ns)
			sb->reordering -= (sb->reordering + 15) / 16;
		if (sroce_elapsed_ns(now_ns, rtx->since_ns) >= req->rtt.min_ns)
			return;
	}
	/* What is late by more than a round trip was sent again, and that forgotten. */
	if (by > sb->reordering && by <= max(req->rtt.packets, REORDER_ROUND_PACKETS))
		sb->reordering = min(by, REORDER_MAX_PACKETS);
}

/*
 * The peer holds @count PSNs from @psn on; *@index is not behind it. Returns how many of them have
 * been taken note of; 0: they are not ours.
 */
static u32 mark_sacked(struct sroce_requester *req, u32 psn, u32 count, u32 *index, u64 now_ns)
{
	const struct sroce_send_wqe *wqe;

	for (;; ++*index) {
		if (*index == req->posted)
			return 0;
		wqe = sroce_requester_wqe(req, *index);
		if (((psn - wqe->first_psn) & SROCE_PSN_MASK) < wqe->psn_count)
			break;
	}
	if (!wqe_is_data(wqe)) {
		u32 missing = sroce_scoreboard_missing(req, wqe, psn);

		sroce_psn_map_add_range(&req->sb.read_queued, psn, missing);
		return min(count, missing);
	}
	if (psn_before(psn, req->sb.top_psn)) {
		update_reordering(req, psn, req->sb.top_psn, now_ns);
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
 * What the peer holds. Of a READ or an atomic it holds the request: the answer
 * will come in its turn, there is no use in asking again. Most of a bitmap is
 * known from the one before.
 */
static void apply_sack(struct sroce_requester *req, u32 base_psn, const u8 *sack, u32 bytes,
		       u64 now_ns)
{
	/* After a rewind the rest is sent again in any case. */
	u32 end = min(sroce_requester_forward(req, req->next_psn), SROCE_PSN_MAP_SPAN);
	u32 i, index = req->acked;

	for (i = 0; i < bytes; i += 8) {
		u32 psn = psn_add(base_psn, 8 * i);
		u64 news = sack_word(sack + i, bytes - i) & ~psn_map_from(&req->sb.done, psn) &
			   ~psn_map_from(&req->sb.read_queued, psn);

		while (news) {
			u32 first = (u32)__builtin_ctzll(news), held = psn_add(psn, first);
			u32 at = sroce_requester_forward(req, held), count;
			u64 behind = ~(news >> first);

			count = min(behind ? (u32)__builtin_ctzll(behind) : 64, end - min(at, end));
			count = count ? mark_sacked(req, held, count, &index, now_ns) : 0;
			if (!count)
				return;
			news &= ~(~0ull >> (64 - count) << first);
		}
	}
}

/*
 * How far everything is done; what has been executed behind a READ that is not, is marked, as far
 * as a map reaches.
 */
static u32 settled_psn(struct sroce_requester *req)
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
			settled = at + sroce_psn_map_extent(&sb->done,
							    psn_add(req->unacked_psn, at), end - at,
							    true);
			blocked = settled < end;
		}
		at = end;
		if (!blocked)
			settled = at;
	}
	return psn_add(req->unacked_psn, settled);
}

/* A READ asked for again may be longer than the map, which now reaches further. */
static void advance_rtx(const struct sroce_requester *req, struct sroce_rtx *rtx,
			u32 count)
{
	u32 last = sroce_requester_forward(req, rtx->last_psn);

	if (!rtx->any)
		return;
	sroce_psn_map_remove_range(&rtx->map, req->unacked_psn, count);
	if (last < SROCE_PSN_MAP_SPAN || last >= SROCE_PSN_SPAN)
		return;
	sroce_psn_map_add_range(&rtx->map, psn_add(req->unacked_psn, SROCE_PSN_MAP_SPAN),
				min(last + 1 - SROCE_PSN_MAP_SPAN, count));
}

/* PSNs before @psn are about to be left behind: they leave the maps. */
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
	advance_rtx(req, &sb->rtx[0], count);
	advance_rtx(req, &sb->rtx[1], count);
}

static void raise_to(u32 *psn, u32 to)
{
	if (psn_before(*psn, to))
		*psn = to;
}

/*
 * Does @psn lie beyond @of, which was sent? What is behind, counted forward, would be far ahead.
 * With half a circle outstanding psn_before() could not tell.
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
 * The requests of READs from @psn to lost_psn: where packets come late these may, and each
 * stands for many packets: they have a round trip more.
 */
static void defer_read_rtx(struct sroce_requester *req, u32 psn, u64 now_ns)
{
	u32 end = sroce_requester_forward(req, req->sb.lost_psn), index;

	while (sroce_requester_forward(req, psn) < end &&
	       sroce_requester_locate(req, psn, &index)) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);

		if (!wqe_is_data(wqe))
			sroce_scoreboard_retransmitted(
				req, psn, sroce_scoreboard_missing(req, wqe, psn), now_ns, false);
		psn = wqe_end_psn(wqe);
	}
}

/* What so many others have overtaken is lost. Nothing can overtake the end any more. */
static void detect_losses(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 tolerance = reorder_tolerance(req), lost_psn = sb->lost_psn;
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
 * What was missing has come. When the request of a READ came is not known: its
 * answers may have waited for those of others.
 */
static void note_gap_closed(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 index;

	if (psn_before(sb->executed_psn, sb->top_psn) &&
	    sroce_requester_locate(req, sb->executed_psn, &index) &&
	    wqe_is_data(sroce_requester_wqe(req, index)))
		update_reordering(req, sb->executed_psn, sb->top_psn, now_ns);
}

/* Returns whether the answer told anything that was not known. */
static bool update_scoreboard(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			      bool placed, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 held = sb->done_data, news = 0, i;
	bool progress = is_beyond(req, plan->executed_psn, sb->executed_psn);

	if (progress) {
		news = (plan->executed_psn - sb->executed_psn) & SROCE_PSN_MASK;
		news -= sroce_psn_map_count(&sb->done, sb->executed_psn, news);
		note_gap_closed(req, now_ns);
		sb->executed_psn = plan->executed_psn;
		/* Progress, although a READ may still wait for its answer; what was refused too. */
		req->rnr_waiting = false;
		req->retry_left = req->attr.retry_cnt;
		req->rnr_retry_left = req->attr.rnr_retry;
	}
	if (plan->sack_bytes) {
		apply_sack(req, plan->executed_psn, plan->sack, plan->sack_bytes, now_ns);
		raise_psn(req, &sb->top_psn, sroce_sack_end_psn(plan->executed_psn, plan->sack,
								plan->sack_bytes));
	}
	raise_psn(req, &sb->top_psn, plan->executed_psn);
	if (!plan->has_response) {
		/* But for a selective ACK, answers to what was executed before were sent before. */
		if (!plan->sack)
			raise_psn(req, &sb->response_high_psn, plan->executed_psn);
		sroce_requester_acked(req, news + sb->done_data - held, 0, now_ns);
		return progress || sb->done_data != held;
	}
	if (!placed)
		return progress;
	sb->responses += plan->count;
	sroce_requester_acked(req, plan->count, 0, now_ns);
	if (psn_before(plan->response_psn, sb->response_high_psn))
		update_reordering(req, plan->response_psn, sb->response_high_psn, now_ns);
	sroce_psn_map_add_range(&sb->done, plan->response_psn, plan->count);
	raise_psn(req, &sb->response_high_psn, psn_add(plan->response_psn, plan->count));
	for (i = 0; i < 2; i++)
		/* The rest of a READ asked for again follows. */
		if (sb->rtx[i].any && psn_map_has(&sb->rtx[i].map, plan->response_psn))
			sb->rtx[i].until_ns = now_ns + response_wait_ns(req);
	sample_response_time(req, now_ns);
	return true;
}

/* What is not done before @psn is lost. */
static void mark_lost(struct sroce_requester *req, u32 psn)
{
	struct sroce_scoreboard *sb = &req->sb;

	if (sroce_requester_is_selective(req)) {
		raise_psn(req, &sb->lost_psn, psn);
		return;
	}
	if (is_beyond(req, psn, sb->executed_psn)) {
		sroce_requester_rewind(req, sb->executed_psn);
		psn = sb->executed_psn;
	}
	raise_psn(req, &sb->lost_response_psn, psn);
}

/*
 * What was sent before the probe and is not covered by its answer was lost; or the
 * probe has overtaken it, where packets do that.
 */
static void apply_probe_ack(struct sroce_requester *req)
{
	req->probe.ambiguous = req->sb.reordering;
	if (!req->probe.ambiguous)
		mark_lost(req, req->probe.end_psn);
}

/**
 * sroce_scoreboard_distrust() - an answer is late: believe less of what the peer said
 * @req: the requester
 * @all: not even that it holds anything; else only that repairs are on their way
 *
 * What the answer to the last probe did not cover, and is missing still, was lost.
 */
void sroce_scoreboard_distrust(struct sroce_requester *req, bool all)
{
	struct sroce_scoreboard *sb = &req->sb;

	clear_rtx(&sb->rtx[0]);
	clear_rtx(&sb->rtx[1]);
	if (all)
		clear_sacked(req, sb->executed_psn);
	if (req->probe.ambiguous && psn_before(req->unacked_psn, req->probe.end_psn))
		mark_lost(req, req->probe.end_psn);
	req->probe.ambiguous = false;
}

/**
 * sroce_scoreboard_ack() - act on an answer
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan, not a drop
 * @placed: the payload, if any, has been placed
 * @now_ns: monotonic time
 */
void sroce_scoreboard_ack(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			  bool placed, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	bool news = update_scoreboard(req, plan, placed, now_ns);
	u32 psn = news ? settled_psn(req) : req->unacked_psn;

	/* Executed after we had gone back to send it again: no ACK is to be asked for any more. */
	if (sroce_requester_forward(req, sb->executed_psn) >
	    sroce_requester_forward(req, req->next_psn)) {
		sroce_requester_move_cursor(req, sb->executed_psn);
		req->since_ack_req = 0;
	}
	if (psn != req->unacked_psn) {
		drop_before(req, psn);
		raise_to(&sb->lost_psn, psn);
		raise_to(&sb->top_psn, psn);
		raise_to(&sb->response_high_psn, psn);
		raise_to(&sb->lost_response_psn, psn);
		sroce_requester_advance(req, psn, now_ns);
	} else if (news) {
		sroce_requester_progress(req, now_ns);
	}
	if (req->rtt.timing &&
	    sroce_requester_forward(req, req->rtt.timed_psn) < SROCE_PSN_MAP_SPAN &&
	    psn_map_has(&sb->done, req->rtt.timed_psn))
		sroce_requester_acked(req, 0, sroce_rtt_acked(&req->rtt, req->rtt.timed_psn,
							      now_ns), now_ns);
	if (sroce_requester_probe_acked(req, now_ns) && !plan->rewind)
		apply_probe_ack(req);
	detect_losses(req, now_ns);
	expire_rtx(req, now_ns);
}
