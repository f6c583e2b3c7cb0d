// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stddef.h>
#include <stdlib.h>

#include "rdmav34/objects.h"

struct cq {
  struct sroce_completion_queue* queue;
  struct verbs_cq base;
};
static_assert(offsetof(struct cq, queue) == offsetof(struct sroce_cq_object, queue),
              "must match sroce_cq_object");
static_assert(offsetof(struct cq, base.cq_ex) == offsetof(struct sroce_cq_object, base),
              "must match sroce_cq_object");

static struct cq* to_cq(struct ibv_cq* ibv_cq) { return container_of(ibv_cq, struct cq, base.cq); }

struct sroce_completion_queue* sroce_abi34_queue_of(struct ibv_cq* cq) {
  return to_cq(cq)->queue;
}

/* Map the ring at @where, or clean up if the kernel returned @err for the CQ. */
static struct cq* open_queue(struct cq* cq, int err, int fd, const struct rxe_create_cq_resp* where,
                             int single_threaded) {
  if (err) goto err_free;
  cq->queue = sroce_completion_queue_open(fd, &where->mi, single_threaded);
  if (cq->queue) return cq;
  err = errno;
  ibv_cmd_destroy_cq(&cq->base.cq);
err_free:
  free(cq);
  errno = err;
  return NULL;
}

struct ibv_cq* sroce_abi34_create_cq(struct ibv_context* context, int cqe,
                                     struct ibv_comp_channel* channel, int comp_vector) {
  struct {
    struct ib_uverbs_create_cq_resp core;
    struct rxe_create_cq_resp ours;
  } resp = {};
  struct ibv_create_cq cmd;
  struct cq* cq = calloc(1, sizeof(*cq));
  int err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  if (!cq) return NULL;
  err = ibv_cmd_create_cq(context, cqe, channel, comp_vector, &cq->base.cq, &cmd, sizeof(cmd),
                          &resp.core, sizeof(resp));
  cq = open_queue(cq, err, context->cmd_fd, &resp.ours, sroce_abi34_is_single_threaded(NULL));
  return cq ? &cq->base.cq : NULL;
}

/* Returns an errno, or 0 with *single_threaded set. */
static int check_attr(const struct ibv_cq_init_attr_ex* attr, int* single_threaded) {
  uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
  struct ibv_pd* pd = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr->parent_domain : NULL;

  if (attr->comp_mask & ~(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD))
    return EOPNOTSUPP;
  if (flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED) return EOPNOTSUPP;
  if (pd && !sroce_abi34_is_parent_domain(pd)) return EINVAL;
  *single_threaded = flags || sroce_abi34_is_single_threaded(pd);
  return 0;
}

struct ibv_cq_ex* sroce_abi34_create_cq_ex(struct ibv_context* context,
                                           struct ibv_cq_init_attr_ex* attr) {
  struct {
    struct ib_uverbs_ex_create_cq_resp core;
    struct rxe_create_cq_resp ours;
  } resp = {};
  struct ibv_create_cq_ex cmd = {};
  struct cq* cq = calloc(1, sizeof(*cq));
  int single_threaded, err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  if (!cq) return NULL;
  err = check_attr(attr, &single_threaded);
  if (!err) err = sroce_offer_polling((struct sroce_cq_object*)cq, attr->wc_flags);
  if (!err)
    err = ibv_cmd_create_cq_ex(context, attr, &cq->base, &cmd, sizeof(cmd), &resp.core,
                               sizeof(resp), 0);
  cq = open_queue(cq, err, context->cmd_fd, &resp.ours, single_threaded);
  return cq ? &cq->base.cq_ex : NULL;
}

struct resize {
  struct ibv_cq* cq;
  int cqe;
};

static int change(void* context, struct mminfo* where) {
  const struct resize* request = context;
  struct {
    struct ib_uverbs_resize_cq_resp core;
    struct rxe_resize_cq_resp ours;
  } resp = {};
  struct ibv_resize_cq cmd;
  int err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  err = ibv_cmd_resize_cq(request->cq, request->cqe, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
  *where = resp.ours.mi;
  return err;
}

int sroce_abi34_resize_cq(struct ibv_cq* cq, int cqe) {
  struct resize request = {.cq = cq, .cqe = cqe};

  return sroce_resize_cq(to_cq(cq)->queue, cq->context->cmd_fd, change, &request);
}

int sroce_abi34_destroy_cq(struct ibv_cq* ibv_cq) {
  struct cq* cq = to_cq(ibv_cq);
  int err = ibv_cmd_destroy_cq(ibv_cq);

  if (err) return err;
  sroce_completion_queue_close(cq->queue);
  free(cq);
  return 0;
}

int sroce_abi34_poll_cq(struct ibv_cq* cq, int num_entries, struct ibv_wc* wc) {
  return sroce_poll_cq(to_cq(cq)->queue, num_entries, wc);
}

int sroce_abi34_req_notify_cq(struct ibv_cq* cq, int solicited_only) {
  sroce_completion_queue_arm(to_cq(cq)->queue, solicited_only);
  return 0;
}

void sroce_abi34_cq_event(struct ibv_cq* cq) { sroce_completion_queue_disarm(to_cq(cq)->queue); }
