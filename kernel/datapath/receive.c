// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A received packet, from the wire to its end: sroce_receive() is the one to read.
 *
 * Everything happens in softirq, at once: what the packet says is carried out
 * under the lock of the half it concerns, then that half is run, which sends
 * what follows from it. Every drop has a reason that is counted and traced.
 */
#include <linux/ktime.h>
#include <net/ipv6.h>

#include "datapath/qp.h"
#include "trace.h"

#define PKEY_FULL	0x8000
#define PKEY_BASE	0x7fff

static void drop(const struct sroce_rx *rx, enum sroce_counter why)
{
	sroce_count(rx->ep->counters, why);
	trace_sroce_drop(rx->ep->netdev->ifindex, rx->pkt.dest_qpn, why);
}

static enum sroce_counter drop_counter(enum sroce_drop_reason reason)
{
	switch (reason) {
	case SROCE_DROP_OPCODE:
		return SROCE_CTR_DROP_SERVICE;
	case SROCE_DROP_DUPLICATE:
		return SROCE_CTR_DROP_DUPLICATE;
	case SROCE_DROP_UNSENT:
		return SROCE_CTR_DROP_UNSENT;
	case SROCE_DROP_SEQUENCE:
	case SROCE_DROP_GAP:
		return SROCE_CTR_DROP_GAP;
	case SROCE_DROP_SYNDROME:
		return SROCE_CTR_DROP_SYNDROME;
	case SROCE_DROP_LENGTH:
		return SROCE_CTR_DROP_LENGTH;
	case SROCE_DROP_QKEY:
		return SROCE_CTR_DROP_QKEY;
	case SROCE_DROP_NO_WQE:
		return SROCE_CTR_DROP_NO_WQE;
	case SROCE_DROP_REPLAY:
		return SROCE_CTR_DROP_REPLAY;
	default:
		return SROCE_CTR_DROP_STATE;
	}
}

static bool pkeys_match(u16 a, u16 b)
{
	return (a & PKEY_BASE) == (b & PKEY_BASE) && ((a | b) & PKEY_FULL);
}

/**
 * sroce_half_hears() - does a packet come from where the half expects packets?
 * @qp: the QP
 * @half: the half, its lock held
 * @rx: the packet
 *
 * Return: whether it does: from its peer; any address of ours will do for datagrams.
 */
bool sroce_half_hears(const struct sroce_qp *qp, const struct sroce_half *half,
		      const struct sroce_rx *rx)
{
	if (qp->service == SROCE_SERVICE_UD)
		return true;
	return ipv6_addr_equal(&half->path.daddr, &rx->saddr) &&
	       ipv6_addr_equal(&half->path.saddr, &rx->daddr);
}

/* Payload or atomic result of a response, into the buffer of its request. */
static enum sroce_mem_status place_response(struct sroce_qp *qp, const struct sroce_rx *rx,
					    const struct sroce_ack_plan *plan)
{
	const struct sroce_send_wqe *wqe;

	if (plan->action != SROCE_ACK_ACCEPT || !plan->place_bytes)
		return SROCE_MEM_OK;
	wqe = sroce_requester_wqe(&qp->req, plan->index);
	if (plan->place_atomic)
		return sroce_memory_scatter(&qp->dev->memory, qp->ibqp.pd, wqe->sge, wqe->num_sge,
					    0, &rx->pkt.atomic_original, sizeof(u64));
	return sroce_memory_scatter_skb(&qp->dev->memory, qp->ibqp.pd, wqe->sge, wqe->num_sge,
					plan->place_offset, rx->skb, rx->payload_offset,
					plan->place_bytes);
}

static void count_response(const struct sroce_rx *rx, const struct sroce_ack_plan *plan)
{
	struct sroce_counters __percpu *counters = rx->ep->counters;

	if (plan->rnr) {
		sroce_count(counters, SROCE_CTR_RCVD_RNR_ERR);
		sroce_count(counters, SROCE_CTR_RNR_NAK_RETRY_ERR);
	} else if (plan->implied) {
		sroce_count(counters, SROCE_CTR_IMPLIED_NAK_SEQ_ERR);
	} else if (plan->rewind) {
		sroce_count(counters, SROCE_CTR_RCVD_SEQ_ERR);
		sroce_count(counters, SROCE_CTR_PACKET_SEQ_ERR);
	}
}

static void receive_response(struct sroce_qp *qp, struct sroce_rx *rx)
{
	u8 sack[SROCE_SACK_MAX_BYTES];
	struct sroce_ack_plan plan;

	if (rx->pkt.info->flags & SROCE_OPF_SACK) {
		if (skb_copy_bits(rx->skb, rx->payload_offset, sack, rx->pkt.payload_bytes))
			return;
		rx->pkt.sack = sack;
	}

	spin_lock_bh(&qp->send.lock);
	if (!sroce_half_hears(qp, &qp->send, rx)) {
		drop(rx, SROCE_CTR_DROP_ADDRESS);
		spin_unlock_bh(&qp->send.lock);
		return;
	}
	sroce_completer_plan(&qp->req, &rx->pkt, &plan);
	trace_sroce_ack_plan(qp->ibqp.qp_num, rx->pkt.psn, &plan);
	if (plan.action == SROCE_ACK_DROP) {
		drop(rx, drop_counter(plan.reason));
		spin_unlock_bh(&qp->send.lock);
		return;
	}
	count_response(rx, &plan);
	sroce_completer_commit(&qp->req, &plan, place_response(qp, rx, &plan), ktime_get_ns());
	sroce_send_run(qp, SROCE_RUN_BUDGET, true);
}

