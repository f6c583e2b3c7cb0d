// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Retransmissions, and how far packets overtake each other on the way.
 *
 * A PSN that was sent again out of order is no hole until it is lost, too. There is no time stamp
 * for each packet. Instead, two generations age in turn: retransmissions go to the newest one, and
 * the old one expires as a whole. The state is explained in scoreboard.c.
 */
#include <linux/minmax.h>

#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/rtt.h"
#include "transport/rtx.h"
#include "transport/time.h"

/* TCP's DupThresh; a quarter of the map's span, so that a loss is noticed within the map. */
#define REORDER_MIN_PACKETS	3u
#define REORDER_MAX_PACKETS	512u
/* Least length of a round trip in packets. A packet later than that was retransmitted. */
#define REORDER_ROUND_PACKETS	64u
/* Retransmissions may wait in a long queue. Every other loss doubles the wait, up to 2^10. */
#define MAX_RTX_BACKOFF		20

static void clear_generation(struct sroce_rtx *rtx)
{
	if (rtx->any)
		psn_map_clear(&rtx->map);
	rtx->any = false;
	rtx->unplaced = false;
}

/**
 * sroce_rtx_clear() - nothing that was retransmitted is on its way any more
 * @req: the requester
 */
void sroce_rtx_clear(struct sroce_requester *req)
{
	clear_generation(&req->sb.rtx[0]);
	clear_generation(&req->sb.rtx[1]);
}

/**
 * sroce_rtx_reorder_tolerance() - how many packets may overtake one that is not lost
 * @req: the requester
 *
 * Return: packets, at least REORDER_MIN_PACKETS.
 */
u32 sroce_rtx_reorder_tolerance(const struct sroce_requester *req)
{
	u32 reordering = req->sb.reordering;

	if (!reordering)
		return REORDER_MIN_PACKETS;
	return clamp(max(req->rtt.path_packets / 4, reordering + reordering / 4),
		     REORDER_MIN_PACKETS, REORDER_MAX_PACKETS);
}

/* How much longer than usual to wait for what was retransmitted. */
static u64 backoff_ns(const struct sroce_requester *req)
{
	return sroce_rtt_rtx_ns(&req->rtt) * ((1ull << req->sb.rtx_backoff / 2) - 1);
}

/*
 * Is a retransmission lost, too? A selective peer fills a hole at once, so a timeout tells. A
 * standard peer first sends all responses that are due. Once enough later responses have come, the
 * retransmission is lost.
 */
static bool rtx_is_lost(const struct sroce_requester *req, const struct sroce_rtx *rtx,
			u64 now_ns)
{
	u32 end;

	if (sroce_requester_is_selective(req))
		return now_ns >= rtx->until_ns + backoff_ns(req);
	end = sroce_requester_forward(req, rtx->end_psn);
	/* A PSN beyond everything sent really lies behind unacked_psn. */
	return end > sroce_requester_forward(req, req->sent_psn) ||
	       sroce_requester_forward(req, req->sb.response_high_psn) >=
		       end + sroce_rtx_reorder_tolerance(req);
}

/* With no old generation, the other one becomes the old one. */
static void age_newest(struct sroce_scoreboard *sb)
{
	if (!sb->rtx[!sb->newest].any && sb->rtx[sb->newest].any)
		sb->newest = !sb->newest;
}

static void forget_in_generation(const struct sroce_requester *req, struct sroce_rtx *rtx, u32 psn,
				 u32 count)
{
	sroce_psn_map_remove_range(&rtx->map, psn, count);
	/* An empty generation must not count as lost. A long READ has PSNs beyond the map. */
	if (sroce_requester_forward(req, rtx->last_psn) < SROCE_PSN_MAP_SPAN &&
	    !sroce_psn_map_count(&rtx->map, 0, SROCE_PSN_MAP_SPAN))
		clear_generation(rtx);
}

/**
 * sroce_rtx_forget() - these PSNs are not on their way any more
 * @req: the requester
 * @psn: the first PSN
 * @count: how many
 */
void sroce_rtx_forget(struct sroce_requester *req, u32 psn, u32 count)
{
	forget_in_generation(req, &req->sb.rtx[0], psn, count);
	forget_in_generation(req, &req->sb.rtx[1], psn, count);
	age_newest(&req->sb);
}

