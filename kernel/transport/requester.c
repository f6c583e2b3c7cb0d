// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send queue of a QP: what is posted, sent, acknowledged and completed.
 *
 * The state of the conversation is little more than three PSNs: unacked_psn (the oldest one not
 * acknowledged), next_psn (the next one to send) and sent_psn (one past the newest ever sent).
 * Requests that a standard peer has not executed are sent again by a rewind (go-back-N): next_psn
 * moves back to the first of them, and the ordinary path sends them again.
 *
 * Distances are counted forward from unacked_psn, so that they are right even for a READ of 2^23
 * responses, the longest there is.
 *
 * This file knows the queue only. The other files of the requester call it: scoreboard.c (what has
 * arrived, what is lost), tlp.c (timers, going back), requester_plan.c (which packets come next),
 * completer.c (what responses mean) and requester_state.c (the QP's state).
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/cc.h"
#include "transport/psn.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/rtt.h"

/**
 * sroce_requester_init() - set up a send queue in RESET
 * @req: the requester
 * @service: of enum sroce_service
 * @ring: storage, owned by the caller, at least @slots * @stride bytes
 * @stride: bytes of a slot: struct sroce_send_wqe and its SGEs or inline data
 * @slots: a power of two
 */
void sroce_requester_init(struct sroce_requester *req, enum sroce_service service, void *ring,
			  u32 stride, u32 slots)
{
	memset(req, 0, sizeof(*req));
	req->service = service;
	req->ring = ring;
	req->stride = stride;
	req->ring_mask = slots - 1;
	sroce_requester_stop_timers(req);
}

/**
 * sroce_requester_reset() - the QP moves to RESET: keep only the storage
 * @req: the requester
 */
void sroce_requester_reset(struct sroce_requester *req)
{
	sroce_requester_init(req, req->service, req->ring, req->stride, req->ring_mask + 1);
}

/**
 * sroce_requester_set_storage() - exchange the storage of the WQEs for a larger one
 * @req: the requester
 * @ring: the new storage, of @slots slots
 * @slots: a power of two, not less than are in use
 *
 * WQEs that have not been retired are copied; pointers to them become invalid.
 */
void sroce_requester_set_storage(struct sroce_requester *req, void *ring, u32 slots)
{
	u32 index;

	for (index = req->retired; index != req->posted; index++)
		memcpy((u8 *)ring + (size_t)(index & (slots - 1)) * req->stride,
		       sroce_requester_wqe(req, index), req->stride);
	req->ring = ring;
	req->ring_mask = slots - 1;
}

/**
 * sroce_requester_locate() - the WQE that a packet belongs to
 * @req: the requester
 * @psn: of a packet between unacked_psn and sent_psn
 * @index: set to its position
 *
 * A binary search, because a peer decides how often it is needed. Only WQEs of which something was
 * sent are searched: the PSNs of all that are posted may go round the circle.
 *
 * Return: whether there is one.
 */
bool sroce_requester_locate(const struct sroce_requester *req, u32 psn, u32 *index)
{
	u32 target = sroce_requester_forward(req, psn), end = req->sent, middle;
	const struct sroce_send_wqe *wqe;

	*index = req->acked;
	if (*index == end)
		return false;
	while (end - *index > 1) {
		middle = *index + (end - *index) / 2;
		wqe = sroce_requester_wqe(req, middle);
		if (sroce_requester_forward(req, wqe->first_psn) <= target)
			*index = middle;
		else
			end = middle;
	}
	wqe = sroce_requester_wqe(req, *index);
	return ((psn - wqe->first_psn) & SROCE_PSN_MASK) < wqe->psn_count;
}

/**
 * sroce_requester_move_cursor() - continue to send at another PSN
 * @req: the requester
 * @psn: between unacked_psn and sent_psn
 *
 * Only the packets between the old and the new PSN are counted, because a peer decides how often
 * this happens. It can make the cursor go back over a packet only once each time that it is sent.
 */
void sroce_requester_move_cursor(struct sroce_requester *req, u32 psn)
{
	u32 from = sroce_requester_forward(req, req->next_psn);
	u32 to = sroce_requester_forward(req, psn);
	u32 at = min(from, to), target = max(from, to), index = req->send;
	u32 data = 0, reads = 0;

	if (to < from && sroce_requester_locate(req, psn, &index))
		req->send = index;
	for (; at < target; index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 end = sroce_requester_forward(req, wqe_end_psn(wqe));

		if (!wqe->psn_count)
			continue;
		if (wqe_is_data(wqe))
			data += min(end, target) - at;
		else if (end <= target)
			reads++;
		at = end;
		if (end > target)
			break;
	}
	if (to > from)
		req->send = index;
	req->data_inflight += to < from ? -data : data;
	req->rd_inflight += to < from ? -reads : reads;
	req->next_psn = psn;
}

static u32 count_psns(const struct sroce_requester *req, const struct sroce_send_wqe *wqe)
{
	u32 mtu_bytes = req->attr.mtu_bytes;

	if (wqe_is_local(wqe->opcode) || wqe->status != SROCE_WC_SUCCESS)
		return 0;
	if (wqe_is_atomic(wqe->opcode) || wqe->length <= mtu_bytes || !mtu_bytes)
		return 1;
	return wqe->length / mtu_bytes + !!(wqe->length % mtu_bytes);
}

/**
 * sroce_requester_post() - post the WQE that was written to the next slot
 * @req: the requester; sroce_requester_room() must not be 0
 *
 * The slot at position @req->posted holds wr_id, opcode, flags, status, length,
 * SGEs and the operation's own fields; the engine sets the rest.
 */
void sroce_requester_post(struct sroce_requester *req)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->posted);

	/* It could never be sent, and must not wait forever. */
	if (wqe_is_rd_atomic(wqe->opcode) && !req->attr.max_rd_atomic &&
	    wqe->status == SROCE_WC_SUCCESS)
		wqe->status = SROCE_WC_LOC_QP_OP_ERR;
	wqe->executed = false;
	wqe->first_psn = req->post_psn;
	wqe->psn_count = count_psns(req, wqe);
	req->post_psn = psn_add(req->post_psn, wqe->psn_count);
	req->posted++;
}

