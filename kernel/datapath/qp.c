// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life and states of a QP in the datapath.
 *
 *   sroce_qp_datapath_init -> sroce_qp_table_add     packets may come
 *            sroce_qp_set_state, any number of times
 *            sroce_qp_stop                           no route, nothing is sent
 *   sroce_qp_table_remove  -> sroce_qp_quiesce       nothing refers to it any more
 *
 * A QP is used by packets and skb destructors, which are users of struct sroce_qp_ref; by the
 * timers and BH works of its work queues, which quiesce stops; and by its owner, who does not
 * destroy it at the same time.
 *
 * A state change holds the locks of both work queues and calls no consumer back. Their BH works do
 * the work that follows (flushing, resuming).
 */
#include <linux/memcontrol.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>

#include "datapath/ack_delay.h"
#include "datapath/av.h"
#include "datapath/odp_backlog.h"
#include "datapath/qp.h"
#include "datapath/reorder_queue.h"
#include "datapath/route_release.h"
#include "transport/ack_codes.h"
#include "transport/reorder.h"
#include "transport/srq_policy.h"

/* The most packets in flight; the path usually allows fewer, see requester_plan.c. */
#define WINDOW_PACKETS	8192
/* The longest RNR delay, well below the usual ACK timeouts. */
#define RNR_DELAY_NS	(1 * NSEC_PER_MSEC)

static void lock_wqs(struct sroce_qp *qp)
	__acquires(&qp->sq.lock) __acquires(&qp->rq.lock)
{
	spin_lock_bh(&qp->sq.lock);
	spin_lock(&qp->rq.lock);
}

static void unlock_wqs(struct sroce_qp *qp)
	__releases(&qp->rq.lock) __releases(&qp->sq.lock)
{
	spin_unlock(&qp->rq.lock);
	spin_unlock_bh(&qp->sq.lock);
}

static void kick_wqs(struct sroce_qp *qp)
{
	sroce_wq_kick(&qp->sq);
	sroce_wq_kick(&qp->rq);
}

/* Drop the address vectors of datagrams that have not completed, fetched or only posted. */
static void release_wqes(struct sroce_qp *qp)
{
	u32 index, end = qp->is_user ? sroce_requester_posted(&qp->req) : qp->sq_posted;

	if (sroce_qp_is_connected(qp))
		return;
	for (index = sroce_requester_retired(&qp->req); index != end; index++) {
		struct sroce_send_wqe *wqe = sroce_requester_wqe(&qp->req, index);

		if (wqe->ud.ah)
			sroce_av_put(wqe->ud.ah);
	}
}

/*
 * Wake the consumer for completions that it was not told about: it may share the CQ with other QPs,
 * and the CQ is no longer armed.
 */
