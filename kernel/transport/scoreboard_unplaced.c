// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responses that have come and could not be placed, because pages of the buffer were not present.
 *
 * No later response needs to show that they are missing: they are holes at once, until they have
 * been requested again. They were not lost on the way, so they are no sign of congestion, and say
 * nothing about those before them. The scoreboard keeps one run of them. If another one, apart from
 * the run, cannot be placed either, all that is missing up to it counts as lost.
 */
#include <linux/minmax.h>

#include "transport/completer.h"
#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/scoreboard.h"

static bool is_requested_again(const struct sroce_scoreboard *sb, u32 psn)
{
	return psn_map_has(&sb->rtx[0].map, psn) || psn_map_has(&sb->rtx[1].map, psn);
}

/*
 * Will the response come once more, because an earlier one of the same request has been requested
 * again? A standard peer sends all from there on. From a selective peer each comes by itself.
 */
static bool comes_with_another(const struct sroce_requester *req, const struct sroce_ack_plan *plan)
{
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 earlier = min((plan->response_psn - wqe->first_psn) & SROCE_PSN_MASK,
			  sroce_requester_forward(req, plan->response_psn));
	u32 psn = psn_add(plan->response_psn, -earlier);
	u32 done = sroce_psn_map_leading_present(&req->sb.done, psn, earlier);

	return !sroce_requester_is_selective(req) && done < earlier &&
	       is_requested_again(&req->sb, psn_add(psn, done));
}

/* These responses have come, so nothing is on its way any more. Request them again. */
static void forget_rtx(const struct sroce_requester *req, struct sroce_rtx *rtx, u32 psn, u32 count)
{
	sroce_psn_map_remove_range(&rtx->map, psn, count);
	/* An empty generation must not count as lost. A long READ has PSNs beyond the map. */
	if (sroce_requester_forward(req, rtx->last_psn) < SROCE_PSN_MAP_SPAN &&
	    !sroce_psn_map_count(&rtx->map, 0, SROCE_PSN_MAP_SPAN))
		rtx->any = false;
}

/**
 * sroce_scoreboard_unplaced() - responses have come and could not be placed
 * @req: the requester, which has applied the acknowledgement in them
 * @plan: of the responses; none of them is done
 */
void sroce_scoreboard_unplaced(struct sroce_requester *req, const struct sroce_ack_plan *plan)
{
	struct sroce_scoreboard *sb = &req->sb;
	u32 psn = plan->response_psn, end_psn = psn_add(psn, plan->count);

	/* The peer has responded in time. The page fault is not part of its response time. */
	if (((sb->response_time.psn - psn) & SROCE_PSN_MASK) < plan->count)
		sb->response_time.timing = false;
	if (comes_with_another(req, plan))
		return;
	forget_rtx(req, &sb->rtx[0], psn, plan->count);
	forget_rtx(req, &sb->rtx[1], psn, plan->count);
	/* The other generation becomes the old one. */
	if (!sb->rtx[!sb->newest].any && sb->rtx[sb->newest].any)
		sb->newest = !sb->newest;
	if (sb->unplaced_psn == sb->unplaced_end_psn) {
		sb->unplaced_psn = psn;
		sb->unplaced_end_psn = psn;
	}
	if (psn == sb->unplaced_end_psn)
		sb->unplaced_end_psn = end_psn;
	else if (end_psn == sb->unplaced_psn)
		sb->unplaced_psn = psn;
	else if (!sroce_requester_is_unplaced(req, psn) &&
		 sroce_requester_forward(req, end_psn) >
			 sroce_requester_forward(req, sb->lost_response_psn))
		sb->lost_response_psn = end_psn;
}

/**
 * sroce_scoreboard_unplaced_requested() - responses have been requested again
 * @req: the requester
 * @psn: the first PSN
 * @count: how many; from a standard peer, to the end of the READ
 */
void sroce_scoreboard_unplaced_requested(struct sroce_requester *req, u32 psn, u32 count)
{
	struct sroce_scoreboard *sb = &req->sb;

	if (((sb->unplaced_psn - psn) & SROCE_PSN_MASK) < count)
		sb->unplaced_psn = sroce_requester_is_unplaced(req, psn_add(psn, count)) ?
				   psn_add(psn, count) : sb->unplaced_end_psn;
}

/**
 * sroce_scoreboard_only_unplaced() - does a hole have no response that was lost?
 * @req: the requester
 * @psn: where the hole begins
 *
 * Return: whether all responses from there on that are known to be missing could not be placed.
 */
bool sroce_scoreboard_only_unplaced(const struct sroce_requester *req, u32 psn)
{
	const struct sroce_scoreboard *sb = &req->sb;
	u32 end = sroce_requester_forward(req, sb->unplaced_end_psn);
	u32 lost = sroce_requester_forward(req, sb->lost_response_psn);

	return sroce_requester_is_unplaced(req, psn) &&
	       (lost <= end || sroce_psn_map_count(&sb->done, sb->unplaced_end_psn, lost - end) ==
			       lost - end);
}
