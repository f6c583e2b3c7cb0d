// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uc_verify/connection.h"

#include <algorithm>
#include <cstring>

#include "harness/image.h"

namespace uc {

using harness::expect;

namespace {

constexpr std::byte erased{0xee};

std::vector<std::byte> bytes_of(const Message& message) {
  std::vector<std::byte> bytes(message.length);
  harness::fill_pattern(bytes, harness::mix(message.number), 0);
  return bytes;
}

}  // namespace

Connection::Connection(const Devices& devices, ibv_srq* srq) {
  verbs::EndpointOptions options;
  options.qp.type = IBV_QPT_UC;
  options.qp.recv_depth = slots;
  options.arena_bytes = (slots + 1) * std::size_t{slot_bytes};
  options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  near_ = std::make_unique<verbs::Endpoint>(devices.near, devices.near_gid, options, 1);
  options.qp.srq = srq;
  far_ = std::make_unique<verbs::Endpoint>(devices.far, devices.far_gid, options, 2);
  verbs::LinkOptions link;
  link.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  connect_both(*near_, *far_, link);
}

std::span<std::byte> Connection::target(const Message& message, std::uint32_t slot) {
  const std::size_t at = message.is_write() ? slots : slot;
  return far_->arena().subspan(at * slot_bytes, slot_bytes);
}

void Connection::erase(const Message& message, std::uint32_t slot) {
  std::ranges::fill(target(message, slot), erased);
}

void Connection::post_receive(std::uint32_t slot, std::uint32_t length) {
  ibv_sge list[2] = {far_->sge(std::size_t{slot} * slot_bytes, length / 3), {}};
  list[1] = far_->sge(std::size_t{slot} * slot_bytes + length / 3, length - length / 3, 1);
  ibv_recv_wr wr{};
  wr.wr_id = slot;
  wr.sg_list = list;
  wr.num_sge = 2;
  std::ranges::fill(far_->arena().subspan(std::size_t{slot} * slot_bytes, slot_bytes), erased);
  far_->qp().post_recv(&wr);
}

ibv_wc_status Connection::send(const Message& message, std::uint32_t rkey_change) {
  const auto bytes = bytes_of(message);
  std::ranges::copy(bytes, near_->arena().begin());
  ibv_sge list[2] = {near_->sge(0, message.length / 2), {}};
  list[1] = near_->sge(message.length / 2, message.length - message.length / 2, 1);
  ibv_send_wr wr{};
  wr.wr_id = message.number;
  wr.sg_list = list;
  wr.num_sge = 2;
  wr.opcode = message.opcode;
  wr.imm_data = message.number;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = near_->peer().address + std::size_t{slots} * slot_bytes;
  wr.wr.rdma.rkey = near_->peer().rkey ^ rkey_change;
  near_->qp().post_send(&wr);
  const ibv_wc wc = near_->send_cq().next(harness::Deadline::after(timeout), "a send completes");
  expect(wc.wr_id == message.number, "completion of ", wc.wr_id);
  return wc.status;
}

std::optional<ibv_wc> Connection::received(harness::Deadline deadline) {
  harness::Backoff backoff;
  while (true) {
    if (auto wc = far_->recv_cq().poll()) return wc;
    if (deadline.expired()) return std::nullopt;
    backoff.pause();
  }
}

void Connection::check(const Message& message, const ibv_wc& wc, std::uint32_t slot,
                       bool is_first) {
  verbs::expect_wc(wc, slot, IBV_WC_SUCCESS, "a receive");
  expect(wc.opcode == (message.is_write() ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV),
         verbs::describe(wc));
  expect(wc.byte_len == message.length, "byte_len ", wc.byte_len, " instead of ", message.length);
  const bool has_imm =
      message.opcode == IBV_WR_SEND_WITH_IMM || message.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  expect(bool(wc.wc_flags & IBV_WC_WITH_IMM) == has_imm, "flags ", wc.wc_flags);
  expect(!has_imm || wc.imm_data == message.number, "immediate ", wc.imm_data);
  const auto wanted = bytes_of(message);
  const auto got = target(message, slot);
  expect(!std::memcmp(got.data(), wanted.data(), wanted.size()), "wrong bytes in message ",
         message.number, " of ", message.length);
  expect(!is_first || got[message.length] == erased, "a byte behind message ", message.number);
}

void Connection::expect_no_bytes(const Message& message, std::uint32_t slot) {
  const auto bytes = target(message, slot);
  expect(std::ranges::all_of(bytes, [](std::byte byte) { return byte == erased; }),
         "bytes of a message that must not be written");
}

void Connection::deliver(const Message& message, std::uint32_t slot) {
  if (message.is_write()) erase(message, slot);
  if (message.needs_receive()) post_receive(slot);
  expect(send(message) == IBV_WC_SUCCESS, "message ", message.number, " fails");
  if (message.needs_receive()) {
    const auto wc = received(harness::Deadline::after(timeout));
    expect(wc.has_value(), "message ", message.number, " does not arrive");
    check(message, *wc, slot);
    return;
  }
  // The bytes of a WRITE without immediate are polled.
  const auto wanted = bytes_of(message);
  const auto deadline = harness::Deadline::after(timeout);
  while (std::memcmp(target(message, slot).data(), wanted.data(), wanted.size())) {
    expect(!deadline.expired(), "WRITE ", message.number, " of ", message.length, " is missing");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace uc
