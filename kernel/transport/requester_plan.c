// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which packets the requester sends next, and their headers.
 *
 * A plan is, in this order of priority: a tail-loss probe, a hole to be filled if the window has
 * room, or the next packets at next_psn. The first two leave next_psn where it is.
 *
 * A sender that must wait for a response has requested one: see wants_ack().
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/cc.h"
#include "transport/opcode.h"
#include "transport/packet.h"
#include "transport/psn.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/requester_plan.h"
#include "transport/rtt.h"
#include "transport/scoreboard.h"
#include "transport/tlp.h"

/* Request an ACK at least this often, because ACKs clock the sender: once in a GSO batch. */
#define ACK_INTERVAL_PACKETS	64u
/*
 * In flight regardless of the BDP estimate: four ACK intervals. The estimate is small on a short
 * path and after idle times, where a smaller window would stall the sender between two ACKs.
 */
#define WINDOW_FLOOR_PACKETS	256u

/* Position of the WQE that next_psn belongs to, after local operations that are done. */
static u32 cursor_index(const struct sroce_requester *req)
{
	u32 index = req->send;

	while (index != req->posted && sroce_requester_wqe(req, index)->executed)
		index++;
	return index;
}

/* Will the WQE after @index be sent without waiting for anything? */
static bool next_follows_at_once(const struct sroce_requester *req, u32 index)
{
	const struct sroce_send_wqe *next;

	if (req->state != SROCE_SQ_READY || index + 1 == req->posted)
		return false;
	next = sroce_requester_wqe(req, index + 1);
	return next->status == SROCE_WC_SUCCESS && wqe_is_data(next) &&
	       !(next->flags & SROCE_SEND_FENCE);
}

/*
 * The send window, in SEND and WRITE packets:
 *
 *   window = min(attr.window_packets, window.packets, cwnd, max(2 * BDP + 64, 256))
 *
 *   attr.window_packets   set by the datapath, the same for every QP
 *   window.packets        keeps the round trip below the ACK timeout, see window_policy.h
 *   cwnd                  congestion control, sroce_cc_window_packets()
 *   max(2 * BDP + 64, 256)
 *                         only if attr.adaptive. One BDP fills the path; the second one, and an
 *                         ACK interval, keep it full while ACKs are on their way. More packets
 *                         would only stand in queues.
 */
static u32 window_packets(const struct sroce_requester *req)
{
	u32 window = min3(req->attr.window_packets, req->window.packets,
			  sroce_cc_window_packets(&req->cc));
	u32 path = 2 * req->rtt.path_packets + ACK_INTERVAL_PACKETS;

	return req->attr.adaptive ? min(window, max(path, WINDOW_FLOOR_PACKETS)) : window;
}

/* SEND and WRITE packets in flight, without those that the peer has queued. */
static u32 flight_packets(const struct sroce_requester *req)
{
	return req->data_inflight - min(req->sb.done_data, req->data_inflight);
}

/* How many more PSNs the maps of the scoreboard have room for. */
static u32 span_left(const struct sroce_requester *req)
{
	u32 outstanding = sroce_requester_forward(req, req->next_psn);

	return outstanding < SROCE_PSN_MAP_SPAN ? SROCE_PSN_MAP_SPAN - outstanding : 0;
}

/*
 * Must the last packet of the burst request an ACK? Yes if a completion waits for it, if nothing
 * more can be sent before a response comes, and every quarter of a window, so that ACKs clock the
 * sender.
 */
static bool wants_ack(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
		      const struct sroce_send_plan *plan, bool ends_message)
{
	u32 window = window_packets(req);
	u32 sent = plan->packet_count;

	if (ends_message && ((wqe->flags & SROCE_SEND_SIGNALED) ||
			     !next_follows_at_once(req, plan->index)))
		return true;
	return flight_packets(req) + sent >= window ||
	       sroce_requester_forward(req, req->next_psn) + sent >= SROCE_PSN_SPAN ||
	       req->since_ack_req + sent >= clamp(window / 4, 1u, ACK_INTERVAL_PACKETS);
}

