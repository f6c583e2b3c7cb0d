// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/context.h"

#include <fcntl.h>
#include <poll.h>

#include "harness/failure.h"

namespace verbs {

using harness::fail;
using harness::fail_errno;

namespace {

ibv_context* open_device(const std::string& name) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (!list) fail_errno(errno, "ibv_get_device_list");
  const std::unique_ptr<ibv_device*, decltype(&ibv_free_device_list)> owner(list,
                                                                            ibv_free_device_list);
  std::string seen;
  for (int i = 0; i < count; ++i) {
    const std::string candidate = ibv_get_device_name(list[i]);
    if (candidate == name) {
      ibv_context* context = ibv_open_device(list[i]);
      if (!context) fail_errno(errno, "ibv_open_device ", name);
      return context;
    }
    seen += " " + candidate;
  }
  fail("no RDMA device '", name, "'; libibverbs sees:", seen.empty() ? " none" : seen);
}

}  // namespace

Context::Context(const std::string& device_name)
    : name_(device_name), handle_(open_device(device_name)) {
  if (const int error = ibv_query_device(get(), &device_))
    fail_errno(error, "ibv_query_device ", name_);
  const int flags = ::fcntl(get()->async_fd, F_GETFL);
  if (flags < 0 || ::fcntl(get()->async_fd, F_SETFL, flags | O_NONBLOCK) < 0)
    fail_errno(errno, "making the async event file non-blocking");
}

ibv_port_attr Context::port() const {
  ibv_port_attr attr{};
  if (const int error = ibv_query_port(get(), port_number, &attr))
    fail_errno(error, "ibv_query_port ", name_);
  return attr;
}

ibv_gid Context::gid(int index) const {
  ibv_gid gid{};
  if (ibv_query_gid(get(), port_number, index, &gid))
    fail_errno(errno, "GID ", index, " of ", name_);
  return gid;
}

bool Context::is_roce_v1(int index) const {
  ibv_gid_entry entry{};
  if (ibv_query_gid_ex(get(), port_number, static_cast<std::uint32_t>(index), &entry, 0))
    fail_errno(errno, "GID ", index, " of ", name_);
  return entry.gid_type == IBV_GID_TYPE_ROCE_V1;
}

std::optional<ibv_async_event> Context::wait_async(harness::Deadline deadline) const {
  while (true) {
    ibv_async_event event{};
    if (ibv_get_async_event(get(), &event) == 0) {
      ibv_ack_async_event(&event);
      return event;
    }
    if (deadline.expired()) return std::nullopt;
    pollfd wanted{get()->async_fd, POLLIN, 0};
    ::poll(&wanted, 1, deadline.left_ms());
  }
}

Pd make_pd(const Context& context) {
  Pd pd(ibv_alloc_pd(context.get()));
  if (!pd) fail_errno(errno, "ibv_alloc_pd");
  return pd;
}

Channel make_channel(const Context& context) {
  Channel channel(ibv_create_comp_channel(context.get()));
  if (!channel) fail_errno(errno, "ibv_create_comp_channel");
  const int flags = ::fcntl(channel->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
    fail_errno(errno, "making the completion channel non-blocking");
  return channel;
}

Mr make_mr(const Pd& pd, void* address, std::size_t length, int access) {
  Mr mr(ibv_reg_mr(pd.get(), address, length, access));
  if (!mr) fail_errno(errno, "ibv_reg_mr of ", length, " bytes, access ", access);
  return mr;
}

bool has_memory_windows(const Context& context) {
  return (context.device().device_cap_flags &
          (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B)) != 0;
}

unsigned mtu_bytes(ibv_mtu mtu) { return 128U << static_cast<unsigned>(mtu); }

}  // namespace verbs
