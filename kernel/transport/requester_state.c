// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of a requester, which follows that of its QP; its timeouts; and what tools show of it.
 */
#include "transport/psn.h"
#include "transport/requester_internal.h"
#include "transport/requester_state.h"
#include "transport/scoreboard.h"
#include "transport/tlp.h"

/**
 * sroce_requester_start_psn() - set the PSN of the first packet (sq_psn)
 * @req: the requester, nothing posted
 * @psn: 24 bits
 */
void sroce_requester_start_psn(struct sroce_requester *req, u32 psn)
{
	psn &= SROCE_PSN_MASK;
	req->post_psn = psn;
	req->next_psn = psn;
	req->sent_psn = psn;
	req->unacked_psn = psn;
	req->sent = req->acked;
	sroce_scoreboard_restart(req, psn);
}

/**
 * sroce_requester_set_state() - follow the QP's state
 * @req: the requester
 * @state: new state
 */
void sroce_requester_set_state(struct sroce_requester *req, enum sroce_sq_state state)
{
	if (state == SROCE_SQ_ERROR) {
		sroce_requester_fail(req, req->posted, SROCE_WC_WR_FLUSH_ERR);
		return;
	}
	if (state == SROCE_SQ_READY) {
		sroce_requester_reset_retries(req);
		sroce_window_start(&req->window, req->attr.window_packets);
		req->rd_limit = req->attr.max_rd_atomic;
	}
	/* SQE to RTS: the PSNs of what was flushed are skipped. */
	if (state == SROCE_SQ_READY && req->state == SROCE_SQ_ERROR)
		sroce_requester_start_psn(req, req->post_psn);
	req->state = state;
	if (state == SROCE_SQ_DRAINING)
		sroce_tlp_request_ack(req, req->next_psn);
}

/**
 * sroce_requester_is_drained() - are all messages finished that were begun?
 * @req: the requester
 *
 * Return: true in DRAINING when no message is under way, so that IB_EVENT_SQ_DRAINED is due;
 * false in every other state.
 */
bool sroce_requester_is_drained(const struct sroce_requester *req)
{
	if (req->state != SROCE_SQ_DRAINING || req->unacked_psn != req->sent_psn)
		return false;
	return req->acked == req->posted ||
	       sroce_requester_wqe(req, req->acked)->first_psn == req->unacked_psn;
}

/**
 * sroce_requester_timeout() - the end of an RNR wait, or a timer of tlp.c
 * @req: the requester
 * @now_ns: monotonic time; calls before the deadline do nothing
 *
 * Return: SROCE_REQ_EV_*, 0 for none.
 */
u32 sroce_requester_timeout(struct sroce_requester *req, u64 now_ns)
{
	if (now_ns < sroce_requester_deadline(req))
		return 0;
	if (!req->rnr_waiting)
		return sroce_tlp_timeout(req, now_ns);
	req->rnr_waiting = false;
	return 0;
}

/**
 * sroce_requester_get_stats() - what tools show of a requester
 * @req: the requester
 * @stats: filled in
 */
void sroce_requester_get_stats(const struct sroce_requester *req,
			       struct sroce_requester_stats *stats)
{
	*stats = (struct sroce_requester_stats){
		.selective = req->sb.mode,
		.unacked_psn = req->unacked_psn,
		.sent_psn = req->sent_psn,
		.window_packets = req->window.packets,
		.inflight_psns = sroce_requester_forward(req, req->sent_psn),
		.retransmits = req->retransmits,
		.timeouts = req->timeouts,
		.probes = req->probe.sent_count,
		.rtt = req->rtt,
	};
}
