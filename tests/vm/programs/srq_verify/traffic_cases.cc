// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Messages of many connections in one SRQ: every byte and the order of each connection are checked.
#include "srq_verify/shared.h"

namespace srq {
namespace {

using harness::expect;

constexpr std::uint32_t slot_bytes = 9000;

void share(const Devices& devices, std::uint32_t streams, std::uint32_t slots,
           std::uint32_t messages) {
  Queue queue(devices.far, slots, slot_bytes);
  Streams all(devices, queue, {.streams = streams});
  queue.post_all();
  all.run(messages);
}

// The SRQ is nearly always empty: all wait, and each must get its share.
void share_two(const Devices& devices) {
  Queue queue(devices.far, 2, slot_bytes);
  Streams all(devices, queue, {.streams = 16});
  queue.post_all();
  all.run(20);
}

void post_late(const Devices& devices) {
  Queue queue(devices.far, 8, slot_bytes);
  Streams all(devices, queue, {.streams = 2, .min_rnr_timer = 14});
  for (std::size_t stream = 0; stream < 2; ++stream)
    for (int i = 0; i < 4; ++i) all.send(stream);
  all.far_cq().expect_none(quiet, "no receive is posted");
  queue.post_all();
  const auto deadline = harness::Deadline::after(timeout);
  while (all.received() < 8) {
    all.receive();
    expect(!deadline.expired(), "nothing arrives after receives are posted");
  }
}

void give_up(const Devices& devices) {
  Queue queue(devices.far, 8, slot_bytes);
  Streams all(devices, queue, {.streams = 1, .rnr_retry = 1});
  all.send(0);
  const auto deadline = harness::Deadline::after(timeout);
  while (true) {
    const ibv_qp_attr attr = all.near_qp(0).query(IBV_QP_STATE);
    if (attr.qp_state == IBV_QPS_ERR) break;
    expect(!deadline.expired(), "no RNR NAK of an empty SRQ");
    harness::Backoff().pause();
  }
}

void resize(const Devices& devices) {
  constexpr std::uint32_t sizes[] = {64, 65, 1000, 128, 4000, 64, 32768};
  Queue queue(devices.far, 64, slot_bytes, 64);
  Streams all(devices, queue, {.streams = 8});
  queue.post_all();
  std::uint32_t resizes = 0;
  all.run(300, [&](std::uint32_t received) {
    if (received % 17) return;
    const std::uint32_t size = sizes[resizes++ % std::size(sizes)];
    queue.modify(size, 0, IBV_SRQ_MAX_WR);
    const std::uint32_t max_wr = queue.query().max_wr;
    expect(max_wr >= size && max_wr <= 2 * size, "a size of ", max_wr, " instead of ", size);
  });
  expect(resizes > 100, "only ", resizes, " resizes");
}

// QPs come and go while their messages arrive; others must not notice.
void come_and_go(const Devices& devices) {
  Queue queue(devices.far, 64, slot_bytes), other(devices.far, 64, slot_bytes);
  Streams all(devices, queue, {.streams = 4});
  queue.post_all();
  for (int round = 0; round < 20; ++round) {
    {
      Streams gone(devices, other, {.streams = 4});
      for (std::uint64_t slot = 0; slot < other.slots(); ++slot)
        if (!round) other.post(slot);
      for (std::size_t stream = 0; stream < gone.size(); ++stream)
        for (int i = 0; i < 4; ++i) gone.send(stream);
      all.run(3);
      for (std::size_t stream = 0; stream < gone.size(); ++stream) {
        if (stream % 3 == 0) gone.far_qp(stream).modify(verbs::to_state(IBV_QPS_RESET), "RESET");
        if (stream % 3 == 1) gone.far_qp(stream).modify(verbs::to_state(IBV_QPS_ERR), "ERR");
      }
      all.run(2);
    }
    all.run(2);
  }
}

// The receives are not those of the QP.
void reset(const Devices& devices) {
  Queue queue(devices.far, 8, slot_bytes);
  Streams all(devices, queue, {.streams = 2});
  queue.post_all();
  all.far_qp(0).modify(verbs::to_state(IBV_QPS_RESET), "RESET");
  for (std::uint32_t i = 0; i < queue.slots(); ++i) {
    all.send(1);
    const auto deadline = harness::Deadline::after(timeout);
    while (!all.receive())
      expect(!deadline.expired(), "RESET of another QP leaves ", i, " receives");
    while (!all.reap_send()) expect(!deadline.expired(), "a SEND does not complete");
  }
}

}  // namespace

void run_traffic_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("32 QPs receive from one SRQ", [&] { share(devices, 32, 64, 60); });
  tap.run("one QP receives from an SRQ", [&] { share(devices, 1, 16, 300); });
  tap.run("16 QPs share two receives", [&] { share_two(devices); });
  tap.run("messages wait for late receives", [&] { post_late(devices); });
  tap.run("an empty SRQ ends in RNR NAKs", [&] { give_up(devices); });
  tap.run("an SRQ is resized under traffic", [&] { resize(devices); });
  tap.run("RESET of a QP leaves the receives", [&] { reset(devices); });
  tap.run("QPs end while messages arrive", [&] { come_and_go(devices); });
}

}  // namespace srq
