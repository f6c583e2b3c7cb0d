// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stddef.h>
#include <stdlib.h>

#include "abi34/objects.h"

struct cq {
  struct verbs_cq base;
  struct sroce_completion_queue* queue;
};

static struct cq* to_cq(struct ibv_cq* ibv_cq) { return container_of(ibv_cq, struct cq, base.cq); }

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
  if (err) goto err_free;
  cq->queue = sroce_completion_queue_open(context->cmd_fd, &resp.ours.mi);
  if (cq->queue) return &cq->base.cq;
  err = errno;
  ibv_cmd_destroy_cq(&cq->base.cq);
err_free:
  free(cq);
  errno = err;
  return NULL;
}

struct resize {
  struct ibv_cq* cq;
  int cqe;
};

static int change(void* context, struct mminfo* where) {
  const struct resize* wanted = context;
  struct {
    struct ib_uverbs_resize_cq_resp core;
    struct rxe_resize_cq_resp ours;
  } resp = {};
  struct ibv_resize_cq cmd;
  int err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  err = ibv_cmd_resize_cq(wanted->cq, wanted->cqe, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
  *where = resp.ours.mi;
  return err;
}

int sroce_abi34_resize_cq(struct ibv_cq* cq, int cqe) {
  struct resize wanted = {.cq = cq, .cqe = cqe};

  return sroce_resize_cq(to_cq(cq)->queue, cq->context->cmd_fd, change, &wanted);
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
