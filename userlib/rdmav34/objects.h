/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The verbs that cq.c, domain.c, mw.c, qp.c and srq.c implement. */
#ifndef SROCE_USERLIB_RDMAV34_OBJECTS_H
#define SROCE_USERLIB_RDMAV34_OBJECTS_H

#include "provider.h"

struct ibv_cq* sroce_abi34_create_cq(struct ibv_context* context, int cqe,
                                     struct ibv_comp_channel* channel, int comp_vector);
struct ibv_cq_ex* sroce_abi34_create_cq_ex(struct ibv_context* context,
                                           struct ibv_cq_init_attr_ex* attr);
int sroce_abi34_resize_cq(struct ibv_cq* cq, int cqe);
int sroce_abi34_destroy_cq(struct ibv_cq* cq);
int sroce_abi34_poll_cq(struct ibv_cq* cq, int num_entries, struct ibv_wc* wc);
int sroce_abi34_req_notify_cq(struct ibv_cq* cq, int solicited_only);
void sroce_abi34_cq_event(struct ibv_cq* cq);
struct sroce_completion_queue* sroce_abi34_queue_of(struct ibv_cq* cq);

struct ibv_pd* sroce_abi34_alloc_pd(struct ibv_context* context);
int sroce_abi34_dealloc_pd(struct ibv_pd* pd);
struct ibv_td* sroce_abi34_alloc_td(struct ibv_context* context, struct ibv_td_init_attr* attr);
int sroce_abi34_dealloc_td(struct ibv_td* td);
struct ibv_pd* sroce_abi34_alloc_parent_domain(struct ibv_context* context,
                                               struct ibv_parent_domain_init_attr* attr);
int sroce_abi34_is_parent_domain(struct ibv_pd* pd);
/* True if the application guarantees one thread at a time for the objects of @pd, or NULL. */
int sroce_abi34_is_single_threaded(struct ibv_pd* pd);

struct ibv_mw* sroce_abi34_alloc_mw(struct ibv_pd* pd, enum ibv_mw_type type);
int sroce_abi34_dealloc_mw(struct ibv_mw* mw);
int sroce_abi34_bind_mw(struct ibv_qp* qp, struct ibv_mw* mw, struct ibv_mw_bind* bind);

struct ibv_qp* sroce_abi34_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* attr);
struct ibv_qp* sroce_abi34_create_qp_ex(struct ibv_context* context,
                                        struct ibv_qp_init_attr_ex* attr);
int sroce_abi34_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask,
                         struct ibv_qp_init_attr* init_attr);
int sroce_abi34_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask);
int sroce_abi34_destroy_qp(struct ibv_qp* qp);
int sroce_abi34_post_send(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad_wr);
int sroce_abi34_post_recv(struct ibv_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad_wr);

struct ibv_srq* sroce_abi34_create_srq(struct ibv_pd* pd, struct ibv_srq_init_attr* attr);
int sroce_abi34_modify_srq(struct ibv_srq* srq, struct ibv_srq_attr* attr, int attr_mask);
int sroce_abi34_query_srq(struct ibv_srq* srq, struct ibv_srq_attr* attr);
int sroce_abi34_destroy_srq(struct ibv_srq* srq);
int sroce_abi34_post_srq_recv(struct ibv_srq* srq, struct ibv_recv_wr* wr,
                              struct ibv_recv_wr** bad_wr);

#endif
