// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Queue pairs, address handles and multicast groups. An XRC target has no queues.
#include <cerrno>
#include <cstdlib>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"

namespace sroce::verbs {

namespace {

using Response = WithDriverPart<ib_uverbs_create_qp_resp, sroce_create_qp_resp>;

sroce_qp_object* to_qp(ibv_qp* qp) {
  auto* bytes = reinterpret_cast<std::byte*>(qp) - offsetof(sroce_qp_object, base);
  return reinterpret_cast<sroce_qp_object*>(bytes);
}

/// Map the queues at @p where, or clean up if the kernel returned @p err for the QP.
ibv_qp* open_queues(sroce_qp_object* qp, int err, ibv_pd* pd, const ibv_qp_init_attr& attr,
                    const sroce_create_qp_resp& where) {
  ibv_qp& base = qp->base.qp_base;
  // It receives nothing.
  const bool is_initiator = attr.qp_type == IBV_QPT_XRC_SEND;

  if (!err) {
    const sroce_queue_pair_setup setup = {
        .fd = pd->context->cmd_fd,
        .qp_handle = base.handle,
        .qp_type = attr.qp_type,
        .where = where,
        .cap = attr.cap,
        .send_cq = queue_of(attr.send_cq),
        .recv_cq = queue_of(is_initiator ? attr.send_cq : attr.recv_cq),
        .single_threaded = is_single_threaded(pd),
        .shares_receive_queue = attr.srq || is_initiator,
    };
    qp->queues = sroce_queue_pair_open(&setup);
    if (qp->queues) return &base;
    err = errno;
    library().ibv_cmd_destroy_qp(&base);
  }
  return finish_object(err, qp, static_cast<ibv_qp*>(nullptr));
}

/// As with hardware, completions of a QP do not outlive a reset. An XRC target has none of its own:
/// they are those of its shared receive queues.
void discard_completions(ibv_qp& qp) {
  if (!to_qp(&qp)->queues) return;
  sroce_completion_queue_discard(queue_of(qp.send_cq), qp.qp_num);
  // The kernel does not keep the other of an XRC initiator, and it may have gone.
  if (qp.qp_type != IBV_QPT_XRC_SEND && qp.recv_cq != qp.send_cq)
    sroce_completion_queue_discard(queue_of(qp.recv_cq), qp.qp_num);
}

int offer_work_requests(sroce_qp_object* qp, const ibv_qp_init_attr_ex& attr) {
  if (attr.comp_mask & ~std::uint32_t{IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS |
                                      IBV_QP_INIT_ATTR_CREATE_FLAGS})
    return EOPNOTSUPP;
  // No flag is supported; a caller may pass 0 explicitly.
  if ((attr.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr.create_flags) return EOPNOTSUPP;
  if (!(attr.comp_mask & IBV_QP_INIT_ATTR_PD)) return EINVAL;
  if (!(attr.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)) return 0;
  return sroce_offer_work_requests(qp, attr.qp_type, attr.send_ops_flags, library().late_functions);
}

/// Returns an errno, or 0.
int check_target(const ibv_qp_init_attr_ex& attr) {
  // Some programs name the protection domain, too.
  if (attr.comp_mask & ~std::uint32_t{IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD})
    return EOPNOTSUPP;
  return attr.comp_mask & IBV_QP_INIT_ATTR_XRCD ? 0 : EINVAL;
}

ibv_qp* create_target(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  ib_uverbs_create_qp_resp resp{};
  struct ibv_create_qp cmd {};
  auto* qp = allocate_object<sroce_qp_object>();

  if (!qp) return nullptr;
  int err = check_target(*attr);
  if (!err)
    err = library().ibv_cmd_create_qp_ex(context, reinterpret_cast<verbs_qp*>(&qp->base), attr,
                                         &cmd, sizeof(cmd), &resp, sizeof(resp));
  return finish_object(err, qp, &qp->base.qp_base);
}

}  // namespace

ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attr) {
  Response resp;
  struct ibv_create_qp cmd {};
  auto* qp = allocate_object<sroce_qp_object>();

  if (!qp) return nullptr;
  const int err = library().ibv_cmd_create_qp(pd, &qp->base.qp_base, attr, &cmd, sizeof(cmd),
                                              resp.core(), resp.size);
  return open_queues(qp, err, pd, *attr, *resp.ours());
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attr) {
  // rdma-core's command takes no creation flags, not even 0.
  ibv_qp_init_attr_ex plain = *attr;
  Response resp;
  struct ibv_create_qp cmd {};

  if (attr->qp_type == IBV_QPT_XRC_RECV) return create_target(context, attr);
  auto* qp = allocate_object<sroce_qp_object>();
  if (!qp) return nullptr;
  int err = offer_work_requests(qp, *attr);
  if (err) return finish_object(err, qp, &qp->base.qp_base);
  plain.comp_mask &= ~std::uint32_t{IBV_QP_INIT_ATTR_CREATE_FLAGS};
  err = library().ibv_cmd_create_qp_ex(context, reinterpret_cast<verbs_qp*>(&qp->base), &plain,
                                       &cmd, sizeof(cmd), resp.core(), resp.size);
  attr->cap = plain.cap;
  if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
    sroce_mark_extended(qp, library().late_functions);
  ibv_qp_init_attr granted{};
  granted.qp_type = attr->qp_type;
  granted.cap = attr->cap;
  granted.send_cq = attr->send_cq;
  granted.recv_cq = attr->recv_cq;
  granted.srq = attr->srq;
  return open_queues(qp, err, attr->pd, granted, *resp.ours());
}

// Another process may have created the target. This one gets its events and may modify it.
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attr) {
  ib_uverbs_create_qp_resp resp{};
  struct ibv_open_qp cmd {};
  auto* qp = allocate_object<sroce_qp_object>();

  if (!qp) return nullptr;
  const int err =
      library().ibv_cmd_open_qp(context, reinterpret_cast<verbs_qp*>(&qp->base), sizeof(qp->room),
                                attr, &cmd, sizeof(cmd), &resp, sizeof(resp));
  return finish_object(err, qp, &qp->base.qp_base);
}

