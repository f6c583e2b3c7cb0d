// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a half has produced for others leaves it here, with its lock dropped:
 * packets to the stack, wakeups and events to consumers, failure to the QP.
 */
#include "datapath/qp.h"

static struct sroce_cq *cq_of(struct sroce_qp *qp, const struct sroce_half *half)
{
	return half->side == SROCE_SEND_SIDE ? qp->send_cq : qp->recv_cq;
}

/**
 * sroce_half_complete() - put a completion into the CQ of a half
 * @qp: the QP
 * @half: the half, its lock held
 * @wc: the completion
 * @rx: the packet that brought it, or NULL
 *
 * What follows from it is left to sroce_half_deliver().
 */
void sroce_half_complete(struct sroce_qp *qp, struct sroce_half *half,
			 const struct sroce_completion *wc, const struct sroce_rx *rx)
{
	struct sroce_wc_extra extra = {
		.qp = &qp->ibqp,
		.is_ipv4 = rx && rx->is_ipv4,
		.vlan_id = rx ? rx->vlan_id : SROCE_NO_VLAN,
	};

	if (wc->status != SROCE_WC_SUCCESS)
		sroce_count(qp->dev->ep.counters, half->side == SROCE_SEND_SIDE ?
			    SROCE_CTR_REQ_CQE_ERROR : SROCE_CTR_RESP_CQE_ERROR);
	switch (sroce_cq_post(cq_of(qp, half), wc, &extra)) {
	case SROCE_CQ_POSTED:
		break;
	case SROCE_CQ_WAKE:
		half->wake = true;
		break;
	case SROCE_CQ_OVERFLOW:
		half->events |= BIT(IB_EVENT_CQ_ERR);
		half->failed = true;
		break;
	case SROCE_CQ_LOST:
		half->failed = true;
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

static void xmit(struct sroce_qp *qp, struct sk_buff_head *out)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(out)))
		sroce_skb_xmit(&qp->dev->ep, skb);
}

/**
 * sroce_half_deliver() - hand over what has come up
 * @qp: the QP
 * @half: the half, its lock held with BH off; dropped and taken again
 * @may_call_back: consumers may be called back from here
 *
 * Return: whether something is left because no one may be called back.
 */
bool sroce_half_deliver(struct sroce_qp *qp, struct sroce_half *half, bool may_call_back)
	__must_hold(&half->lock)
{
	struct sroce_cq *cq = cq_of(qp, half);
	bool wake = may_call_back && half->wake, failed = half->failed;
	u32 events = may_call_back ? half->events : 0;
	struct sk_buff_head out;

	if (!skb_queue_empty(&half->out) || wake || events || failed) {
		sroce_half_charge(qp, half);
		__skb_queue_head_init(&out);
		skb_queue_splice_init(&half->out, &out);
		half->failed = false;
		if (may_call_back) {
			half->wake = false;
			half->events = 0;
		}
		spin_unlock(&half->lock);
		xmit(qp, &out);
		if (failed)
			sroce_qp_follow_error(qp, half->side);
		if (wake && cq->ibcq.comp_handler)
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		if (events)
			dispatch_events(qp, cq, events);
		spin_lock(&half->lock);
	}
	return half->wake || half->events;
}