static void plan_data(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
		      u32 max_packets, struct sroce_send_plan *plan)
{
	u32 done = (req->next_psn - wqe->first_psn) & SROCE_PSN_MASK;
	u32 left = wqe->psn_count - done;
	u32 flight = flight_packets(req), window = window_packets(req);
	u32 outstanding = sroce_requester_forward(req, req->next_psn);
	u32 count, mtu_bytes = req->attr.mtu_bytes;

	/* If the window has shrunk since the last AckReq, one more packet requests the ACK. */
	if (flight >= window && flight < req->attr.window_packets && req->since_ack_req)
		window = flight + 1;
	if (flight >= window || outstanding >= SROCE_PSN_SPAN)
		return;
	count = min(left, window - flight);
	count = min3(count, max_packets, SROCE_PSN_SPAN - outstanding);
	/* A burst is either all new or all retransmitted. */
	if (plan->retransmit)
		count = min(count, (req->sent_psn - req->next_psn) & SROCE_PSN_MASK);

	plan->action = SROCE_SEND_PACKETS;
	plan->packet_count = count;
	plan->offset = done * mtu_bytes;
	plan->payload_bytes = count == left ? wqe->length - plan->offset : count * mtu_bytes;
	if (sroce_service_is_acked(req->service))
		plan->ack_req = wants_ack(req, wqe, plan, count == left);
}

/* Payload of the request itself. */
static u32 rd_atomic_payload(const struct sroce_send_wqe *wqe)
{
	return wqe->opcode == SROCE_WR_ATOMIC_WRITE ? wqe->length : 0;
}

/*
 * A standard peer rejects a READ that overtakes the one before. On a path that reorders, send it
 * only after enough responses to earlier READs have come: as many as the reordering seen, but at
 * most half as many as it requests, so that the stream of responses does not dry up.
 */
static bool read_keeps_distance(const struct sroce_requester *req, const struct sroce_send_wqe *wqe)
{
	return sroce_requester_is_selective(req) || !req->rd_inflight ||
	       req->sb.responses >= min(req->sb.reordering, wqe->psn_count / 2);
}

static void plan_rd_atomic(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			   struct sroce_send_plan *plan)
{
	u32 done = (req->next_psn - wqe->first_psn) & SROCE_PSN_MASK;

	/* A READ posted while max_rd_atomic was higher is sent all the same, one at a time. */
	if (req->rd_inflight >= max(min_t(u32, req->attr.max_rd_atomic, req->rd_limit), 1u))
		return;
	if (!read_keeps_distance(req, wqe))
		return;
	/* A READ longer than the span of the maps is sent alone. */
	if (wqe->psn_count - done > span_left(req) && req->next_psn != req->unacked_psn)
		return;
	plan->action = SROCE_SEND_PACKETS;
	plan->packet_count = 1;
	plan->offset = done * req->attr.mtu_bytes;
	plan->payload_bytes = rd_atomic_payload(wqe);
	plan->payload_end = wqe->length;
}

/*
 * How many of @count packets of the hole at @psn may be retransmitted now. Lost packets are no
 * longer in flight, and the window limits what is (RFC 6675, "pipe"): what was lost because a queue
 * was full would be lost again if all of it were sent at once. The oldest packet that the peer
 * misses needs no room.
 */
static u32 hole_room(const struct sroce_requester *req, u32 psn, u32 count)
{
	u32 window = window_packets(req), flight = flight_packets(req), room;

	if (flight + count <= window)
		return count;
	flight -= min(flight, sroce_scoreboard_count_holes(req, flight + count - window));
	room = window - min(window, flight);
	if (psn == req->sb.executed_psn)
		room = max(room, 1u);
	return min(room, count);
}

/*
 * Retransmit PSNs from @psn on: packets of a SEND or WRITE, or a READ request for the missing part.
 * Until the peer has sent a first response, it can only take the READ as a whole.
 */
