/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests of UC and UD that wait for pages. See odp_backlog.c. */
#ifndef SROCE_DATAPATH_ODP_BACKLOG_H
#define SROCE_DATAPATH_ODP_BACKLOG_H

#include "datapath/qp.h"

struct sroce_rx;

bool sroce_backlog_add(struct sroce_qp *qp, const struct sroce_rx *rx);
bool sroce_backlog_first(struct sroce_qp *qp, u64 now_ns, struct sroce_rx *rx);
void sroce_backlog_drop_first(struct sroce_qp *qp);
u64 sroce_backlog_deadline(const struct sroce_qp *qp);
void sroce_backlog_purge(struct sroce_qp *qp);

/* Do the requests of an unacknowledged service wait? Then a new one waits behind them. */
static inline bool sroce_backlog_waits(const struct sroce_qp *qp)
{
	return !sroce_qp_is_acked(qp) &&
	       (qp->rq.paging.pending || !skb_queue_empty(&qp->backlog));
}

#endif
