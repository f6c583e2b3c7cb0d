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
 *     lost_answer_psn  the same for the answers to READs and atomics
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

#include "transport/ack.h"
#include "transport/psn.h"
#include "transport/requester.h"

/* How many packets may overtake another before it is taken for lost. */
#define REORDER_MIN_PACKETS	3u
#define REORDER_MAX_PACKETS	512u
/* Surely less than a round trip of any path that is worth the care. */
#define REORDER_ROUND_PACKETS	64u

static void forget_repairs(struct sroce_repairs *repairs)
{
	if (repairs->any)
		psn_map_clear(&repairs->map);
	repairs->any = false;
}

/* Nothing from @psn on is done: what the peer said it holds, it may not. */
static void forget_held(struct sroce_requester *req, u32 psn)
{
	struct sroce_selective *sel = &req->sel;
	u32 beyond = SROCE_PSN_MAP_SPAN - min(sroce_requester_forward(req, psn),
					      SROCE_PSN_MAP_SPAN);

	sel->done_data -= sroce_psn_map_count(&sel->done, psn, beyond);
	sroce_psn_map_remove_range(&sel->done, psn, beyond);
	sroce_psn_map_remove_range(&sel->waiting, psn, beyond);
}

/**
 * sroce_selective_restart() - forget what the peer holds from a PSN on
 * @req: the requester
 * @psn: where sending starts or starts again; everything before it is executed
 */
void sroce_selective_restart(struct sroce_requester *req, u32 psn)
{
	struct sroce_selective *sel = &req->sel;

	forget_held(req, psn);
	forget_repairs(&sel->repairs[0]);
	forget_repairs(&sel->repairs[1]);
	sel->answer_time.timing = false;
	sel->lost_psn = psn;
	sel->executed_psn = psn;
	sel->top_psn = psn;
	if (psn != req->unacked_psn && psn_before(sel->answer_psn, psn))
		return;
	sel->answer_psn = psn;
	if (sroce_requester_forward(req, sel->lost_answer_psn) > sroce_requester_forward(req, psn))
		sel->lost_answer_psn = psn;
}

/* A path that was never seen to reorder is believed to keep the order. */
static u32 tolerance_packets(const struct sroce_requester *req)
{
	u32 late = req->sel.late_packets;

	if (!late)
		return REORDER_MIN_PACKETS;
	return clamp(max(sroce_rtt_bdp_packets(&req->rtt) / 4, late + late / 4),
		     REORDER_MIN_PACKETS, REORDER_MAX_PACKETS);
}

/* A selective peer repairs at once; before a standard one's answer are all that are due. */
static bool are_lost(const struct sroce_requester *req, const struct sroce_repairs *repairs,
		     u64 now_ns)
{
	u32 end;

	if (sroce_requester_is_selective(req))
		return now_ns >= repairs->until_ns;
	end = sroce_requester_forward(req, repairs->end_psn);
	/* Behind us when it is further ahead than anything that was sent. */
	return end > sroce_requester_forward(req, req->sent_psn) ||
	       sroce_requester_forward(req, req->sel.answer_psn) >= end + tolerance_packets(req);
}

/* Repairs that had no effect in a round trip were lost as well. */
static void expire_repairs(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_selective *sel = &req->sel;
	struct sroce_repairs *old = &sel->repairs[!sel->young];

	if (old->any && are_lost(req, old, now_ns))
		forget_repairs(old);
	if (!old->any && sel->repairs[sel->young].any)
		sel->young = !sel->young;
}

/* How long an answer to what was asked for again may take. */
static u64 answer_wait_ns(const struct sroce_requester *req)
{
	u64 own_ns = req->sel.answer_time.smoothed_ns;

	return max(sroce_rtt_repair_ns(&req->rtt), own_ns + own_ns / 4);
}

