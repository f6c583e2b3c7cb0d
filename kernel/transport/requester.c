// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The sending half of a QP: what is posted, acknowledged, missed and completed.
 *
 * The state of the conversation is little more than three PSNs: unacked_psn
 * (the oldest one not acknowledged), next_psn (the next one to send) and
 * sent_psn (one past the newest ever sent). Requests that a standard peer has
 * not executed are sent again by going back: next_psn moves to the first of them, and
 * the ordinary path sends again.
 *
 * Distances are counted forward from unacked_psn, so that they stay right for
 * a READ of 2^23 responses, the longest there is.
 *
 * Which packets come next is in requester_plan.c, what answers mean in completer.c, what
 * has arrived and what is to be retransmitted in scoreboard.c.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/psn.h"
#include "transport/requester.h"

/* What is sent at first after a retry. */
#define RETRY_PACKETS	16u
/* Expiries in a row that double the ACK timeout. */
#define MAX_TIMEOUT_SHIFT	2
/* How many probes in a row are counted, and the longest that patience gets. */
#define MAX_PTO_BACKOFF		20
#define MAX_PTO_NS		1000000000ull
/* The longest that is added to it for answers that were late and not lost. */
#define MAX_PTO_SLACK_NS		100000000ull
/* So many questions without an answer are not one lost packet. */
#define MANY_ACK_REQUESTS		3
/* Probes, each twice as patient, before the first answer of all is given up: 30 ms. */
#define FIRST_PROBES		4
/* Probes in a row answered sooner than a round trip: the next says how long one is. */
#define SPURIOUS_PROBES	3
/* Probes in a row after which nothing that the peer said it holds is believed. */
#define AMBIGUOUS_PROBES		5

static u64 deadline_after(const struct sroce_requester *req, u64 now_ns)
{
	return req->attr.ack_timeout_ns ?
	       now_ns + (req->attr.ack_timeout_ns << req->timeout_shift) : SROCE_NEVER;
}

static void reset_retries(struct sroce_requester *req)
{
	req->retry_left = req->attr.retry_cnt;
	req->rnr_retry_left = req->attr.rnr_retry;
	req->timeout_shift = 0;
}

/**
 * sroce_requester_init() - set up a send queue in RESET
 * @req: the requester
 * @service: RC or UD
 * @ring: storage, owned by the shell, at least @slots * @stride bytes
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
	req->ack_deadline_ns = SROCE_NEVER;
	req->probe.deadline_ns = SROCE_NEVER;
}

/**
 * sroce_requester_reset() - forget everything but the storage: QP to RESET
 * @req: the requester
 */
void sroce_requester_reset(struct sroce_requester *req)
{
	sroce_requester_init(req, req->service, req->ring, req->stride, req->ring_mask + 1);
}

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
	sroce_scoreboard_restart(req, psn);
}

/**
 * sroce_requester_locate() - the WQE a PSN belongs to
 * @req: the requester
 * @psn: between unacked_psn and post_psn
 * @index: set to its position
 *
 * Return: whether there is one.
 */
bool sroce_requester_locate(const struct sroce_requester *req, u32 psn, u32 *index)
{
	for (*index = req->acked; *index != req->posted; ++*index) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, *index);

		if (((psn - wqe->first_psn) & SROCE_PSN_MASK) < wqe->psn_count)
			return true;
	}
	return false;
}

/**
 * sroce_requester_move_cursor() - go on sending at another place
 * @req: the requester
 * @psn: between unacked_psn and sent_psn
 *
 * What is in flight before it is counted afresh.
 */
void sroce_requester_move_cursor(struct sroce_requester *req, u32 psn)
{
	u32 target = sroce_requester_forward(req, psn), start = 0, index;

	req->data_inflight = 0;
	req->rd_inflight = 0;
	req->next_psn = psn;
	for (index = req->acked; index != req->posted; index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 end = start + wqe->psn_count;

		if (!wqe->psn_count) {
			if (!wqe->executed)
				break;
			continue;
		}
		if (index == req->acked)
			end = sroce_requester_forward(req, psn_add(wqe->first_psn, wqe->psn_count));
		if (wqe_is_data(wqe))
			req->data_inflight += min(target, end) - start;
		if (target < end)
			break;
		if (!wqe_is_data(wqe))
			req->rd_inflight++;
		start = end;
	}
	req->send = index;
}