/* The 40 bytes in front of a datagram: its IPv6 header, or its IPv4 header in the last 20. */
static enum sroce_mem_status place_grh(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	u32 bytes = rx->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	const struct sroce_recv_wqe *wqe = qp->resp.recv;
	u8 grh[SROCE_GRH_BYTES] = { 0 };

	memcpy(grh + SROCE_GRH_BYTES - bytes, skb_network_header(rx->skb), bytes);
	return sroce_memory_scatter(&qp->dev->memory, qp->ibqp.pd, wqe->sge, wqe->num_sge, 0,
				    grh, sizeof(grh));
}

static enum sroce_mem_status place_in_recv(struct sroce_qp *qp, const struct sroce_rx *rx,
					   const struct sroce_recv_plan *plan)
{
	const struct sroce_recv_wqe *wqe = qp->resp.recv;

	if (qp->service == SROCE_SERVICE_UD) {
		enum sroce_mem_status status = place_grh(qp, rx);

		if (status != SROCE_MEM_OK || !plan->place_bytes)
			return status;
	}
	return sroce_memory_scatter_skb(&qp->dev->memory, qp->ibqp.pd, wqe->sge, wqe->num_sge,
					plan->offset, rx->skb, rx->payload_offset,
					plan->place_bytes);
}

static enum sroce_mem_status place_request(struct sroce_qp *qp, const struct sroce_rx *rx,
					   const struct sroce_recv_plan *plan)
{
	switch (plan->target) {
	case SROCE_TARGET_RECV:
		return place_in_recv(qp, rx, plan);
	case SROCE_TARGET_REGION:
		return sroce_memory_place(&qp->dev->memory, qp->ibqp.pd, plan->rkey, plan->va,
					  plan->check_bytes, rx->skb, rx->payload_offset,
					  plan->place_bytes);
	default:
		return SROCE_MEM_OK;
	}
}

static void execute(struct sroce_qp *qp, const struct sroce_rx *rx,
		    const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	struct sroce_memory *mem = &qp->dev->memory;
	const struct ib_pd *pd = qp->ibqp.pd;

	switch (plan->verdict) {
	case SROCE_RECV_PLACE:
		result->status = place_request(qp, rx, plan);
		if (plan->invalidate && result->status == SROCE_MEM_OK)
			result->invalidated = sroce_memory_invalidate(mem, pd, plan->inv_rkey,
								      true);
		break;
	case SROCE_RECV_READ:
	case SROCE_RECV_REPLAY:
		/* No key is looked at for no bytes, nor for an atomic's saved result. */
		if (plan->check_bytes)
			result->status = sroce_memory_check(mem, pd, plan->rkey, plan->va,
							    plan->check_bytes, plan->access);
		break;
	case SROCE_RECV_ATOMIC:
		result->status = sroce_memory_atomic(mem, pd, plan->rkey, plan->va,
						     plan->atomic_op, plan->compare,
						     plan->swap_add, &result->atomic_original);
		break;
	}
}

static void count_request(const struct sroce_rx *rx, const struct sroce_recv_plan *plan)
{
	struct sroce_counters __percpu *counters = rx->ep->counters;
	u32 flags = rx->pkt.info->flags;

	switch (plan->verdict) {
	case SROCE_RECV_ACK_AGAIN:
	case SROCE_RECV_REPLAY:
		sroce_count(counters, SROCE_CTR_DUPLICATE_REQUEST);
		break;
	case SROCE_RECV_NAK:
		if (plan->syndrome != SROCE_NAK_PSN_SEQUENCE)
			break;
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQ_REQUEST);
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQUENCE);
		break;
	case SROCE_RECV_HOLD:
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQ_REQUEST);
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQUENCE);
		break;
	case SROCE_RECV_READ:
		sroce_count(counters, SROCE_CTR_RX_READ_REQUESTS);
		break;
	case SROCE_RECV_ATOMIC:
		sroce_count(counters, SROCE_CTR_RX_ATOMIC_REQUESTS);
		break;
	case SROCE_RECV_PLACE:
		if ((flags & SROCE_OPF_WRITE) && (flags & SROCE_OPF_FIRST))
			sroce_count(counters, SROCE_CTR_RX_WRITE_REQUESTS);
		break;
	}
}