/* The oldest WQE, a READ or atomic, has its response. After a rewind it is not in flight. */
static void complete_rd_atomic(struct sroce_requester *req)
{
	if (req->send != req->acked)
		req->rd_inflight--;
	req->rd_limit = min_t(u32, 2 * req->rd_limit, req->attr.max_rd_atomic);
}

/* One step of sroce_requester_advance(): at most to the end of the oldest WQE. */
static u32 advance_within(struct sroce_requester *req, const struct sroce_send_wqe *wqe, u32 count)
{
	u32 end = sroce_requester_forward(req, psn_add(wqe->first_psn, wqe->psn_count));
	u32 inflight = sroce_requester_forward(req, req->next_psn);
	u32 step = min(count, end);

	if (wqe_is_data(wqe)) {
		req->data_inflight -= min(step, inflight);
		sroce_window_acked(&req->window, step, req->attr.window_packets);
	}
	req->unacked_psn = psn_add(req->unacked_psn, step);
	if (inflight < step) {
		/* The ACK came after a rewind, before the packets were sent again. */
		req->next_psn = req->unacked_psn;
		req->send = req->acked;
	}
	if (step == end) {
		if (!wqe_is_data(wqe))
			complete_rd_atomic(req);
		req->acked++;
		if (req->send == req->acked - 1)
			req->send = req->acked;
	}
	return step;
}

/**
 * sroce_requester_sample_rtt() - take an RTT sample from an ACK
 * @req: the requester
 * @psn: the newest packet
 * @now_ns: monotonic time
 *
 * An upper bound of the RTT lets the window grow again, too. A QP that always has a READ in flight
 * gets nothing better.
 *
 * Return: the RTT sample, 0 for none.
 */
u32 sroce_requester_sample_rtt(struct sroce_requester *req, u32 psn, u64 now_ns)
{
	bool once = req->rtt.timing && !req->rtt.again;
	u32 rtt_ns = sroce_rtt_acked(&req->rtt, psn, now_ns);

	if (once && !req->rtt.timing)
		sroce_window_sample(&req->window);
	return rtt_ns;
}

