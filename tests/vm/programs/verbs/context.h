// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// An open RDMA device. Software RoCE devices have one port.
#pragma once

#include <optional>
#include <string>

#include "harness/deadline.h"
#include "verbs/handle.h"

namespace verbs {

inline constexpr std::uint8_t port_number = 1;

class Context {
 public:
  explicit Context(const std::string& device_name);

  ibv_context* get() const { return handle_.get(); }
  const std::string& name() const { return name_; }
  const ibv_device_attr& device() const { return device_; }
  ibv_port_attr port() const;
  ibv_gid gid(int index) const;
  bool is_roce_v1(int index) const;

  // Returns the next asynchronous event after acknowledging it, or nothing at the deadline.
  std::optional<ibv_async_event> wait_async(harness::Deadline deadline) const;

 private:
  std::string name_;
  Handle<ibv_context, ibv_close_device> handle_;
  ibv_device_attr device_{};
};

using Pd = Handle<ibv_pd, ibv_dealloc_pd>;
using Channel = Handle<ibv_comp_channel, ibv_destroy_comp_channel>;
using Srq = Handle<ibv_srq, ibv_destroy_srq>;
using Ah = Handle<ibv_ah, ibv_destroy_ah>;
using Mw = Handle<ibv_mw, ibv_dealloc_mw>;
using Mr = Handle<ibv_mr, ibv_dereg_mr>;

Pd make_pd(const Context& context);
Channel make_channel(const Context& context);
Mr make_mr(const Pd& pd, void* address, std::size_t length, int access);

bool has_memory_windows(const Context& context);
unsigned mtu_bytes(ibv_mtu mtu);

}  // namespace verbs