static void plan_hole(const struct sroce_requester *req, u32 psn, u32 count, u32 max_packets,
		      struct sroce_send_plan *plan)
{
	const struct sroce_send_wqe *wqe;
	u32 done, mtu_bytes = req->attr.mtu_bytes;

	if (!sroce_requester_locate(req, psn, &plan->index))
		return;
	wqe = sroce_requester_wqe(req, plan->index);
	/* A request that cannot be retransmitted, or was rejected, fails when it is the oldest. */
	if (wqe->status != SROCE_WC_SUCCESS)
		return;
	if (wqe_is_data(wqe) && !req->probe.due)
		count = hole_room(req, psn, count);
	if (!count)
		return;
	done = (psn - wqe->first_psn) & SROCE_PSN_MASK;
	plan->action = SROCE_SEND_PACKETS;
	plan->first_psn = psn;
	plan->retransmit = true;
	plan->fills_hole = true;
	plan->ack_req = true;
	plan->offset = done * mtu_bytes;
	if (!wqe_is_data(wqe)) {
		plan->packet_count = 1;
		plan->payload_bytes = rd_atomic_payload(wqe);
		plan->payload_end = (u32)min_t(u64, wqe->length, plan->offset + (u64)mtu_bytes *
					       sroce_scoreboard_to_request(req, wqe, psn));
		plan->ack_req = false;
		return;
	}
	plan->packet_count = min3(count, wqe->psn_count - done, max_packets);
	plan->payload_bytes = done + plan->packet_count == wqe->psn_count ?
			      wqe->length - plan->offset : plan->packet_count * mtu_bytes;
}

/* In SQD a message that was begun goes on. None is begun, and an invalid request does not fail. */
static bool may_begin(const struct sroce_requester *req, const struct sroce_send_wqe *wqe)
{
	return req->state == SROCE_SQ_READY || req->next_psn != wqe->first_psn ||
	       req->next_psn != req->sent_psn;
}

/* Nothing to retransmit out of order: go on at next_psn. */
static void plan_next(const struct sroce_requester *req, u32 max_packets,
		      struct sroce_send_plan *plan)
{
	const struct sroce_send_wqe *wqe;

	plan->index = cursor_index(req);
	if (plan->index == req->posted)
		return;

	wqe = sroce_requester_wqe(req, plan->index);
	plan->first_psn = req->next_psn;
	plan->retransmit = req->next_psn != req->sent_psn;
	if (!may_begin(req, wqe))
		return;
	if (wqe->status != SROCE_WC_SUCCESS) {
		if (plan->index == req->acked)
			plan->action = SROCE_SEND_FAIL;
		return;
	}
	if ((wqe->flags & SROCE_SEND_FENCE) && req->rd_inflight &&
	    req->next_psn == wqe->first_psn)
		return;

	if (wqe_is_local(wqe->opcode))
		plan->action = SROCE_SEND_LOCAL;
	else if (wqe_is_rd_atomic(wqe->opcode))
		plan_rd_atomic(req, wqe, plan);
	else
		plan_data(req, wqe, max_packets, plan);
}

/*
 * After an ACK timeout a probe, and the few packets of a retry, must leave even if the stack still
 * holds earlier packets of this queue. Else the retries would be used up without any packet sent.
 */
static bool bypasses_tsq(const struct sroce_requester *req, const struct sroce_send_plan *plan)
{
	return req->timeout_shift && plan->retransmit && (!plan->fills_hole || req->probe.due);
}

/* Has the peer executed this request, and do later responses show that one of its own was lost? */
static bool is_implied_nak(const struct sroce_requester *req, const struct sroce_send_plan *plan)
{
	const struct sroce_send_wqe *wqe;
	u32 count;

	if (!plan->fills_hole || req->probe.due ||
	    !psn_before(plan->first_psn, req->sb.executed_psn))
		return false;
	wqe = sroce_requester_wqe(req, plan->index);
	if (wqe_is_data(wqe))
		return false;
	count = sroce_scoreboard_to_request(req, wqe, plan->first_psn);
	return !sroce_scoreboard_only_unplaced(req, plan->first_psn, count);
}

