// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Memory regions and memory windows. A window of type 2 is bound by ibv_post_send(), one of type 1
// by ibv_bind_mw().
#include <cstdlib>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"

namespace sroce::verbs {

ibv_mr* reg_mr(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t hca_va, int access) {
  ib_uverbs_reg_mr_resp resp{};
  struct ibv_reg_mr cmd {};
  auto* mr = allocate_object<verbs_mr>();

  if (!mr) return nullptr;
  const int err = library().ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr, &cmd, sizeof(cmd),
                                           &resp, sizeof(resp));
  return finish_object(err, mr, &mr->ibv_mr);
}

ibv_mr* reg_dmabuf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                      int fd, int access) {
  auto* mr = allocate_object<verbs_mr>();

  if (!mr) return nullptr;
  const int err =
      library().ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, mr, nullptr);
  return finish_object(err, mr, &mr->ibv_mr);
}

// libibverbs sets the fields of the region that are not the kernel's.
int rereg_mr(verbs_mr* mr, int flags, ibv_pd* pd, void* addr, std::size_t length, int access) {
  ib_uverbs_rereg_mr_resp resp{};
  struct ibv_rereg_mr cmd {};

  return library().ibv_cmd_rereg_mr(mr, static_cast<std::uint32_t>(flags), addr, length,
                                    reinterpret_cast<std::uintptr_t>(addr), access, pd, &cmd,
                                    sizeof(cmd), &resp, sizeof(resp));
}

int dereg_mr(verbs_mr* mr) {
  const int err = library().ibv_cmd_dereg_mr(mr);

  if (!err) std::free(mr);
  return err;
}

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* list,
              std::uint32_t num_sge) {
  return library().ibv_cmd_advise_mr(pd, advice, flags, list, num_sge);
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  ib_uverbs_alloc_mw_resp resp{};
  struct ibv_alloc_mw cmd {};
  auto* mw = allocate_object<ibv_mw>();

  if (!mw) return nullptr;
  const int err = library().ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
  return finish_object(err, mw, mw);
}

int dealloc_mw(ibv_mw* mw) {
  const int err = library().ibv_cmd_dealloc_mw(mw);

  if (!err) std::free(mw);
  return err;
}

int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  ibv_send_wr wr{};
  wr.wr_id = bind->wr_id;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = bind->send_flags;
  wr.bind_mw.mw = mw;
  wr.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  wr.bind_mw.bind_info = bind->bind_info;
  ibv_send_wr* bad_wr;
  const int err = post_send(qp, &wr, &bad_wr);

  if (!err) mw->rkey = wr.bind_mw.rkey;
  return err;
}

}  // namespace sroce::verbs
