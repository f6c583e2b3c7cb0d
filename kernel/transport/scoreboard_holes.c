// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The holes of the scoreboard: which PSNs are lost and not retransmitted yet. Queries only; the
 * state is explained in scoreboard.c.
 */
#include <linux/minmax.h>

#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/scoreboard.h"

/**
 * sroce_scoreboard_missing() - how much of a READ is missing in one piece
 * @req: the requester
 * @wqe: the READ (or atomic)
 * @psn: a PSN of it without a response
 *
 * Responses that no other has overtaken may be on their way. They count as missing only if the
 * request of the READ is lost, or for a probe. From a standard peer a READ can only be requested
 * to its end.
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
	u32 missing;

	if (!sroce_requester_is_selective(req))
		return left;
	if (!req->probe.due && sroce_requester_forward(req, psn) < lost)
		left = min(left, lost - sroce_requester_forward(req, psn));
	else if (!req->probe.due && sroce_requester_is_unplaced(req, psn))
		left = min(left, (req->sb.unplaced_end_psn - psn) & SROCE_PSN_MASK);
	missing = sroce_psn_map_leading_absent(&req->sb.done, psn, min(left, span));

	/* The map does not reach further: nothing beyond it has arrived. */
	return missing == span ? left : missing;
}

/**
 * sroce_scoreboard_to_request() - how much of a READ to request again in one piece
 * @req: the requester
 * @wqe: the READ (or atomic)
 * @psn: a PSN of it that is a hole, or that a probe requests
 *
 * Return: PSNs that are missing from @psn on, to the next one that has been requested again; for a
 *         probe and for a READ that the peer has not executed, all that are missing.
 */
u32 sroce_scoreboard_to_request(const struct sroce_requester *req,
				const struct sroce_send_wqe *wqe, u32 psn)
{
	u32 count = sroce_scoreboard_missing(req, wqe, psn), most, absent, i;

	/*
	 * A probe, and any request to a standard peer, asks for all that is missing. Part of a
	 * request that the peer has not executed would be another message.
	 */
	if (req->probe.due || !sroce_requester_is_selective(req) ||
	    !psn_before(psn, req->sb.executed_psn))
		return count;
	/* A hole lies in the span. */
	most = min(count, SROCE_PSN_MAP_SPAN - sroce_requester_forward(req, psn));
	for (i = 0; i < 2; i++) {
		absent = sroce_psn_map_leading_absent(&req->sb.rtx[i].map, psn, most);
		if (absent < most) {
			most = absent;
			count = absent;
		}
	}
	return count;
}

enum hole_kind {
	LOST_REQUEST,
	LOST_RESPONSE,
	UNPLACED_RESPONSE,
};

/* The PSNs of a word of the maps that need a retransmission if they are lost. */
static u64 holes_in_word(const struct sroce_scoreboard *sb, enum hole_kind kind, u32 psn)
{
	u64 present = psn_map_word(&sb->done, psn) | psn_map_word(&sb->rtx[0].map, psn) |
		      psn_map_word(&sb->rtx[1].map, psn);

	if (kind == LOST_REQUEST)
		present |= psn_map_word(&sb->read_queued, psn);
	return ~present;
}

