// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// mr_race: memory is deregistered while packets for it are in flight. Once ibv_dereg_mr has
// returned, nothing may read or write that memory, and the requests must end with the right error.
#include <algorithm>
#include <cstdio>

#include "verbs/session.h"

namespace {

using harness::Deadline;
using harness::expect;
using harness::Random;
using harness::text;
using verbs::Session;

constexpr const char* usage =
    R"(usage: mr_race --server --dev D [--gid G] [--port P]
       mr_race --client HOST --dev D [--gid G] [--port P] [--seed N] [--rounds N] [--skip TEXT]

One end deregisters memory during WRITEs or READs of 64 KiB, then the other, for N rounds each
(default 25). Afterwards the memory must be as its owner left it, and bytes written to it later must
not have been sent. The requests must end with REM_ACCESS_ERR, or with LOC_PROT_ERR and flushes.)";

constexpr std::size_t request_bytes = 64 << 10;
constexpr unsigned in_flight = 8;
constexpr std::size_t buffer_bytes = in_flight * request_bytes;
constexpr std::uint64_t longest_wait_us = 4000;
constexpr std::byte fresh{0x5a};
constexpr std::byte poison{0xe7};

struct Kind {
  const char* name;
  ibv_wr_opcode opcode;
  bool initiator_deregisters;
  ibv_wc_status error;

  bool is_read() const { return opcode == IBV_WR_RDMA_READ; }
};

constexpr Kind kinds[] = {
    {"the target of a WRITE is deregistered", IBV_WR_RDMA_WRITE, false, IBV_WC_REM_ACCESS_ERR},
    {"the source of a READ is deregistered", IBV_WR_RDMA_READ, false, IBV_WC_REM_ACCESS_ERR},
    {"the source of a WRITE is deregistered", IBV_WR_RDMA_WRITE, true, IBV_WC_LOC_PROT_ERR},
    {"the target of a READ is deregistered", IBV_WR_RDMA_READ, true, IBV_WC_LOC_PROT_ERR},
};

struct Place {
  std::uint64_t address;
  std::uint32_t rkey;
};