int query_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask, ibv_qp_init_attr* init_attr) {
  struct ibv_query_qp cmd {};

  return library().ibv_cmd_query_qp(qp, attr, attr_mask, init_attr, &cmd, sizeof(cmd));
}

int modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  struct ibv_modify_qp cmd {};

  if (to_qp(qp)->queues) sroce_queue_pair_ring_if_due(to_qp(qp)->queues);
  const int err = library().ibv_cmd_modify_qp(qp, attr, attr_mask, &cmd, sizeof(cmd));
  if (!err && (attr_mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
    discard_completions(*qp);
  return err;
}

int destroy_qp(ibv_qp* ibv_qp) {
  sroce_qp_object* qp = to_qp(ibv_qp);

  // uverbs refuses to destroy a QP that another thread rings for.
  if (qp->queues) sroce_queue_pair_leave_lists(qp->queues);
  if (const int err = library().ibv_cmd_destroy_qp(ibv_qp)) return err;
  discard_completions(*ibv_qp);
  if (qp->queues) sroce_queue_pair_close(qp->queues);
  std::free(qp);
  return 0;
}

int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  if (to_qp(qp)->queues) return sroce_post_send(to_qp(qp)->queues, wr, bad_wr);
  *bad_wr = wr;
  return EINVAL;
}

int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (to_qp(qp)->queues) return sroce_post_recv(to_qp(qp)->queues, qp->state, wr, bad_wr);
  *bad_wr = wr;
  return EINVAL;
}

ibv_ah* create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  WithDriverPart<ib_uverbs_create_ah_resp, rxe_create_ah_resp> resp;
  auto* ah = allocate_object<sroce_ah>();

  if (!ah) return nullptr;
  const int err = library().ibv_cmd_create_ah(pd, &ah->base, attr, resp.core(), resp.size);
  ah->number = resp.ours()->ah_num;
  return finish_object(err, ah, &ah->base);
}

int destroy_ah(ibv_ah* ah) {
  const int err = library().ibv_cmd_destroy_ah(ah);

  if (!err) std::free(ah);
  return err;
}

int attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  return library().ibv_cmd_attach_mcast(qp, gid, lid);
}

int detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t lid) {
  return library().ibv_cmd_detach_mcast(qp, gid, lid);
}

}  // namespace sroce::verbs