static void time_answer(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns)
{
	struct sroce_answer_time *time = &req->sel.answer_time;

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
static void take_answer_time(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_answer_time *time = &req->sel.answer_time;
	u64 sample_ns, most_ns;

	if (!time->timing || !psn_map_has(&req->sel.done, time->psn))
		return;
	time->timing = false;
	sample_ns = sroce_elapsed_ns(now_ns, time->at_ns);
	most_ns = answer_wait_ns(req);
	if (time->last_ns != time->at_ns &&
	    sroce_elapsed_ns(now_ns, time->last_ns) >= req->rtt.min_ns)
		sample_ns = min(sample_ns, most_ns + most_ns / 2);
	if (time->smoothed_ns)
		sample_ns = time->smoothed_ns - time->smoothed_ns / 8 + sample_ns / 8;
	time->smoothed_ns = sample_ns;
}

/**
 * sroce_selective_repaired() - PSNs have been sent again out of their turn
 * @req: the requester
 * @psn: the first
 * @count: how many
 * @now_ns: monotonic time
 * @is_data: they are of a SEND or WRITE, else requests
 */
void sroce_selective_repaired(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns,
			      bool is_data)
{
	struct sroce_repairs *young;

	if (req->sel.mode == SROCE_SELECTIVE_OFFERED)
		return;
	expire_repairs(req, now_ns);
	young = &req->sel.repairs[req->sel.young];
	sroce_psn_map_add_range(&young->map, psn, count);
	if (!young->any)
		young->since_ns = now_ns;
	young->any = true;
	young->until_ns = now_ns + (is_data ? sroce_rtt_repair_ns(&req->rtt) : answer_wait_ns(req));
	young->last_psn = psn_add(psn, count - 1);
	young->end_psn = req->next_psn;
	if (!is_data)
		time_answer(req, psn, count, now_ns);
}

/**
 * sroce_selective_missing() - how much of a READ is missing in one piece
 * @req: the requester
 * @wqe: the READ (or atomic)
 * @psn: a PSN of it without a response
 *
 * What others have not overtaken may be on its way: it is missing only when its request is,
 * or when a probe asks for it. To a standard peer a part has no end of its own.
 *
 * Return: PSNs from @psn on, to the next one with a response or to the end.
 */
u32 sroce_selective_missing(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			    u32 psn)
{
	u32 left = (wqe_end_psn(wqe) - psn) & SROCE_PSN_MASK;
	u32 span = SROCE_PSN_MAP_SPAN - min(sroce_requester_forward(req, psn),
					    SROCE_PSN_MAP_SPAN - 1);
	u32 lost = sroce_requester_forward(req, req->sel.lost_answer_psn);
	u32 run;

	if (!sroce_requester_is_selective(req))
		return left;
	if (!req->probe.due && sroce_requester_forward(req, psn) < lost)
		left = min(left, lost - sroce_requester_forward(req, psn));
	run = sroce_psn_map_run(&req->sel.done, psn, min(left, span), false);

	/* Nothing is known of what lies beyond the map. */
	return run == span ? left : run;
}

/* The first hole from @from to @to, among requests or answers. */
static bool find_hole(const struct sroce_requester *req, u32 from, u32 to, bool requests,
		      u32 *psn, u32 *count)
{
	const struct sroce_selective *sel = &req->sel;
	u32 at = sroce_requester_forward(req, from);
	u32 end = min3(sroce_requester_forward(req, to), SROCE_PSN_MAP_SPAN,
		       sroce_requester_forward(req, req->next_psn));
	u64 bits, hole;

	while (at < end) {
		*psn = psn_add(req->unacked_psn, at);
		at += psn_map_piece(*psn, end - at, &bits);
		hole = bits & ~(psn_map_word(&sel->done, *psn) |
				psn_map_word(&sel->repairs[0].map, *psn) |
				psn_map_word(&sel->repairs[1].map, *psn));
		if (requests)
			hole &= ~psn_map_word(&sel->waiting, *psn);
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
 * sroce_selective_find_hole() - the oldest hole that is to be filled
 * @req: the requester
 * @psn: set to its first PSN
 * @count: set to how many PSNs it has, of possibly several requests
 *
 * Return: whether there is one.
 */
bool sroce_selective_find_hole(const struct sroce_requester *req, u32 *psn, u32 *count)
{
	const struct sroce_selective *sel = &req->sel;

	/* Mostly nothing is lost. */
	if (sel->lost_answer_psn == req->unacked_psn && sel->lost_psn == sel->executed_psn)
		return false;
	if (find_hole(req, req->unacked_psn, sel->lost_answer_psn, false, psn, count))
		return true;
	return sroce_requester_is_selective(req) &&
	       find_hole(req, sel->executed_psn, sel->lost_psn, true, psn, count);
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
	req->sel.done_data += count - sroce_psn_map_count(&req->sel.done, psn, count);
	sroce_psn_map_add_range(&req->sel.done, psn, count);
}

/*
 * A PSN below the top is done only now. If it was not sent again, or so lately
 * that this cannot be the answer to that, it was late: reordering is that large.
 * If it was sent again long enough ago it had been lost, and reordering may be less
 * than it was thought to be. In between nothing can be told.
 */
static void note_late(struct sroce_requester *req, u32 psn, u32 top_psn, u64 now_ns)
{
	struct sroce_selective *sel = &req->sel;
	u32 by = sroce_requester_forward(req, top_psn) - sroce_requester_forward(req, psn);
	u64 lately_ns = now_ns + sroce_rtt_repair_ns(&req->rtt) - req->rtt.min_ns;
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct sroce_repairs *repairs = &sel->repairs[i];

		if (!repairs->any || !psn_map_has(&repairs->map, psn))
			continue;
		if (repairs->until_ns <= lately_ns)
			sel->late_packets -= (sel->late_packets + 15) / 16;
		if (sroce_elapsed_ns(now_ns, repairs->since_ns) >= req->rtt.min_ns)
			return;
	}
	/* What is late by more than a round trip was sent again, and that forgotten. */
	if (by > sel->late_packets && by <= max(req->rtt.packets, REORDER_ROUND_PACKETS))
		sel->late_packets = min(by, REORDER_MAX_PACKETS);
}

/*
 * The peer holds @count PSNs from @psn on; *@index is not behind it. Returns how many of them have
 * been taken note of; 0: they are not ours.
 */
static u32 take_held(struct sroce_requester *req, u32 psn, u32 count, u32 *index, u64 now_ns)
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
		u32 missing = sroce_selective_missing(req, wqe, psn);

		sroce_psn_map_add_range(&req->sel.waiting, psn, missing);
		return min(count, missing);
	}
	if (psn_before(psn, req->sel.top_psn)) {
		note_late(req, psn, req->sel.top_psn, now_ns);
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
static void take_sack(struct sroce_requester *req, u32 base_psn, const u8 *sack, u32 bytes,
		      u64 now_ns)
{
	/* After a rewind the rest is sent again in any case. */
	u32 end = min(sroce_requester_forward(req, req->next_psn), SROCE_PSN_MAP_SPAN);
	u32 i, index = req->acked;

	for (i = 0; i < bytes; i += 8) {
		u32 psn = psn_add(base_psn, 8 * i);
		u64 news = sack_word(sack + i, bytes - i) & ~psn_map_from(&req->sel.done, psn) &
			   ~psn_map_from(&req->sel.waiting, psn);

		while (news) {
			u32 first = (u32)__builtin_ctzll(news), held = psn_add(psn, first);
			u32 at = sroce_requester_forward(req, held), count;
			u64 behind = ~(news >> first);

			count = min(behind ? (u32)__builtin_ctzll(behind) : 64, end - min(at, end));
			count = count ? take_held(req, held, count, &index, now_ns) : 0;
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
	struct sroce_selective *sel = &req->sel;
	u32 executed = sroce_requester_forward(req, sel->executed_psn);
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
			settled = at + sroce_psn_map_run(&sel->done, psn_add(req->unacked_psn, at),
						   end - at, true);
			blocked = settled < end;
		}
		at = end;
		if (!blocked)
			settled = at;
	}
	return psn_add(req->unacked_psn, settled);
}

/* A READ asked for again may be longer than the map, which now reaches further. */
static void move_repairs(const struct sroce_requester *req, struct sroce_repairs *repairs,
			 u32 count)
{
	u32 last = sroce_requester_forward(req, repairs->last_psn);

	if (!repairs->any)
		return;
	sroce_psn_map_remove_range(&repairs->map, req->unacked_psn, count);
	if (last < SROCE_PSN_MAP_SPAN || last >= SROCE_PSN_SPAN)
		return;
	sroce_psn_map_add_range(&repairs->map, psn_add(req->unacked_psn, SROCE_PSN_MAP_SPAN),
				min(last + 1 - SROCE_PSN_MAP_SPAN, count));
}

/* PSNs before @psn are about to be left behind: they leave the maps. */
static void leave_behind(struct sroce_requester *req, u32 psn)
{
	struct sroce_selective *sel = &req->sel;
	u32 count = sroce_requester_forward(req, psn), at = 0, index;

	for (index = req->acked; sel->done_data && at < min(count, SROCE_PSN_MAP_SPAN); index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 end = min3(sroce_requester_forward(req, wqe_end_psn(wqe)), count,
			       SROCE_PSN_MAP_SPAN);

		if (!wqe->psn_count)
			continue;
		if (wqe_is_data(wqe))
			sel->done_data -= sroce_psn_map_count(&sel->done,
							psn_add(req->unacked_psn, at), end - at);
		at = end;
	}
	sroce_psn_map_remove_range(&sel->done, req->unacked_psn, count);
	sroce_psn_map_remove_range(&sel->waiting, req->unacked_psn, count);
	move_repairs(req, &sel->repairs[0], count);
	move_repairs(req, &sel->repairs[1], count);
}

static void catch_up(u32 *psn, u32 to)
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

static void raise(const struct sroce_requester *req, u32 *psn, u32 to)
{
	if (is_beyond(req, to, *psn))
		*psn = to;
}

static void overtake(const struct sroce_requester *req, u32 top_psn, u32 tolerance, u32 *lost_psn)
{
	u32 top = sroce_requester_forward(req, top_psn);

	if (top > tolerance)
		raise(req, lost_psn, psn_add(req->unacked_psn, top - tolerance));
}

/*
 * The requests of READs from @psn to lost_psn: where packets come late these may, and each
 * stands for many packets: they have a round trip more.
 */
static void spare_reads(struct sroce_requester *req, u32 psn, u64 now_ns)
{
	u32 end = sroce_requester_forward(req, req->sel.lost_psn), index;

	while (sroce_requester_forward(req, psn) < end &&
	       sroce_requester_locate(req, psn, &index)) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);

		if (!wqe_is_data(wqe))
			sroce_selective_repaired(req, psn, sroce_selective_missing(req, wqe, psn),
						 now_ns, false);
		psn = wqe_end_psn(wqe);
	}
}

