// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A received packet, from the wire to its end: sroce_receive() is the one to read.
 *
 * Everything happens in softirq, at once: what the packet says is carried out
 * under the lock of the half it concerns, then that half is run, which sends
 * what follows from it. Every drop has a reason that is counted and traced.
 */
#include <net/ipv6.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "trace.h"
#include "transport/psn.h"

#define PKEY_FULL	0x8000
#define PKEY_BASE	0x7fff
#define FEW_PACKETS	4

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

static void count_response(const struct sroce_rx *rx, const struct sroce_ack_plan *plan)
{
	struct sroce_counters __percpu *counters = rx->ep->counters;

	if (plan->rnr) {
		sroce_count(counters, SROCE_CTR_RCVD_RNR_ERR);
		sroce_count(counters, SROCE_CTR_RNR_NAK_RETRY_ERR);
	} else if (plan->rewind) {
		sroce_count(counters, SROCE_CTR_RCVD_SEQ_ERR);
		sroce_count(counters, SROCE_CTR_PACKET_SEQ_ERR);
	}
}

static void plan_response(const struct sroce_qp *qp, const struct sroce_rx *rx,
			  struct sroce_ack_plan *plan)
{
	sroce_completer_plan(&qp->req, &rx->pkt, plan);
	trace_sroce_ack_plan(qp->ibqp.qp_num, rx->pkt.psn, plan);
}

static bool places_response(const struct sroce_ack_plan *plan)
{
	return plan->action == SROCE_ACK_ACCEPT && plan->place_bytes;
}

/* Merged packets that will not be copied are checked here; returns whether all are still there. */
static bool are_right(struct sroce_rx *rx, u32 copied_bytes)
{
	return rx->pkt.count == 1 || rx->was_held || copied_bytes == rx->pkt.payload_bytes ||
	       sroce_rx_verify(rx);
}

/* The send lock is held. Plans are made again when packets turn out to be wrong. */
static void take_response(struct sroce_qp *qp, struct sroce_rx *rx)
{
	struct sroce_ack_plan plan SROCE_FILLED_IN;
	u8 sack[SROCE_SACK_MAX_BYTES] SROCE_FILLED_IN;
	enum sroce_mem_status status = SROCE_MEM_OK;
	u32 count = rx->pkt.count;

	if (rx->pkt.info->flags & SROCE_OPF_SACK) {
		if (skb_copy_bits(rx->skb, rx->offset + rx->pkt.header_bytes, sack,
				  rx->pkt.payload_bytes))
			return;
		rx->pkt.sack = sack;
	}
	plan_response(qp, rx, &plan);
	if (!are_right(rx, places_response(&plan) ? plan.place_bytes : 0))
		plan_response(qp, rx, &plan);
	if (plan.action == SROCE_ACK_DROP) {
		drop(rx, drop_counter(plan.reason));
		return;
	}
	if (places_response(&plan)) {
		status = sroce_place_response(qp, rx, &plan);
		if (rx->pkt.count != count)
			plan_response(qp, rx, &plan);
	}
	count_response(rx, &plan);
	sroce_completer_commit(&qp->req, &plan, status, rx->now_ns);
	sroce_trace_decisions(qp, &qp->req.cc, SROCE_SEND_SIDE);
}

