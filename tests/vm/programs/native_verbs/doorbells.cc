// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Posting without a doorbell. How often it happens depends on timing, so the program prints the
// number and does not check it.
#include <dlfcn.h>
#include <rdma/ib_user_verbs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdarg>
#include <thread>

#include "native_verbs/pair.h"

namespace {

std::atomic<std::uint64_t> doorbells = 0, armings = 0;

}  // namespace

// Override two functions of the C library in this process, to count system calls: the provider's
// syscall() and libibverbs' write().
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  static const auto next = reinterpret_cast<decltype(&syscall)>(dlsym(RTLD_NEXT, "syscall"));
  std::array<long, 6> words;
  va_list list;
  va_start(list, number);
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  if (const auto bytes = static_cast<std::size_t>(words[2]);
      number == SYS_write && bytes >= sizeof(ib_uverbs_cmd_hdr)) {
    ib_uverbs_cmd_hdr header;
    std::memcpy(&header, reinterpret_cast<const void*>(words[1]), sizeof(header));
    if (header.command == IB_USER_VERBS_CMD_POST_SEND && header.in_words * 4u == bytes) doorbells++;
    if (header.command == IB_USER_VERBS_CMD_REQ_NOTIFY_CQ) armings++;
  }
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

extern "C" __attribute__((visibility("default"))) ssize_t write(int fd, const void* data,
                                                                size_t bytes) {
  return syscall(SYS_write, fd, data, bytes);
}

