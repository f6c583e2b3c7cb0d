/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the C shims of abiNN/ see of the provider: the queues of QPs and CQs. A shim makes the
 * objects by rdma-core's private calls and tells what the kernel answered; all posting and polling
 * is here.
 */
#ifndef SROCE_USERLIB_PROVIDER_H
#define SROCE_USERLIB_PROVIDER_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "rxe_abi.h"
#include "sroce_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sroce_queue_pair;
struct sroce_completion_queue;

/* Datagrams name their handle by the kernel's number. */
struct sroce_ah {
  struct ibv_ah base; /* first: libibverbs' pointer is ours */
  uint32_t number;
};

/*
 * How the objects of a shim begin, so that the pointers of <infiniband/verbs.h> lead to the queues;
 * in place of base is rdma-core's own structure, which begins with it.
 */
struct sroce_qp_object {
  struct sroce_queue_pair* queues;
  struct ibv_qp_ex base;
};
struct sroce_cq_object {
  struct sroce_completion_queue* queue;
  struct ibv_cq_ex base;
};

struct sroce_queue_pair_setup {
  int fd;
  uint32_t qp_handle;
  enum ibv_qp_type qp_type;
  struct sroce_create_qp_resp where;
  struct ibv_qp_cap cap; /* as the kernel gave it */
  /* They live longer. */
  struct sroce_completion_queue* send_cq;
  struct sroce_completion_queue* recv_cq;
  int single_threaded; /* the application takes care that one thread at a time posts */
};

/* NULL with errno set when the rings cannot be mapped. */
struct sroce_queue_pair* sroce_queue_pair_open(const struct sroce_queue_pair_setup* setup);
void sroce_queue_pair_close(struct sroce_queue_pair* pair);

/*
 * The ibv_wr_*() functions of a QP that is created with these send_ops_flags: 0, or EOPNOTSUPP when
 * there are others among them.
 */
int sroce_offer_work_requests(struct sroce_qp_object* qp, enum ibv_qp_type type, uint64_t ops);

/* Before a QP is changed or destroyed: what was posted without a doorbell gets it. */
void sroce_queue_pair_settle(struct sroce_queue_pair* pair);

/* ibv_post_send() and ibv_post_recv(): 0 or an errno, then *bad_wr is the first one not posted. */
int sroce_post_send(struct sroce_queue_pair* pair, struct ibv_send_wr* wr,
                    struct ibv_send_wr** bad_wr);
int sroce_post_recv(struct sroce_queue_pair* pair, enum ibv_qp_state state, struct ibv_recv_wr* wr,
                    struct ibv_recv_wr** bad_wr);

/* NULL with errno set when the ring cannot be mapped. */
struct sroce_completion_queue* sroce_completion_queue_open(int fd, const struct mminfo* where,
                                                           int single_threaded);
void sroce_completion_queue_close(struct sroce_completion_queue* cq);

/* ibv_req_notify_cq(); and when the event has come. */
void sroce_completion_queue_arm(struct sroce_completion_queue* cq, int solicited_only);
void sroce_completion_queue_disarm(struct sroce_completion_queue* cq);

/*
 * ibv_start_poll() and what goes with it, for a CQ with these wc_flags: 0, or EOPNOTSUPP when there
 * are others among them.
 */
int sroce_offer_polling(struct sroce_cq_object* cq, uint64_t wc_flags);

/* ibv_poll_cq() */
int sroce_poll_cq(struct sroce_completion_queue* cq, int num_entries, struct ibv_wc* wc);

/*
 * ibv_resize_cq(): @change asks the kernel for another ring and says where it is; nobody polls
 * meanwhile. 0 or an errno.
 */
int sroce_resize_cq(struct sroce_completion_queue* cq, int fd,
                    int (*change)(void* context, struct mminfo* where), void* context);

#ifdef __cplusplus
}
#endif

#endif
