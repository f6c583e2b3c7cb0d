/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * XRC: numbers of shared receive queues, and what differs for a QP that takes the queue of each
 * message from its packets. See xrc.c.
 */
#ifndef SROCE_DATAPATH_XRC_H
#define SROCE_DATAPATH_XRC_H

#include "datapath/cq.h"
#include "datapath/qp.h"
#include "net/rx_cursor.h"

int sroce_srq_table_add(struct sroce_srq *srq, u32 last_number);
int sroce_srq_table_publish(struct sroce_srq *srq);
void sroce_srq_table_remove(struct sroce_srq *srq);

struct sroce_srq *sroce_xrc_get_srq(const struct sroce_qp *qp, u32 number);
void sroce_xrc_put_srq(struct sroce_srq *srq);

void sroce_xrc_find_queue(const struct sroce_qp *qp, struct sroce_rx *rx);
bool sroce_xrc_has_posted(const struct sroce_qp *qp);
bool sroce_xrc_complete(struct sroce_qp *qp, const struct sroce_completion *wc,
			const struct sroce_wc_extra *extra);

/**
 * sroce_xrc_begin() - find the queue that a request names, before the request is handled
 * @qp: the QP, its receive lock held; of any kind
 * @rx: the request; @rx->srq and @rx->pkt.has_srq are set
 */
static inline void sroce_xrc_begin(const struct sroce_qp *qp, struct sroce_rx *rx)
{
	if (unlikely(sroce_qp_is_xrc_target(qp)))
		sroce_xrc_find_queue(qp, rx);
}

/**
 * sroce_xrc_end() - the request has been handled
 * @rx: from sroce_xrc_begin()
 */
static inline void sroce_xrc_end(struct sroce_rx *rx)
{
	if (likely(!rx->srq))
		return;
	sroce_xrc_put_srq(rx->srq);
	rx->srq = NULL;
}

/* The protection domain of the region that a request names. A target QP has none. */
static inline const struct ib_pd *sroce_rx_pd(const struct sroce_qp *qp, const struct sroce_rx *rx)
{
	return rx->srq ? rx->srq->queue.pd : qp->ibqp.pd;
}

#endif