static void execute(struct sroce_qp *qp, struct sroce_rx *rx,
		    const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	struct sroce_memory *mem = &qp->dev->memory;
	const struct ib_pd *pd = qp->ibqp.pd;

	switch (plan->verdict) {
	case SROCE_RECV_PLACE:
		result->status = sroce_place_request(qp, rx, plan);
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

static void count_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			  const struct sroce_recv_plan *plan)
{
	struct sroce_counters __percpu *counters = rx->ep->counters;
	u32 flags = rx->pkt.info->flags;

	switch (plan->verdict) {
	case SROCE_RECV_ACK_AGAIN:
	case SROCE_RECV_REPLAY:
		sroce_ride_missed(qp);
		sroce_count(counters, SROCE_CTR_DUPLICATE_REQUEST);
		break;
	case SROCE_RECV_NAK:
		if (plan->syndrome != SROCE_NAK_PSN_SEQUENCE)
			break;
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQ_REQUEST);
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQUENCE);
		break;
	case SROCE_RECV_HOLD:
		if (plan->starves)
			break;
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

static void keep(struct sroce_qp *qp, struct sroce_rx *rx,
		 const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	if (plan->verdict != SROCE_RECV_HOLD || plan->kept || sroce_hold_keep(qp, rx))
		return;
	drop(rx, SROCE_CTR_DROP_NOT_HELD);
	result->status = SROCE_MEM_BAD_LOCAL;
}

static void commit_request(struct sroce_qp *qp, struct sroce_rx *rx,
			   struct sroce_recv_plan *plan)
{
	struct sroce_recv_result result = { .status = SROCE_MEM_OK, .invalidated = SROCE_MEM_OK };
	struct sroce_completion wc SROCE_FILLED_IN;
	u32 count = rx->pkt.count;

	execute(qp, rx, plan, &result);
	if (rx->pkt.count != count)
		plan_request(qp, rx, plan);
	keep(qp, rx, plan, &result);
	if (qp->service == SROCE_SERVICE_UD)
		sroce_datagram_commit(&qp->resp, &rx->pkt, plan, &result);
	else
		sroce_responder_commit(&qp->resp, &rx->pkt, plan, &result, rx->now_ns);
	if (sroce_responder_next_completion(&qp->resp, &wc)) {
		sroce_count(rx->ep->counters, SROCE_CTR_RDMA_RECV);
		sroce_half_complete(qp, &qp->recv, &wc, rx);
	}
	if (rx->was_held)
		sroce_hold_shed(qp, psn_add(rx->pkt.psn, 1), rx->pkt.count - 1);
	sroce_hold_trim(qp);
}

/* The receive lock is held. Plans are made again when packets turn out to be wrong. */
static void take_request(struct sroce_qp *qp, struct sroce_rx *rx)
{
	struct sroce_recv_plan plan SROCE_FILLED_IN;

	plan_request(qp, rx, &plan);
	if (!are_right(rx, plan.verdict == SROCE_RECV_PLACE ? plan.place_bytes : 0))
		plan_request(qp, rx, &plan);
	if (plan.verdict == SROCE_RECV_DROP)
		drop(rx, drop_counter(plan.reason));
	count_request(qp, rx, &plan);
	commit_request(qp, rx, &plan);
}

/* Unless its skb is kept. BH are off. */
static void release(struct sroce_rx *rx)
{
	if (rx->skb)
		napi_consume_skb(rx->skb, 1);
}

/**
 * sroce_receive_held() - packets whose turn has come after all
 * @qp: the QP, its receive lock held
 * @now_ns: monotonic time
 * @budget: how many; taken from
 */
void sroce_receive_held(struct sroce_qp *qp, u64 now_ns, u32 *budget)
{
	struct sroce_rx rx;
	u32 psn, behind;

	while (*budget && sroce_responder_next_held(&qp->resp, &psn)) {
		if (!sroce_hold_take(qp, psn, now_ns, &rx))
			return;
		behind = sroce_responder_held_behind(&qp->resp, &rx.pkt);
		sroce_hold_merge(qp->hold, &rx, min(behind, *budget - 1));
		take_request(qp, &rx);
		release(&rx);
		*budget -= rx.pkt.count;
	}
}

/* Returns whether the packet may be for this QP, as far as can be told without its locks. */
static bool is_acceptable(const struct sroce_qp *qp, struct sroce_rx *rx)
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

/**
 * struct receiver - whom the packets of an skb are for
 * @qp: the QP of the last packet, held; or NULL
 * @half: the half of it that is locked, and will be run; or NULL
 * @hears: whether it hears the skb's sender
 * @marked: @qp has been told that the skb says "congestion experienced"
 */
struct receiver {
	struct sroce_qp *qp;
	struct sroce_half *half;
	bool	hears;
	bool	marked;
};

/* The half has been given its packets: what follows from them. */
static void run_half(struct receiver *to, const struct sroce_rx *rx)
{
	if (!to->half)
		return;
	/* lock_half() has locked it, which sparse cannot follow. */
	__acquire(&to->half->lock);
	/* Of a long skb, the first packets have come some time ago. */
	if (rx->packets <= FEW_PACKETS)
		to->half->now_ns = rx->now_ns;
	sroce_half_run(to->qp, to->half, true);
	to->half = NULL;
}

static void lock_half(struct receiver *to, struct sroce_half *half, const struct sroce_rx *rx)
{
	if (to->half == half)
		return;
	run_half(to, rx);
	spin_lock_bh(&half->lock);
	__release(&half->lock);
	to->half = half;
	to->hears = sroce_half_hears(to->qp, half, rx);
}

static void let_go(struct receiver *to, const struct sroce_rx *rx)
{
	run_half(to, rx);
	if (to->qp)
		sroce_qp_put(to->qp);
	to->qp = NULL;
}

/* Returns whether there is a QP of that number. */
static bool find_qp(struct receiver *to, struct sroce_rx *rx)
{
	if (to->qp && to->qp->ibqp.qp_num == rx->pkt.dest_qpn)
		return true;
	let_go(to, rx);
	to->qp = sroce_qp_get(rx->ep, rx->pkt.dest_qpn);
	to->marked = false;
	return to->qp;
}

/* Congestion is told of once for an skb, and by no packet that a half does not hear. */
static void notify(struct receiver *to, struct sroce_rx *rx)
{
	if (!rx->ecn_ce || to->marked)
		return;
	run_half(to, rx);
	sroce_notify_marked(to->qp, rx);
	to->marked = true;
}

static void receive(struct receiver *to, struct sroce_rx *rx)
{
	u32 flags = rx->pkt.info->flags;
	struct sroce_qp *qp = to->qp;
	bool responds = flags & SROCE_OPF_RESPONSE;
	u32 alike = sroce_rx_alike(rx);

	if (flags & SROCE_OPF_CNP) {
		run_half(to, rx);
		sroce_notify_cnp(qp, rx);
		return;
	}
	notify(to, rx);
	lock_half(to, responds ? &qp->send : &qp->recv, rx);
	if (!to->hears) {
		drop(rx, SROCE_CTR_DROP_ADDRESS);
	} else if (responds) {
		if (alike > 1 && sroce_completer_merges(&qp->req, &rx->pkt, alike))
			sroce_rx_merge(rx);
		take_response(qp, rx);
	} else {
		if (alike > 1 && sroce_responder_merges(&qp->resp, &rx->pkt))
			sroce_rx_merge(rx);
		take_request(qp, rx);
	}
}

/**
 * sroce_receive() - an skb with packets has come in
 * @rx: attributed to an endpoint; its skb is consumed
 *
 * Packets for the same half of a QP that follow each other are taken under one lock, and what
 * follows from them is done once. Softirq, under rcu_read_lock(). Until the ICRC has been checked,
 * the work is bounded, and nothing is printed, or allocated.
 */
void sroce_receive(struct sroce_rx *rx)
{
	struct receiver to = { };

	while (rx->skb && sroce_rx_next(rx)) {
		if (!find_qp(&to, rx))
			drop(rx, SROCE_CTR_DROP_NO_QP);
		else if (is_acceptable(to.qp, rx))
			receive(&to, rx);
	}
	let_go(&to, rx);
	release(rx);
}
