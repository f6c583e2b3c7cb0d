// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels, armed without a system call, and completions that go with their QP.
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "harness/random.h"
#include "native_verbs/pair.h"

namespace native_verbs {
namespace {

using harness::Deadline;
using harness::expect;

// A near end that receives and has a completion channel.
class Receiver {
 public:
  explicit Receiver(const Devices& devices)
      : channel_(verbs::make_channel(devices.near)),
        cq_(std::make_shared<verbs::Cq>(devices.near, 128, &channel_)),
        pair_(devices, options()) {}

  verbs::Cq& cq() { return *cq_; }
  verbs::Endpoint& end() { return pair_.near; }

  void post_receive() {
    ibv_recv_wr wr{};
    pair_.near.qp().post_recv(&wr);
  }

  // Send an empty message from the far end.
  void send(bool solicited) {
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = unsigned{IBV_SEND_SIGNALED} | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0);
    pair_.far.qp().post_send(&wr);
    verbs::expect_wc(pair_.far.send_cq().next(Deadline::after(timeout), "SEND"), 0, IBV_WC_SUCCESS,
                     "SEND");
  }

  // Send a message, and poll its completion at the near end.
  void message(bool solicited = false) {
    post_receive();
    send(solicited);
    verbs::expect_wc(cq().next(Deadline::after(timeout), "receive"), 0, IBV_WC_SUCCESS, "receive");
  }

  bool woken() { return cq().wait_event(channel_, Deadline::after(timeout)); }
  // True if there is no event, even after one more message, by which a pending event has arrived.
  bool not_woken() {
    message();
    return !cq().wait_event(channel_, Deadline::after(std::chrono::milliseconds(0)));
  }

  void resize(int entries) {
    if (const int error = ibv_resize_cq(cq().get(), entries))
      harness::fail_errno(error, "ibv_resize_cq to ", entries);
  }

 private:
  verbs::EndpointOptions options() const {
    verbs::EndpointOptions options;
    options.recv_cq = cq_;
    return options;
  }