static void wake_consumer(struct sroce_wq *wq, struct sroce_cq *cq)
{
	if (wq->wake && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	wq->wake = false;
}

/* The limit is disarmed, and the shared queue outlives the QP: its consumer must get the event. */
static void dispatch_pending_limit(struct sroce_qp *qp)
{
	if (qp->rq.events & BIT(IB_EVENT_SRQ_LIMIT_REACHED))
		sroce_srq_dispatch_limit(qp->srq);
	qp->rq.events = 0;
}

static void stop_wqs(struct sroce_qp *qp)
{
	hrtimer_cancel(&qp->sq.timer);
	hrtimer_cancel(&qp->rq.timer);
	compat_bh_work_stop(&qp->sq.bh_work);
	compat_bh_work_stop(&qp->rq.bh_work);
	sroce_paging_stop(&qp->sq);
	sroce_paging_stop(&qp->rq);
}

/**
 * sroce_qp_stop() - let the QP send nothing more, and release its routes
 * @qp: still in the table, if it has sent anything: see route_release.c
 */
void sroce_qp_stop(struct sroce_qp *qp)
{
	lock_wqs(qp);
	qp->sq.dying = true;
	qp->rq.dying = true;
	WARN_ON_ONCE((qp->sq.dst || qp->rq.dst) && sroce_endpoint_has_ended(&qp->dev->ep));
	sroce_wq_release_route(&qp->sq);
	sroce_wq_release_route(&qp->rq);
	unlock_wqs(qp);
}

/**
 * sroce_qp_quiesce() - wait until nothing uses the QP any more
 * @qp: stopped, and removed from the table
 *
 * Its packets that are still in the stack are not waited for. Rings and storage may be freed
 * afterwards. May sleep.
 */
void sroce_qp_quiesce(struct sroce_qp *qp)
{
	sroce_qp_put(qp);
	wait_for_completion(&qp->ref->released);
	/* A timer may have queued a BH work, or the reverse, before it saw `dying`. */
	stop_wqs(qp);
	stop_wqs(qp);

	wake_consumer(&qp->sq, qp->send_cq);
	wake_consumer(&qp->rq, qp->recv_cq);
	dispatch_pending_limit(qp);
	release_wqes(qp);
	sroce_ack_delay_cancel(qp);
	/* A CNP may have come while the last run delivered. A run delivers all of sq.out. */
	__skb_queue_purge(&qp->rq.out);
	sroce_reorder_clear(&qp->resp);
	sroce_reorder_queue_purge(qp);
	kfree(qp->reorder_queue);
	qp->reorder_queue = NULL;
	sroce_backlog_purge(qp);
	mem_cgroup_put(qp->memcg);
	qp->memcg = NULL;
	sroce_qp_ref_put(qp->ref);
	qp->ref = NULL;
}

/* Both locks are held. */
static void enter_error(struct sroce_qp *qp)
{
	if (sroce_srq_reports_last_wqe(qp->srq, qp->state == IB_QPS_ERR))
		qp->last_wqe_due = true;
	WRITE_ONCE(qp->state, IB_QPS_ERR);
	if (sroce_qp_has_receives(qp))
		sroce_ring_require_doorbell(&qp->recv_queue->ring);
	sroce_requester_set_state(&qp->req, SROCE_SQ_ERROR);
	sroce_responder_set_state(&qp->resp, SROCE_RQ_ERROR);
	sroce_reorder_queue_purge(qp);
}

static bool has_overflowed(const struct sroce_cq *cq)
{
	return cq && READ_ONCE(cq->overflowed);
}

/*
 * A work queue has failed: the QP goes to ERR, and everything is flushed. A UC or UD QP whose send
 * queue failed goes to SQE and goes on receiving (IBTA 10.3.1). If the cause is gone, the QP has
 * been reset since the lock was dropped, and stays as it is.
 */
static void follow_error(struct sroce_qp *qp, enum sroce_wq_type type)
{
	bool overflowed = has_overflowed(qp->send_cq) || has_overflowed(qp->recv_cq);
	bool to_sqe = !sroce_qp_is_acked(qp) && type == SROCE_SQ && !overflowed;
	bool enters = false;

	lock_wqs(qp);
	if (qp->state == IB_QPS_RESET || qp->state == IB_QPS_ERR) {
		/* The QP is there already, or has been reset. */
	} else if (to_sqe) {
		if (sroce_requester_has_failed(&qp->req) &&
		    (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD))
			WRITE_ONCE(qp->state, IB_QPS_SQE);
	} else if (overflowed || sroce_requester_has_failed(&qp->req) ||
		   sroce_responder_has_failed(&qp->resp)) {
		enter_error(qp);
		enters = true;
	}
	unlock_wqs(qp);
	if (enters)
		kick_wqs(qp);
}

/**
 * sroce_qp_settle_state() - let the state follow an error that is known already
 * @qp: the QP
 *
 * A consumer may have polled the completions of a failed queue before the state follows, which it
 * does when the queue's lock has been dropped. To be called before the state is looked at. Process
 * context.
 */
void sroce_qp_settle_state(struct sroce_qp *qp)
{
	/* Without the locks: whoever has seen a completion sees the failure, too. */
	if (data_race(sroce_requester_has_failed(&qp->req)))
		follow_error(qp, SROCE_SQ);
	/* The same for receives. */
	if (data_race(sroce_responder_has_failed(&qp->resp)))
		follow_error(qp, SROCE_RQ);
}

static const struct sroce_wq_ops sq_ops = {
	.work = sroce_sq_work,
	.timer_fired = sroce_sq_timer_fired,
	.failed = follow_error,
};

static const struct sroce_wq_ops rq_ops = {
	.work = sroce_rq_work,
	.timer_fired = sroce_rq_timer_fired,
	.failed = follow_error,
};

/**
 * sroce_qp_datapath_init() - locks, timers and the reference object
 * @qp: rings, requester and responder are set up; state RESET
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM; then nothing needs undoing.
 */
int sroce_qp_datapath_init(struct sroce_qp *qp)
{
	qp->ref = sroce_qp_ref_create(qp);
	if (!qp->ref)
		return -ENOMEM;
	qp->counters = qp->dev->ep.counters;
	/* Two places, so two lock classes: sq.lock is taken first. */
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	spin_lock_init(&qp->sq_post_lock);
	spin_lock_init(&qp->own_recv_queue.lock);
	__skb_queue_head_init(&qp->backlog);
	sroce_wq_init(&qp->sq, SROCE_SQ, &sq_ops);
	sroce_wq_init(&qp->rq, SROCE_RQ, &rq_ops);
	sroce_paging_init(&qp->sq);
	sroce_paging_init(&qp->rq);
	qp->memcg = get_mem_cgroup_from_mm(current->mm);
	return 0;
}

/*
 * A wake-up that is due stays due, because the completions are still in the CQ. So does the event
 * of a shared receive queue.
 */
static void reset_wq(struct sroce_wq *wq)
{
	wq->failed = false;
	wq->fault = 0;
	wq->events &= BIT(IB_EVENT_SRQ_LIMIT_REACHED);
	wq->timer_defer_ns = 0;
	wq->ignore_timeout_until_ns = 0;
	sroce_paging_reset(wq);
}

/* Both locks are held; the posters' locks keep posters away. */
static void enter_reset(struct sroce_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->sq_post_lock, flags);
	release_wqes(qp);
	sroce_requester_reset(&qp->req);
	qp->sq_posted = 0;
	qp->sq_retired = 0;
	if (qp->sq_ring.memory)
		sroce_ring_reset(&qp->sq_ring);
	/* The words of the ring are cleared with it, so suppression has ended. */
	qp->db = (struct sroce_db_suppress) { .supported = qp->db.supported };
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	spin_unlock_irqrestore(&qp->sq_post_lock, flags);

	/* Without ERR before, a receive taken from a shared queue is lost, as IBTA permits. */
	sroce_responder_reset(&qp->resp);
	if (sroce_qp_has_receives(qp))
		sroce_recv_queue_reset(qp->recv_queue);
	qp->last_wqe_due = false;
	clear_bit(0, &qp->fatal_reported);
	sroce_reorder_queue_purge(qp);
	sroce_backlog_purge(qp);
	qp->sq_draining_notify = false;
	reset_wq(&qp->sq);
	reset_wq(&qp->rq);
}

