// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace {

using verbs::Op;
using verbs::Plan;
using verbs::TransferSpec;

std::vector<TransferSpec> one_of_each(std::size_t size) {
  return {{Op::send, size}, {Op::send_imm, size}, {Op::write, size}, {Op::write_imm, size},
          {Op::read, size}, {Op::cmp_swap, 8},    {Op::fetch_add, 8}};
}

// A minimal device: it executes the plan on two byte vectors.
class Model {
 public:
  explicit Model(const Plan& plan) : plan_(plan), local(plan.local_size), remote(plan.remote_size) {
    plan.local_before.paint(local);
    plan.remote_before.paint(remote);
  }

  void run() {
    for (const verbs::Transfer& transfer : plan_.transfers) run_one(transfer);
  }

 private:
  void run_one(const verbs::Transfer& transfer) {
    const Op op = transfer.spec.op;
    if (verbs::is_atomic(op)) return run_atomic(transfer);
    if (op == Op::read) {
      const auto at = remote.begin() + static_cast<std::ptrdiff_t>(transfer.remote_offset);
      return scatter(local, transfer.local,
                     {at, at + static_cast<std::ptrdiff_t>(transfer.spec.size)});
    }
    const std::vector<std::byte> data = gather(transfer.local);
    ASSERT_EQ(data.size(), transfer.spec.size);
    if (op == Op::write || op == Op::write_imm)
      std::copy(data.begin(), data.end(),
                remote.begin() + static_cast<std::ptrdiff_t>(transfer.remote_offset));
    else
      scatter(remote, transfer.receive, data);
  }

  void run_atomic(const verbs::Transfer& transfer) {
    std::uint64_t value = 0;
    std::memcpy(&value, remote.data() + transfer.remote_offset, sizeof value);
    std::memcpy(local.data() + transfer.local[0].offset, &value, sizeof value);
    if (transfer.spec.op == Op::fetch_add)
      value += transfer.compare_or_add;
    else if (value == transfer.compare_or_add)
      value = transfer.swap;
    std::memcpy(remote.data() + transfer.remote_offset, &value, sizeof value);
  }

  std::vector<std::byte> gather(const verbs::Layout& layout) const {
    std::vector<std::byte> data;
    for (const verbs::Segment& segment : layout)
      data.insert(data.end(), local.begin() + static_cast<std::ptrdiff_t>(segment.offset),
                  local.begin() + static_cast<std::ptrdiff_t>(segment.offset + segment.length));
    return data;
  }

  static void scatter(std::vector<std::byte>& to, const verbs::Layout& layout,
                      const std::vector<std::byte>& data) {
    std::size_t done = 0;
    for (const verbs::Segment& segment : layout) {
      const std::size_t length = std::min(segment.length, data.size() - done);
      std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(done), length,
                  to.begin() + static_cast<std::ptrdiff_t>(segment.offset));
      done += length;
    }
  }

  const Plan& plan_;

 public:
  std::vector<std::byte> local;
  std::vector<std::byte> remote;
};

TEST(PlanTest, AfterImagesMatchAPerfectDevice) {
  for (const std::size_t size : {0, 1, 7, 255, 4096, 70001}) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      std::vector<TransferSpec> specs = one_of_each(size);
      for (int i = 0; i < 6; ++i) specs.push_back({i % 2 ? Op::fetch_add : Op::cmp_swap, 8});
      const Plan plan = verbs::make_plan(specs, {4, 3}, seed);
      Model model(plan);
      model.run();
      ASSERT_EQ(plan.local_after.check(model.local), "") << size << " seed " << seed;
      ASSERT_EQ(plan.remote_after.check(model.remote), "") << size << " seed " << seed;
    }
  }
}

TEST(PlanTest, IdleDeviceIsDetected) {
  for (const Op op : {Op::send, Op::write, Op::read, Op::fetch_add}) {
    const Plan plan = verbs::make_plan({{op, 100}}, {}, 3);
    const Model model(plan);
    EXPECT_FALSE(plan.local_after.check(model.local).empty() &&
                 plan.remote_after.check(model.remote).empty())
        << verbs::op_name(op);
  }
}

TEST(PlanTest, RepeatedAtomicIsDetected) {
  const Plan plan = verbs::make_plan({{Op::fetch_add, 8}}, {}, 3);
  Model model(plan);
  model.run();
  model.run();
  EXPECT_NE(plan.remote_after.check(model.remote), "");
}

TEST(PlanTest, SegmentsRespectTheLimitAndAddUp) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = verbs::make_plan({{Op::send, 1000}}, {5, 2}, seed);
    const verbs::Transfer& transfer = plan.transfers[0];
    EXPECT_LE(transfer.local.size(), 5U);
    EXPECT_LE(transfer.receive.size(), 2U);
    std::size_t sum = 0;
    for (const verbs::Segment& segment : transfer.local) {
      EXPECT_GT(segment.length, 0U);
      sum += segment.length;
    }
    EXPECT_EQ(sum, 1000U);
  }
}

TEST(PlanTest, BothSidesComputeTheSamePlan) {
  const Plan one = verbs::make_plan(one_of_each(999), {}, 12);
  const Plan two = verbs::make_plan(one_of_each(999), {}, 12);
  ASSERT_EQ(one.transfers.size(), two.transfers.size());
  for (std::size_t i = 0; i < one.transfers.size(); ++i) {
    EXPECT_EQ(one.transfers[i].id, two.transfers[i].id);
    EXPECT_EQ(one.transfers[i].imm, two.transfers[i].imm);
    EXPECT_EQ(one.transfers[i].remote_offset, two.transfers[i].remote_offset);
  }
  EXPECT_EQ(one.local_size, two.local_size);
}

TEST(PlanTest, FitsItsArena) {
  for (const std::size_t size : {0, 1, 5000, 1 << 20})
    for (std::uint64_t seed = 0; seed < 100; ++seed)
      for (const Op op : {Op::send, Op::write_imm, Op::read, Op::fetch_add}) {
        const Plan plan = verbs::make_plan({{op, size}}, {8, 8}, seed);
        ASSERT_LE(plan.local_size, verbs::arena_bytes_for(size));
        ASSERT_LE(plan.remote_size, verbs::arena_bytes_for(size));
      }
}

TEST(PlanTest, AtomicCellsAreAligned) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Plan plan = verbs::make_plan({{Op::cmp_swap, 8}, {Op::fetch_add, 8}}, {}, seed);
    for (const verbs::Transfer& transfer : plan.transfers)
      EXPECT_EQ(transfer.remote_offset % 8, 0U);
  }
}

TEST(PlanTest, InlineSourcesBecomeGuardAfterwards) {
  TransferSpec spec{Op::write, 40};
  spec.use_inline = true;
  const Plan plan = verbs::make_plan({spec}, {}, 4);
  std::vector<std::byte> local(plan.local_size);
  plan.local_before.paint(local);
  EXPECT_NE(plan.local_after.check(local), "");
  for (const verbs::Segment& segment : plan.transfers[0].local)
    plan.local_after.paint_guard(local, segment.offset, segment.length);
  EXPECT_EQ(plan.local_after.check(local), "");
}

}  // namespace
