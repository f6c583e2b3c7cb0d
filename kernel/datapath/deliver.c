// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a half has produced for others leaves it here, with its lock dropped:
 * packets to the stack, wakeups and events to consumers, failure to the QP.
 */
#include "datapath/qp.h"

static struct sroce_cq *wq_cq(struct sroce_qp *qp, const struct sroce_wq *wq)
{
	return wq->type == SROCE_SQ ? qp->send_cq : qp->recv_cq;
}

/**
 * sroce_wq_complete() - put a completion into the CQ of a half
 * @qp: the QP
 * @wq: the wq, its lock held
 * @wc: the completion
 * @rx: the packet that brought it, or NULL
 *
 * What follows from it is left to sroce_wq_deliver().
 */
void sroce_wq_complete(struct sroce_qp *qp, struct sroce_wq *wq,
		       const struct sroce_completion *wc, const struct sroce_rx *rx)
{
	struct sroce_wc_extra extra = {
		.qp = &qp->ibqp,
		.is_ipv4 = rx && rx->is_ipv4,
		.vlan_id = rx ? rx->vlan_id : SROCE_NO_VLAN,
	};

	if (wc->status != SROCE_WC_SUCCESS)
		sroce_count(qp->dev->ep.counters, wq->type == SROCE_SQ ?
			    SROCE_CTR_REQ_CQE_ERROR : SROCE_CTR_RESP_CQE_ERROR);
	switch (sroce_cq_post(wq_cq(qp, wq), wc, &extra)) {
	case SROCE_CQ_POSTED:
		break;
	case SROCE_CQ_WAKE:
		wq->wake = true;
		break;
	case SROCE_CQ_OVERFLOW:
		wq->events |= BIT(IB_EVENT_CQ_ERR);
		wq->failed = true;
		break;
	case SROCE_CQ_LOST:
		wq->failed = true;
		break;
	}
}

static void dispatch_cq_event(struct sroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
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
		IB_EVENT_QP_FATAL, IB_EVENT_SQ_DRAINED,
	};
	u32 i;

	if (events & BIT(IB_EVENT_CQ_ERR))
		dispatch_cq_event(cq);
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (events & BIT(types[i]))
			dispatch_qp_event(qp, types[i]);
}

static void xmit_skbs(struct sroce_qp *qp, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out)))
		sroce_skb_xmit(&qp->dev->ep, skb);
}

/**
 * sroce_wq_deliver() - hand over what has come up
 * @qp: the QP
 * @wq: the wq, its lock held with BH off; dropped and taken again
 * @may_call_back: consumers may be called back from here
 *
 * Return: whether something is left because no one may be called back.
 */
bool sroce_wq_deliver(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__must_hold(&wq->lock)
{
	struct sroce_cq *cq = wq_cq(qp, wq);
	bool wake = may_call_back && wq->wake, failed = wq->failed;
	u32 events = may_call_back ? wq->events : 0;
	struct sk_buff_head out;

	if (!skb_queue_empty(&wq->out) || wake || events || failed) {
		sroce_wq_charge(qp, wq);
		__skb_queue_head_init(&out);
		skb_queue_splice_init(&wq->out, &out);
		wq->failed = false;
		if (may_call_back) {
			wq->wake = false;
			wq->events = 0;
		}
		spin_unlock(&wq->lock);
		xmit_skbs(qp, &out);
		if (failed)
			sroce_qp_follow_error(qp, wq->type);
		if (wake && cq->ibcq.comp_handler)
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		if (events)
			dispatch_events(qp, cq, events);
		spin_lock(&wq->lock);
	}
	return wq->wake || wq->events;
}