/* Attributes that modify_qp does not set; both locks are held. */
static void apply_constants(struct sroce_qp *qp)
{
	struct sroce_requester_attr *req_attr = &qp->req.attr;
	struct sroce_responder_attr *resp_attr = &qp->resp.attr;

	req_attr->qpn = qp->ibqp.qp_num;
	req_attr->pkey = SROCE_PKEY_DEFAULT;
	req_attr->window_packets = WINDOW_PACKETS;
	req_attr->adaptive = true;
	resp_attr->pkey = SROCE_PKEY_DEFAULT;
	resp_attr->reorder_packets = SROCE_PSN_MAP_SPAN;
	resp_attr->shares_rwqes = qp->srq;
	/* Selective repeat is negotiated with the first packets. */
	if (qp->state < IB_QPS_RTR) {
		req_attr->selective = READ_ONCE(qp->dev->selective);
		resp_attr->selective = req_attr->selective;
	}
	if (sroce_qp_is_connected(qp))
		return;
	/* The port's MTU limits a datagram; it must not change once datagrams were checked. */
	if (qp->state < IB_QPS_RTS)
		req_attr->mtu_bytes = ib_mtu_enum_to_int(sroce_active_mtu(qp->dev->ep.netdev));
	resp_attr->mtu_bytes = ib_mtu_enum_to_int(IB_MTU_4096);
	if (qp->ibqp.qp_type == IB_QPT_GSI) {
		resp_attr->qkey = SROCE_GSI_QKEY;
		resp_attr->mad_bytes = IB_MGMT_MAD_SIZE;
	}
}

static void apply_responder_attr(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct sroce_responder_attr *resp_attr = &qp->resp.attr;

	if (mask & IB_QP_ACCESS_FLAGS)
		resp_attr->access = attr->qp_access_flags;
	if ((mask & IB_QP_QKEY) && qp->ibqp.qp_type != IB_QPT_GSI)
		resp_attr->qkey = attr->qkey;
	if (mask & IB_QP_PATH_MTU)
		resp_attr->mtu_bytes = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_DEST_QPN)
		resp_attr->dest_qpn = attr->dest_qp_num & SROCE_QPN_MASK;
	if (mask & IB_QP_MIN_RNR_TIMER) {
		resp_attr->min_rnr_timer = attr->min_rnr_timer;
		resp_attr->rnr_delay_ns = min_t(u64, sroce_rnr_wait_ns(attr->min_rnr_timer),
						RNR_DELAY_NS);
	}
	if (mask & IB_QP_RQ_PSN)
		sroce_responder_start_psn(&qp->resp, attr->rq_psn);
}

