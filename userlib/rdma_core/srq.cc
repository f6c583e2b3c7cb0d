// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Shared receive queues.
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"

namespace sroce::verbs {

namespace {

struct Srq {
  sroce_shared_receive_queue* queue;
  verbs_srq base;
};

Srq* to_srq(ibv_srq* srq) {
  auto* bytes = reinterpret_cast<std::byte*>(srq) - offsetof(Srq, base);
  return reinterpret_cast<Srq*>(bytes);
}

using Response = WithDriverPart<ib_uverbs_create_srq_resp, sroce_create_srq_resp>;

/// Map the queue at @p where, or clean up if the kernel returned @p err for it.
ibv_srq* open_queue(Srq* srq, int err, ibv_pd* pd, std::uint32_t max_sge,
                    const sroce_create_srq_resp& where) {
  if (!err) {
    srq->base.srq_num = where.number;
    srq->queue = sroce_shared_receive_queue_open(pd->context->cmd_fd, &where, max_sge,
                                                 is_single_threaded(pd));
    if (srq->queue) return &srq->base.srq;
    err = errno;
    library().ibv_cmd_destroy_srq(&srq->base.srq);
  }
  return finish_object(err, srq, static_cast<ibv_srq*>(nullptr));
}

/// Returns an errno, or 0.
int check_attr(const ibv_srq_init_attr_ex& attr) {
  constexpr std::uint32_t xrc = IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  constexpr std::uint32_t all = xrc | IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  const auto type = attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE ? attr.srq_type : IBV_SRQT_BASIC;
  const std::uint32_t needed = IBV_SRQ_INIT_ATTR_PD | (type == IBV_SRQT_XRC ? xrc : 0);

  if (attr.comp_mask & ~all || (type != IBV_SRQT_BASIC && type != IBV_SRQT_XRC)) return EOPNOTSUPP;
  return (attr.comp_mask & needed) == needed ? 0 : EINVAL;
}

struct Modification {
  ibv_srq* srq;
  ibv_srq_attr* attr;
  int mask;
};

int change(void* context, sroce_create_srq_resp* where) {
  const auto* request = static_cast<const Modification*>(context);
  WithDriverPart<struct ibv_modify_srq, rxe_modify_srq_cmd> cmd;

  cmd.ours()->mmap_info_addr = reinterpret_cast<std::uintptr_t>(where);
  return library().ibv_cmd_modify_srq(request->srq, request->attr, request->mask, cmd.core(),
                                      cmd.size);
}

}  // namespace

ibv_srq* create_srq(ibv_pd* pd, ibv_srq_init_attr* attr) {
  Response resp;
  struct ibv_create_srq cmd {};
  auto* srq = allocate_object<Srq>();

  if (!srq) return nullptr;
  const int err = library().ibv_cmd_create_srq(pd, &srq->base.srq, attr, &cmd, sizeof(cmd),
                                               resp.core(), resp.size);
  return open_queue(srq, err, pd, attr->attr.max_sge, *resp.ours());
}

ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attr) {
  Response resp;
  struct ibv_create_xsrq cmd {};
  auto* srq = allocate_object<Srq>();

  if (!srq) return nullptr;
  int err = check_attr(*attr);
  if (!err)
    err = library().ibv_cmd_create_srq_ex(context, &srq->base, attr, &cmd, sizeof(cmd), resp.core(),
                                          resp.size);
  return open_queue(srq, err, attr->pd, attr->attr.max_sge, *resp.ours());
}

int get_srq_num(ibv_srq* srq, std::uint32_t* number) {
  *number = to_srq(srq)->base.srq_num;
  return 0;
}

int modify_srq(ibv_srq* srq, ibv_srq_attr* attr, int attr_mask) {
  Modification request = {.srq = srq, .attr = attr, .mask = attr_mask};

  if (!(attr_mask & IBV_SRQ_MAX_WR)) return change(&request, nullptr);
  return sroce_resize_srq(to_srq(srq)->queue, srq->context->cmd_fd, change, &request);
}

int query_srq(ibv_srq* srq, ibv_srq_attr* attr) {
  struct ibv_query_srq cmd {};

  return library().ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int destroy_srq(ibv_srq* ibv_srq) {
  Srq* srq = to_srq(ibv_srq);

  if (const int err = library().ibv_cmd_destroy_srq(ibv_srq)) return err;
  sroce_shared_receive_queue_close(srq->queue);
  std::free(srq);
  return 0;
}

int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return sroce_post_srq_recv(to_srq(srq)->queue, wr, bad_wr);
}

}  // namespace sroce::verbs
