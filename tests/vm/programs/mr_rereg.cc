// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// mr_rereg: regions are reregistered, also while a peer writes to and reads from them. Both ends
// are in this process.
#include <algorithm>
#include <thread>

#include "harness/args.h"
#include "harness/failure.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"
#include "verbs/rereg.h"

namespace {

using harness::Deadline;
using harness::expect;
using verbs::Rereg;

constexpr const char* usage =
    R"(usage: mr_rereg --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--rounds N] [--in-flight]

With --in-flight, packets must have been in flight while a region changed.)";

constexpr auto timeout = std::chrono::seconds(30);
constexpr std::size_t region_bytes = 256 << 10;
constexpr unsigned all_access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

using verbs::Devices;

// Two memories of the far end, one of which a region has. The near end knows its first address.
class Region {
 public:
  Region(const Devices& devices, unsigned access)
      : near_(devices.near, devices.near_gid, options(), 1),
        far_(devices.far, devices.far_gid, options(), 2),
        other_pd_(verbs::make_pd(devices.far)),
        mr_(verbs::make_mr(far_.pd(), memory_[0].data(), region_bytes, static_cast<int>(access))),
        address_(reinterpret_cast<std::uint64_t>(memory_[0].data())) {
    connect_both(near_, far_, {});
  }

  std::span<std::byte> memory(int i) { return memory_[i].span(); }
  void paint(int i, std::byte value) { std::ranges::fill(memory(i), value); }
  bool is_all(int i, std::byte value) {
    return std::ranges::count(memory(i), value) == static_cast<std::ptrdiff_t>(region_bytes);
  }
  std::span<std::byte> local() { return near_.arena(); }

  int try_change(const Rereg& change) { return verbs::rereg_mr(mr_, change); }
  void change(const Rereg& change) {
    if (const int error = try_change(change)) harness::fail_errno(error, "rereg_mr");
  }
  Rereg to_memory(int i) const {
    return {.flags = IBV_REREG_MR_CHANGE_TRANSLATION,
            .address = memory_[i].data(),
            .length = region_bytes,
            .remote_address = address_};
  }
  Rereg to_pd(bool other) const {
    return {.flags = IBV_REREG_MR_CHANGE_PD,
            .pd_handle = other ? other_pd_->handle : far_.pd()->handle};
  }
  static Rereg to_access(unsigned access) {
    return {.flags = IBV_REREG_MR_CHANGE_ACCESS, .access = access};
  }

  void post(ibv_wr_opcode opcode, std::size_t bytes = region_bytes) {
    ibv_sge sge = near_.sge(0, bytes);
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = address_;
    wr.wr.rdma.rkey = mr_->rkey;
    near_.qp().post_send(&wr);
  }
  void wait(ibv_wc_status status, const char* what) {
    const auto wc = near_.send_cq().next(Deadline::after(timeout), what);
    expect(wc.status == status, what, ": ", verbs::describe(wc));
  }
  void write(std::byte value, ibv_wc_status status = IBV_WC_SUCCESS) {
    std::ranges::fill(local(), value);
    post(IBV_WR_RDMA_WRITE);
    wait(status, "WRITE");
  }

 private:
  static verbs::EndpointOptions options() {
    verbs::EndpointOptions options;
    options.arena_bytes = region_bytes;
    return options;
  }

  verbs::Endpoint near_, far_;
  verbs::Pd other_pd_;
  verbs::Pages memory_[2] = {verbs::Pages(region_bytes), verbs::Pages(region_bytes)};
  verbs::Mr mr_;
  std::uint64_t address_;
};

void translation(const Devices& devices) {
  Region region(devices, all_access);
  region.write(std::byte{1});
  region.change(region.to_memory(1));
  region.write(std::byte{2});
  expect(region.is_all(0, std::byte{1}), "the old memory changes");
  expect(region.is_all(1, std::byte{2}), "the new memory is not written");
  Rereg part = region.to_memory(0);
  part.length /= 2;
  region.change(part);
  region.write(std::byte{3}, IBV_WC_REM_ACCESS_ERR);
}

void domain(const Devices& devices) {
  Region region(devices, all_access);
  region.change(region.to_pd(true));
  region.change(region.to_pd(false));
  region.write(std::byte{1});
  region.change(region.to_pd(true));
  region.write(std::byte{2}, IBV_WC_REM_ACCESS_ERR);
  expect(region.is_all(0, std::byte{1}), "a region of another domain is written to");
}

