/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CONTROL_RESTRACK_H
#define SROCE_CONTROL_RESTRACK_H

#include <rdma/ib_verbs.h>

int sroce_restrack_put_qp(struct sk_buff *msg, struct ib_qp *ibqp);
int sroce_restrack_put_cq(struct sk_buff *msg, struct ib_cq *ibcq);
int sroce_restrack_put_srq(struct sk_buff *msg, struct ib_srq *ibsrq);
int sroce_restrack_put_mr(struct sk_buff *msg, struct ib_mr *ibmr);

#endif
