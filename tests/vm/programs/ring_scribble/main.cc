// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ring_scribble: one process corrupts the rings that it shares with the kernel, while another
// verifies its traffic over the same devices. The caller checks the kernel log.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <new>
#include <thread>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "ring_scribble/scribbles.h"
#include "verbs/transfer.h"

namespace {

using harness::Deadline;
using harness::Random;
using harness::text;
using ring_scribble::ExposedEndpoint;
using ring_scribble::Ring;
using ring_scribble::RingKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using verbs::Op;

constexpr const char* usage =
    R"(usage: ring_scribble --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--seconds S] [--seed N]
                     [--life MS]

A process scribbles on the SQ, RQ, SRQ and CQ rings of a QP pair for S seconds (default 10), and
makes a new pair every MS milliseconds (default 200). Another process verifies the traffic of its own pair,
and kills the scribbler in the end. Check the kernel log afterwards. Some scribbles hang rdma_rxe.)";

constexpr auto wait_limit = seconds(30);

struct Setup {
  std::string near_name;
  std::string far_name;
  int near_gid;
  int far_gid;
  std::uint64_t seed;
  seconds duration;
  milliseconds life;
};

// Shared with the scribbling process.
struct Tally {
  std::atomic<std::uint64_t> lives;
  std::atomic<std::uint64_t> scribbles;
  std::atomic<std::uint64_t> doorbells;
  std::atomic<bool> failed;
  char why[200];
};

verbs::LinkOptions quick_link(const verbs::Context& near, const verbs::Context& far) {
  verbs::LinkOptions link;
  link.mtu = std::min(near.port().active_mtu, far.port().active_mtu);
  link.timeout = 10;  // 4 ms, so that a life is not spent waiting
  return link;
}

// --- the scribbling process --------------------------------------------------

struct Victims {
  ExposedEndpoint near;
  ExposedEndpoint far;
};

ring_scribble::Bait bait_for(ExposedEndpoint& exposed) {
  const verbs::Endpoint& end = exposed.end();
  const ibv_sge sge = end.sge(0, 0);
  return {sge.lkey,           end.peer().rkey,    sge.addr,
          end.peer().address, end.arena().size(), exposed.window_keys()};
}

void scribble_once(ExposedEndpoint& victim, Random& random) {
  const ring_scribble::Bait bait = bait_for(victim);
  Ring& any = victim.rings()[random.below(victim.rings().size())];
  const std::uint64_t choice = random.below(17);
  if (choice < 8)
    forge_send(victim.ring(RingKind::send), random, bait);
  else if (choice < 11)
    forge_receive(victim.ring(RingKind::receive), random, bait);
  else if (choice < 13)
    scribble_indices(any, random);
  else if (choice < 14)
    scribble_geometry(any, random);
  else if (choice < 15)
    any.remove_page(static_cast<std::uint32_t>(random.below(64)));
  else
    scribble_noise(any, random);
}

// One thread corrupts requests, while the other rings doorbells that make the kernel read them.
void live_once(const Setup& setup, const verbs::Context& near, const verbs::Context& far,
               std::uint64_t seed, Tally& tally) {
  const bool shares = near.device().max_srq && seed % 2;
  Victims victims{{near, setup.near_gid, seed, shares}, {far, setup.far_gid, seed + 1, shares}};
  connect_both(victims.near.end(), victims.far.end(), quick_link(near, far));
  std::atomic<bool> stop{false};
  std::thread scribbler([&] {
    Random random(seed);
    while (!stop) {
      scribble_once(random.one_in(2) ? victims.near : victims.far, random);
      if (++tally.scribbles % 64 == 0) ::sched_yield();
    }
  });
  Random random(seed + 2);
  const Deadline end = Deadline::after(setup.life);
  while (!end.expired()) {
    ExposedEndpoint& victim = random.one_in(2) ? victims.near : victims.far;
    victim.ring_doorbell();
    if (random.one_in(16)) ibv_req_notify_cq(victim.end().send_cq().get(), random.one_in(2));
    if (random.one_in(16)) victim.modify_srq(IBV_SRQ_LIMIT, 0, random.next32() % 64);
    ++tally.doorbells;
    if (random.one_in(4))
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
    else
      ::sched_yield();
  }
  // From here on the scribbler writes to rings that the kernel has left, or is leaving.
  for (int i = 0; i < 20; ++i)
    (i % 2 ? victims.near : victims.far)
        .modify_srq(IBV_SRQ_MAX_WR, 1U << random.below(17), random.next32());
  stop = true;
  scribbler.join();
}