/* What so many others have overtaken is lost. Nothing can overtake the end any more. */
static void find_lost(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_selective *sel = &req->sel;
	u32 tolerance = tolerance_packets(req), lost_psn = sel->lost_psn;
	u32 at_end = sel->late_packets ? tolerance : 1;

	overtake(req, sel->top_psn, sel->top_psn == req->sent_psn ? at_end : tolerance,
		 &sel->lost_psn);
	raise(req, &lost_psn, sel->executed_psn);
	if (sel->late_packets && sroce_requester_is_selective(req))
		spare_reads(req, lost_psn, now_ns);
	overtake(req, sel->answer_psn, sel->answer_psn == req->sent_psn ? at_end : tolerance,
		 &sel->lost_answer_psn);
}

/*
 * What was missing has come. When the request of a READ came is not known: its
 * answers may have waited for those of others.
 */
static void note_gap_closed(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_selective *sel = &req->sel;
	u32 index;

	if (psn_before(sel->executed_psn, sel->top_psn) &&
	    sroce_requester_locate(req, sel->executed_psn, &index) &&
	    wqe_is_data(sroce_requester_wqe(req, index)))
		note_late(req, sel->executed_psn, sel->top_psn, now_ns);
}

/* Returns whether the answer told anything that was not known. */
static bool take_in(struct sroce_requester *req, const struct sroce_ack_plan *plan, bool placed,
		    u64 now_ns)
{
	struct sroce_selective *sel = &req->sel;
	u32 held = sel->done_data, news = 0, i;
	bool progress = is_beyond(req, plan->executed_psn, sel->executed_psn);

	if (progress) {
		news = (plan->executed_psn - sel->executed_psn) & SROCE_PSN_MASK;
		news -= sroce_psn_map_count(&sel->done, sel->executed_psn, news);
		note_gap_closed(req, now_ns);
		sel->executed_psn = plan->executed_psn;
		/* Progress, although a READ may still wait for its answer; what was refused too. */
		req->rnr_waiting = false;
		req->retry_left = req->attr.retry_cnt;
		req->rnr_retry_left = req->attr.rnr_retry;
	}
	if (plan->sack_bytes) {
		take_sack(req, plan->executed_psn, plan->sack, plan->sack_bytes, now_ns);
		raise(req, &sel->top_psn, sroce_sack_end_psn(plan->executed_psn, plan->sack,
							     plan->sack_bytes));
	}
	raise(req, &sel->top_psn, plan->executed_psn);
	if (!plan->answered) {
		/* But for a selective ACK, answers to what was executed before were sent before. */
		if (!plan->sack)
			raise(req, &sel->answer_psn, plan->executed_psn);
		sroce_requester_acked(req, news + sel->done_data - held, 0, now_ns);
		return progress || sel->done_data != held;
	}
	if (!placed)
		return progress;
	sel->answers += plan->count;
	sroce_requester_acked(req, plan->count, 0, now_ns);
	if (psn_before(plan->answered_psn, sel->answer_psn))
		note_late(req, plan->answered_psn, sel->answer_psn, now_ns);
	sroce_psn_map_add_range(&sel->done, plan->answered_psn, plan->count);
	raise(req, &sel->answer_psn, psn_add(plan->answered_psn, plan->count));
	for (i = 0; i < 2; i++)
		/* The rest of a READ asked for again follows. */
		if (sel->repairs[i].any && psn_map_has(&sel->repairs[i].map, plan->answered_psn))
			sel->repairs[i].until_ns = now_ns + answer_wait_ns(req);
	take_answer_time(req, now_ns);
	return true;
}

