// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The one place that owns a netlink socket. It is opened by the first exchange, so that a
// command may check its arguments before the kernel is asked for anything.
#pragma once

#include <memory>

#include "sroce/netlink.h"

struct mnl_socket;

namespace sroce {

class NetlinkSocket : public Channel {
 public:
  explicit NetlinkSocket(int protocol) : protocol_(protocol) {}

  std::vector<Bytes> exchange(Request request) override;

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const;
  };

  void open();
  size_t receive(std::span<std::byte> buffer);

  std::unique_ptr<mnl_socket, Closer> socket_;
  int protocol_;  // NETLINK_RDMA, NETLINK_GENERIC
  uint32_t sequence_ = 0;
};

}  // namespace sroce