/* The first hole of a kind, up to the end of its word in the map. */
static bool find_hole(const struct sroce_requester *req, enum hole_kind kind, u32 *psn, u32 *count)
{
	const struct sroce_scoreboard *sb = &req->sb;
	u32 from = req->unacked_psn, to = sb->lost_response_psn, at, end;
	u64 bits, hole;

	if (kind == LOST_REQUEST) {
		from = sb->executed_psn;
		to = sb->lost_psn;
	} else if (kind == UNPLACED_RESPONSE) {
		from = sb->unplaced_psn;
		to = sb->unplaced_end_psn;
	}
	at = sroce_requester_forward(req, from);
	end = min3(sroce_requester_forward(req, to), SROCE_PSN_MAP_SPAN,
		   sroce_requester_forward(req, req->next_psn));
	while (at < end) {
		*psn = psn_add(req->unacked_psn, at);
		at += psn_map_piece(*psn, end - at, &bits);
		hole = bits & holes_in_word(sb, kind, *psn);
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
 * sroce_scoreboard_find_hole() - the oldest hole to be filled
 * @req: the requester
 * @psn: set to its first PSN
 * @count: set to how many PSNs it has; they may belong to several requests
 *
 * Return: whether there is one.
 */
bool sroce_scoreboard_find_hole(const struct sroce_requester *req, u32 *psn, u32 *count)
{
	if (find_hole(req, LOST_RESPONSE, psn, count) ||
	    find_hole(req, UNPLACED_RESPONSE, psn, count))
		return true;
	return sroce_requester_is_selective(req) && find_hole(req, LOST_REQUEST, psn, count);
}

/**
 * sroce_scoreboard_first_unplaced() - the first response that could not be placed and is a hole
 * @req: the requester
 *
 * Return: its PSN, or the end of the run.
 */
u32 sroce_scoreboard_first_unplaced(const struct sroce_requester *req)
{
	u32 psn, count;

	return find_hole(req, UNPLACED_RESPONSE, &psn, &count) ? psn : req->sb.unplaced_end_psn;
}

/* Holes among @count PSNs from @psn on; stops when there are @most. */
static u32 count_holes(const struct sroce_scoreboard *sb, enum hole_kind kind, u32 psn, u32 count,
		       u32 most)
{
	u32 found = 0, piece;
	u64 bits;

	for (; count && found < most; count -= piece, psn += piece) {
		piece = psn_map_piece(psn, count, &bits);
		for (bits &= holes_in_word(sb, kind, psn); bits; bits &= bits - 1)
			found++;
	}
	return found;
}

/**
 * sroce_scoreboard_count_holes() - how many SEND and WRITE packets are lost and not in flight again
 * @req: the requester
 * @most: where to stop
 *
 * Return: how many; if there are more than @most, any number from @most on.
 */
u32 sroce_scoreboard_count_holes(const struct sroce_requester *req, u32 most)
{
	const struct sroce_scoreboard *sb = &req->sb;
	u32 at = sroce_requester_forward(req, sb->executed_psn), found = 0, index;
	u32 end = min3(sroce_requester_forward(req, sb->lost_psn), SROCE_PSN_MAP_SPAN,
		       sroce_requester_forward(req, req->next_psn));

	if (at >= end)
		return 0;
	if (!req->rd_inflight)
		return count_holes(sb, LOST_REQUEST, sb->executed_psn, end - at, most);
	/* The PSNs of READs do not count. */
	if (!sroce_requester_locate(req, sb->executed_psn, &index))
		return 0;
	for (; at < end && found < most; index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 to = min(sroce_requester_forward(req, wqe_end_psn(wqe)), end);

		if (!wqe->psn_count)
			continue;
		if (wqe_is_data(wqe))
			found += count_holes(sb, LOST_REQUEST, psn_add(req->unacked_psn, at),
					     to - at, most - found);
		at = to;
	}
	return found;
}

/**
 * sroce_scoreboard_only_unplaced() - was no response lost of those that are requested again?
 * @req: the requester
 * @psn: where the hole begins
 * @count: how many are requested
 *
 * Return: whether all holes among them could not be placed.
 */
bool sroce_scoreboard_only_unplaced(const struct sroce_requester *req, u32 psn, u32 count)
{
	const struct sroce_scoreboard *sb = &req->sb;
	u32 end = sroce_requester_forward(req, sb->unplaced_end_psn);
	u32 lost = min3(sroce_requester_forward(req, sb->lost_response_psn), SROCE_PSN_MAP_SPAN,
			sroce_requester_forward(req, psn) + count);

	return sroce_requester_is_unplaced(req, psn) &&
	       (lost <= end ||
		!count_holes(sb, LOST_RESPONSE, sb->unplaced_end_psn, lost - end, 1));
}