static void apply_requester_attr(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct sroce_requester_attr *req_attr = &qp->req.attr;

	if (mask & IB_QP_PATH_MTU)
		req_attr->mtu_bytes = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_DEST_QPN)
		req_attr->dest_qpn = attr->dest_qp_num & SROCE_QPN_MASK;
	if (mask & IB_QP_TIMEOUT)
		req_attr->ack_timeout_ns = sroce_ack_timeout_ns(attr->timeout);
	if (mask & IB_QP_RETRY_CNT)
		req_attr->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		req_attr->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		req_attr->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_SQ_PSN)
		sroce_requester_start_psn(&qp->req, attr->sq_psn);
}

/* The event belongs to the drain that it was requested with, and to no other. */
static void apply_drain_notify(struct sroce_qp *qp, enum ib_qp_state to,
			       const struct ib_qp_attr *attr, int mask)
{
	if (to != IB_QPS_SQD)
		qp->sq_draining_notify = false;
	else if (qp->state != IB_QPS_SQD)
		qp->sq_draining_notify = (mask & IB_QP_EN_SQD_ASYNC_NOTIFY) &&
					 attr->en_sqd_async_notify;
}

static void start_pacing(struct sroce_qp *qp)
{
	u64 line_rate = READ_ONCE(qp->dev->line_rate);

	if (!sroce_qp_is_acked(qp))
		sroce_cc_start_unacked(&qp->req.cc, &qp->dev->cc, line_rate,
				       qp->req.attr.mtu_bytes, ktime_get_ns());
	else
		sroce_cc_start(&qp->req.cc, &qp->dev->cc, line_rate, qp->req.attr.mtu_bytes,
			       ktime_get_ns());
}

static void enter_state(struct sroce_qp *qp, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RTR:
		sroce_cc_start_unacked(&qp->resp.cc, &qp->dev->cc, READ_ONCE(qp->dev->line_rate),
				       qp->resp.attr.mtu_bytes, ktime_get_ns());
		sroce_responder_set_state(&qp->resp, SROCE_RQ_READY);
		break;
	case IB_QPS_RTS:
		/* RTS to RTS only sets attributes: a retry goes on. */
		if (qp->state == IB_QPS_RTR)
			start_pacing(qp);
		if (qp->state != IB_QPS_RTS)
			sroce_requester_set_state(&qp->req, SROCE_SQ_READY);
		if (qp->state == IB_QPS_RTR && sroce_requester_offers_selective(&qp->req))
			sroce_count(sroce_qp_counters(qp), SROCE_CTR_SELECTIVE_OFFERED);
		break;
	case IB_QPS_SQD:
		sroce_requester_set_state(&qp->req, SROCE_SQ_DRAINING);
		break;
	default:
		break;
	}
	WRITE_ONCE(qp->state, to);
}

/*
 * A failed send queue is flushed in several rounds, and the state of the QP follows when the lock
 * has been dropped. Until then nothing may start the queue again, because the requests left in it
 * have old PSNs.
 */
static bool is_failing(const struct sroce_qp *qp)
{
	return sroce_requester_has_failed(&qp->req) &&
	       (qp->state != IB_QPS_SQE || sroce_requester_used(&qp->req));
}

/**
 * sroce_qp_set_state() - carry out a legal modify_qp
 * @qp: the QP
 * @from: state for which it was checked
 * @to: state to go to, possibly the same
 * @attr: attributes
 * @mask: which of them to apply
 *
 * The caller has installed path and responder resources. Process context.
 *
 * Return: 0. For all but RESET and ERR, -EINVAL when the QP is no longer in @from, and -EBUSY while
 * a failed send queue is being flushed.
 */
int sroce_qp_set_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
		       const struct ib_qp_attr *attr, int mask)
{
	int err = 0;

	lock_wqs(qp);
	/* A queue may fail meanwhile. RESET and ERR can be reached from all states. */
	if (qp->state != from && to != IB_QPS_RESET && to != IB_QPS_ERR) {
		err = -EINVAL;
	} else if (to == IB_QPS_RESET) {
		enter_reset(qp);
	} else if (to == IB_QPS_ERR) {
		enter_error(qp);
	} else if (is_failing(qp)) {
		err = -EBUSY;
	} else {
		apply_constants(qp);
		apply_responder_attr(qp, attr, mask);
		apply_requester_attr(qp, attr, mask);
		apply_drain_notify(qp, to, attr, mask);
		enter_state(qp, to);
	}
	unlock_wqs(qp);
	if (!err)
		kick_wqs(qp);
	return err;
}
