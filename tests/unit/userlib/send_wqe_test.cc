// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "send_wqe.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "provider.h"

namespace {

using sroce::Service;

constexpr sroce::SendLimits kRc = {Service::rc, 4, 64};
constexpr sroce::SendLimits kUc = {Service::uc, 4, 64};
constexpr sroce::SendLimits kUd = {Service::ud, 4, 64};

/// A slot full of old bytes, exactly as large as the limits require.
struct Slot {
  Slot() : payload(64, std::byte{0xa5}) { std::memset(&wqe, 0xa5, sizeof(wqe)); }

  int write(const ibv_send_wr& wr, const sroce::SendLimits& limits = kRc) {
    return sroce::write_send_wqe(wr, limits, wqe, payload);
  }

  sroce_send_slot wqe;
  std::vector<std::byte> payload;
};

ibv_send_wr request(ibv_wr_opcode opcode, std::span<ibv_sge> list = {}) {
  ibv_send_wr wr{};
  wr.wr_id = 0x1122334455667788;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.sg_list = list.data();
  wr.num_sge = static_cast<int>(list.size());
  return wr;
}

template <typename Value>
Value at(const Slot& slot, std::size_t offset) {
  Value value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(&slot.wqe) + offset, sizeof(value));
  return value;
}

TEST(SendWqe, WriteHasTheLayoutOfTheAbi) {
  Slot slot;
  std::array<ibv_sge, 2> list = {{{0x1000, 100, 7}, {0x2000, 23, 8}}};
  ibv_send_wr wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, list);
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
  wr.imm_data = 0xdeadbeef;
  wr.wr.rdma.remote_addr = 0x123456789abcdef0;
  wr.wr.rdma.rkey = 0x4321;
  ASSERT_EQ(slot.write(wr), 0);

  std::array<std::uint8_t, sizeof(sroce_send_slot)> expected{};
  const auto put = [&](std::size_t offset, auto value) {
    std::memcpy(expected.data() + offset, &value, sizeof(value));
  };
  put(0, std::uint64_t{0x1122334455667788});
  put(8, std::uint8_t{IBV_WR_RDMA_WRITE_WITH_IMM});
  put(9, std::uint8_t{IBV_SEND_SIGNALED | IBV_SEND_FENCE | IBV_SEND_SOLICITED});
  put(10, std::uint16_t{2});    // num_sge
  put(12, std::uint32_t{123});  // length
  put(16, std::uint32_t{0xdeadbeef});
  put(20, std::uint32_t{0x4321});
  put(24, std::uint64_t{0x123456789abcdef0});
  EXPECT_EQ(std::memcmp(&slot.wqe, expected.data(), sizeof(slot.wqe)), 0);
  EXPECT_EQ(std::memcmp(slot.payload.data(), list.data(), sizeof(list)), 0);
}

TEST(SendWqe, XrcNamesTheQueueOfThePeer) {
  constexpr sroce::SendLimits kXrc = {Service::xrc, 4, 64};
  std::array<ibv_sge, 1> list = {{{0x1000, 8, 7}}};
  for (const auto opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    Slot slot;
    ibv_send_wr wr = request(opcode, list);
    wr.imm_data = 0x1234;
    wr.qp_type.xrc.remote_srqn = 0x654321;
    ASSERT_EQ(slot.write(wr, kXrc), 0);
    EXPECT_EQ(at<std::uint32_t>(slot, 44), 0x654321u);
    EXPECT_EQ(at<std::uint32_t>(slot, 16), 0x1234u);
  }
  Slot slot;
  ibv_send_wr wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, list);
  wr.wr.atomic.swap = 0x1111222233334444;
  wr.qp_type.xrc.remote_srqn = 0x654321;
  ASSERT_EQ(slot.write(wr, kXrc), 0);
  EXPECT_EQ(at<std::uint32_t>(slot, 16), 0x654321u) << "its operands fill the rest";
  EXPECT_EQ(at<std::uint64_t>(slot, 40), 0x1111222233334444u);
}

