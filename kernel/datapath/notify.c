// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion notification (IBTA annex A17): a packet that a switch has marked
 * is answered with a CNP, now and then; a CNP slows its QP down.
 */
#include <linux/err.h>
#include <linux/ktime.h>

#include "datapath/qp.h"
#include "trace.h"

/*
 * The receive lock is held. A CNP's DSCP sets it apart in the switches; it is not ECN capable
 * itself.
 */
static void queue_cnp(struct sroce_qp *qp)
{
	struct sroce_burst burst;
	struct sroce_packet pkt;
	struct sroce_crc_sink *sink;

	sroce_burst_init(&burst, qp, &qp->recv);
	burst.dscp = READ_ONCE(qp->dev->cc.np_cnp_dscp);
	sroce_responder_cnp_packet(&qp->resp, &pkt);
	/* The next marked packet calls for another. */
	if (sroce_burst_begin(&burst, &qp->recv.path, &pkt, 1, &sink))
		return;
	memset(sink->to, 0, pkt.payload_bytes);
	sroce_sink_pass(sink, pkt.payload_bytes);
	sroce_burst_end(&burst);
	/* A VLAN's egress map makes it the 802.1p priority. */
	if (!READ_ONCE(qp->dev->cc.np_cnp_prio_mode))
		skb_peek_tail(&qp->recv.out)->priority = READ_ONCE(qp->dev->cc.np_cnp_prio);
	sroce_count(qp->dev->ep.counters, SROCE_CTR_NP_CNP_SENT);
}

/**
 * sroce_notify_marked() - a packet came in that says "congestion experienced"
 * @qp: the QP it is for; of a connected service, datagrams have no one path back
 * @rx: the packet, which is one of the QP's peer
 */
void sroce_notify_marked(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	if (qp->service != SROCE_SERVICE_RC)
		return;
	spin_lock_bh(&qp->recv.lock);
	if (qp->resp.state == SROCE_RQ_READY &&
	    sroce_half_hears(qp, &qp->recv, rx) &&
	    sroce_np_marked(&qp->np, &qp->dev->cc, ktime_get_ns()))
		queue_cnp(qp);
	sroce_recv_run(qp, SROCE_RUN_BUDGET, true);
}

/* The half's lock is held. Returns whether its algorithm has a use for CNPs. */
static bool slow_down(const struct sroce_qp *qp, struct sroce_cc *cc, enum sroce_side side,
		      u64 now_ns)
{
	u64 cuts = cc->cuts;
	bool handled = sroce_cc_cnp(cc, now_ns);

	trace_sroce_congestion(qp->ibqp.qp_num, side, "cnp", cc, cc->cuts != cuts);
	return handled;
}

/**
 * sroce_notify_cnp() - a CNP came in: both halves send less for a while
 * @qp: the QP it names
 * @rx: the packet
 */
void sroce_notify_cnp(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	u64 now_ns = ktime_get_ns();
	bool handled = false;

	spin_lock_bh(&qp->send.lock);
	if (sroce_half_hears(qp, &qp->send, rx))
		handled |= slow_down(qp, &qp->req.cc, SROCE_SEND_SIDE, now_ns);
	spin_unlock_bh(&qp->send.lock);
	spin_lock_bh(&qp->recv.lock);
	if (sroce_half_hears(qp, &qp->recv, rx))
		handled |= slow_down(qp, &qp->resp.cc, SROCE_RECV_SIDE, now_ns);
	spin_unlock_bh(&qp->recv.lock);
	/* A half that does not send yet has no use for it. */
	sroce_count(qp->dev->ep.counters, handled ? SROCE_CTR_RP_CNP_HANDLED :
						    SROCE_CTR_RP_CNP_IGNORED);
}
