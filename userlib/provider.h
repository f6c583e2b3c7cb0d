/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interface of the queues of QPs and CQs to rdma_core/, which creates the objects through
 * libibverbs' private calls and passes on the kernel's responses. Posting and polling happen behind
 * this interface.
 */
#ifndef SROCE_USERLIB_PROVIDER_H
#define SROCE_USERLIB_PROVIDER_H

#include <infiniband/verbs.h>
#include <stdint.h>

#include "rdma_core/private_abi.h"
#include "rxe_abi.h"
#include "sroce_abi.h"

struct sroce_queue_pair;
struct sroce_completion_queue;
struct sroce_shared_receive_queue;

/* A datagram WQE names its address handle by the kernel's number. */
struct sroce_ah {
  struct ibv_ah base; /* first, because libibverbs' pointer is cast */
  uint32_t number;
};

/*
 * rdma_core/ creates these objects, so that pointers of <infiniband/verbs.h> lead to the queues.
 * libibverbs may have another ibv_qp_ex than the headers, and has private fields behind it.
 */
struct sroce_qp_object {
  struct sroce_queue_pair* queues;
  union {
    struct ibv_qp_ex base;
    char room[SROCE_QP_ROOM];
  };
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
  struct ibv_qp_cap cap; /* granted by the kernel */
  /* Both outlive the QP. */
  struct sroce_completion_queue* send_cq;
  struct sroce_completion_queue* recv_cq;
  bool single_threaded; /* the application never posts from two threads at once */
  bool shares_receive_queue;
};

/* Returns NULL and sets errno if the queues cannot be mapped or are malformed. */
struct sroce_queue_pair* sroce_queue_pair_open(const struct sroce_queue_pair_setup* setup);
void sroce_queue_pair_close(struct sroce_queue_pair* pair);

/*
 * Set the ibv_wr_*() functions of a QP created with send_ops_flags @ops. Returns 0, or EOPNOTSUPP
 * if one is not supported, here or by a library with so many functions newer than rdma-core 36.
 */
int sroce_offer_work_requests(struct sroce_qp_object* qp, enum ibv_qp_type type, uint64_t ops,
                              unsigned late_functions);

/* Set the bit of comp_mask that tells libibverbs of these functions. */
void sroce_mark_extended(struct sroce_qp_object* qp, unsigned late_functions);

/* Ring a deferred doorbell, before the QP is modified. */
void sroce_queue_pair_ring_if_due(struct sroce_queue_pair* pair);
/* The same before it is destroyed: no thread that polls or arms a CQ rings for it any more. */
void sroce_queue_pair_leave_lists(struct sroce_queue_pair* pair);

/* ibv_post_send(), ibv_post_recv(): 0, or an errno with *bad_wr the first request not posted. */
int sroce_post_send(struct sroce_queue_pair* pair, struct ibv_send_wr* wr,
                    struct ibv_send_wr** bad_wr);
int sroce_post_recv(struct sroce_queue_pair* pair, enum ibv_qp_state state, struct ibv_recv_wr* wr,
                    struct ibv_recv_wr** bad_wr);

/* Returns NULL and sets errno if the ring cannot be mapped or is malformed. */
struct sroce_shared_receive_queue* sroce_shared_receive_queue_open(
    int fd, const struct sroce_create_srq_resp* where, uint32_t max_sge, int single_threaded);
void sroce_shared_receive_queue_close(struct sroce_shared_receive_queue* srq);

/* ibv_post_srq_recv(): 0, or an errno with *bad_wr the first request not posted. */
int sroce_post_srq_recv(struct sroce_shared_receive_queue* srq, struct ibv_recv_wr* wr,
                        struct ibv_recv_wr** bad_wr);

/*
 * ibv_modify_srq() with a new size: @change makes the kernel replace the ring and sets *where.
 * Posting is locked out meanwhile. Returns 0 or an errno.
 */
int sroce_resize_srq(struct sroce_shared_receive_queue* srq, int fd,
                     int (*change)(void* context, struct sroce_create_srq_resp* where),
                     void* context);

/* Returns NULL and sets errno if the ring cannot be mapped or is malformed. */
struct sroce_completion_queue* sroce_completion_queue_open(int fd, const struct mminfo* where,
                                                           int single_threaded);
void sroce_completion_queue_close(struct sroce_completion_queue* cq);

/* Remove the entries of a QP that has been reset or destroyed. */
void sroce_completion_queue_discard(struct sroce_completion_queue* cq, uint32_t qp_num);

/* ibv_req_notify_cq(), and the arrival of the event */
void sroce_completion_queue_arm(struct sroce_completion_queue* cq, int solicited_only);
void sroce_completion_queue_disarm(struct sroce_completion_queue* cq);

/*
 * Set ibv_start_poll() and its companions of a CQ with @wc_flags. Returns 0, or EOPNOTSUPP if one
 * is not supported.
 */
int sroce_offer_polling(struct sroce_cq_object* cq, uint64_t wc_flags);

/* The time of a clock in nanoseconds. CLOCK_MONOTONIC stamps completions. */
uint64_t sroce_clock_ns(clockid_t clock);

/* ibv_poll_cq(). Returns -EIO if no ring could be mapped after a resize. */
int sroce_poll_cq(struct sroce_completion_queue* cq, int num_entries, struct ibv_wc* wc);

/*
 * ibv_resize_cq(): @change makes the kernel replace the ring and sets *where. Polling is locked out
 * meanwhile. Returns 0 or an errno.
 */
int sroce_resize_cq(struct sroce_completion_queue* cq, int fd,
                    int (*change)(void* context, struct mminfo* where), void* context);

#endif
