// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Running a work queue: one runner at a time does rounds of work under the lock. It drops the lock
 * to deliver the output of a round: packets, wake-ups, events, failure.
 *
 * A CPU that brings work runs the queue. If another CPU already runs it, the CPU sets `again` and
 * leaves. A round that reaches its byte budget sets `more`; the BH work continues. The timer
 * continues after a spent packet budget, retries after a shortage, and keeps the engine's deadline.
 * Contexts that may not take the lock (hard interrupts, skb destructors) queue the BH work. A timer
 * that fires at once would serve as well, but programming the clock took a tenth of the time of a
 * READ.
 *
 * The timer is neither cancelled nor moved for each packet: one that fires too early finds nothing
 * to do and is armed again. An interrupt still costs something, so a timer that has found nothing
 * to do several times is deferred.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <net/ipv6.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "datapath/tx.h"
#include "datapath/xrc.h"
#include "net/rx_cursor.h"
#include "transport/timer_policy.h"

/* After a shortage of memory. */
#define RETRY_NS		(1 * NSEC_PER_MSEC)
/* After a spent budget, so that tasks get the CPU too. */
#define YIELD_NS		(20 * NSEC_PER_USEC)

static struct sroce_cq *wq_cq(struct sroce_qp *qp, const struct sroce_wq *wq)
{
	return wq->type == SROCE_SQ ? qp->send_cq : qp->recv_cq;
}

/**
 * sroce_wq_path_matches() - do the addresses of a packet match the path of a queue?
 * @qp: the QP
 * @wq: the queue, its lock held
 * @rx: the packet
 *
 * Return: whether it comes from the peer, by the same version of RoCE. A datagram may come from any
 * address.
 */
bool sroce_wq_path_matches(const struct sroce_qp *qp, const struct sroce_wq *wq,
			   const struct sroce_rx *rx)
{
	if (!sroce_qp_is_connected(qp))
		return true;
	return ipv6_addr_equal(&wq->path.daddr, &rx->saddr) &&
	       ipv6_addr_equal(&wq->path.saddr, &rx->daddr) && wq->path.is_v1 == rx->is_v1;
}

static_assert((int)SROCE_VENDOR_KEY == SROCE_MEM_BAD_KEY);
static_assert((int)SROCE_VENDOR_RANGE == SROCE_MEM_BAD_RANGE);
static_assert((int)SROCE_VENDOR_ACCESS == SROCE_MEM_BAD_ACCESS);
static_assert((int)SROCE_VENDOR_LIST == SROCE_MEM_BAD_LOCAL);
static_assert((int)SROCE_VENDOR_NAK == SROCE_NAK_PSN_SEQUENCE);

static u8 vendor_err_of(const struct sroce_wq *wq, enum sroce_wc_status status)
{
	switch (status) {
	case SROCE_WC_LOC_PROT_ERR:
	case SROCE_WC_MW_BIND_ERR:
		return wq->fault;
	case SROCE_WC_REM_INV_REQ_ERR:
		/* Of a receive with a fault: the peer may not invalidate this key. */
		return wq->type == SROCE_RQ && wq->fault ? wq->fault : SROCE_NAK_INVALID_REQUEST;
	case SROCE_WC_REM_ACCESS_ERR:
		return SROCE_NAK_REMOTE_ACCESS;
	case SROCE_WC_REM_OP_ERR:
		return SROCE_NAK_REMOTE_OPERATION;
	case SROCE_WC_RETRY_EXC_ERR:
		return wq->fault == SROCE_VENDOR_NAK ? SROCE_VENDOR_NAK : SROCE_VENDOR_TIMEOUT;
	case SROCE_WC_RNR_RETRY_EXC_ERR:
		return SROCE_VENDOR_RNR;
	case SROCE_WC_LOC_LEN_ERR:
		return SROCE_VENDOR_LENGTH;
	case SROCE_WC_LOC_QP_OP_ERR:
		return SROCE_VENDOR_OPERATION;
	case SROCE_WC_BAD_RESP_ERR:
		return SROCE_VENDOR_RESPONSE;
	case SROCE_WC_WR_FLUSH_ERR:
		return SROCE_VENDOR_FLUSHED;
	default:
		return SROCE_VENDOR_UNKNOWN;
	}
}

/* The QP cannot report completions any more. It goes to ERR, as if it had failed itself. */
static void fail_xrc_target(struct sroce_qp *qp)
{
	if (qp->state == IB_QPS_ERR)
		return;
	qp->rq.events |= BIT(IB_EVENT_QP_FATAL);
	qp->rq.failed = true;
	sroce_responder_set_state(&qp->resp, SROCE_RQ_FAILED);
}