void access(const Devices& devices) {
  Region region(devices, IBV_ACCESS_REMOTE_READ);
  region.change(Region::to_access(all_access));
  region.write(std::byte{1});
  region.change(Region::to_access(0));
  region.change(Region::to_access(IBV_ACCESS_REMOTE_READ));
  region.post(IBV_WR_RDMA_READ);
  region.wait(IBV_WC_SUCCESS, "READ");
  region.write(std::byte{2}, IBV_WC_REM_ACCESS_ERR);
  expect(region.is_all(0, std::byte{1}), "a region without permission is written to");
}

void all_at_once(const Devices& devices) {
  Region region(devices, IBV_ACCESS_REMOTE_READ);
  region.change(region.to_pd(true));
  Rereg change = region.to_memory(1);
  change.flags |= IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
  change.pd_handle = region.to_pd(false).pd_handle;
  change.access = all_access;
  region.change(change);
  region.write(std::byte{1});
  expect(region.is_all(1, std::byte{1}), "the new memory is not written");
}

// The region goes to and fro under WRITEs. The memory that it does not have must stay as it is, and
// no WRITE may fail.
void writes(const Devices& devices, std::uint64_t rounds, bool in_flight) {
  constexpr std::byte free_value{0xe7}, written{0x5a};
  constexpr int depth = 4;
  Region region(devices, all_access);
  std::ranges::fill(region.local(), written);
  std::uint64_t used[2] = {}, cut = 0;
  for (int i = 0; i < depth; ++i) region.post(IBV_WR_RDMA_WRITE);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const int next = round % 2 ? 0 : 1, other = 1 - next;
    region.paint(next, free_value);
    if (round % 3) region.wait(IBV_WC_SUCCESS, "WRITE"), region.post(IBV_WR_RDMA_WRITE);
    if (round % 5) std::this_thread::sleep_for(std::chrono::microseconds(round % 16 * 50));
    region.change(region.to_memory(next));
    // From here on nothing may write to the other.
    const auto there = std::ranges::count(region.memory(other), written);
    used[other] += static_cast<std::uint64_t>(there);
    cut += there % static_cast<std::ptrdiff_t>(region_bytes) != 0;
    region.paint(other, free_value);
    region.wait(IBV_WC_SUCCESS, "WRITE");
    region.post(IBV_WR_RDMA_WRITE);
    expect(region.is_all(other, free_value), "memory is written after it has been exchanged");
  }
  for (int i = 0; i < depth; ++i) region.wait(IBV_WC_SUCCESS, "WRITE");
  harness::note(harness::text(used[0], " and ", used[1], " bytes were written, ", cut,
                              " WRITEs went to both"));
  expect(used[0] && used[1], "one memory was never written");
  expect(cut || !in_flight, "no WRITE was in flight");
}

// A READ returns bytes of one memory or the other.
void reads(const Devices& devices, std::uint64_t rounds) {
  Region region(devices, all_access);
  region.paint(0, std::byte{1});
  region.paint(1, std::byte{2});
  std::uint64_t mixed = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::ranges::fill(region.local(), std::byte{0});
    region.post(IBV_WR_RDMA_READ);
    std::this_thread::sleep_for(std::chrono::microseconds(round % 16 * 100));
    region.change(region.to_memory(round % 2 ? 0 : 1));
    region.wait(IBV_WC_SUCCESS, "READ");
    const auto ones = std::ranges::count(region.local(), std::byte{1});
    const auto twos = std::ranges::count(region.local(), std::byte{2});
    expect(ones + twos == static_cast<std::ptrdiff_t>(region_bytes), "bytes come from elsewhere");
    mixed += ones && twos;
  }
  harness::note(harness::text(mixed, " of ", rounds, " READs returned bytes of both"));
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const Devices devices(args);
  const std::uint64_t rounds = args.number("--rounds", 1000);
  const bool in_flight = args.flag("--in-flight");
  args.finish();
  harness::Tap tap;
  tap.run("the translation changes", [&] { translation(devices); });
  tap.run("the protection domain changes", [&] { domain(devices); });
  tap.run("the access changes", [&] { access(devices); });
  tap.run("all changes at once", [&] { all_at_once(devices); });
  tap.run("under WRITEs", [&] { writes(devices, rounds, in_flight); });
  tap.run("under READs", [&] { reads(devices, rounds); });
  verbs::check_closes(tap);
  return tap.finish();
}