static void plan_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			 struct sroce_recv_plan *plan)
{
	struct sroce_responder *resp = &qp->resp;

	if (sroce_responder_wants_wqe(resp, &rx->pkt) && sroce_recv_wqe_fetch(qp))
		sroce_responder_hold_wqe(resp);
	if (qp->service == SROCE_SERVICE_UD)
		sroce_datagram_plan(resp, &rx->pkt, plan);
	else
		sroce_responder_plan(resp, &rx->pkt, plan);
	trace_sroce_recv_plan(qp->ibqp.qp_num, rx->pkt.psn, plan);
}

/* Returns whether the packet is kept for later. */
static bool keep(struct sroce_qp *qp, const struct sroce_rx *rx,
		 const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	if (plan->verdict != SROCE_RECV_HOLD || plan->kept)
		return false;
	if (sroce_hold_keep(qp, rx))
		return true;
	drop(rx, SROCE_CTR_DROP_NOT_HELD);
	result->status = SROCE_MEM_BAD_LOCAL;
	return false;
}

/* Returns whether the packet is kept for later. */
static bool commit_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			   const struct sroce_recv_plan *plan)
{
	struct sroce_recv_result result = { .status = SROCE_MEM_OK, .invalidated = SROCE_MEM_OK };
	struct sroce_completion wc;
	bool kept;

	execute(qp, rx, plan, &result);
	kept = keep(qp, rx, plan, &result);
	if (qp->service == SROCE_SERVICE_UD)
		sroce_datagram_commit(&qp->resp, &rx->pkt, plan, &result);
	else
		sroce_responder_commit(&qp->resp, &rx->pkt, plan, &result, ktime_get_ns());
	if (sroce_responder_next_completion(&qp->resp, &wc)) {
		sroce_count(rx->ep->counters, SROCE_CTR_RDMA_RECV);
		sroce_half_complete(qp, &qp->recv, &wc, rx);
	}
	sroce_hold_trim(qp);
	return kept;
}

/* Returns whether the packet is kept for later. The receive lock is held. */
static bool take_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_recv_plan plan;

	plan_request(qp, rx, &plan);
	if (plan.verdict == SROCE_RECV_DROP)
		drop(rx, drop_counter(plan.reason));
	count_request(rx, &plan);
	return commit_request(qp, rx, &plan);
}

/* Returns whether the packet is kept for later. */
static bool receive_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	bool kept;

	spin_lock_bh(&qp->recv.lock);
	if (!sroce_half_hears(qp, &qp->recv, rx)) {
		drop(rx, SROCE_CTR_DROP_ADDRESS);
		spin_unlock_bh(&qp->recv.lock);
		return false;
	}
	kept = take_request(qp, rx);
	sroce_recv_run(qp, SROCE_RUN_BUDGET);
	return kept;
}

/**
 * sroce_receive_held() - packets whose turn has come after all
 * @qp: the QP, its receive lock held
 * @budget: how many; taken from
 */
void sroce_receive_held(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_rx rx;
	u32 psn;

	while (*budget && sroce_responder_next_held(&qp->resp, &psn)) {
		if (!sroce_hold_take(qp, psn, &rx))
			return;
		take_request(qp, &rx);
		consume_skb(rx.skb);
		--*budget;
	}
}

/* Returns whether the packet may be for this QP, as far as can be told without its locks. */
static bool is_acceptable(const struct sroce_qp *qp, const struct sroce_rx *rx)
{
	bool is_cnp = rx->pkt.info->flags & SROCE_OPF_CNP;

	if (sroce_opcode_service(rx->pkt.opcode) != qp->service && !is_cnp)
		drop(rx, SROCE_CTR_DROP_SERVICE);
	else if (!pkeys_match(rx->pkt.pkey, SROCE_PKEY_DEFAULT))
		drop(rx, SROCE_CTR_DROP_PKEY);
	else if (!sroce_icrc_ok(rx))
		drop(rx, SROCE_CTR_RX_ICRC_ENCAPSULATED);
	else
		return true;
	return false;
}

/* Returns whether the packet is kept for later. */
static bool receive(struct sroce_qp *qp, struct sroce_rx *rx)
{
	u32 flags = rx->pkt.info->flags;

	if (flags & SROCE_OPF_CNP) {
		sroce_notify_cnp(qp, rx);
		return false;
	}
	if (rx->ecn_ce)
		sroce_notify_marked(qp, rx);
	if (!(flags & SROCE_OPF_RESPONSE))
		return receive_request(qp, rx);
	receive_response(qp, rx);
	return false;
}

/**
 * sroce_receive() - a packet has come in
 * @rx: parsed, attributed to an endpoint; its skb is consumed
 *
 * Softirq, under rcu_read_lock(). Until the ICRC has been checked, the work is
 * bounded, and nothing is printed; nor allocated, unless the headers lie in pieces.
 */
void sroce_receive(struct sroce_rx *rx)
{
	struct sroce_qp *qp = sroce_qp_get(rx->ep, rx->pkt.dest_qpn);
	bool kept = false;

	if (!qp) {
		drop(rx, SROCE_CTR_DROP_NO_QP);
		kfree_skb(rx->skb);
		return;
	}
	if (is_acceptable(qp, rx))
		kept = receive(qp, rx);
	sroce_qp_put(qp);
	if (!kept)
		consume_skb(rx->skb);
}