/**
 * sroce_wq_post_cqe() - put a completion into the CQ of a queue
 * @qp: the QP
 * @wq: the queue, its lock held
 * @wc: the completion
 * @rx: the packet that brought it, or NULL
 *
 * The consumer is woken when the lock has been dropped, that of an XRC target at once.
 */
void sroce_wq_post_cqe(struct sroce_qp *qp, struct sroce_wq *wq,
		       const struct sroce_completion *wc, const struct sroce_rx *rx)
{
	struct sroce_wc_extra extra = {
		.qp = &qp->ibqp,
		.is_ipv4 = rx && rx->is_ipv4,
		.is_v1 = rx && rx->is_v1,
		.vlan_id = rx ? rx->vlan_id : SROCE_NO_VLAN,
	};

	if (wc->status != SROCE_WC_SUCCESS) {
		extra.vendor_err = vendor_err_of(wq, wc->status);
		sroce_count(sroce_qp_counters(qp), wq->type == SROCE_SQ ?
			    SROCE_CTR_REQ_CQE_ERROR : SROCE_CTR_RESP_CQE_ERROR);
	}
	if (sroce_qp_is_xrc_target(qp)) {
		if (!sroce_xrc_complete(qp, wc, &extra))
			fail_xrc_target(qp);
		return;
	}
	switch (sroce_cq_post(wq_cq(qp, wq), wc, &extra)) {
	case SROCE_CQ_POSTED:
		break;
	case SROCE_CQ_WAKE:
		wq->wake = true;
		break;
	case SROCE_CQ_OVERFLOW:
		wq->events |= BIT(IB_EVENT_CQ_ERR);
		fallthrough;
	case SROCE_CQ_LOST:
		/* The QP cannot report completions any more (IBTA 11.6.3.2). */
		if (qp->state != IB_QPS_ERR)
			wq->events |= BIT(IB_EVENT_QP_FATAL);
		wq->failed = true;
		break;
	}
}

static void dispatch_qp_event(struct sroce_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = type,
	};

	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

static void dispatch_events(struct sroce_qp *qp, struct sroce_cq *cq, u32 events)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_COMM_EST, IB_EVENT_QP_REQ_ERR, IB_EVENT_QP_ACCESS_ERR,
		IB_EVENT_QP_FATAL, IB_EVENT_SQ_DRAINED, IB_EVENT_QP_LAST_WQE_REACHED,
	};
	u32 i;

	if (events & BIT(IB_EVENT_CQ_ERR))
		sroce_cq_dispatch_error(cq);
	if (events & BIT(IB_EVENT_SRQ_LIMIT_REACHED))
		sroce_srq_dispatch_limit(qp->srq);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (events & BIT(types[i]))
			dispatch_qp_event(qp, types[i]);
}

/* Returns whether a queue of this host was full. */
static bool xmit_skbs(struct sroce_qp *qp, struct sk_buff_head *out)
{
	struct sk_buff *skb;
	bool full = false;

	while ((skb = __skb_dequeue(out)))
		full |= sroce_skb_xmit(&qp->dev->ep, skb) > 0;
	return full;
}

/*
 * The events to dispatch. Both queues may see the same failure of the QP, which is reported once.
 * The lock is held.
 */
static u32 take_events(struct sroce_qp *qp, struct sroce_wq *wq)
{
	u32 events = wq->events;

	/* A store would delay the next load, which also reads the flag beside the events. */
	if (!events)
		return 0;
	wq->events = 0;
	if (events & BIT(IB_EVENT_QP_FATAL) && test_and_set_bit(0, &qp->fatal_reported))
		events &= ~BIT(IB_EVENT_QP_FATAL);
	return events;
}

/*
 * Hand over what a round has produced. The lock is held with BH off; it is dropped and taken again.
 * Returns whether something is left because no consumer may be called back from here.
 */