/* What is not done before @psn is lost. */
static void lose(struct sroce_requester *req, u32 psn)
{
	struct sroce_selective *sel = &req->sel;

	if (sroce_requester_is_selective(req)) {
		raise(req, &sel->lost_psn, psn);
		return;
	}
	if (is_beyond(req, psn, sel->executed_psn)) {
		sroce_requester_rewind(req, sel->executed_psn);
		psn = sel->executed_psn;
	}
	raise(req, &sel->lost_answer_psn, psn);
}

/*
 * What was sent before the probe and is not covered by its answer was lost; or the
 * probe has overtaken it, where packets do that.
 */
static void take_probe_answer(struct sroce_requester *req)
{
	req->probe.unsure = req->sel.late_packets;
	if (!req->probe.unsure)
		lose(req, req->probe.end_psn);
}

/**
 * sroce_selective_ask() - an answer is late: believe less of what the peer said
 * @req: the requester
 * @all: not even that it holds anything; else only that repairs are on their way
 *
 * What the answer to the last probe did not cover, and is missing still, was lost.
 */
void sroce_selective_ask(struct sroce_requester *req, bool all)
{
	struct sroce_selective *sel = &req->sel;

	forget_repairs(&sel->repairs[0]);
	forget_repairs(&sel->repairs[1]);
	if (all)
		forget_held(req, sel->executed_psn);
	if (req->probe.unsure && psn_before(req->unacked_psn, req->probe.end_psn))
		lose(req, req->probe.end_psn);
	req->probe.unsure = false;
}

