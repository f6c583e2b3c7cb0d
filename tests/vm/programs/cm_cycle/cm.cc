// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cm_cycle/cm.h"

#include <fcntl.h>
#include <poll.h>

#include "harness/failure.h"

namespace cm_cycle {

using harness::fail;
using harness::fail_errno;

// Private data is padded with zeros to the size of the CM message.
Hello Event::hello(std::uint32_t magic) const {
  Hello hello{};
  harness::expect(private_data.size() >= sizeof hello, "private data of ", private_data.size(),
                  " bytes, wanted ", sizeof hello);
  std::memcpy(&hello, private_data.data(), sizeof hello);
  harness::expect(hello.magic == magic, "private data begins with ", hello.magic, ", wanted ",
                  magic);
  return hello;
}

EventChannel::EventChannel() : channel_(rdma_create_event_channel()) {
  if (!channel_) fail_errno(errno, "rdma_create_event_channel");
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) < 0)
    fail_errno(errno, "making the event channel non-blocking");
}

Id EventChannel::make_id() {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel_.get(), &id, nullptr, RDMA_PS_TCP))
    fail_errno(errno, "rdma_create_id");
  return Id(id);
}

Event EventChannel::next(harness::Deadline deadline, const std::string& what) {
  while (true) {
    rdma_cm_event* raw = nullptr;
    if (rdma_get_cm_event(channel_.get(), &raw) == 0) {
      Event event{raw->event, raw->status, raw->id, {}};
      const auto* data = static_cast<const std::uint8_t*>(raw->param.conn.private_data);
      if (data && raw->param.conn.private_data_len)
        event.private_data.assign(data, data + raw->param.conn.private_data_len);
      rdma_ack_cm_event(raw);
      return event;
    }
    if (errno != EAGAIN) fail_errno(errno, "rdma_get_cm_event");
    if (deadline.expired()) fail("timeout waiting for ", what);
    pollfd wanted{channel_->fd, POLLIN, 0};
    ::poll(&wanted, 1, deadline.left_ms());
  }
}

Event EventChannel::expect(rdma_cm_event_type type, harness::Deadline deadline,
                           const std::string& what) {
  Event event = next(deadline, what);
  if (event.type != type)
    fail(what, ": got ", rdma_event_str(event.type), " (status ", event.status, "), wanted ",
         rdma_event_str(type));
  return event;
}

}  // namespace cm_cycle
