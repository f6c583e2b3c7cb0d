// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The end of a network namespace. A netdev may have left it, and its device has not been
 * unregistered yet. An idle QP of this device still has a route, which must be gone before the
 * namespace.
 *
 * A queue gets a route only while its QP is in the table. A QP that is being destroyed releases
 * its routes for good first, and leaves the table then (sroce_qp_stop()). So none is missed here,
 * and the namespace does not wait for the QPs, which may wait for page faults.
 */
#include "datapath/qp.h"
#include "datapath/route_release.h"

/**
 * sroce_wq_release_route() - release the route that a work queue caches
 * @wq: the queue, locked; the lock is held until the route is gone, so that its namespace does not
 *      end before
 *
 * Also drops packets that wait for the timer, which can only be CNPs. A runner delivers its own.
 */
void sroce_wq_release_route(struct sroce_wq *wq)
{
	dst_release(wq->dst);
	wq->dst = NULL;
	if (!wq->running)
		__skb_queue_purge(&wq->out);
}

static void release_route_of(struct sroce_wq *wq)
{
	spin_lock_bh(&wq->lock);
	sroce_wq_release_route(wq);
	spin_unlock_bh(&wq->lock);
}

/**
 * sroce_routes_release() - release the routes of all QPs of an endpoint
 * @ep: the endpoint; sroce_path_route() finds no more routes for it
 *
 * Packets of a run under way keep theirs until they are in the stack. May sleep.
 */
void sroce_routes_release(struct sroce_endpoint *ep)
{
	struct sroce_qp *qp;
	u32 qpn;

	for (qpn = 0; (qp = sroce_qp_get_next(ep, &qpn)); qpn++) {
		release_route_of(&qp->sq);
		release_route_of(&qp->rq);
		sroce_qp_put(qp);
	}
}