/**
 * sroce_selective_commit() - act on an answer
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan, not a drop
 * @placed: the payload, if any, has been placed
 * @now_ns: monotonic time
 */
void sroce_selective_commit(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			    bool placed, u64 now_ns)
{
	struct sroce_selective *sel = &req->sel;
	bool news = take_in(req, plan, placed, now_ns);
	u32 psn = news ? settled_psn(req) : req->unacked_psn;

	/* Executed after we had gone back to send it again: no ACK is to be asked for any more. */
	if (sroce_requester_forward(req, sel->executed_psn) >
	    sroce_requester_forward(req, req->next_psn)) {
		sroce_requester_move_cursor(req, sel->executed_psn);
		req->since_ack_req = 0;
	}
	if (psn != req->unacked_psn) {
		leave_behind(req, psn);
		catch_up(&sel->lost_psn, psn);
		catch_up(&sel->top_psn, psn);
		catch_up(&sel->answer_psn, psn);
		catch_up(&sel->lost_answer_psn, psn);
		sroce_requester_advance(req, psn, now_ns);
	} else if (news) {
		sroce_requester_heard(req, now_ns);
	}
	if (req->rtt.timing &&
	    sroce_requester_forward(req, req->rtt.timed_psn) < SROCE_PSN_MAP_SPAN &&
	    psn_map_has(&sel->done, req->rtt.timed_psn))
		sroce_requester_acked(req, 0, sroce_rtt_answered(&req->rtt, req->rtt.timed_psn,
								 now_ns), now_ns);
	if (sroce_requester_probe_answered(req, now_ns) && !plan->rewind)
		take_probe_answer(req);
	find_lost(req, now_ns);
	expire_repairs(req, now_ns);
}
