// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "doorbell.h"

#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace sroce {

namespace {

struct Command {
  ib_uverbs_cmd_hdr header;
  ib_uverbs_post_send body;
};
static_assert(offsetof(Command, body) == 8);
static_assert(sizeof(Command) == 32);
static_assert(sizeof(ib_uverbs_post_send_resp) == 4);

constexpr std::size_t word_bytes = 4;

}  // namespace

int Doorbell::ring() const {
  ib_uverbs_post_send_resp response{};
  Command command{};
  command.header.command = IB_USER_VERBS_CMD_POST_SEND;
  command.header.in_words = sizeof(command) / word_bytes;
  command.header.out_words = sizeof(response) / word_bytes;
  command.body.response = reinterpret_cast<std::uintptr_t>(&response);
  command.body.qp_handle = qp_handle_;
  // No request follows, but uverbs wants to know how large one would be.
  command.body.wqe_size = sizeof(ib_uverbs_send_wr);
  const ssize_t written = write(fd_, &command, sizeof(command));
  if (written == sizeof(command)) return 0;
  return written < 0 ? errno : EIO;
}

}  // namespace sroce
