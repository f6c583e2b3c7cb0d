/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The verbs of the objects that have rings: cq.c and qp.c. */
#ifndef SROCE_USERLIB_ABI34_OBJECTS_H
#define SROCE_USERLIB_ABI34_OBJECTS_H

#include "provider.h"

struct ibv_cq* sroce_abi34_create_cq(struct ibv_context* context, int cqe,
                                     struct ibv_comp_channel* channel, int comp_vector);
int sroce_abi34_resize_cq(struct ibv_cq* cq, int cqe);
int sroce_abi34_destroy_cq(struct ibv_cq* cq);
int sroce_abi34_poll_cq(struct ibv_cq* cq, int num_entries, struct ibv_wc* wc);

struct ibv_qp* sroce_abi34_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* attr);
int sroce_abi34_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask,
                         struct ibv_qp_init_attr* init_attr);
int sroce_abi34_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask);
int sroce_abi34_destroy_qp(struct ibv_qp* qp);
int sroce_abi34_post_send(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad_wr);
int sroce_abi34_post_recv(struct ibv_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad_wr);

#endif
