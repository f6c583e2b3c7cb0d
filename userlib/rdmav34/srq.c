// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stddef.h>
#include <stdlib.h>

#include "rdmav34/objects.h"

struct srq {
  struct sroce_shared_receive_queue* queue;
  struct verbs_srq base;
};

static struct srq* to_srq(struct ibv_srq* ibv_srq) {
  return container_of(ibv_srq, struct srq, base.srq);
}

struct ibv_srq* sroce_abi34_create_srq(struct ibv_pd* pd, struct ibv_srq_init_attr* attr) {
  struct {
    struct ib_uverbs_create_srq_resp core;
    struct sroce_create_srq_resp ours;
  } resp = {};
  struct ibv_create_srq cmd;
  struct srq* srq = calloc(1, sizeof(*srq));
  int err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  if (!srq) return NULL;
  err = ibv_cmd_create_srq(pd, &srq->base.srq, attr, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
  if (err) goto err_free;
  srq->base.srq_num = resp.ours.number;
  srq->queue = sroce_shared_receive_queue_open(pd->context->cmd_fd, &resp.ours, attr->attr.max_sge,
                                               sroce_abi34_is_single_threaded(pd));
  if (srq->queue) return &srq->base.srq;
  err = errno;
  ibv_cmd_destroy_srq(&srq->base.srq);
err_free:
  free(srq);
  errno = err;
  return NULL;
}

struct modification {
  struct ibv_srq* srq;
  struct ibv_srq_attr* attr;
  int mask;
};

static int change(void* context, struct sroce_create_srq_resp* where) {
  const struct modification* request = context;
  struct {
    struct ibv_modify_srq core;
    struct rxe_modify_srq_cmd ours;
  } cmd = {.ours.mmap_info_addr = (uintptr_t)where};

  static_assert(offsetof(typeof(cmd), ours) == sizeof(cmd.core), "padding");
  return ibv_cmd_modify_srq(request->srq, request->attr, request->mask, &cmd.core, sizeof(cmd));
}

int sroce_abi34_modify_srq(struct ibv_srq* srq, struct ibv_srq_attr* attr, int attr_mask) {
  struct modification request = {.srq = srq, .attr = attr, .mask = attr_mask};

  if (!(attr_mask & IBV_SRQ_MAX_WR)) return change(&request, NULL);
  return sroce_resize_srq(to_srq(srq)->queue, srq->context->cmd_fd, change, &request);
}

int sroce_abi34_query_srq(struct ibv_srq* srq, struct ibv_srq_attr* attr) {
  struct ibv_query_srq cmd;

  return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int sroce_abi34_destroy_srq(struct ibv_srq* ibv_srq) {
  struct srq* srq = to_srq(ibv_srq);
  int err = ibv_cmd_destroy_srq(ibv_srq);

  if (err) return err;
  sroce_shared_receive_queue_close(srq->queue);
  free(srq);
  return 0;
}

int sroce_abi34_post_srq_recv(struct ibv_srq* srq, struct ibv_recv_wr* wr,
                              struct ibv_recv_wr** bad_wr) {
  return sroce_post_srq_recv(to_srq(srq)->queue, wr, bad_wr);
}