// Memory that can be deregistered.
class Buffer {
 public:
  explicit Buffer(const verbs::Pd& pd) : pages_(buffer_bytes, skew) {
    paint(fresh);
    mr_ = verbs::make_mr(pd, pages_.data(), pages_.size(),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    lkey_ = mr_->lkey;
  }

  void deregister() {
    mr_.reset();
    paint(poison);
  }

  Place place() const { return {reinterpret_cast<std::uint64_t>(pages_.data()), mr_->rkey}; }
  ibv_sge sge(std::size_t offset) const {
    return {reinterpret_cast<std::uint64_t>(pages_.data()) + offset, request_bytes, lkey_};
  }
  auto count(std::byte value) const { return std::ranges::count(pages_.span(), value); }

 private:
  static constexpr std::size_t skew = 123;

  void paint(std::byte value) { std::ranges::fill(pages_.span(), value); }

  verbs::Pages pages_;
  verbs::Mr mr_;
  std::uint32_t lkey_ = 0;
};

void pause_for(std::uint64_t microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

// Keeps requests in flight until one fails, or until it has deregistered its own memory.
class Initiator {
 public:
  Initiator(Session& session, verbs::Endpoint& end, Buffer& buffer, const Place& target,
            const Kind& kind)
      : session_(session), end_(end), buffer_(buffer), target_(target), kind_(kind) {}

  void succeed_once() {
    fill();
    take_one();
  }

  void run(std::uint64_t wait_us) {
    const auto begin = Deadline::Clock::now();
    while (!has_failed_ && !is_deregistered_) {
      fill();
      if (kind_.initiator_deregisters &&
          Deadline::Clock::now() - begin >= std::chrono::microseconds(wait_us)) {
        buffer_.deregister();
        is_deregistered_ = true;
      } else {
        take_one();
      }
    }
    while (completed_ < posted_) take_one();
    expect(has_failed_ || kind_.initiator_deregisters, "no request failed");
  }

  std::uint64_t successes() const { return successes_; }

 private:
  void fill() {
    while (posted_ - completed_ < in_flight) post();
  }

  void post() {
    const std::size_t offset = posted_ % in_flight * request_bytes;
    ibv_sge sge = buffer_.sge(offset);
    ibv_send_wr wr{};
    wr.wr_id = posted_++;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = kind_.opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = target_.address + offset;
    wr.wr.rdma.rkey = target_.rkey;
    end_.qp().post_send(&wr);
  }

  void take_one() {
    const ibv_wc wc = end_.send_cq().next(session_.duet().deadline(), text("request ", completed_));
    expect(wc.wr_id == completed_, "completion out of order: ", verbs::describe(wc));
    ++completed_;
    if (wc.status == IBV_WC_SUCCESS && !has_failed_) {
      ++successes_;
      return;
    }
    const ibv_wc_status wanted = has_failed_ ? IBV_WC_WR_FLUSH_ERR : kind_.error;
    expect(wc.status == wanted, verbs::describe(wc), "; wanted ", ibv_wc_status_str(wanted));
    has_failed_ = true;
  }

  Session& session_;
  verbs::Endpoint& end_;
  Buffer& buffer_;
  Place target_;
  const Kind& kind_;
  std::uint64_t posted_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t successes_ = 0;
  bool has_failed_ = false;
  bool is_deregistered_ = false;
};

// Data that was written after deregistration would have overwritten the poison. Data that was sent
// after it would be poison.
void check_memory(const Buffer& buffer, bool deregistered, const Kind& kind) {
  if (deregistered)
    expect(buffer.count(poison) == buffer_bytes, "memory was written after ibv_dereg_mr: ",
           buffer_bytes - static_cast<std::size_t>(buffer.count(poison)), " bytes");
  else
    expect(buffer.count(poison) == 0, buffer.count(poison), " bytes were read after ibv_dereg_mr",
           kind.is_read() ? " (READ)" : "");
}

// A slow machine may deregister the memory before the first request is executed. With `late`, it
// waits until one has succeeded.
std::uint64_t run_round(Session& session, const Kind& kind, bool late) {
  const auto end = session.connected(4096, session.default_link());
  Buffer buffer(end->pd());
  const Place theirs = session.duet().exchange(buffer.place());
  const std::uint64_t wait_us = Random(session.next_seed()).below(longest_wait_us);
  std::uint64_t successes = 0;
  session.duet().sync();
  if (session.is_initiator()) {
    Initiator initiator(session, *end, buffer, theirs, kind);
    if (late) {
      initiator.succeed_once();
      session.duet().sync();
    }
    initiator.run(wait_us);
    successes = initiator.successes();
  } else {
    if (late) session.duet().sync();
    if (!kind.initiator_deregisters) {
      pause_for(wait_us);
      buffer.deregister();
    }
  }
  session.duet().sync();
  // Packets may still be in flight after the last completion. Give them time to do harm.
  pause_for(1000);
  check_memory(buffer, session.is_initiator() == kind.initiator_deregisters, kind);
  return successes;
}

void run(Session& session, std::uint64_t rounds) {
  for (const bool client_initiates : {true, false}) {
    session.set_initiator(client_initiates);
    for (const Kind& kind : kinds)
      session.run(kind.name + session.direction(), [&] {
        std::uint64_t successes = 0;
        for (std::uint64_t round = 0; round < rounds; ++round)
          successes += run_round(session, kind, round % 2 == 1);
        if (session.is_initiator()) {
          harness::note(text(successes, " requests succeeded before, in ", rounds, " rounds"));
          expect(successes > 0,
                 "no request was in flight, because memory was always deregistered first");
        }
      });
  }
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  const bool completed = tap.completes([&] {
    const std::uint64_t mine = args.number("--rounds", 25);
    Session session(args, tap);
    args.finish();
    const std::uint64_t theirs = session.duet().exchange(mine);
    run(session, session.is_client() ? mine : theirs);
  });
  if (!completed) return 1;
  return tap.finish();
}
