/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion notification packets, and tracing of congestion control. See cnp.c. */
#ifndef SROCE_DATAPATH_CNP_H
#define SROCE_DATAPATH_CNP_H

#include "datapath/wq.h"
#include "transport/cc.h"

void sroce_cnp_marked(struct sroce_qp *qp, const struct sroce_rx *rx, u32 packets);
void sroce_cnp_received(struct sroce_qp *qp, const struct sroce_rx *rx);
void sroce_cc_trace(const struct sroce_qp *qp, struct sroce_cc *cc, enum sroce_wq_type type);

/* Trace the events of congestion control, if there are any. The queue's lock is held. */
static inline void sroce_trace_cc_events(const struct sroce_qp *qp, struct sroce_cc *cc,
					 enum sroce_wq_type type)
{
	if (unlikely(sroce_cc_has_events(cc)))
		sroce_cc_trace(qp, cc, type);
}

#endif