[[noreturn]] void scribble_for_ever(const Setup& setup, Tally& tally) {
  try {
    const verbs::Context near(setup.near_name);
    const verbs::Context far(setup.far_name);
    while (true) {
      live_once(setup, near, far, harness::mix(setup.seed + tally.lives), tally);
      harness::expect(verbs::close_failures() == 0, "a verbs object could not be closed");
      ++tally.lives;
    }
  } catch (const std::exception& error) {
    std::snprintf(tally.why, sizeof tally.why, "%s", error.what());
    tally.failed = true;
  }
  ::_exit(1);
}

// --- the witness -------------------------------------------------------------

class Witness {
 public:
  explicit Witness(const Setup& setup)
      : near_context_(setup.near_name), far_context_(setup.far_name), seed_(setup.seed) {
    verbs::EndpointOptions options;
    options.arena_bytes = 1 << 20;
    near_ = std::make_unique<verbs::Endpoint>(near_context_, setup.near_gid, options, seed_);
    far_ = std::make_unique<verbs::Endpoint>(far_context_, setup.far_gid, options, seed_ + 1);
    verbs::LinkOptions link = quick_link(near_context_, far_context_);
    link.timeout = 14;
    connect_both(*near_, *far_, link);
  }

  void round() {
    const std::vector<verbs::TransferSpec> specs{{Op::send_imm, 3000},
                                                 {Op::write, 20000},
                                                 {Op::read, 20000},
                                                 {Op::send, 1},
                                                 {Op::write_imm, 100}};
    const verbs::ExecuteOptions options{wait_limit, 0};
    verbs::Endpoint& from = rounds % 2 ? *near_ : *far_;
    verbs::Endpoint& to = rounds % 2 ? *far_ : *near_;
    execute_locally(from, to, verbs::make_plan(specs, {}, seed_ + ++rounds), options);
  }

  std::uint64_t rounds = 0;

 private:
  verbs::Context near_context_;
  verbs::Context far_context_;
  std::uint64_t seed_;
  std::unique_ptr<verbs::Endpoint> near_;
  std::unique_ptr<verbs::Endpoint> far_;
};

bool has_ended(pid_t child, Deadline deadline) {
  while (!deadline.expired()) {
    if (::waitpid(child, nullptr, WNOHANG) == child) return true;
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

Tally& shared_tally() {
  void* memory =
      ::mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) harness::fail_errno(errno, "mmap");
  return *new (memory) Tally{};
}

void run(const Setup& setup, harness::Tap& tap) {
  Tally& tally = shared_tally();
  const pid_t child = ::fork();
  if (child < 0) harness::fail_errno(errno, "fork");
  if (child == 0) scribble_for_ever(setup, tally);

  bool was_killed = false;
  tap.run("the traffic of another process is unharmed", [&] {
    Witness witness(setup);
    const Deadline end = Deadline::after(setup.duration);
    while (!end.expired() && !tally.failed) witness.round();
    harness::note(text("verified ", witness.rounds, " rounds"));
    ::kill(child, SIGKILL);
    was_killed = has_ended(child, Deadline::after(wait_limit));
    witness.round();
  });
  if (!was_killed) {
    ::kill(child, SIGKILL);
    was_killed = has_ended(child, Deadline::after(wait_limit));
  }
  tap.run("the scribbler does its work and can be killed", [&] {
    harness::note(text(tally.lives, " QP pairs, ", tally.scribbles, " scribbles, ", tally.doorbells,
                       " doorbells"));
    harness::expect(was_killed, "the killed process does not end");
    harness::expect(!tally.failed, tally.why);
    harness::expect(tally.lives > 0, "no QP pair was scribbled on for its whole time");
  });
  tap.run("new QPs work afterwards", [&] {
    Witness witness(setup);
    witness.round();
    witness.round();
  });
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  Setup setup{};
  setup.near_name = args.required("--dev");
  setup.far_name = args.text("--peer-dev", setup.near_name);
  setup.near_gid = static_cast<int>(args.number("--gid", 1));
  setup.far_gid =
      static_cast<int>(args.number("--peer-gid", static_cast<std::uint64_t>(setup.near_gid)));
  setup.duration = seconds(args.number("--seconds", 10));
  setup.life = milliseconds(args.number("--life", 200));
  setup.seed = args.number("--seed", 1);
  args.finish();
  harness::note(text("seed ", setup.seed, ", ", setup.near_name, " and ", setup.far_name));
  if (!tap.completes([&] { run(setup, tap); })) return 1;
  return tap.finish();
}
