// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "kernel_ring.h"

namespace {

using Producer = sroce::ProducerRing<std::uint64_t>;
using Consumer = sroce::ConsumerRing<std::uint64_t>;

constexpr std::uint32_t kShift = 6;
constexpr std::uint32_t kStride = 64;

void produce(Producer& ring, std::uint64_t value) {
  ring.slot() = value;
  ring.publish();
}

TEST(ConsumerRingOpen, RingBeyondMappingIsRejected) {
  SharedRing shared(4, kShift);
  shared.header().index_mask = 7;
  EXPECT_FALSE(Consumer::open(shared.memory()));
}

TEST(ConsumerRingOpen, InvalidMaskIsRejected) {
  SharedRing shared(8, kShift);
  for (const std::uint32_t mask : {0u, 2u, 6u, 0xffffffffu}) {
    shared.header().index_mask = mask;
    EXPECT_FALSE(Consumer::open(shared.memory())) << mask;
  }
}

TEST(ConsumerRingOpen, InvalidElementSizeIsRejected) {
  SharedRing shared(4, kShift);
  for (const std::uint32_t shift : {2u, 200u}) {
    shared.header().log2_elem_size = shift;
    EXPECT_FALSE(Consumer::open(shared.memory())) << shift;
  }
}

TEST(ConsumerRingOpen, MappingSmallerThanHeaderIsRejected) {
  SharedRing shared(4, kShift);
  EXPECT_FALSE(Consumer::open(shared.memory().first(100)));
  EXPECT_FALSE(Consumer::open({}));
}

TEST(ProducerRingOpen, QueueBeyondMappingIsRejected) {
  SharedQueue shared(4, kStride);
  const sroce::QueueLayout good = shared.layout();
  EXPECT_TRUE(shared.open<std::uint64_t>());
  shared.layout().count = 8;
  EXPECT_FALSE(shared.open<std::uint64_t>());
  shared.layout() = good;
  for (std::uint32_t sroce::QueueLayout::*where :
       {&sroce::QueueLayout::head, &sroce::QueueLayout::slots, &sroce::QueueLayout::stride}) {
    shared.layout().*where = 0xfffffff8;
    EXPECT_FALSE(shared.open<std::uint64_t>());
    shared.layout() = good;
  }
  EXPECT_FALSE(Producer::open({}, good, 8));
}

TEST(ProducerRingOpen, CountMustBeAPowerOfTwo) {
  SharedQueue shared(4, kStride);
  for (const std::uint32_t count : {0u, 3u}) {
    shared.layout().count = count;
    EXPECT_FALSE(shared.open<std::uint64_t>()) << count;
  }
}

TEST(ProducerRingOpen, TooSmallSlotsAreRejected) {
  SharedQueue shared(4, kStride);
  EXPECT_TRUE(shared.open<std::uint64_t>(kStride));
  EXPECT_FALSE(shared.open<std::uint64_t>(kStride + 1));
  EXPECT_FALSE(shared.open<std::uint64_t>(7)) << "less than the fixed part";
}

TEST(ProducerRingOpen, MisalignedSlotsAreRejected) {
  SharedQueue shared(4, kStride);
  const sroce::QueueLayout good = shared.layout();
  shared.layout().count = 2;
  shared.layout().slots += 4;
  EXPECT_FALSE(shared.open<std::uint64_t>());
  shared.layout() = good;
  shared.layout().stride -= 4;
  EXPECT_FALSE(shared.open<std::uint64_t>());
}

TEST(ProducerRing, EverySlotCanBeFilled) {
  SharedQueue shared(4, kStride);
  Producer ring = *shared.open<std::uint64_t>();
  EXPECT_EQ(ring.capacity(), 4u);
  for (std::uint64_t value = 0; value < 4; value++) {
    ASSERT_FALSE(ring.is_full());
    produce(ring, value);
  }
  EXPECT_TRUE(ring.is_full());
  shared.consume(1);
  EXPECT_FALSE(ring.is_full());
}

TEST(ProducerRing, IndicesWrapAt32Bits) {
  SharedQueue shared(4, kStride);
  shared.head().producer = shared.head().consumer = 0xfffffffe;
  Producer ring = *shared.open<std::uint64_t>();
  for (std::uint64_t value = 0; value < 4; value++) produce(ring, value);
  EXPECT_TRUE(ring.is_full());
  for (std::uint32_t value = 0; value < 4; value++)
    EXPECT_EQ(shared.copy<std::uint64_t>(0xfffffffe + value), value);
  EXPECT_EQ(shared.head().producer, 2u);
}

TEST(ProducerRing, KernelMayResetTheIndices) {
  SharedQueue shared(4, kStride);
  Producer ring = *shared.open<std::uint64_t>();
  produce(ring, 1);
  produce(ring, 2);
  shared.head().producer = 0;
  shared.head().consumer = 0;
  produce(ring, 3);
  EXPECT_EQ(shared.copy<std::uint64_t>(0), 3u);
  EXPECT_EQ(shared.head().producer, 1u);
}

TEST(ProducerRing, PayloadIsTheRestOfTheSlot) {
  SharedQueue shared(4, kStride);
  Producer ring = *shared.open<std::uint64_t>();
  produce(ring, 1);
  EXPECT_EQ(ring.slot_payload().size(), kStride - 8);
  EXPECT_EQ(ring.slot_payload().data(), shared.element(1).data() + 8);
}

TEST(ConsumerRing, EmptyRingHasNothingPending) {
  SharedRing shared(4, kShift);
  EXPECT_EQ(Consumer::open(shared.memory())->pending(), 0u);
}

TEST(ConsumerRing, FullRingIsReadInOrderAcrossTheWrap) {
  SharedRing shared(4, kShift);
  Consumer ring = *Consumer::open(shared.memory());
  shared.produce<std::uint64_t>(0);
  shared.produce<std::uint64_t>(1);
  ring.release(2);
  for (std::uint64_t value = 2; value < 5; value++) shared.produce(value);
  ASSERT_EQ(ring.pending(), 3u);
  for (std::uint32_t i = 0; i < 3; i++) EXPECT_EQ(ring.peek(i), i + 2);
  ring.release(3);
  EXPECT_EQ(ring.pending(), 0u);
  EXPECT_EQ(shared.header().consumer_index, 1u) << "the index is masked";
}

TEST(ProducerRing, ConsumerSeesEveryValueOnceInOrder) {
  constexpr std::uint64_t count = 20000;
  SharedQueue shared(8, kStride);
  Producer producer = *shared.open<std::uint64_t>();
  std::thread poster([&] {
    for (std::uint64_t value = 0; value < count;) {
      if (producer.is_full())
        std::this_thread::yield();
      else
        produce(producer, value++);
    }
  });
  std::atomic_ref published(shared.head().producer), taken(shared.head().consumer);
  for (std::uint32_t expected = 0; expected < count;) {
    const std::uint32_t end = published.load(std::memory_order_acquire);
    if (end == expected) std::this_thread::yield();
    for (; expected != end; expected++) ASSERT_EQ(shared.copy<std::uint64_t>(expected), expected);
    taken.store(end, std::memory_order_release);
  }
  poster.join();
}

TEST(ConsumerRing, SeesEveryValueOnceInOrder) {
  constexpr std::uint64_t count = 20000;
  SharedRing shared(8, kShift);
  Consumer ring = *Consumer::open(shared.memory());
  std::thread kernel([&] {
    std::atomic_ref produced(shared.header().producer_index);
    std::atomic_ref consumed(shared.header().consumer_index);
    for (std::uint64_t value = 0; value < count;) {
      const std::uint32_t at = static_cast<std::uint32_t>(value % 8), next = (at + 1) % 8;
      if (next == consumed.load(std::memory_order_acquire)) {
        std::this_thread::yield();
        continue;
      }
      std::memcpy(shared.element(at).data(), &value, sizeof(value));
      value++;
      produced.store(next, std::memory_order_release);
    }
  });
  for (std::uint64_t expected = 0; expected < count;) {
    const std::uint32_t pending = ring.pending();
    if (!pending) std::this_thread::yield();
    for (std::uint32_t i = 0; i < pending; i++) ASSERT_EQ(ring.peek(i), expected++);
    ring.release(pending);
  }
  kernel.join();
}

}  // namespace
