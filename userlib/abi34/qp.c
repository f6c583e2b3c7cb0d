// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stddef.h>
#include <stdlib.h>

#include "abi34/objects.h"

struct qp {
  struct verbs_qp base;
  struct sroce_queue_pair* queues;
};

static struct qp* to_qp(struct ibv_qp* ibv_qp) { return container_of(ibv_qp, struct qp, base.qp); }

/* ibv_cmd_create_qp() has written into @attr what the kernel gave. */
static struct sroce_queue_pair* open_queues(const struct qp* qp, const struct ibv_pd* pd,
                                            const struct ibv_qp_init_attr* attr,
                                            const struct rxe_create_qp_resp* where) {
  struct sroce_queue_pair_setup setup = {
      .fd = pd->context->cmd_fd,
      .qp_handle = qp->base.qp.handle,
      .qp_type = attr->qp_type,
      .where = *where,
      .cap = attr->cap,
  };

  return sroce_queue_pair_open(&setup);
}

struct ibv_qp* sroce_abi34_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* attr) {
  struct {
    struct ib_uverbs_create_qp_resp core;
    struct rxe_create_qp_resp ours;
  } resp = {};
  struct ibv_create_qp cmd;
  struct qp* qp = calloc(1, sizeof(*qp));
  int err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  if (!qp) return NULL;
  err = ibv_cmd_create_qp(pd, &qp->base.qp, attr, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
  if (err) goto err_free;
  qp->queues = open_queues(qp, pd, attr, &resp.ours);
  if (qp->queues) return &qp->base.qp;
  err = errno;
  ibv_cmd_destroy_qp(&qp->base.qp);
err_free:
  free(qp);
  errno = err;
  return NULL;
}

int sroce_abi34_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask,
                         struct ibv_qp_init_attr* init_attr) {
  struct ibv_query_qp cmd;

  return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &cmd, sizeof(cmd));
}

int sroce_abi34_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask) {
  struct ibv_modify_qp cmd = {};

  return ibv_cmd_modify_qp(qp, attr, attr_mask, &cmd, sizeof(cmd));
}

int sroce_abi34_destroy_qp(struct ibv_qp* ibv_qp) {
  struct qp* qp = to_qp(ibv_qp);
  int err = ibv_cmd_destroy_qp(ibv_qp);

  if (err) return err;
  sroce_queue_pair_close(qp->queues);
  free(qp);
  return 0;
}

int sroce_abi34_post_send(struct ibv_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad_wr) {
  return sroce_post_send(to_qp(qp)->queues, wr, bad_wr);
}

int sroce_abi34_post_recv(struct ibv_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad_wr) {
  return sroce_post_recv(to_qp(qp)->queues, qp->state, wr, bad_wr);
}
