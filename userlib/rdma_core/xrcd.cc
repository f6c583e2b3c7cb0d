// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// XRC domains. Only the kernel has any state of them.
#include <cstddef>
#include <cstdlib>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"

namespace sroce::verbs {

ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attr) {
  ib_uverbs_open_xrcd_resp resp{};
  struct ibv_open_xrcd cmd {};
  auto* xrcd = allocate_object<verbs_xrcd>();

  if (!xrcd) return nullptr;
  const int err = library().ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd, sizeof(cmd),
                                              &resp, sizeof(resp));
  return finish_object(err, xrcd, &xrcd->xrcd);
}

int close_xrcd(ibv_xrcd* ibv_xrcd) {
  static_assert(offsetof(verbs_xrcd, xrcd) == 0);
  auto* xrcd = reinterpret_cast<verbs_xrcd*>(ibv_xrcd);
  const int err = library().ibv_cmd_close_xrcd(xrcd);

  if (!err) std::free(xrcd);
  return err;
}

}  // namespace sroce::verbs
