// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stddef.h>
#include <stdlib.h>

#include "rdmav34/objects.h"

struct qp {
  struct sroce_queue_pair* queues;
  struct verbs_qp base;
};
static_assert(offsetof(struct qp, queues) == offsetof(struct sroce_qp_object, queues),
              "must match sroce_qp_object");
static_assert(offsetof(struct qp, base.qp_ex) == offsetof(struct sroce_qp_object, base),
              "must match sroce_qp_object");

static struct qp* to_qp(struct ibv_qp* ibv_qp) { return container_of(ibv_qp, struct qp, base.qp); }

/* Map the queues at @where, or clean up if the kernel returned @err for the QP. */
static struct ibv_qp* open_queues(struct qp* qp, int err, struct ibv_pd* pd,
                                  const struct ibv_qp_init_attr* attr,
                                  const struct sroce_create_qp_resp* where) {
  struct sroce_queue_pair_setup setup = {
      .fd = pd->context->cmd_fd,
      .qp_handle = qp->base.qp.handle,
      .qp_type = attr->qp_type,
      .where = *where,
      .cap = attr->cap,
      .single_threaded = sroce_abi34_is_single_threaded(pd),
      .shares_receive_queue = !!attr->srq,
  };

  if (err) goto err_free;
  setup.send_cq = sroce_abi34_queue_of(attr->send_cq);
  setup.recv_cq = sroce_abi34_queue_of(attr->recv_cq);
  qp->queues = sroce_queue_pair_open(&setup);
  if (qp->queues) return &qp->base.qp;
  err = errno;
  ibv_cmd_destroy_qp(&qp->base.qp);
err_free:
  free(qp);
  errno = err;
  return NULL;
}

struct response {
  struct ib_uverbs_create_qp_resp core;
  struct sroce_create_qp_resp ours;
};
static_assert(offsetof(struct response, ours) == sizeof(struct ib_uverbs_create_qp_resp),
              "padding");

struct ibv_qp* sroce_abi34_create_qp(struct ibv_pd* pd, struct ibv_qp_init_attr* attr) {
  struct response resp = {};
  struct ibv_create_qp cmd;
  struct qp* qp = calloc(1, sizeof(*qp));
  int err;

  if (!qp) return NULL;
  err = ibv_cmd_create_qp(pd, &qp->base.qp, attr, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
  return open_queues(qp, err, pd, attr, &resp.ours);
}

static int offer_work_requests(struct qp* qp, const struct ibv_qp_init_attr_ex* attr) {
  if (attr->comp_mask & ~(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
                          IBV_QP_INIT_ATTR_CREATE_FLAGS))
    return EOPNOTSUPP;
  /* No flag is supported; a caller may pass 0 explicitly. */
  if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags) return EOPNOTSUPP;
  if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD)) return EINVAL;
  if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) return 0;
  return sroce_offer_work_requests((struct sroce_qp_object*)qp, attr->qp_type,
                                   attr->send_ops_flags);
}

struct ibv_qp* sroce_abi34_create_qp_ex(struct ibv_context* context,
                                        struct ibv_qp_init_attr_ex* attr) {
  /* rdma-core's command takes no creation flags, not even 0. */
  struct ibv_qp_init_attr_ex plain = *attr;
  struct response resp = {};
  struct ibv_create_qp cmd;
  struct qp* qp = calloc(1, sizeof(*qp));
  int err;

  if (!qp) return NULL;
  err = offer_work_requests(qp, attr);
  if (err) {
    free(qp);
    errno = err;
    return NULL;
  }
  plain.comp_mask &= ~IBV_QP_INIT_ATTR_CREATE_FLAGS;
  err =
      ibv_cmd_create_qp_ex(context, &qp->base, &plain, &cmd, sizeof(cmd), &resp.core, sizeof(resp));
  attr->cap = plain.cap;
  if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) qp->base.comp_mask |= VERBS_QP_EX;
  const struct ibv_qp_init_attr granted = {
      .qp_type = attr->qp_type,
      .cap = attr->cap,
      .send_cq = attr->send_cq,
      .recv_cq = attr->recv_cq,
      .srq = attr->srq,
  };
  return open_queues(qp, err, attr->pd, &granted, &resp.ours);
}

int sroce_abi34_query_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask,
                         struct ibv_qp_init_attr* init_attr) {
  struct ibv_query_qp cmd;

  return ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &cmd, sizeof(cmd));
}

int sroce_abi34_modify_qp(struct ibv_qp* qp, struct ibv_qp_attr* attr, int attr_mask) {
  struct ibv_modify_qp cmd = {};

  sroce_queue_pair_ring_if_due(to_qp(qp)->queues);
  return ibv_cmd_modify_qp(qp, attr, attr_mask, &cmd, sizeof(cmd));
}

int sroce_abi34_destroy_qp(struct ibv_qp* ibv_qp) {
  struct qp* qp = to_qp(ibv_qp);
  int err;

  sroce_queue_pair_ring_if_due(qp->queues);
  err = ibv_cmd_destroy_qp(ibv_qp);
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
