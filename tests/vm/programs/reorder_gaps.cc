// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// reorder_gaps: QPs whose requesters leave out their first packet, so that the peer's device queues
// everything that follows.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "harness/args.h"
#include "harness/deadline.h"
#include "harness/failure.h"
#include "verbs/endpoint.h"

namespace {

using harness::Deadline;
using harness::expect;

constexpr const char* usage =
    R"(usage: reorder_gaps --dev D --gid G --peer-dev D --peer-gid G [--pairs N] [--mtu BYTES]

N (default 16) QPs of --dev each send --peer-dev the 256 packets after one that is missing. Then one
more sends 5 packets, and nothing again. It reconnects and sends the missing one. Print "kept" if
the 5 packets are executed then, and sleep.)";

constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::size_t flood_packets = 256;  // the most that a requester sends before the first ACK
constexpr std::size_t flood_requests = 4;
constexpr std::size_t kept_packets = 5;
constexpr auto wait_limit = std::chrono::seconds(20);

class Pair {
 public:
  Pair(const verbs::Context& near, int near_gid, const verbs::Context& far, int far_gid,
       ibv_mtu mtu, std::size_t near_bytes, std::uint64_t seed)
      : near_(near, near_gid, {.arena_bytes = near_bytes, .pd = {}, .send_cq = {}, .recv_cq = {}},
              seed),
        far_(far, far_gid,
             {.arena_bytes = kept_packets * 4096 + 1, .pd = {}, .send_cq = {}, .recv_cq = {}},
             seed + 1) {
    link_.mtu = mtu;
    link_.retry_cnt = 0;
    near_.connect(far_.info(), link_);
    verbs::EndpointInfo peer = near_.info();
    peer.qp.psn = first_psn();
    far_.connect(peer, link_);
    std::ranges::fill(near_.arena(), std::byte{0x5a});
    std::ranges::fill(far_.arena(), std::byte{0});
  }

  // The memory at the far end matters only if the packets are executed.
  void write(std::size_t length, std::size_t far_offset) {
    ibv_sge sge = near_.sge(0, length);
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = near_.peer().address + far_offset;
    wr.wr.rdma.rkey = near_.peer().rkey;
    near_.qp().post_send(&wr);
  }

  void expect_timeout() {
    const ibv_wc wc = near_.send_cq().next(Deadline::after(wait_limit), "the timeout");
    expect(wc.status == IBV_WC_RETRY_EXC_ERR, verbs::describe(wc));
  }

  // Sends the missing packet, and none of the others again.
  void close_gap() {
    verbs::LinkOptions link = near_.link();
    near_.qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
    near_.qp().modify(verbs::rc_to_init(link), "INIT");
    near_.qp().modify(verbs::rc_to_rtr(link, far_.info().qp), "RTR");
    near_.qp().modify(verbs::rc_to_rts(link, first_psn()), "RTS");
    write(1, far_.arena().size() - 1);
  }

  auto written() const { return std::ranges::count(far_.arena(), std::byte{0x5a}); }

 private:
  std::uint32_t first_psn() const { return (near_.psn() - 1) & psn_mask; }

  verbs::LinkOptions link_;
  verbs::Endpoint near_;
  verbs::Endpoint far_;
};

ibv_mtu mtu_of(std::uint64_t bytes) {
  for (const ibv_mtu mtu : {IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if (verbs::mtu_bytes(mtu) == bytes) return mtu;
  harness::fail(bytes, " is no path MTU");
}

bool keeps_packets(Pair& pair, std::size_t bytes) {
  pair.write(bytes, 0);
  pair.expect_timeout();
  pair.close_gap();
  const auto deadline = Deadline::after(std::chrono::seconds(2));
  harness::Backoff backoff;
  while (pair.written() != static_cast<std::ptrdiff_t>(bytes + 1)) {
    if (deadline.expired()) return false;
    backoff.pause();
  }
  return true;
}

void run(harness::Args& args) {
  const verbs::Context near(args.required("--dev")), far(args.required("--peer-dev"));
  const auto near_gid = static_cast<int>(args.number("--gid", 1));
  const auto far_gid = static_cast<int>(args.number("--peer-gid", 1));
  const std::uint64_t count = args.number("--pairs", 16);
  const std::uint64_t mtu = args.number("--mtu", 1024);
  args.finish();

  const std::size_t request_bytes = flood_packets / flood_requests * mtu;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (std::uint64_t i = 0; i <= count; ++i)
    pairs.push_back(
        std::make_unique<Pair>(near, near_gid, far, far_gid, mtu_of(mtu), request_bytes, 2 * i));
  const auto last = std::move(pairs.back());
  pairs.pop_back();
  for (const auto& pair : pairs)
    for (std::size_t i = 0; i < flood_requests; ++i) pair->write(request_bytes, 0);
  for (const auto& pair : pairs) pair->expect_timeout();
  std::puts(keeps_packets(*last, kept_packets * mtu) ? "kept" : "lost");
  std::fflush(stdout);
  ::pause();
}

}  // namespace

int main(int argc, char** argv) { return harness::run_main(argc, argv, usage, run); }
