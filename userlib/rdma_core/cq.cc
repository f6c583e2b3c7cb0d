// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Completion queues.
#include <cerrno>
#include <cstdlib>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"

namespace sroce::verbs {

namespace {

sroce_cq_object* to_cq(ibv_cq* cq) {
  auto* bytes = reinterpret_cast<std::byte*>(cq) - offsetof(sroce_cq_object, base);
  return reinterpret_cast<sroce_cq_object*>(bytes);
}

/// Map the ring at @p where, or clean up if the kernel returned @p err for the CQ.
ibv_cq_ex* open_queue(sroce_cq_object* cq, int err, int fd, const rxe_create_cq_resp& where,
                      bool single_threaded) {
  if (!err) {
    cq->queue = sroce_completion_queue_open(fd, &where.mi, single_threaded);
    if (cq->queue) return &cq->base;
    err = errno;
    library().ibv_cmd_destroy_cq(ibv_cq_ex_to_cq(&cq->base));
  }
  return finish_object(err, cq, static_cast<ibv_cq_ex*>(nullptr));
}

/// Returns an errno, or 0 with @p single_threaded set.
int check_attr(const ibv_cq_init_attr_ex& attr, bool& single_threaded) {
  const std::uint32_t flags = attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr.flags : 0;
  ibv_pd* pd = attr.comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ? attr.parent_domain : nullptr;

  if (attr.comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD})
    return EOPNOTSUPP;
  if (flags & ~std::uint32_t{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}) return EOPNOTSUPP;
  if (pd && !is_parent_domain(pd)) return EINVAL;
  single_threaded = flags || is_single_threaded(pd);
  return 0;
}

struct Resize {
  ibv_cq* cq;
  int cqe;
};

int change(void* context, mminfo* where) {
  const auto* request = static_cast<const Resize*>(context);
  WithDriverPart<ib_uverbs_resize_cq_resp, rxe_resize_cq_resp> resp;
  struct ibv_resize_cq cmd {};

  const int err = library().ibv_cmd_resize_cq(request->cq, request->cqe, &cmd, sizeof(cmd),
                                              resp.core(), resp.size);
  *where = resp.ours()->mi;
  return err;
}

}  // namespace

sroce_completion_queue* queue_of(ibv_cq* cq) { return to_cq(cq)->queue; }

ibv_cq* create_cq(ibv_context* context, int cqe, ibv_comp_channel* channel, int comp_vector) {
  WithDriverPart<ib_uverbs_create_cq_resp, rxe_create_cq_resp> resp;
  struct ibv_create_cq cmd {};
  auto* cq = allocate_object<sroce_cq_object>();

  if (!cq) return nullptr;
  const int err =
      library().ibv_cmd_create_cq(context, cqe, channel, comp_vector, ibv_cq_ex_to_cq(&cq->base),
                                  &cmd, sizeof(cmd), resp.core(), resp.size);
  ibv_cq_ex* opened =
      open_queue(cq, err, context->cmd_fd, *resp.ours(), is_single_threaded(nullptr));
  return opened ? ibv_cq_ex_to_cq(opened) : nullptr;
}

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attr) {
  WithDriverPart<ib_uverbs_ex_create_cq_resp, rxe_create_cq_resp> resp;
  struct ibv_create_cq_ex cmd {};
  auto* cq = allocate_object<sroce_cq_object>();
  bool single_threaded = false;

  if (!cq) return nullptr;
  int err = check_attr(*attr, single_threaded);
  if (!err) err = sroce_offer_polling(cq, attr->wc_flags);
  if (!err)
    err = library().create_cq_ex(context, attr, reinterpret_cast<verbs_cq*>(&cq->base), &cmd,
                                 sizeof(cmd), resp.core(), resp.size);
  return open_queue(cq, err, context->cmd_fd, *resp.ours(), single_threaded);
}

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attr) {
  struct ibv_modify_cq cmd {};

  return library().ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

int resize_cq(ibv_cq* cq, int cqe) {
  Resize request = {.cq = cq, .cqe = cqe};

  return sroce_resize_cq(to_cq(cq)->queue, cq->context->cmd_fd, change, &request);
}

int destroy_cq(ibv_cq* ibv_cq) {
  sroce_cq_object* cq = to_cq(ibv_cq);

  if (const int err = library().ibv_cmd_destroy_cq(ibv_cq)) return err;
  sroce_completion_queue_close(cq->queue);
  std::free(cq);
  return 0;
}

int poll_cq(ibv_cq* cq, int num_entries, ibv_wc* wc) {
  return sroce_poll_cq(to_cq(cq)->queue, num_entries, wc);
}

int req_notify_cq(ibv_cq* cq, int solicited_only) {
  sroce_completion_queue_arm(to_cq(cq)->queue, solicited_only);
  return 0;
}

void cq_event(ibv_cq* cq) { sroce_completion_queue_disarm(to_cq(cq)->queue); }

}  // namespace sroce::verbs
