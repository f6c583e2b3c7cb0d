/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* post_send, post_recv, and the doorbell. See post.c. */
#ifndef SROCE_DATAPATH_POST_H
#define SROCE_DATAPATH_POST_H

#include <rdma/ib_verbs.h>

int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

#endif