/**
 * sroce_requester_plan() - decide what to send next; changes nothing
 * @req: the requester
 * @max_packets: the longest burst that the datapath can send now
 * @plan: filled in
 */
void sroce_requester_plan(const struct sroce_requester *req, u32 max_packets,
			  struct sroce_send_plan *plan)
{
	u32 psn, count;

	memset(plan, 0, sizeof(*plan));
	if (req->state != SROCE_SQ_READY && req->state != SROCE_SQ_DRAINING)
		return;
	if (req->rnr_waiting || !max_packets)
		return;
	if (req->probe.due)
		plan_hole(req, sroce_tlp_probe_psn(req), 1, 1, plan);
	else if (sroce_requester_has_losses(req) && sroce_scoreboard_find_hole(req, &psn, &count))
		plan_hole(req, psn, count, max_packets, plan);
	if (plan->action == SROCE_SEND_NOTHING)
		plan_next(req, max_packets, plan);
	if (plan->action == SROCE_SEND_PACKETS) {
		plan->bypass_tsq = bypasses_tsq(req, plan);
		plan->implied_nak = is_implied_nak(req, plan);
	}
}

static u8 send_opcode(const struct sroce_send_wqe *wqe, bool first, bool last)
{
	if (!last)
		return first ? SROCE_OP_SEND_FIRST : SROCE_OP_SEND_MIDDLE;
	switch (wqe->opcode) {
	case SROCE_WR_SEND_IMM:
		return first ? SROCE_OP_SEND_ONLY_IMM : SROCE_OP_SEND_LAST_IMM;
	case SROCE_WR_SEND_INV:
		return first ? SROCE_OP_SEND_ONLY_INV : SROCE_OP_SEND_LAST_INV;
	default:
		return first ? SROCE_OP_SEND_ONLY : SROCE_OP_SEND_LAST;
	}
}

static u8 write_opcode(const struct sroce_send_wqe *wqe, bool first, bool last)
{
	if (!last)
		return first ? SROCE_OP_WRITE_FIRST : SROCE_OP_WRITE_MIDDLE;
	if (wqe->opcode == SROCE_WR_WRITE_IMM)
		return first ? SROCE_OP_WRITE_ONLY_IMM : SROCE_OP_WRITE_LAST_IMM;
	return first ? SROCE_OP_WRITE_ONLY : SROCE_OP_WRITE_LAST;
}

/* The opcode without the service. */
static u8 operation_opcode(const struct sroce_send_wqe *wqe, bool first, bool last)
{
	switch (wqe->opcode) {
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
		return write_opcode(wqe, first, last);
	case SROCE_WR_READ:
		return SROCE_OP_READ_REQUEST;
	case SROCE_WR_COMPARE_SWAP:
		return SROCE_OP_COMPARE_SWAP;
	case SROCE_WR_FETCH_ADD:
		return SROCE_OP_FETCH_ADD;
	case SROCE_WR_FLUSH:
		return SROCE_OP_FLUSH;
	case SROCE_WR_ATOMIC_WRITE:
		return SROCE_OP_ATOMIC_WRITE;
	default:
		return send_opcode(wqe, first, last);
	}
}

static u8 packet_opcode(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			bool first, bool last)
{
	if (!sroce_service_is_connected(req->service))
		return wqe->opcode == SROCE_WR_SEND_IMM ? SROCE_OP_UD_SEND_ONLY_IMM :
							  SROCE_OP_UD_SEND_ONLY;
	return req->service | operation_opcode(wqe, first, last);
}

