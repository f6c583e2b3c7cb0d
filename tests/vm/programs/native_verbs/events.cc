// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels, armed without a system call.
#include <atomic>
#include <thread>

#include "harness/random.h"
#include "native_verbs/pair.h"

namespace native_verbs {
namespace {

using harness::Deadline;
using harness::expect;

// A near end that receives, and can be woken for it.
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

  // The far end sends a message without a byte.
  void send(bool solicited) {
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = unsigned{IBV_SEND_SIGNALED} | (solicited ? unsigned{IBV_SEND_SOLICITED} : 0);
    pair_.far.qp().post_send(&wr);
    verbs::expect_wc(pair_.far.send_cq().next(Deadline::after(patience), "SEND"), 0, IBV_WC_SUCCESS,
                     "SEND");
  }

  // Sent, received and polled.
  void message(bool solicited = false) {
    post_receive();
    send(solicited);
    verbs::expect_wc(cq().next(Deadline::after(patience), "receive"), 0, IBV_WC_SUCCESS, "receive");
  }

  bool woken() { return cq().wait_event(channel_, Deadline::after(patience)); }
  // Nothing in the channel; another message later, so that whatever had to come has come.
  bool left_alone() {
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

void one_event_for_each_time(const Devices& devices) {
  Receiver receiver(devices);
  const std::uint64_t before = arming_calls();
  receiver.message();
  expect(receiver.left_alone(), "an event, and it was never armed");
  for (int round = 0; round < 20; round++) {
    receiver.cq().arm(false);
    if (round % 4 == 3) receiver.cq().arm(false);
    receiver.message();
    expect(receiver.woken(), "no event in round ", round);
    expect(receiver.left_alone(), "a second event in round ", round);
  }
  expect(arming_calls() == before, arming_calls() - before, " system calls to arm");
}

void solicited_only(const Devices& devices) {
  Receiver receiver(devices);
  for (int round = 0; round < 10; round++) {
    receiver.cq().arm(true);
    receiver.message();
    expect(receiver.left_alone(), "an event for what was not solicited, round ", round);
    receiver.message(true);
    expect(receiver.woken(), "no event for a solicited message, round ", round);
    receiver.message(true);
    expect(receiver.left_alone(), "a second event, round ", round);
  }
}

// What was wished for stays so until the event.
void stronger_arm_stays(const Devices& devices) {
  Receiver receiver(devices);
  for (int round = 0; round < 10; round++) {
    receiver.cq().arm(round % 2);
    receiver.cq().arm(!(round % 2));
    receiver.message();
    expect(receiver.woken(), "any and solicited: no event for any, round ", round);
    expect(receiver.left_alone(), "any and solicited: two events, round ", round);
  }
  receiver.cq().arm(false);
  receiver.message();
  receiver.cq().arm(true);
  expect(receiver.woken(), "no event");
  expect(receiver.left_alone(), "armed for solicited after the event, and woken by another");
  receiver.message(true);
  expect(receiver.woken(), "armed after the event, and not woken");
}

void errors_count_as_solicited(const Devices& devices) {
  Receiver receiver(devices);
  receiver.cq().arm(true);
  receiver.post_receive();
  receiver.end().qp().modify(verbs::to_state(IBV_QPS_ERR), "to ERR");
  expect(receiver.woken(), "no event for the flush");
  verbs::expect_wc(receiver.cq().next(Deadline::after(patience), "the flush"), 0,
                   IBV_WC_WR_FLUSH_ERR, "the flush");
}

void resized_while_armed(const Devices& devices) {
  Receiver receiver(devices);
  for (int round = 0; round < 10; round++) {
    const bool solicited = round % 2;
    receiver.cq().arm(solicited);
    receiver.resize(round % 3 ? 1000 : 100);
    if (solicited) expect(receiver.left_alone(), "the wish has become another, round ", round);
    receiver.message(solicited);
    expect(receiver.woken(), "armed, then resized: no event, round ", round);
    receiver.resize(200);
    expect(receiver.left_alone(), "resized: an event of its own, round ", round);
    receiver.cq().arm(false);
    receiver.message();
    expect(receiver.woken(), "resized, then armed: no event, round ", round);
  }
}

// One thread arms, looks, sleeps; the other sends when it has heard that the message before has
// come, or somewhat earlier or later. An event that is missed is waited for in vain.
void no_event_is_missed(const Devices& devices) {
  constexpr std::uint64_t count = 5000, ahead = 3;
  Receiver receiver(devices);
  std::atomic<std::uint64_t> received = 0;
  std::atomic<bool> ended = false;
  for (std::uint64_t i = 0; i < ahead; i++) receiver.post_receive();
  std::thread sender([&] {
    harness::Random random(1);
    for (std::uint64_t i = 0; i < count; i++) {
      const std::uint64_t early = random.below(ahead);
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

}  // namespace

void run_event_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("one event for each time it is armed", [&] { one_event_for_each_time(devices); });
  tap.run("armed for solicited messages only", [&] { solicited_only(devices); });
  tap.run("the stronger of two arm stays", [&] { stronger_arm_stays(devices); });
  tap.run("an error counts as solicited", [&] { errors_count_as_solicited(devices); });
  tap.run("resized while armed", [&] { resized_while_armed(devices); });
  tap.run("no event is missed", [&] { no_event_is_missed(devices); });
}

}  // namespace native_verbs
