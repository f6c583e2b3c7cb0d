// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responses that have come and could not be placed, because pages of the buffer were not present.
 *
 * No later response needs to show that they are missing: they are holes at once, until they have
 * been requested again. They were not lost on the way, so they are no sign of congestion, and say
 * nothing about those before them. The scoreboard keeps one run of them. If another one cannot be
 * placed either, and something is missing between it and the run, all of that counts as lost.
 */
#include <linux/minmax.h>

#include "transport/completer.h"
#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/rtx.h"
#include "transport/scoreboard.h"

/* Is any of @count PSNs from @psn on missing, and requested again? */
static bool is_any_requested_again(const struct sroce_scoreboard *sb, u32 psn, u32 count)
{
	u32 piece;
	u64 bits;

	for (; count; count -= piece, psn += piece) {
		piece = psn_map_piece(psn, count, &bits);
		if (bits & ~psn_map_word(&sb->done, psn) &
		    (psn_map_word(&sb->rtx[0].map, psn) | psn_map_word(&sb->rtx[1].map, psn)))
			return true;
	}
	return false;
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

	return !sroce_requester_is_selective(req) &&
	       is_any_requested_again(&req->sb, psn_add(plan->response_psn, -earlier), earlier);
}

static bool all_done(const struct sroce_scoreboard *sb, u32 psn, u32 end_psn)
{
	u32 count = (end_psn - psn) & SROCE_PSN_MASK;

	return sroce_psn_map_count(&sb->done, psn, count) == count;
}

/* Is nothing missing between the run of responses that could not be placed and these? */
static bool touches_run(const struct sroce_scoreboard *sb, u32 psn, u32 end_psn)
{
	if (psn_before(sb->unplaced_end_psn, psn))
		return all_done(sb, sb->unplaced_end_psn, psn);
	return !psn_before(end_psn, sb->unplaced_psn) || all_done(sb, end_psn, sb->unplaced_psn);
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
	bool run_is_over = sroce_scoreboard_first_unplaced(req) == sb->unplaced_end_psn;

	/* The peer has responded in time. The page fault is not part of its response time. */
	if (((sb->response_time.psn - psn) & SROCE_PSN_MASK) < plan->count)
		sb->response_time.timing = false;
	if (comes_with_another(req, plan))
		return;
	/* They have come, so they are not on their way any more. Request them again. */
	sroce_rtx_forget(req, psn, plan->count);
	if (run_is_over) {
		sb->unplaced_psn = psn;
		sb->unplaced_end_psn = end_psn;
	} else if (touches_run(sb, psn, end_psn)) {
		if (psn_before(psn, sb->unplaced_psn))
			sb->unplaced_psn = psn;
		psn_raise(&sb->unplaced_end_psn, end_psn);
	} else {
		psn_raise(&sb->lost_response_psn, end_psn);
	}
}