TEST(SendWqe, AtomicCarriesBothOperands) {
  Slot slot;
  std::array<ibv_sge, 1> list = {{{0x1000, 8, 7}}};
  for (const ibv_wr_opcode opcode : {IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    ibv_send_wr wr = request(opcode, list);
    wr.wr.atomic.remote_addr = 0x1118;
    wr.wr.atomic.compare_add = 0x2222;
    wr.wr.atomic.swap = 0x3333;
    wr.wr.atomic.rkey = 0x4444;
    ASSERT_EQ(slot.write(wr), 0);
    EXPECT_EQ(at<std::uint64_t>(slot, 24), 0x1118u);
    EXPECT_EQ(at<std::uint64_t>(slot, 32), 0x2222u);
    EXPECT_EQ(at<std::uint64_t>(slot, 40), 0x3333u);
    EXPECT_EQ(at<std::uint32_t>(slot, 20), 0x4444u);
  }
}

TEST(SendWqe, MisalignedOrShortAtomicIsRejected) {
  Slot slot;
  std::array<ibv_sge, 1> list = {{{0x1000, 8, 7}}};
  ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, list);
  wr.wr.atomic.remote_addr = 0x1114;
  EXPECT_EQ(slot.write(wr), EINVAL);
  wr.wr.atomic.remote_addr = 0x1118;
  list[0].length = 7;
  EXPECT_EQ(slot.write(wr), EINVAL);
}

TEST(SendWqe, SendWithInvalidateCarriesTheKey) {
  Slot slot;
  ibv_send_wr wr = request(IBV_WR_SEND_WITH_INV);
  wr.invalidate_rkey = 0x99;
  ASSERT_EQ(slot.write(wr), 0);
  EXPECT_EQ(slot.wqe.invalidate_rkey, 0x99u);
}

TEST(SendWqe, DatagramCarriesItsAddressHandle) {
  Slot slot;
  sroce_ah ah{};
  ah.number = 77;
  ibv_send_wr wr = request(IBV_WR_SEND);
  wr.wr.ud.ah = &ah.base;
  wr.wr.ud.remote_qpn = 5;
  wr.wr.ud.remote_qkey = 0x11111111;
  ASSERT_EQ(slot.write(wr, kUd), 0);
  EXPECT_EQ(at<std::uint32_t>(slot, 20), 0x11111111u);
  EXPECT_EQ(at<std::uint32_t>(slot, 24), 5u);
  EXPECT_EQ(at<std::uint32_t>(slot, 28), 77u);
}

TEST(SendWqe, InlineDataIsGatheredInOrder) {
  Slot slot;
  std::string first = "hello, ", second = "world";
  std::array<ibv_sge, 3> list = {{{reinterpret_cast<std::uintptr_t>(first.data()), 7, 0},
                                  {0, 0, 0},
                                  {reinterpret_cast<std::uintptr_t>(second.data()), 5, 0}}};
  ibv_send_wr wr = request(IBV_WR_SEND, list);
  wr.send_flags = IBV_SEND_INLINE;
  ASSERT_EQ(slot.write(wr), 0);
  EXPECT_EQ(slot.wqe.length, 12u);
  EXPECT_EQ(slot.wqe.num_sge, 0u);
  EXPECT_EQ(std::memcmp(slot.payload.data(), "hello, world", 12), 0);
  EXPECT_EQ(slot.payload[12], std::byte{0xa5}) << "nothing is written behind the data";
}

TEST(SendWqe, InlineDataBeyondTheLimitIsRejected) {
  Slot slot;
  std::vector<std::byte> data(65, std::byte{1});
  std::array<ibv_sge, 1> list = {{{reinterpret_cast<std::uintptr_t>(data.data()), 64, 0}}};
  ibv_send_wr wr = request(IBV_WR_SEND, list);
  wr.send_flags = IBV_SEND_INLINE;
  EXPECT_EQ(slot.write(wr), 0);
  list[0].length = 65;
  EXPECT_EQ(slot.write(wr), EINVAL);
}