/* The extended headers. */
static void fill_operation(const struct sroce_send_wqe *wqe, const struct sroce_send_plan *plan,
			   struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_XRCETH)
		pkt->srqn = wqe->srqn;
	if (flags & SROCE_OPF_RETH) {
		pkt->va = wqe->rdma.remote_addr + plan->offset;
		pkt->rkey = wqe->rdma.rkey;
		pkt->dma_length = wqe->length - plan->offset;
		if (wqe_is_rd_atomic(wqe->opcode))
			pkt->dma_length = plan->payload_end - plan->offset;
	}
	if (flags & SROCE_OPF_FLUSH) {
		pkt->dma_length = wqe->flush.length;
		pkt->placement = wqe->flush.placement;
		pkt->level = wqe->flush.level;
	}
	if (flags & SROCE_OPF_ATOMIC_ETH) {
		bool swaps = wqe->opcode == SROCE_WR_COMPARE_SWAP;

		pkt->va = wqe->atomic.remote_addr;
		pkt->rkey = wqe->atomic.rkey;
		pkt->swap_add = swaps ? wqe->atomic.swap : wqe->atomic.compare_add;
		pkt->compare = swaps ? wqe->atomic.compare_add : 0;
	}
	if (flags & SROCE_OPF_IMM)
		pkt->imm = wqe->imm;
	if (flags & SROCE_OPF_IETH)
		pkt->inv_rkey = wqe->invalidate_rkey;
}

/**
 * sroce_send_plan_packet() - the headers of one packet of a burst
 * @req: the requester
 * @plan: a plan with SROCE_SEND_PACKETS
 * @i: 0 .. @plan->packet_count - 1
 * @pkt: filled in; its payload starts @i * MTU bytes into the burst's
 */
void sroce_send_plan_packet(const struct sroce_requester *req, const struct sroce_send_plan *plan,
			    u32 i, struct sroce_packet *pkt)
{
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 number = ((plan->first_psn - wqe->first_psn) & SROCE_PSN_MASK) + i;
	bool first = number == 0, last = number == wqe->psn_count - 1;

	memset(pkt, 0, sizeof(*pkt));
	pkt->count = 1;
	pkt->opcode = packet_opcode(req, wqe, first, last);
	pkt->info = sroce_opcode_lookup(pkt->opcode);
	pkt->header_bytes = pkt->info->header_bytes;
	pkt->migreq = true;
	pkt->pkey = req->attr.pkey;
	pkt->dest_qpn = req->attr.dest_qpn;
	pkt->psn = psn_add(plan->first_psn, i);
	pkt->ack_req = plan->ack_req && i == plan->packet_count - 1;
	pkt->selective = sroce_requester_offers_selective(req);
	pkt->solicited = last && (wqe->flags & SROCE_SEND_SOLICITED) &&
			 wqe->opcode != SROCE_WR_WRITE && !wqe_is_rd_atomic(wqe->opcode);
	if (!sroce_service_is_connected(req->service)) {
		pkt->dest_qpn = wqe->ud.dest_qpn;
		pkt->qkey = wqe->ud.qkey;
		pkt->src_qpn = req->attr.qpn;
	}
	fill_operation(wqe, plan, pkt);
	if (plan->payload_bytes)
		pkt->payload_bytes = min(req->attr.mtu_bytes,
					 plan->payload_bytes - i * req->attr.mtu_bytes);
	pkt->pad_bytes = -pkt->payload_bytes & 3;
}

static void count_sent(struct sroce_requester *req, const struct sroce_send_plan *plan, u64 now_ns)
{
	sroce_cc_sent(&req->cc, plan->payload_bytes + plan->packet_count * SROCE_CC_HEADER_BYTES,
		      now_ns);
}

