// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// atomic_race: remote atomics and this machine's CPU modify the same eight bytes at the same time,
// and no update may be lost. The CPU counts in the lower 32 bits, the peer in the upper ones.
#include <sched.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "verbs/session.h"

namespace {

using harness::expect;
using harness::text;
using verbs::Session;

constexpr const char* usage =
    R"(usage: atomic_race --server --dev D [--gid G] [--port P]
       atomic_race --client HOST --dev D [--gid G] [--port P] [--seconds S] [--qps N]

The CPU of the server increments a word of its memory. At the same time, the client increments it
with FETCH_ADD, then with CMP_SWAP, from N QPs (default 2) for S seconds each (default 5). Both
counts must be exact in the end. The server needs two CPUs for a real race.)";

constexpr std::uint64_t cpu_step = 1;
constexpr std::uint64_t remote_step = std::uint64_t{1} << 32;
constexpr unsigned in_flight = 8;
constexpr std::size_t arena_bytes = 4096;

struct Race {
  std::uint64_t seconds;
  std::uint64_t qps;
};

enum class Kind { fetch_add, cmp_swap };

std::uint64_t* cell_of(const verbs::Endpoint& end) {
  return reinterpret_cast<std::uint64_t*>(end.arena().data());
}

// --- the target: a thread that adds, and a check of both counts --------------

class Hammer {
 public:
  explicit Hammer(std::uint64_t* cell) : thread_([this, cell] { run(cell); }) {}
  Hammer(const Hammer&) = delete;
  Hammer& operator=(const Hammer&) = delete;
  ~Hammer() { stop(); }