/**
 * sroce_requester_rewind() - send everything again from a packet on
 * @req: the requester
 * @psn: between unacked_psn and sent_psn
 */
void sroce_requester_rewind(struct sroce_requester *req, u32 psn)
{
	sroce_requester_move_cursor(req, psn);
	sroce_scoreboard_restart(req, psn);
	req->since_ack_req = 0;
	req->rd_limit = 1;
	req->gone_back = true;
	req->rtt.timing = false;
	req->probe.sent = false;
	req->probe.unacked = false;
	req->probe.ambiguous = false;
	req->probe.due = false;
	/* An earlier READ or atomic is still to be answered. */
	if (psn != req->unacked_psn)
		return;
	req->ack_deadline_ns = SROCE_NEVER;
	req->probe.deadline_ns = SROCE_NEVER;
}

/**
 * sroce_requester_request_ack() - nothing follows what has been sent
 * @req: the requester
 * @end_psn: one past the last PSN that matters
 *
 * Packets before @end_psn are out that did not ask for an ACK, because more
 * were expected to follow at once; now they do not. Send the last one again,
 * to ask.
 */
void sroce_requester_request_ack(struct sroce_requester *req, u32 end_psn)
{
	u32 last_psn = psn_add(end_psn, SROCE_PSN_MASK), index;

	if (!req->since_ack_req || !psn_before(req->unacked_psn, end_psn))
		return;
	/* The responses of a READ acknowledge what went before it. */
	if (!sroce_requester_locate(req, last_psn, &index) ||
	    !wqe_is_data(sroce_requester_wqe(req, index)))
		return;
	sroce_requester_move_cursor(req, last_psn);
	req->since_ack_req = 0;
	/* The timer runs from the first packet in flight. */
	if (req->next_psn == req->unacked_psn) {
		req->ack_deadline_ns = SROCE_NEVER;
		req->probe.deadline_ns = SROCE_NEVER;
	}
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
		reset_retries(req);
		req->data_limit = req->attr.window_packets;
		req->rd_limit = req->attr.max_rd_atomic;
	}
	/* SQE to RTS: the PSNs of what was flushed are skipped. */
	if (state == SROCE_SQ_READY && req->state == SROCE_SQ_ERROR)
		sroce_requester_start_psn(req, req->post_psn);
	req->state = state;
	if (state == SROCE_SQ_DRAINING)
		sroce_requester_request_ack(req, req->next_psn);
}

/**
 * sroce_requester_is_drained() - has everything begun been finished?
 * @req: the requester
 *
 * Return: in DRAINING: true when no message is under way, so that
 * IB_EVENT_SQ_DRAINED is due; false in every other state.
 */
bool sroce_requester_is_drained(const struct sroce_requester *req)
{
	if (req->state != SROCE_SQ_DRAINING || req->unacked_psn != req->sent_psn)
		return false;
	return req->acked == req->posted ||
	       sroce_requester_wqe(req, req->acked)->first_psn == req->unacked_psn;
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
 * sroce_requester_post() - take over the WQE that was written to the next slot
 * @req: the requester; sroce_requester_room() must not be 0
 *
 * The slot at position @req->posted holds wr_id, opcode, flags, status, length,
 * SGEs and the operation's own fields; the engine sets the rest.
 */
void sroce_requester_post(struct sroce_requester *req)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->posted);

	/* It could never be sent, and must not wait for ever. */
	if (wqe_is_rd_atomic(wqe->opcode) && !req->attr.max_rd_atomic &&
	    wqe->status == SROCE_WC_SUCCESS)
		wqe->status = SROCE_WC_LOC_QP_OP_ERR;
	wqe->executed = false;
	wqe->first_psn = req->post_psn;
	wqe->psn_count = count_psns(req, wqe);
	req->post_psn = psn_add(req->post_psn, wqe->psn_count);
	req->posted++;
}