/* A hole or a probe: next_psn stays where it is. */
static void commit_hole(struct sroce_requester *req, const struct sroce_send_plan *plan,
			u64 now_ns)
{
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 count = plan->packet_count;
	bool probes = req->probe.due;

	/* Before probe.due changes: it decides how much of a READ the plan requests. */
	if (!wqe_is_data(wqe))
		count = sroce_scoreboard_to_request(req, wqe, plan->first_psn);
	if (probes)
		sroce_tlp_probe_sent(req, plan->first_psn, now_ns);
	req->retransmits += plan->packet_count;
	count_sent(req, plan, now_ns);
	if (!probes && !sroce_scoreboard_only_unplaced(req, plan->first_psn, count))
		sroce_cc_lost(&req->cc, SROCE_CC_RETRANSMIT, now_ns);
	sroce_rtt_retransmitted(&req->rtt, plan->first_psn, count);
	sroce_scoreboard_retransmitted(req, wqe, plan->first_psn, count, now_ns);
	sroce_tlp_arm(req, now_ns);
}

static void commit_packets(struct sroce_requester *req, const struct sroce_send_plan *plan,
			   u64 now_ns)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 end_psn = psn_add(wqe->first_psn, wqe->psn_count);
	u32 last_psn = psn_add(plan->first_psn, plan->packet_count - 1);
	u64 edt_ns = max(now_ns, req->cc.edt_ns);
	bool asks = plan->ack_req || !wqe_is_data(wqe);
	/* The response waits for those of other READs. */
	bool waits = req->rd_inflight;

	if (wqe_is_data(wqe)) {
		req->next_psn = psn_add(req->next_psn, plan->packet_count);
		req->data_inflight += plan->packet_count;
		req->since_ack_req = plan->ack_req ? 0 : req->since_ack_req + plan->packet_count;
	} else {
		/* The responses acknowledge everything before them. */
		req->next_psn = end_psn;
		req->rd_inflight++;
		req->sb.responses = 0;
		req->since_ack_req = 0;
	}
	count_sent(req, plan, now_ns);
	if (plan->retransmit) {
		req->retransmits += plan->packet_count;
		sroce_rtt_retransmitted(&req->rtt, plan->first_psn, plan->packet_count);
	} else if (asks) {
		sroce_rtt_sent(&req->rtt, last_psn, waits, edt_ns);
	}
	if (sroce_requester_forward(req, req->next_psn) >
	    sroce_requester_forward(req, req->sent_psn)) {
		req->sent_psn = req->next_psn;
		req->sent = plan->index + 1;
	}
	req->send = req->next_psn == end_psn ? plan->index + 1 : plan->index;

	if (!sroce_service_is_acked(req->service)) {
		sroce_tlp_acked(req, req->next_psn, now_ns);
		/* As the scoreboard has it when all is acknowledged. */
		req->sb.lost_response_psn = req->next_psn;
	} else if (asks) {
		sroce_tlp_arm(req, edt_ns);
	} else {
		sroce_tlp_start_ack_timer(req, edt_ns);
	}
}

/**
 * sroce_requester_commit() - the plan has been carried out
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan
 * @status: SROCE_WC_SUCCESS; or why the WQE cannot be sent (a bad local key,
 *          a failed local operation): it then fails when it is the oldest
 * @now_ns: monotonic time
 */
void sroce_requester_commit(struct sroce_requester *req, const struct sroce_send_plan *plan,
			    enum sroce_wc_status status, u64 now_ns)
{
	struct sroce_send_wqe *wqe;

	if (plan->action == SROCE_SEND_NOTHING)
		return;
	wqe = sroce_requester_wqe(req, plan->index);
	if (plan->action == SROCE_SEND_FAIL) {
		sroce_requester_fail(req, plan->index, wqe->status);
		return;
	}
	if (status != SROCE_WC_SUCCESS) {
		wqe->status = status;
		if (plan->fills_hole)
			sroce_requester_move_cursor(req, plan->first_psn);
		else
			sroce_tlp_request_ack(req, wqe->first_psn);
		return;
	}
	if (plan->action == SROCE_SEND_LOCAL) {
		wqe->executed = true;
		req->send = plan->index + 1;
		req->sent = req->send;
		sroce_requester_advance(req, req->unacked_psn);
		return;
	}
	if (plan->fills_hole)
		commit_hole(req, plan, now_ns);
	else
		commit_packets(req, plan, now_ns);
}