  std::uint64_t stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return count_;
  }

 private:
  // The lower 32 bits must not overflow into the upper ones. The pauses let a compare-and-swap
  // succeed.
  void run(std::uint64_t* cell) {
    constexpr std::uint64_t most = 0xffffffff;
    for (; !stop_ && count_ < most; ++count_) {
      __atomic_fetch_add(cell, cpu_step, __ATOMIC_RELAXED);
      if (count_ % 512 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  std::atomic<bool> stop_{false};
  std::uint64_t count_ = 0;
  std::thread thread_;
};

void be_target(Session& session, verbs::Endpoint& end) {
  std::uint64_t* cell = cell_of(end);
  __atomic_store_n(cell, 0, __ATOMIC_SEQ_CST);
  session.duet().sync();
  Hammer hammer(cell);
  const auto remote = session.duet().exchange<std::uint64_t>(0);
  const std::uint64_t cpu = hammer.stop();
  const std::uint64_t found = __atomic_load_n(cell, __ATOMIC_SEQ_CST);
  harness::note(text("CPU added ", cpu, " times, the peer ", remote, " times"));
  expect(cpu > 0 && remote > 0, "one of the two did nothing");
  expect(found == cpu * cpu_step + remote * remote_step, "the CPU's count is ", found % remote_step,
         ", wanted ", cpu, "; the peer's is ", found / remote_step, ", wanted ", remote);
}

// --- the initiator: one stream of atomics for each QP ------------------------

class Stream {
 public:
  Stream(Session& session, verbs::Endpoint& end, const verbs::EndpointInfo& target, Kind kind)
      : session_(session), end_(end), target_(target), kind_(kind) {}

  // Several fetch-and-adds are in flight, but only one compare-and-swap, because its operand
  // depends on the last result.
  void fill() {
    const unsigned most = kind_ == Kind::fetch_add ? in_flight : 1;
    while (posted_ - completed_ < most) post();
  }

  bool take_one(bool wait) {
    const auto wc =
        wait ? end_.send_cq().next(session_.duet().deadline(), "an atomic") : end_.send_cq().poll();
    if (!wc) return false;
    verbs::expect_wc(*wc, completed_, IBV_WC_SUCCESS, "an atomic");
    digest(*result(completed_));
    ++completed_;
    return true;
  }

  void drain() {
    while (completed_ < posted_) take_one(true);
  }

  std::uint64_t successes() const { return successes_; }
  std::uint64_t attempts() const { return completed_; }

 private:
  std::uint64_t* result(std::uint64_t id) const { return cell_of(end_) + 1 + id % in_flight; }

  void post() {
    const std::size_t offset = (1 + posted_ % in_flight) * sizeof(std::uint64_t);
    ibv_sge sge = end_.sge(offset, sizeof(std::uint64_t));
    ibv_send_wr wr{};
    wr.wr_id = posted_++;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.atomic.remote_addr = target_.address;
    wr.wr.atomic.rkey = target_.rkey;
    if (kind_ == Kind::fetch_add) {
      wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
      wr.wr.atomic.compare_add = remote_step;
    } else {
      wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
      wr.wr.atomic.compare_add = guess_;
      wr.wr.atomic.swap = guess_ + remote_step;
    }
    end_.qp().post_send(&wr);
  }

  void digest(std::uint64_t original) {
    if (kind_ == Kind::fetch_add) {
      expect(original >= last_ || successes_ == 0, "FETCH_ADD returned ", original, " after ",
             last_);
      last_ = original;
      ++successes_;
      return;
    }
    const bool swapped = original == guess_;
    successes_ += swapped;
    guess_ = swapped ? guess_ + remote_step : original;
  }

  Session& session_;
  verbs::Endpoint& end_;
  verbs::EndpointInfo target_;
  Kind kind_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t successes_ = 0;
  std::uint64_t last_ = 0;
  std::uint64_t guess_ = 0;
};

void be_initiator(Session& session, std::vector<std::unique_ptr<verbs::Endpoint>>& ends, Kind kind,
                  const Race& race) {
  session.duet().sync();
  std::vector<std::unique_ptr<Stream>> streams;
  // All QPs operate on the first connection's target memory.
  for (auto& end : ends)
    streams.push_back(std::make_unique<Stream>(session, *end, ends.front()->peer(), kind));
  const auto deadline = harness::Deadline::after(std::chrono::seconds(race.seconds));
  harness::Backoff backoff;
  while (!deadline.expired()) {
    bool is_idle = true;
    for (auto& stream : streams) {
      stream->fill();
      while (stream->take_one(false)) is_idle = false;
    }
    if (is_idle)
      backoff.pause();
    else
      backoff = harness::Backoff();
  }
  std::uint64_t successes = 0;
  std::uint64_t attempts = 0;
  for (auto& stream : streams) {
    stream->drain();
    successes += stream->successes();
    attempts += stream->attempts();
  }
  harness::note(text(attempts, " remote atomics, ", successes, " of them changed the value"));
  session.duet().exchange(successes);
}

void run_race(Session& session, Kind kind, const Race& race) {
  if (!session.common().has_atomics) throw harness::Skip("no atomics");
  verbs::EndpointOptions options = session.default_endpoint(arena_bytes);
  // One PD, so that the key of the first arena is valid on every QP.
  options.pd = std::make_shared<verbs::Pd>(verbs::make_pd(session.context()));
  std::vector<std::unique_ptr<verbs::Endpoint>> ends;
  for (std::uint64_t i = 0; i < race.qps; ++i) {
    ends.push_back(session.make_endpoint(options));
    session.connect(*ends.back(), session.default_link());
  }
  if (session.is_initiator())
    be_initiator(session, ends, kind, race);
  else
    be_target(session, *ends.front());
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  const bool completed = tap.completes([&] {
    const Race mine{args.number("--seconds", 5), args.number("--qps", 2)};
    Session session(args, tap);
    args.finish();
    const Race theirs = session.duet().exchange(mine);
    const Race& race = session.is_client() ? mine : theirs;
    session.run("remote FETCH_ADD against the CPU: no update is lost",
                [&] { run_race(session, Kind::fetch_add, race); });
    session.run("remote CMP_SWAP against the CPU: no update is lost",
                [&] { run_race(session, Kind::cmp_swap, race); });
  });
  if (!completed) return 1;
  return tap.finish();
}