TEST(SendWqe, SgesBeyondTheLimitAreRejected) {
  Slot slot;
  std::array<ibv_sge, 5> list{};
  EXPECT_EQ(slot.write(request(IBV_WR_SEND, std::span(list).first(4))), 0);
  EXPECT_EQ(slot.write(request(IBV_WR_SEND, list)), EINVAL);
  ibv_send_wr wr = request(IBV_WR_SEND);
  wr.num_sge = -1;
  EXPECT_EQ(slot.write(wr), EINVAL);
}

TEST(SendWqe, LengthBeyond32BitsIsRejected) {
  Slot slot;
  std::array<ibv_sge, 2> list = {{{0, 0xffffffff, 0}, {0, 1, 0}}};
  EXPECT_EQ(slot.write(request(IBV_WR_SEND, list)), EINVAL);
  list[1].length = 0;
  EXPECT_EQ(slot.write(request(IBV_WR_SEND, list)), 0);
  EXPECT_EQ(slot.wqe.length, 0xffffffffu);
}

TEST(SendWqe, UnsupportedOpcodesAreRejected) {
  Slot slot;
  for (const ibv_wr_opcode opcode : {IBV_WR_TSO, IBV_WR_DRIVER1})
    EXPECT_EQ(slot.write(request(opcode)), EINVAL) << opcode;
}

TEST(SendWqe, BindNamesRangeAndKeys) {
  Slot slot;
  ibv_mw window{};
  window.rkey = 0x1234;
  ibv_mr region{};
  region.lkey = 0x5678;
  ibv_send_wr wr = request(IBV_WR_BIND_MW);
  wr.bind_mw = {.mw = &window,
                .rkey = 0x1235,
                .bind_info = {.mr = &region,
                              .addr = 0x700000001000,
                              .length = 0x100000002,
                              .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
  EXPECT_EQ(slot.write(wr), 0);
  EXPECT_EQ(slot.wqe.opcode, IBV_WR_BIND_MW);
  EXPECT_EQ(slot.wqe.rkey, 0x1234u);
  EXPECT_EQ(slot.wqe.invalidate_rkey, 0x1235u);
  EXPECT_EQ(slot.wqe.remote_addr, 0x700000001000u);
  EXPECT_EQ(slot.wqe.bind.length, 0x100000002u);
  EXPECT_EQ(slot.wqe.bind.lkey, 0x5678u);
  EXPECT_EQ(slot.wqe.bind.access, unsigned{IBV_ACCESS_REMOTE_READ});
  EXPECT_EQ(slot.write(wr, kUd), EINVAL);
  wr.bind_mw.bind_info = {};
  EXPECT_EQ(slot.write(wr), 0);
  EXPECT_EQ(slot.wqe.bind.lkey, 0u);
}

TEST(SendWqe, LocalInvalidationNamesAKey) {
  Slot slot;
  ibv_send_wr wr = request(IBV_WR_LOCAL_INV);
  wr.invalidate_rkey = 0x9abc;
  EXPECT_EQ(slot.write(wr), 0);
  EXPECT_EQ(slot.wqe.invalidate_rkey, 0x9abcu);
  EXPECT_EQ(slot.write(wr, kUc), 0);
  EXPECT_EQ(slot.write(wr, kUd), EINVAL);
}

TEST(SendWqe, UcQueueAcceptsSendsAndWrites) {
  Slot slot;
  for (const ibv_wr_opcode opcode :
       {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM})
    EXPECT_EQ(slot.write(request(opcode), kUc), 0) << opcode;
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV})
    EXPECT_EQ(slot.write(request(opcode), kUc), EINVAL) << opcode;
}

TEST(SendWqe, DatagramQueueAcceptsSendsOnly) {
  Slot slot;
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_INV})
    EXPECT_EQ(slot.write(request(opcode), kUd), EINVAL) << opcode;
}

}  // namespace