/* The oldest WQE, a READ or atomic, has its answer; it may have been asked for anew. */
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
		req->data_limit = min(req->data_limit + step, req->attr.window_packets);
	}
	req->unacked_psn = psn_add(req->unacked_psn, step);
	if (inflight < step) {
		/* Acknowledged after we had gone back to send it again. */
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
 * sroce_requester_acked() - packets have been answered
 * @req: the requester
 * @packets: how many
 * @rtt_ns: a round-trip time measured with them, 0 for none
 * @now_ns: monotonic time
 */
void sroce_requester_acked(struct sroce_requester *req, u32 packets, u32 rtt_ns, u64 now_ns)
{
	struct sroce_cc_ack ack = {
		.now_ns = now_ns,
		.bytes = packets * (req->attr.mtu_bytes + SROCE_CC_HEADER_BYTES),
		.packets = packets,
		.inflight_packets = req->data_inflight - min(req->data_inflight,
							     req->sb.done_data),
		.rtt_ns = rtt_ns,
		.min_rtt_ns = req->rtt.min_ns,
		.srtt_ns = req->rtt.srtt_ns,
	};

	if (!packets && !rtt_ns)
		return;
	/* What the round trip is thought to be is not from hearsay. */
	if (rtt_ns)
		req->probe.spurious = 0;
	sroce_rtt_count(&req->rtt, packets, now_ns);
	sroce_cc_acked(&req->cc, &ack);
}

/**
 * sroce_requester_advance() - everything before @unacked_psn is acknowledged
 * @req: the requester
 * @unacked_psn: between the present one and sent_psn
 * @now_ns: monotonic time
 */
void sroce_requester_advance(struct sroce_requester *req, u32 unacked_psn, u64 now_ns)
{
	u32 left = sroce_requester_forward(req, unacked_psn), count = left, rtt_ns;

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
	if (!count)
		return;
	reset_retries(req);
	req->gone_back = false;
	req->probe.due = false;
	rtt_ns = sroce_rtt_acked(&req->rtt, psn_add(unacked_psn, SROCE_PSN_MASK), now_ns);
	/* Answers were counted as they came; datagrams have none. */
	sroce_requester_acked(req, req->service == SROCE_SERVICE_UD ? count : 0, rtt_ns, now_ns);
	req->ack_deadline_ns = SROCE_NEVER;
	sroce_requester_progress(req, now_ns);
}

/**
 * sroce_requester_start_timer() - packets are out: the ACK timer runs
 * @req: the requester
 * @now_ns: monotonic time
 */
void sroce_requester_start_timer(struct sroce_requester *req, u64 now_ns)
{
	if (req->ack_deadline_ns == SROCE_NEVER)
		req->ack_deadline_ns = deadline_after(req, now_ns);
}

/*
 * Who has gone back because the peer said so knows that it is awake: only the
 * round trip counts.
 */
static u64 pto_ns(const struct sroce_requester *req)
{
	u64 wait_ns = req->gone_back ? sroce_rtt_rtx_ns(&req->rtt) :
				       sroce_rtt_probe_ns(&req->rtt);
	u8 shift = req->probe.pto_backoff;

	/*
	 * To a selective peer, which is sent one packet, every other probe doubles it: where a
	 * fifth is lost each way one of three has no answer, and in a thousand questions it would
	 * soon last for an ACK timeout. But a path may be longer than the first guess.
	 */
	if (req->rtt.srtt_ns && sroce_requester_is_selective(req))
		shift /= 2;
	return min((wait_ns + req->probe.pto_slack_ns) << shift, MAX_PTO_NS);
}

/**
 * sroce_requester_arm_probe() - from now on an answer is due
 * @req: the requester
 * @now_ns: monotonic time
 */
void sroce_requester_arm_probe(struct sroce_requester *req, u64 now_ns)
{
	sroce_requester_start_timer(req, now_ns);
	req->probe.ack_requests++;
	if (req->attr.adaptive && req->probe.deadline_ns == SROCE_NEVER)
		req->probe.deadline_ns = now_ns + pto_ns(req);
}

/*
 * An answer that comes sooner after a probe than a round trip was on its way: the
 * probe was not needed, and more patience would have spared it. One that was needed
 * takes some of that back. When it happens again and again the round trip is not what it was
 * thought to be.
 */
static void learn_pto_slack(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_probe *probe = &req->probe;
	u64 since_ns = sroce_elapsed_ns(now_ns, probe->at_ns);

	if (!probe->unacked) {
		probe->spurious_alone = 0;
		return;
	}
	probe->unacked = false;
	/* The last question is longer ago than the first guess: the path is long. */
	if (req->rtt.rough && since_ns >= sroce_rtt_probe_ns(&req->rtt))
		req->rtt.rough = false;
	if (since_ns >= req->rtt.min_ns) {
		probe->spurious = 0;
		probe->pto_slack_ns -= probe->pto_slack_ns / 4;
	} else if (probe->spurious < SPURIOUS_PROBES) {
		probe->spurious++;
		probe->pto_slack_ns = min(probe->pto_slack_ns + 2 * since_ns, MAX_PTO_SLACK_NS);
	} else {
		/* No chance any more: of READs behind others no longer time is believed. */
		probe->pto_slack_ns = 0;
		sroce_rtt_sample(&req->rtt, since_ns, now_ns);
	}
}

/**
 * sroce_requester_progress() - an answer told something
 * @req: the requester
 * @now_ns: monotonic time
 */
void sroce_requester_progress(struct sroce_requester *req, u64 now_ns)
{
	learn_pto_slack(req, now_ns);
	req->probe.pto_backoff = 0;
	req->probe.ack_requests = 0;
	req->probe.deadline_ns = SROCE_NEVER;
	/* What has not left yet cannot be answered. */
	now_ns = max(now_ns, req->cc.edt_ns);
	/* Who is paced may be long about asking: no answer is due before. */
	if (sroce_requester_forward(req, req->next_psn) > req->since_ack_req)
		sroce_requester_arm_probe(req, now_ns);
	else if (req->next_psn != req->unacked_psn)
		sroce_requester_start_timer(req, now_ns);
}

/**
 * sroce_requester_deadline() - when sroce_requester_timeout() wants to be called
 * @req: the requester
 *
 * Return: monotonic nanoseconds, or SROCE_NEVER.
 */
u64 sroce_requester_deadline(const struct sroce_requester *req)
{
	return req->rnr_waiting ? req->rnr_until_ns :
				  min(req->ack_deadline_ns, req->probe.deadline_ns);
}

/*
 * A standard peer has fallen silent: it may miss a request, so those that it has not executed
 * are sent again. Returns whether that asks; when it has executed one and still owes its
 * answer, that is to be asked for.
 */
static bool go_back_to_ask(struct sroce_requester *req)
{
	u32 executed_psn = req->sb.executed_psn;

	if (executed_psn != req->sent_psn)
		sroce_requester_rewind(req, executed_psn);
	return executed_psn == req->unacked_psn;
}

/* An ACK timeout as the verbs know it: it uses up a retry. */
static void ack_timeout(struct sroce_requester *req, u64 now_ns)
{
	req->timeouts++;
	if (!req->retry_left) {
		sroce_requester_fail(req, req->acked, SROCE_WC_RETRY_EXC_ERR);
		return;
	}
	req->retry_left--;
	if (req->timeout_shift < MAX_TIMEOUT_SHIFT)
		req->timeout_shift++;
	req->data_limit = RETRY_PACKETS;
	sroce_cc_lost(&req->cc, SROCE_CC_TIMEOUT, now_ns);
	sroce_scoreboard_distrust(req, true);
	if (!sroce_requester_is_selective(req) && go_back_to_ask(req))
		return;
	req->ack_deadline_ns = SROCE_NEVER;
	req->probe.due = true;
	req->probe.deadline_ns = SROCE_NEVER;
	sroce_requester_arm_probe(req, now_ns);
}

/* Several packets have asked. Where nothing was ever answered, the way may simply be long. */
static bool peer_is_silent(const struct sroce_requester *req, u8 asks)
{
	return req->probe.ack_requests >= MANY_ACK_REQUESTS &&
	       (req->rtt.srtt_ns || asks >= FIRST_PROBES);
}

/*
 * An answer is late. A standard peer that misses what it expects is silent, so
 * who has gone back already, or asked several times, goes back. Else one packet
 * is enough to ask; what its answer does not cover was lost.
 */
static void send_probe(struct sroce_requester *req, u64 now_ns)
{
	u64 ack_deadline_ns = req->ack_deadline_ns;
	u8 pto_backoff = req->probe.pto_backoff;
	bool goes_back;

	req->probe.sent_count++;
	req->probe.pto_backoff = min(pto_backoff + 1, MAX_PTO_BACKOFF);
	goes_back = !sroce_requester_is_selective(req) &&
		    (req->gone_back || req->next_psn != req->sent_psn ||
		     peer_is_silent(req, pto_backoff));
	sroce_scoreboard_distrust(req, pto_backoff >= AMBIGUOUS_PROBES);
	if (goes_back && go_back_to_ask(req)) {
		/* The ACK timer runs on: a dead peer is to be noticed. */
		req->ack_deadline_ns = ack_deadline_ns;
		return;
	}
	req->probe.due = true;
	req->probe.deadline_ns = now_ns + pto_ns(req);
}

/**
 * sroce_requester_probe_acked() - what does the answer to a probe say?
 * @req: the requester, which has just taken in an answer
 * @now_ns: monotonic time
 *
 * Return: true when what was sent before the probe and is still not
 * acknowledged was lost: it would have been answered before the probe. An
 * answer sooner than a round trip is one to the first transmission, and says
 * nothing; unless it comes again.
 */
bool sroce_requester_probe_acked(struct sroce_requester *req, u64 now_ns)
{
	if (!req->probe.sent || !psn_before(req->probe.psn, req->unacked_psn))
		return false;
	req->probe.sent = false;
	if (!psn_before(req->unacked_psn, req->probe.end_psn))
		return false;
	/* Before the first round trip is known, nothing is. */
	if (req->rtt.min_ns && sroce_elapsed_ns(now_ns, req->probe.at_ns) >= req->rtt.min_ns)
		return true;
	/* It covers the probe and no more, again: was the round trip thought too long? */
	if (req->unacked_psn == psn_add(req->probe.psn, 1) && req->probe.spurious_alone++)
		req->rtt.min_ns = (u32)max(sroce_elapsed_ns(now_ns, req->probe.at_ns), 1ull);
	return false;
}

/**
 * sroce_requester_timeout() - the deadline may have come
 * @req: the requester
 * @now_ns: monotonic time; early calls do nothing
 */
void sroce_requester_timeout(struct sroce_requester *req, u64 now_ns)
{
	if (now_ns < sroce_requester_deadline(req))
		return;
	if (req->rnr_waiting)
		req->rnr_waiting = false;
	else if (now_ns >= req->ack_deadline_ns)
		ack_timeout(req, now_ns);
	else
		send_probe(req, now_ns);
}

/**
 * sroce_requester_fail() - the send queue goes to error
 * @req: the requester
 * @index: position of the WQE at fault; @req->posted when none is
 * @status: its status; all others left are flushed
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
	req->ack_deadline_ns = SROCE_NEVER;
	req->probe.deadline_ns = SROCE_NEVER;
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
 * Slots of unsignaled requests are freed on the way. In error everything left
 * completes, signaled or not.
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
