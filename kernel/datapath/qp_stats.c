// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Values of a queue pair for tools: our netlink family, and ib_core's list of resources. Each work
 * queue is read under its own lock, one after the other.
 */
#include <linux/ktime.h>

#include "datapath/qp.h"
#include "datapath/qp_stats.h"
#include "datapath/reorder_queue.h"

static u32 count_send_wqes(const struct sroce_qp *qp)
{
	if (!qp->is_user)
		return READ_ONCE(qp->sq_posted) - sroce_requester_retired(&qp->req);
	return sroce_requester_used(&qp->req) + sroce_ring_pending(&qp->sq_ring);
}

static void read_peer(const struct sroce_qp *qp, struct sroce_qp_stats *stats)
{
	stats->has_peer = sroce_qp_is_connected(qp) &&
			  (qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
			   qp->state == IB_QPS_SQD);
	stats->dest_qpn = qp->req.attr.dest_qpn;
	stats->saddr = qp->sq.path.saddr;
	stats->daddr = qp->sq.path.daddr;
}

static void read_sq(struct sroce_qp *qp, u64 now_ns, struct sroce_sq_stats *stats)
{
	sroce_requester_get_stats(&qp->req, &stats->requester);
	sroce_cc_get_info(&qp->req.cc, now_ns, &stats->cc);
	stats->wqes = count_send_wqes(qp);
}

static void read_rq(struct sroce_qp *qp, u64 now_ns, struct sroce_rq_stats *stats)
{
	const struct sroce_reorder_queue *queue = qp->reorder_queue;

	stats->epsn = sroce_responder_epsn(&qp->resp);
	sroce_cc_get_info(&qp->resp.cc, now_ns, &stats->cc);
	stats->wqes = sroce_qp_has_receives(qp) ? sroce_ring_pending(&qp->recv_queue->ring) : 0;
	stats->reorder_packets = sroce_responder_queued(&qp->resp);
	stats->reorder_bytes = queue ? queue->bytes + queue->spare_bytes : 0;
	stats->ecn_marked = qp->np.ecn_marked;
	stats->cnp_sent = qp->np.cnps;
}

/**
 * sroce_qp_get_stats() - read what tools show of a QP
 * @qp: the QP, from sroce_qp_get()
 * @stats: filled in
 *
 * Takes the locks of both work queues, for a few hundred bytes each.
 */
void sroce_qp_get_stats(struct sroce_qp *qp, struct sroce_qp_stats *stats)
{
	u64 now_ns = ktime_get_ns();

	spin_lock_bh(&qp->sq.lock);
	stats->state = qp->state;
	read_peer(qp, stats);
	read_sq(qp, now_ns, &stats->sq);
	spin_unlock_bh(&qp->sq.lock);

	spin_lock_bh(&qp->rq.lock);
	read_rq(qp, now_ns, &stats->rq);
	spin_unlock_bh(&qp->rq.lock);
}