/*
 * Is nothing of a generation on its way when everything is sent again from @psn on? So it is if it
 * begins there, or if its last PSN lies behind unacked_psn. A standard peer responds in order: if
 * @psn was sent after these retransmissions, and has got an RNR NAK, they are lost, too.
 */
static bool rtx_ends_at(const struct sroce_requester *req, const struct sroce_rtx *rtx, u32 psn)
{
	u32 at = sroce_requester_forward(req, psn);

	return !at || sroce_requester_forward(req, rtx->last_psn) >= SROCE_PSN_SPAN ||
	       (!sroce_requester_is_selective(req) &&
		sroce_requester_forward(req, rtx->end_psn) <= at);
}

/**
 * sroce_rtx_restart() - everything is sent again from a PSN on
 * @req: the requester
 * @psn: the PSN
 *
 * Responses to earlier READs that were requested again may still be on their way.
 */
void sroce_rtx_restart(struct sroce_requester *req, u32 psn)
{
	u32 at = sroce_requester_forward(req, psn), i;

	for (i = 0; i < 2; i++) {
		struct sroce_rtx *rtx = &req->sb.rtx[i];

		if (rtx_ends_at(req, rtx, psn))
			clear_generation(rtx);
		if (sroce_requester_forward(req, rtx->last_psn) >= at)
			rtx->last_psn = psn_add(psn, SROCE_PSN_MASK);
		/* The next packet is that with @psn. */
		if (sroce_requester_forward(req, rtx->end_psn) > at)
			rtx->end_psn = psn;
	}
	sroce_rtx_forget(req, psn, SROCE_PSN_MAP_SPAN - min(at, SROCE_PSN_MAP_SPAN));
	if (sroce_requester_forward(req, req->sb.response_time.psn) >= at)
		req->sb.response_time.timing = false;
}

/**
 * sroce_rtx_expire() - retransmissions in the old generation that are lost become holes again
 * @req: the requester
 * @now_ns: monotonic time
 */
void sroce_rtx_expire(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	struct sroce_rtx *old = &sb->rtx[!sb->newest];

	if (old->any && rtx_is_lost(req, old, now_ns)) {
		clear_generation(old);
		sb->rtx_backoff = min(sb->rtx_backoff + 1, MAX_RTX_BACKOFF);
	}
	age_newest(sb);
}

/* How long the response to a retransmitted READ request may take. */
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

/**
 * sroce_rtx_sample_response_time() - a response has come: learn from it if it is being timed
 * @req: the requester
 * @now_ns: monotonic time
 *
 * Karn's rule would leave no samples here: if the wait is too short, every response that is
 * timed was requested again. So measure from the first request. If that request was lost, the
 * sample includes the wait for it, and with every fifth packet lost the waits would grow without
 * end: cap such a sample. A response within a round trip belongs to an earlier request.
 */
void sroce_rtx_sample_response_time(struct sroce_requester *req, u64 now_ns)
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

static void mark_rtx(struct sroce_requester *req, u32 psn, u32 count, u64 wait_ns, u64 now_ns)
{
	u32 at = sroce_requester_forward(req, psn), last_psn;
	struct sroce_rtx *newest;

	sroce_rtx_expire(req, now_ns);
	/* A probe may lie beyond the map. sroce_rtx_advance() adds the end of a long READ. */
	if (at >= SROCE_PSN_MAP_SPAN)
		return;
	newest = &req->sb.rtx[req->sb.newest];
	sroce_psn_map_add_range(&newest->map, psn, min(count, SROCE_PSN_MAP_SPAN - at));
	if (!newest->any)
		newest->since_ns = now_ns;
	last_psn = psn_add(psn, count - 1);
	if (!newest->any || psn_before(newest->last_psn, last_psn))
		newest->last_psn = last_psn;
	newest->any = true;
	newest->until_ns = now_ns + wait_ns;
	newest->end_psn = req->next_psn;
}

/**
 * sroce_rtx_mark() - SEND or WRITE packets have been retransmitted
 * @req: the requester
 * @psn: the first PSN
 * @count: how many
 * @now_ns: monotonic time
 */
