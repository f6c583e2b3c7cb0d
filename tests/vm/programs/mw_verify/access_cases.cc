// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The bytes and operations that a window permits.
#include <algorithm>
#include <cstring>

#include "harness/image.h"
#include "harness/random.h"
#include "mw_verify/stage.h"

namespace mw {
namespace {

using harness::expect;

constexpr std::uint64_t page = 4096;

// One past and one before what is permitted, and all of it.
void try_range(Stage& stage, ibv_mw* window, const Range& range, std::uint64_t seed) {
  stage.bind(window, range);
  const bool is_zero_based = range.access & IBV_ACCESS_ZERO_BASED;
  const std::uint64_t remote = is_zero_based ? 0 : stage.address(range.offset);
  std::ranges::fill(stage.bytes(), untouched);
  const auto source = stage.near().arena().first(range.length);
  harness::fill_pattern(source, seed, 0);
  stage.expect_permitted(IBV_WR_RDMA_WRITE, window->rkey, remote, range.length);
  std::vector<std::byte> wanted(stage.bytes().size(), untouched);
  std::ranges::copy(source, wanted.begin() + static_cast<std::ptrdiff_t>(range.offset));
  expect(std::ranges::equal(wanted, stage.bytes()), "WRITE of ", range.length, " at ",
         range.offset);
  const std::vector<std::byte> written(source.begin(), source.end());
  std::ranges::fill(source, std::byte{});
  stage.expect_permitted(IBV_WR_RDMA_READ, window->rkey, remote, range.length);
  expect(std::ranges::equal(written, source), "READ of ", range.length, " at ", range.offset);
  stage.expect_rejected(IBV_WR_RDMA_WRITE, window->rkey, remote, range.length + 1);
  stage.expect_rejected(IBV_WR_RDMA_READ, window->rkey, remote - 1, 1);
  stage.expect_rejected(IBV_WR_RDMA_WRITE, window->rkey, remote + range.length, 1);
}

void every_byte(const Devices& devices, ibv_mw_type type, unsigned more_access) {
  Stage stage(devices);
  const verbs::Mw window(stage.make_window(type));
  harness::Random random(type + more_access);
  std::vector<Range> ranges = {{0, 1},
                               {0, Stage::region_bytes},
                               {Stage::region_bytes - 1, 1},
                               {page - stage.address(0) % page - 1, 2},
                               {page - stage.address(0) % page, 2 * page}};
  for (int i = 0; i < 12; ++i) {
    const auto offset = random.below(Stage::region_bytes);
    ranges.push_back({offset, 1 + random.below(Stage::region_bytes - offset)});
  }
  for (Range& range : ranges) {
    range.access |= more_access;
    try_range(stage, window.get(), range, random.next());
    if (type == IBV_MW_TYPE_2)
      expect(!stage.invalidate(window->rkey), "LOCAL_INV of a window fails");
  }
}

void operations(const Devices& devices, ibv_mw_type type) {
  constexpr std::pair<ibv_wr_opcode, unsigned> rules[] = {
      {IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE},
      {IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ},
      {IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC}};
  for (unsigned access = 0; access <= all_access; access += IBV_ACCESS_REMOTE_WRITE) {
    Stage stage(devices);
    const verbs::Mw window(stage.make_window(type));
    stage.bind(window.get(), {0, 64, access});
    for (const auto& [opcode, needed] : rules) {
      if (access & needed)
        stage.expect_permitted(opcode, window->rkey, stage.address(8), 8);
      else
        stage.expect_rejected(opcode, window->rkey, stage.address(8), 8);
    }
    if (type == IBV_MW_TYPE_2) expect(!stage.invalidate(window->rkey), "LOCAL_INV fails");
  }
}

void unreliable(const Devices& devices) {
  Stage stage(devices, IBV_QPT_UC);
  const verbs::Mw window(stage.make_window(IBV_MW_TYPE_2));
  stage.bind(window.get(), {100, 5000, IBV_ACCESS_REMOTE_WRITE});
  std::ranges::fill(stage.near().arena().first(5000), std::byte{7});
  stage.expect_permitted(IBV_WR_RDMA_WRITE, window->rkey, stage.address(100), 5000);
  const auto deadline = harness::Deadline::after(timeout);
  while (stage.bytes()[5099] != std::byte{7})
    expect(!deadline.expired(), "the WRITE does not arrive");
  expect(stage.bytes()[5100] == untouched, "a byte after the window is written");
}

}  // namespace

void run_access_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("type 1: every byte", [&] { every_byte(devices, IBV_MW_TYPE_1, 0); });
  tap.run("type 2: every byte", [&] { every_byte(devices, IBV_MW_TYPE_2, 0); });
  tap.run("zero-based: every byte",
          [&] { every_byte(devices, IBV_MW_TYPE_2, IBV_ACCESS_ZERO_BASED); });
  tap.run("type 1: operations", [&] { operations(devices, IBV_MW_TYPE_1); });
  tap.run("type 2: operations", [&] { operations(devices, IBV_MW_TYPE_2); });
  tap.run("WRITE of a UC QP", [&] { unreliable(devices); });
}

}  // namespace mw