  verbs::Channel channel_;
  std::shared_ptr<verbs::Cq> cq_;
  Pair pair_;
};

void one_event_per_arm(const Devices& devices) {
  Receiver receiver(devices);
  const std::uint64_t before = arming_calls();
  receiver.message();
  expect(receiver.not_woken(), "an event although the queue was never armed");
  for (int round = 0; round < 20; round++) {
    receiver.cq().arm(false);
    if (round % 4 == 3) receiver.cq().arm(false);
    receiver.message();
    expect(receiver.woken(), "no event in round ", round);
    expect(receiver.not_woken(), "a second event in round ", round);
  }
  expect(arming_calls() == before, arming_calls() - before, " system calls to arm");
}

void solicited_only(const Devices& devices) {
  Receiver receiver(devices);
  for (int round = 0; round < 10; round++) {
    receiver.cq().arm(true);
    receiver.message();
    expect(receiver.not_woken(), "an event for an unsolicited message, round ", round);
    receiver.message(true);
    expect(receiver.woken(), "no event for a solicited message, round ", round);
    receiver.message(true);
    expect(receiver.not_woken(), "a second event, round ", round);
  }
}

// An arm for any completion lasts until the event, whatever is armed next.
void stronger_arm_stays(const Devices& devices) {
  Receiver receiver(devices);
  for (int round = 0; round < 10; round++) {
    receiver.cq().arm(round % 2);
    receiver.cq().arm(!(round % 2));
    receiver.message();
    expect(receiver.woken(), "armed for both: no event for any message, round ", round);
    expect(receiver.not_woken(), "armed for both: two events, round ", round);
  }
  receiver.cq().arm(false);
  receiver.message();
  receiver.cq().arm(true);
  expect(receiver.woken(), "no event");
  expect(receiver.not_woken(),
         "armed for solicited after the event: an event for an unsolicited message");
  receiver.message(true);
  expect(receiver.woken(), "armed for solicited after the event: no event");
}

void errors_count_as_solicited(const Devices& devices) {
  Receiver receiver(devices);
  receiver.cq().arm(true);
  receiver.post_receive();
  receiver.end().qp().modify(verbs::to_state(IBV_QPS_ERR), "to ERR");
  expect(receiver.woken(), "no event for the flush");
  verbs::expect_wc(receiver.cq().next(Deadline::after(timeout), "the flush"), 0,
                   IBV_WC_WR_FLUSH_ERR, "the flush");
}

void resized_while_armed(const Devices& devices) {
  Receiver receiver(devices);
  for (int round = 0; round < 10; round++) {
    const bool solicited = round % 2;
    receiver.cq().arm(solicited);
    receiver.resize(round % 3 ? 1000 : 100);
    if (solicited) expect(receiver.not_woken(), "resizing changed the arm, round ", round);
    receiver.message(solicited);
    expect(receiver.woken(), "armed, then resized: no event, round ", round);
    receiver.resize(200);
    expect(receiver.not_woken(), "resizing raised an event, round ", round);
    receiver.cq().arm(false);
    receiver.message();
    expect(receiver.woken(), "resized, then armed: no event, round ", round);
  }
}

// One thread arms, polls and sleeps. The other sends about when the previous message is received.
// After a lost event the first thread waits in vain.
void no_event_is_lost(const Devices& devices) {
  constexpr std::uint64_t count = 5000, window = 3;
  Receiver receiver(devices);
  std::atomic<std::uint64_t> received = 0;
  std::atomic<bool> ended = false;
  for (std::uint64_t i = 0; i < window; i++) receiver.post_receive();
  std::thread sender([&] {
    harness::Random random(1);
    for (std::uint64_t i = 0; i < count; i++) {
      const std::uint64_t early = random.below(window);
      while (received + early < i && !ended) std::this_thread::yield();
      if (ended) return;
      for (std::uint64_t spins = random.below(2000); spins; spins--)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      receiver.send(i % 2);
    }
  });
  std::uint64_t slept = 0;
  for (std::uint64_t i = 0; i < count && !ended; i++) {
    receiver.post_receive();
    while (true) {
      receiver.cq().arm(i % 2);
      if (receiver.cq().poll()) break;
      if (!receiver.woken()) {
        ended = true;
        break;
      }
      slept++;
    }
    received = i + 1;
  }
  sender.join();
  harness::note(harness::text("woken ", slept, " times for ", count, " messages"));
  expect(!ended, "message ", received, " came without an event");
}

// Receives of three QPs with one completion queue, flushed one QP after the other.
struct Flushed {
  explicit Flushed(const Devices& devices)
      : pd(verbs::make_pd(devices.near)),
        cq(devices.near, 16),
        other_cq(devices.near, 16),
        first(pd, cq, cq, {}),
        own(std::in_place, pd, cq, cq, verbs::QpOptions{}),
        last(pd, cq, cq, {}),
        witness(pd, other_cq, other_cq, {}) {
    for (verbs::Qp* qp : {&first, &*own, &last, &witness}) {
      qp->modify(verbs::rc_to_init({}), "to INIT");
      for (std::uint64_t id = 0; id < 3; id++) {
        ibv_recv_wr wr{};
        wr.wr_id = id;
        qp->post_recv(&wr);
      }
      qp->modify(verbs::to_state(IBV_QPS_ERR), "to ERR");
    }
    // The kernel flushes in the same order, so the others have been flushed.
    for (std::uint64_t id = 0; id < 3; id++)
      other_cq.next(Deadline::after(timeout), "a flush of the witness");
  }
  void expect_completions_of_others() {
    for (verbs::Qp* qp : {&first, &last}) {
      for (std::uint64_t id = 0; id < 3; id++) {
        const ibv_wc wc = cq.next(Deadline::after(timeout), "a flush of another QP");
        verbs::expect_wc(wc, id, IBV_WC_WR_FLUSH_ERR, "another QP");
        expect(wc.qp_num == qp->number(), "a completion of QP ", wc.qp_num);
      }
    }
    expect(!cq.poll(), "more completions");
  }

  verbs::Pd pd;
  verbs::Cq cq, other_cq;
  verbs::Qp first;
  std::optional<verbs::Qp> own;
  verbs::Qp last, witness;
};

void reset_removes_completions(const Devices& devices) {
  Flushed flushed(devices);
  flushed.own->modify(verbs::to_state(IBV_QPS_RESET), "to RESET");
  flushed.expect_completions_of_others();
}

void end_removes_completions(const Devices& devices) {
  Flushed flushed(devices);
  flushed.own.reset();
  flushed.expect_completions_of_others();
}

}  // namespace

void run_event_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("a queue raises one event each time it is armed", [&] { one_event_per_arm(devices); });
  tap.run("an arm for solicited messages ignores others", [&] { solicited_only(devices); });
  tap.run("the stronger of two arms stays", [&] { stronger_arm_stays(devices); });
  tap.run("an error counts as solicited", [&] { errors_count_as_solicited(devices); });
  tap.run("a resized queue stays armed", [&] { resized_while_armed(devices); });
  tap.run("no event is lost", [&] { no_event_is_lost(devices); });
  tap.run("RESET removes a QP's completions, and no others",
          [&] { reset_removes_completions(devices); });
  tap.run("a QP's completions go with it, and no others",
          [&] { end_removes_completions(devices); });
}

}  // namespace native_verbs