void sroce_rtx_mark(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns)
{
	mark_rtx(req, psn, count, sroce_rtt_rtx_ns(&req->rtt), now_ns);
}

static bool has_unplaced(const struct sroce_scoreboard *sb, u32 psn, u32 count)
{
	u32 run = (sb->unplaced_end_psn - sb->unplaced_psn) & SROCE_PSN_MASK;

	return run && (((sb->unplaced_psn - psn) & SROCE_PSN_MASK) < count ||
		       ((psn - sb->unplaced_psn) & SROCE_PSN_MASK) < run);
}

/**
 * sroce_rtx_mark_read() - responses have been requested again
 * @req: the requester
 * @psn: the first PSN
 * @count: how many
 * @now_ns: monotonic time
 */
void sroce_rtx_mark_read(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns)
{
	mark_rtx(req, psn, count, response_wait_ns(req), now_ns);
	req->sb.rtx[req->sb.newest].unplaced |= has_unplaced(&req->sb, psn, count);
	time_response(req, psn, count, now_ns);
}

static void advance_generation(const struct sroce_requester *req, struct sroce_rtx *rtx, u32 count)
{
	u32 last;

	if (!rtx->any)
		return;
	last = sroce_requester_forward(req, rtx->last_psn);
	sroce_psn_map_remove_range(&rtx->map, req->unacked_psn, count);
	if (last < SROCE_PSN_MAP_SPAN || last >= SROCE_PSN_SPAN)
		return;
	sroce_psn_map_add_range(&rtx->map, psn_add(req->unacked_psn, SROCE_PSN_MAP_SPAN),
				min(last + 1 - SROCE_PSN_MAP_SPAN, count));
}

/**
 * sroce_rtx_advance() - the maps move on
 * @req: the requester, before unacked_psn moves
 * @count: by how many PSNs it will move
 *
 * A retransmitted READ may be longer than the map, which now reaches further.
 */
void sroce_rtx_advance(struct sroce_requester *req, u32 count)
{
	advance_generation(req, &req->sb.rtx[0], count);
	advance_generation(req, &req->sb.rtx[1], count);
}

/**
 * sroce_rtx_responded() - a response has come: if its READ was requested again, more follow
 * @req: the requester
 * @psn: of the response
 * @now_ns: monotonic time
 */
void sroce_rtx_responded(struct sroce_requester *req, u32 psn, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 i;

	for (i = 0; i < 2; i++)
		if (sb->rtx[i].any && psn_map_has(&sb->rtx[i].map, psn)) {
			sb->rtx[i].until_ns = now_ns + response_wait_ns(req);
			sb->rtx_backoff = 0;
		}
}

/**
 * sroce_rtx_note_reordering() - a packet has arrived that later ones have overtaken
 * @req: the requester
 * @psn: the PSN, which is done only now
 * @top_psn: one past the newest that is done
 * @now_ns: monotonic time
 *
 * If it was not retransmitted, or too recently for this to be the effect, it was late: the path
 * reorders by that much. If the retransmission is old enough, the packet had been lost, and the
 * path may reorder less than was thought. In between nothing can be said.
 */
void sroce_rtx_note_reordering(struct sroce_requester *req, u32 psn, u32 top_psn, u64 now_ns)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 by = sroce_requester_forward(req, top_psn) - sroce_requester_forward(req, psn);
	u64 recently_ns = now_ns + sroce_rtt_rtx_ns(&req->rtt) - req->rtt.min_ns;
	u32 i;

	for (i = 0; i < 2; i++) {
		const struct sroce_rtx *rtx = &sb->rtx[i];

		if (!rtx->any || !psn_map_has(&rtx->map, psn))
			continue;
		if (rtx->until_ns <= recently_ns && !rtx->unplaced)
			sb->reordering -= (sb->reordering + 15) / 16;
		if (sroce_elapsed_ns(now_ns, rtx->since_ns) >= req->rtt.min_ns)
			return;
	}
	/* A packet late by more than a round trip was retransmitted, and rtx forgot that. */
	if (by > sb->reordering && by <= max(req->rtt.packets, REORDER_ROUND_PACKETS))
		sb->reordering = min(by, REORDER_MAX_PACKETS);
}