namespace native_verbs {

std::uint64_t arming_calls() { return armings; }

using harness::Backoff;
using harness::Deadline;
using harness::expect;
using harness::fail;

void Pair::post_write(std::uint64_t value, unsigned flags) {
  std::memcpy(near.arena().data() + value % depth * 8, &value, sizeof(value));
  ibv_sge sge = near.sge(value % depth * 8, 8);
  ibv_send_wr wr{};
  wr.wr_id = value;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = flags;
  wr.wr.rdma.remote_addr = near.peer().address;
  wr.wr.rdma.rkey = near.peer().rkey;
  near.qp().post_send(&wr);
}

std::uint64_t Pair::arrived() const {
  std::uint64_t value;
  __atomic_load(reinterpret_cast<const std::uint64_t*>(far.arena().data()), &value,
                __ATOMIC_ACQUIRE);
  return value;
}

void Pair::await_arrival(std::uint64_t value) const {
  const Deadline deadline = Deadline::after(timeout);
  for (Backoff backoff; arrived() != value; backoff.pause())
    if (deadline.expired()) fail("write ", value, " has not arrived, only ", arrived());
}

namespace {

// Post `count` requests like a benchmark: fill the queue, then post as requests complete.
template <typename Post>
void stream(Pair& pair, std::uint64_t count, Post post) {
  const Deadline deadline = Deadline::after(timeout);
  for (std::uint64_t posted = 0, polled = 0; polled < count;) {
    for (; posted < count && posted - polled < depth; posted++) post(posted);
    while (const std::optional<ibv_wc> wc = pair.near.send_cq().poll()) {
      verbs::expect_wc(*wc, polled, IBV_WC_SUCCESS, "stream");
      polled++;
    }
    expect(!deadline.expired(), polled, " of ", count, " have completed");
  }
}

void stream_writes(Pair& pair, std::uint64_t count) {
  stream(pair, count, [&](std::uint64_t id) { pair.post_write(id, IBV_SEND_SIGNALED); });
}

void pollers_ring(const Devices& devices) {
  constexpr std::uint64_t count = 5000;
  Pair pair(devices);
  const std::uint64_t before = doorbells;
  stream_writes(pair, count);
  harness::note(harness::text(doorbells - before, " doorbells for ", count, " requests"));
  expect(doorbells > before, "counted no doorbell at all");
  if (doorbells - before == count)
    throw harness::Skip("too slow for the kernel to suppress doorbells");
}

// Nobody polls for the end of a burst. Either the kernel polls the ring or posting rings.
void unpolled_requests_are_sent(const Devices& devices) {
  Pair pair(devices);
  stream_writes(pair, 1000);
  std::uint64_t silent = 0;
  for (std::uint64_t value = 1; value <= 2000; value++) {
    const std::uint64_t before = doorbells;
    pair.post_write(value, value % 16 ? 0 : IBV_SEND_SIGNALED);
    silent += doorbells == before;
    if (value % 8) continue;
    pair.await_arrival(value);
    while (pair.near.send_cq().poll())
      ;
  }
  harness::note(harness::text(silent, " of 2000 requests without a doorbell"));
  if (!silent) throw harness::Skip("too slow for the kernel to suppress doorbells");
}

void sleepers_are_woken(const Devices& devices) {
  const verbs::Channel channel = verbs::make_channel(devices.near);
  verbs::EndpointOptions options;
  options.send_cq = std::make_shared<verbs::Cq>(devices.near, 256, &channel);
  Pair pair(devices, options);
  stream_writes(pair, 1000);
  for (std::uint64_t round = 0; round < 200; round++) {
    // Requests posted before and after the queue is armed.
    pair.post_write(3 * round, 0);
    pair.post_write(3 * round + 1, IBV_SEND_SIGNALED);
    options.send_cq->arm(false);
    pair.post_write(3 * round + 2, IBV_SEND_SIGNALED);
    int polled = 0;
    while (options.send_cq->poll()) polled++;
    while (polled < 2) {
      expect(options.send_cq->wait_event(channel, Deadline::after(timeout)), "no event in round ",
             round);
      while (options.send_cq->poll()) polled++;
      if (polled < 2) options.send_cq->arm(false);
    }
    // Consume an event that the loop did not wait for.
    options.send_cq->wait_event(channel, Deadline::after(std::chrono::milliseconds(0)));
  }
}

void destroyed_with_requests_outstanding(const Devices& devices) {
  for (int round = 0; round < 50; round++) {
    Pair pair(devices);
    stream_writes(pair, 200);
    pair.post_write(201, 0);
    pair.post_write(202, 0);
  }
}

void flushed_by_an_error(const Devices& devices) {
  Pair pair(devices);
  stream_writes(pair, 1000);
  pair.post_write(1000, IBV_SEND_SIGNALED);
  pair.near.qp().modify(verbs::to_state(IBV_QPS_ERR), "to ERR");
  pair.near.send_cq().next(Deadline::after(timeout), "the request before the error");
  pair.post_write(1001, IBV_SEND_SIGNALED);
  verbs::expect_wc(pair.near.send_cq().next(Deadline::after(timeout), "the flush"), 1001,
                   IBV_WC_WR_FLUSH_ERR, "after the error");
}

// A worker may post a buffer again just after the connection has failed.
void receive_in_error_is_flushed(const Devices& devices) {
  Pair pair(devices);
  pair.near.qp().modify(verbs::to_state(IBV_QPS_ERR), "to ERR");
  for (std::uint64_t id = 1; id < 4; id++) {
    ibv_recv_wr wr{};
    wr.wr_id = id;
    pair.near.qp().post_recv(&wr);
    verbs::expect_wc(pair.near.recv_cq().next(Deadline::after(timeout), "the flush"), id,
                     IBV_WC_WR_FLUSH_ERR, "after the error");
  }
}

// Doorbells are deferred while the kernel polls the queue, so the other thread rings them.
void destroyed_while_polled(const Devices& devices) {
  for (int round = 0; round < 50; round++) {
    Pair pair(devices);
    stream_writes(pair, 200);
    std::atomic<bool> stop = false;
    std::thread poller([&] {
      ibv_wc wc;
      while (!stop) ibv_poll_cq(pair.near.send_cq().get(), 1, &wc);
    });
    for (std::uint64_t id = 0; id < 20; id++) pair.post_write(id, 0);
    pair.near.destroy_qp();
    stop = true;
    poller.join();
  }
}

void threads_share_a_queue(const Devices& devices) {
  constexpr std::uint64_t each = 2000;
  Pair pair(devices);
  std::atomic<std::uint64_t> polled = 0, posted = 0;
  const auto post = [&] {
    for (std::uint64_t i = 0; i < each; i++) {
      while (posted - polled > depth / 2) std::this_thread::yield();
      posted++;
      pair.post_write(i, IBV_SEND_SIGNALED);
    }
  };
  std::thread one(post), other(post);
  const Deadline deadline = Deadline::after(timeout);
  while (polled < 2 * each && !deadline.expired()) {
    if (pair.near.send_cq().poll())
      polled++;
    else
      std::this_thread::yield();
  }
  if (deadline.expired()) _exit(1);
  one.join();
  other.join();
}

}  // namespace

void run_doorbell_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("a poller of an empty queue rings due doorbells", [&] { pollers_ring(devices); });
  tap.run("requests are sent although nobody polls", [&] { unpolled_requests_are_sent(devices); });
  tap.run("a sleeper on a completion channel is woken", [&] { sleepers_are_woken(devices); });
  tap.run("a QP is destroyed with requests outstanding",
          [&] { destroyed_with_requests_outstanding(devices); });
  tap.run("requests are sent before an error, flushed after it",
          [&] { flushed_by_an_error(devices); });
  tap.run("receives that are posted after an error are flushed",
          [&] { receive_in_error_is_flushed(devices); });
  tap.run("a QP is destroyed while another thread polls", [&] { destroyed_while_polled(devices); });
  tap.run("two threads post and a third polls", [&] { threads_share_a_queue(devices); });
}

}  // namespace native_verbs