/**
 * sroce_requester_report_acked() - tell congestion control and the window of an ACK
 * @req: the requester
 * @packets: how many
 * @rtt_ns: an RTT sample from them, 0 for none
 * @now_ns: monotonic time
 */
void sroce_requester_report_acked(struct sroce_requester *req, u32 packets, u32 rtt_ns, u64 now_ns)
{
	struct sroce_cc_ack ack = {
		.now_ns = now_ns,
		.packets = packets,
		.inflight_packets = req->data_inflight - min(req->data_inflight,
							     req->sb.done_data),
		.rtt_ns = rtt_ns,
		.min_rtt_ns = req->rtt.min_ns,
		.srtt_ns = req->rtt.srtt_ns,
	};

	if (!packets && !rtt_ns)
		return;
	/* A sample: the estimate does not need the correction of learn_pto_slack(). */
	if (rtt_ns) {
		req->probe.spurious = 0;
		req->probe.pto_slack_ns /= 2;
		if (!req->rtt.rough)
			req->kept_shift = 0;
		req->window.rtt_ns = rtt_ns;
	}
	if (sroce_rtt_count(&req->rtt, packets, now_ns))
		sroce_window_round(&req->window, ack.inflight_packets, req->rtt.srtt_ns,
				   req->attr.ack_timeout_ns, req->attr.window_packets);
	sroce_cc_acked(&req->cc, &ack);
}

/**
 * sroce_requester_advance() - move unacked_psn, and count the WQEs that this completes
 * @req: the requester
 * @unacked_psn: between the present one and sent_psn
 */
void sroce_requester_advance(struct sroce_requester *req, u32 unacked_psn)
{
	u32 left = sroce_requester_forward(req, unacked_psn);

	while (req->acked != req->posted) {
		struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->acked);

		if (wqe->executed) {
			if (req->send == req->acked)
				req->send++;
			req->acked++;
			continue;
		}
		if (!left || !wqe->psn_count)
			break;
		left -= advance_within(req, wqe, left);
	}
}

/**
 * sroce_requester_fail() - the send queue goes to error
 * @req: the requester
 * @index: position of the WQE at fault; @req->posted when none is
 * @status: its status; all other WQEs left are flushed
 */
void sroce_requester_fail(struct sroce_requester *req, u32 index, enum sroce_wc_status status)
{
	if (req->state == SROCE_SQ_ERROR)
		return;
	req->state = SROCE_SQ_ERROR;
	req->error_status = status;
	req->error_index = index;
	req->rnr_waiting = false;
	req->probe.due = false;
	sroce_requester_stop_timers(req);
}

static enum sroce_wc_status error_status_of(const struct sroce_requester *req, u32 index)
{
	if (index == req->error_index && req->error_status != SROCE_WC_SUCCESS)
		return req->error_status;
	return SROCE_WC_WR_FLUSH_ERR;
}

/**
 * sroce_requester_next_completion() - pull the next completion, in posting order
 * @req: the requester
 * @wc: filled in when true is returned
 *
 * Frees the slots of unsignaled requests on the way. In error all WQEs left complete, signaled or
 * not.
 *
 * Return: whether there is a completion.
 */
bool sroce_requester_next_completion(struct sroce_requester *req, struct sroce_completion *wc)
{
	while (req->retired != req->posted) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->retired);
		enum sroce_wc_status status = SROCE_WC_SUCCESS;

		if (req->retired == req->acked) {
			if (req->state != SROCE_SQ_ERROR)
				return false;
			status = error_status_of(req, req->retired);
			req->acked++;
			if (req->send == req->retired)
				req->send = req->acked;
		}
		req->retired++;
		if (status == SROCE_WC_SUCCESS && !(wqe->flags & SROCE_SEND_SIGNALED))
			continue;
		memset(wc, 0, sizeof(*wc));
		wc->wr_id = wqe->wr_id;
		wc->status = status;
		wc->opcode = sroce_wqe_wc_opcode(wqe->opcode);
		wc->byte_len = wqe->length;
		return true;
	}
	return false;
}