static bool deliver_output(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__must_hold(&wq->lock)
{
	struct sroce_cq *cq = wq_cq(qp, wq);
	bool wake = may_call_back && wq->wake, failed = wq->failed;
	u32 events = may_call_back ? take_events(qp, wq) : 0;
	struct sk_buff_head out;
	bool full;

	if (!skb_queue_empty(&wq->out) || wake || events || failed) {
		sroce_tx_charge(qp, wq);
		__skb_queue_head_init(&out);
		skb_queue_splice_init(&wq->out, &out);
		wq->failed = false;
		if (may_call_back)
			wq->wake = false;
		spin_unlock(&wq->lock);
		full = xmit_skbs(qp, &out);
		if (failed)
			wq->ops->failed(qp, wq->type);
		if (wake && cq->ibcq.comp_handler)
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		if (events)
			dispatch_events(qp, cq, events);
		spin_lock(&wq->lock);
		/* As with CNPs, connection management is not slowed down. */
		if (full && qp->ibqp.qp_type != IB_QPT_GSI)
			sroce_cc_lost(wq->type == SROCE_SQ ? &qp->req.cc : &qp->resp.cc,
				      SROCE_CC_LOCAL_DROP, ktime_get_ns());
	}
	return wq->wake || wq->events;
}

/**
 * sroce_wq_kick() - run a queue soon, from any context
 * @wq: of a QP of which the caller is a user or a consumer
 *
 * The run sees what was written before: the pending bit of a BH work is set, and cleared before the
 * run, with full barriers.
 */
void sroce_wq_kick(struct sroce_wq *wq)
{
	if (!READ_ONCE(wq->dying))
		compat_bh_work_queue(&wq->bh_work);
}

/* Only a deadline that comes before the armed one moves the timer. */
static void arm_timer(struct sroce_wq *wq, u64 deadline_ns)
{
	u64 latest_ns = deadline_ns + wq->slack_ns;

	if (wq->dying || latest_ns >= wq->armed_ns)
		return;
	wq->armed_ns = latest_ns;
	hrtimer_start_range_ns(&wq->timer, ns_to_ktime(deadline_ns), wq->slack_ns,
			       HRTIMER_MODE_ABS_SOFT);
}

static void run_wq_rounds(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
{
	u32 budget = SROCE_WQ_BUDGET;
	u64 deadline_ns;
	bool left_over;

	do {
		wq->again = false;
		wq->retry = false;
		wq->more = false;
		deadline_ns = wq->ops->work(qp, &budget);
		left_over = deliver_output(qp, wq, may_call_back);
		/* A round costs at least one, even if it only woke a consumer. */
	} while (wq->again && !wq->more && budget && --budget);

	wq->yielding = !budget;
	if (!budget)
		deadline_ns = sroce_timer_earliest(SROCE_NEVER, &wq->slack_ns,
						   ktime_get_ns() + YIELD_NS);
	else if (wq->again || left_over || wq->more)
		sroce_wq_kick(wq);
	else if (wq->retry)
		deadline_ns = sroce_timer_earliest(deadline_ns, &wq->slack_ns,
						   ktime_get_ns() + RETRY_NS);
	arm_timer(wq, deadline_ns);
}

/**
 * sroce_wq_run() - run a queue, unless it is running
 * @qp: the QP
 * @wq: the queue
 * @may_call_back: consumers may be called back from here
 *
 * Entered with @wq->lock held and BH off, left without; in between the lock is dropped for
 * deliveries. If SROCE_WQ_BUDGET is spent, the timer continues.
 */
void sroce_wq_run(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__releases(&wq->lock)
{
	if (wq->running) {
		wq->again = true;
	} else if (!wq->dying && !wq->yielding) {
		wq->running = true;
		run_wq_rounds(qp, wq, may_call_back);
		wq->running = false;
	}
	wq->now_ns = 0;
	spin_unlock_bh(&wq->lock);
}

/**
 * sroce_wq_qp() - the QP of a queue
 * @wq: the queue
 *
 * Return: the QP.
 */
struct sroce_qp *sroce_wq_qp(struct sroce_wq *wq)
{
	return wq->type == SROCE_SQ ? container_of(wq, struct sroce_qp, sq) :
				      container_of(wq, struct sroce_qp, rq);
}

static enum hrtimer_restart wq_timer_fired(struct hrtimer *timer)
{
	struct sroce_wq *wq = container_of(timer, struct sroce_wq, timer);
	struct sroce_qp *qp = sroce_wq_qp(wq);

	spin_lock_bh(&wq->lock);
	wq->armed_ns = SROCE_NEVER;
	wq->ops->timer_fired(qp);
	wq->yielding = false;
	if (wq->paced_until_ns)
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_PACING_WAKEUPS);
	/* This arms the timer again where needed. */
	sroce_wq_run(qp, wq, true);
	return HRTIMER_NORESTART;
}

static void wq_bh_work_run(struct compat_bh_work *work)
{
	struct sroce_wq *wq = container_of(work, struct sroce_wq, bh_work);

	spin_lock_bh(&wq->lock);
	sroce_wq_run(sroce_wq_qp(wq), wq, true);
}

/**
 * sroce_wq_init() - set up a work queue, without its lock
 * @wq: zeroed
 * @type: which one
 * @ops: its work
 */
void sroce_wq_init(struct sroce_wq *wq, enum sroce_wq_type type, const struct sroce_wq_ops *ops)
{
	wq->type = type;
	wq->ops = ops;
	wq->armed_ns = SROCE_NEVER;
	__skb_queue_head_init(&wq->out);
	hrtimer_setup(&wq->timer, wq_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	compat_bh_work_init(&wq->bh_work, wq_bh_work_run);
}
