// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/rereg.h"

#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "harness/failure.h"

namespace verbs {

int rereg_mr(const Mr& mr, const Rereg& change) {
  ib_uverbs_rereg_mr_resp response{};
  struct {
    ib_uverbs_cmd_hdr header;
    ib_uverbs_rereg_mr command;
  } call{};
  call.header.command = IB_USER_VERBS_CMD_REREG_MR;
  call.header.in_words = sizeof(call) / 4;
  call.header.out_words = sizeof(response) / 4;
  call.command.response = reinterpret_cast<std::uint64_t>(&response);
  call.command.mr_handle = mr->handle;
  call.command.flags = change.flags;
  call.command.start = reinterpret_cast<std::uint64_t>(change.address);
  call.command.length = change.length;
  call.command.hca_va = change.remote_address;
  call.command.pd_handle = change.pd_handle;
  call.command.access_flags = change.access;
  if (::write(mr->context->cmd_fd, &call, sizeof(call)) < 0) return errno;
  harness::expect(response.lkey == mr->lkey && response.rkey == mr->rkey, "the key changes from ",
                  mr->rkey, " to ", response.rkey);
  return 0;
}

}  // namespace verbs
