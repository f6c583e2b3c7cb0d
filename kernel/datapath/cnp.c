// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion notification (IBTA annex A17): a packet that a switch has marked makes the receiver
 * send a CNP to the QP that sent it, at a limited rate. A CNP, even a forged one, can only slow its
 * QP down.
 */
#include <linux/ktime.h>
#include <rdma/ib_verbs.h>

#include "datapath/cnp.h"
#include "datapath/qp.h"
#include "datapath/tx.h"
#include "net/rx_cursor.h"
#include "trace.h"
#include "transport/response.h"

#define CNP_HOP_LIMIT	64

/* The path back to the sender of a datagram, through the interface that it came in on. */
static void return_path(struct sroce_path *path, const struct sroce_qp *qp,
			const struct sroce_rx *rx)
{
	const struct net_device *ingress = rx->skb->dev;

	if (ingress->flags & IFF_LOOPBACK)
		ingress = rx->ep->netdev;
	*path = (struct sroce_path) {
		.saddr = rx->daddr,
		.daddr = rx->saddr,
		.is_ipv4 = rx->is_ipv4,
		.hop_limit = CNP_HOP_LIMIT,
		.sport = htons(rdma_get_udp_sport(0, qp->ibqp.qp_num, rx->pkt.src_qpn)),
		.oif = ingress->ifindex,
	};
}

/* The receive lock is held. A CNP has a DSCP of its own, and is not ECN capable itself. */
static void queue_cnp(struct sroce_qp *qp, const struct sroce_path *path, u32 dest_qpn)
{
	struct sroce_tx tx;
	struct sroce_packet pkt;
	struct sroce_crc_writer *writer;

	sroce_tx_init(&tx, qp, &qp->rq);
	tx.dscp = READ_ONCE(qp->dev->cc.np_cnp_dscp);
	sroce_responder_cnp_packet(&qp->resp, &pkt);
	pkt.dest_qpn = dest_qpn;
	/* If this one cannot be sent, another one follows when it is due. */
	if (sroce_tx_begin(&tx, path, &pkt, 1, &writer))
		return;
	memset(writer->to, 0, pkt.payload_bytes);
	sroce_crc_advance(writer, pkt.payload_bytes);
	sroce_tx_end(&tx);
	sroce_np_sent(&qp->np);
	/* A VLAN's egress map makes it the 802.1p priority. */
	if (!READ_ONCE(qp->dev->cc.np_cnp_prio_mode))
		skb_peek_tail(&qp->rq.out)->priority = READ_ONCE(qp->dev->cc.np_cnp_prio);
	sroce_count(sroce_qp_counters(qp), SROCE_CTR_NP_CNP_SENT);
}

static void notify_peer(struct sroce_qp *qp, const struct sroce_rx *rx, u32 packets)
{
	u32 peer_qpn = qp->resp.attr.dest_qpn;
	bool cnp;

	if (!sroce_wq_path_matches(qp, &qp->rq, rx))
		return;
	cnp = sroce_np_marked(&qp->np, &qp->dev->cc, packets, ktime_get_ns());
	trace_sroce_marked(qp->ibqp.qp_num, peer_qpn, cnp);
	if (cnp)
		queue_cnp(qp, &qp->rq.path, peer_qpn);
}

/*
 * No CNP goes to a sender with the wrong Q_Key, nor to a sender of MADs, which are few and are
 * hardly paced.
 */
static void notify_datagram_sender(struct sroce_qp *qp, const struct sroce_rx *rx, u32 packets)
{
	struct sroce_device *dev = qp->dev;
	u32 source_qpn = rx->pkt.src_qpn;
	struct sroce_path path;
	bool cnp;

	if (qp->ibqp.qp_type == IB_QPT_GSI || rx->pkt.qkey != qp->resp.attr.qkey)
		return;
	spin_lock(&dev->np_lock);
	cnp = sroce_np_marked_datagram(&qp->np, &dev->np_sources, &dev->cc, packets,
				       (__force const u32 *)rx->saddr.s6_addr32, source_qpn,
				       ktime_get_ns());
	spin_unlock(&dev->np_lock);
	trace_sroce_marked(qp->ibqp.qp_num, source_qpn, cnp);
	if (!cnp)
		return;
	return_path(&path, qp, rx);
	queue_cnp(qp, &path, source_qpn);
}

/**
 * sroce_cnp_marked() - queue a CNP for packets with the ECN mark CE, if one is due
 * @qp: the QP they are for
 * @rx: the first of them
 * @packets: how many there are
 *
 * Softirq. Takes @qp->rq.lock and runs the queue.
 */
void sroce_cnp_marked(struct sroce_qp *qp, const struct sroce_rx *rx, u32 packets)
{
	spin_lock_bh(&qp->rq.lock);
	if (sroce_responder_is_ready(&qp->resp)) {
		if (!sroce_qp_is_connected(qp))
			notify_datagram_sender(qp, rx, packets);
		else
			notify_peer(qp, rx, packets);
	}
	sroce_wq_run(qp, &qp->rq, true);
}

/**
 * sroce_cc_trace() - trace the events of congestion control
 * @qp: the QP
 * @cc: of the requester or the responder, its lock held
 * @type: which of them
 */
void sroce_cc_trace(const struct sroce_qp *qp, struct sroce_cc *cc, enum sroce_wq_type type)
{
	struct sroce_cc_events events;
	struct sroce_cc_info info;

	sroce_cc_take_events(cc, &events);
	if (!trace_sroce_congestion_enabled())
		return;
	sroce_cc_get_info(cc, 0, &info);
	trace_sroce_congestion(qp->ibqp.qp_num, type, &events, &info);
}

/* Returns whether the algorithm of this queue uses CNPs. */
static bool slow_down(struct sroce_qp *qp, struct sroce_wq *wq, struct sroce_cc *cc,
		      const struct sroce_rx *rx, u64 srtt_ns, u64 now_ns)
{
	bool handled = false;

	spin_lock_bh(&wq->lock);
	if (sroce_wq_path_matches(qp, wq, rx)) {
		handled = sroce_cc_cnp(cc, srtt_ns, now_ns);
		sroce_trace_cc_events(qp, cc, wq->type);
	}
	spin_unlock_bh(&wq->lock);
	return handled;
}

static u64 read_srtt_ns(struct sroce_qp *qp)
{
	u64 srtt_ns;

	spin_lock_bh(&qp->sq.lock);
	srtt_ns = sroce_requester_srtt_ns(&qp->req);
	spin_unlock_bh(&qp->sq.lock);
	return srtt_ns;
}

/**
 * sroce_cnp_received() - make the work queues of a QP send less for a while, for a CNP
 * @qp: the QP; a datagram QP slows down for all destinations
 * @rx: the packet
 *
 * Softirq, without the lock of a work queue.
 */
void sroce_cnp_received(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	u64 now_ns = ktime_get_ns();
	bool handled = false;

	/* MADs cause no CNPs, and a forged one must not slow down the CM. */
	if (qp->ibqp.qp_type != IB_QPT_GSI)
		handled = slow_down(qp, &qp->sq, &qp->req.cc, rx, 0, now_ns);
	if (sroce_qp_is_acked(qp))
		handled |= slow_down(qp, &qp->rq, &qp->resp.cc, rx, read_srtt_ns(qp), now_ns);
	/* A queue that does not send yet ignores it. */
	sroce_count(sroce_qp_counters(qp), handled ? SROCE_CTR_RP_CNP_HANDLED :
						    SROCE_CTR_RP_CNP_IGNORED);
}
