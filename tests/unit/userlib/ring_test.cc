// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring.h"

#include <gtest/gtest.h>

#include <thread>

#include "kernel_ring.h"

namespace {

using Producer = sroce::ProducerRing<std::uint64_t>;
using Consumer = sroce::ConsumerRing<std::uint64_t>;

constexpr std::uint32_t kShift = 6;

void produce(Producer& ring, std::uint64_t value) {
  ring.slot() = value;
  ring.publish();
}

TEST(RingOpen, MoreThanTheMappingHoldsIsRefused) {
  SharedRing shared(4, kShift);
  shared.header().index_mask = 7;
  EXPECT_FALSE(Producer::open(shared.memory(), 8));
  EXPECT_FALSE(Consumer::open(shared.memory()));
}

TEST(RingOpen, MaskThatIsNoMaskIsRefused) {
  SharedRing shared(8, kShift);
  for (const std::uint32_t mask : {0u, 2u, 6u, 0xffffffffu}) {
    shared.header().index_mask = mask;
    EXPECT_FALSE(Consumer::open(shared.memory())) << mask;
  }
}

TEST(RingOpen, ElementsTooSmallAreRefused) {
  SharedRing shared(4, kShift);
  EXPECT_TRUE(Producer::open(shared.memory(), 64));
  EXPECT_FALSE(Producer::open(shared.memory(), 65));
  EXPECT_FALSE(Producer::open(shared.memory(), 7)) << "less than the fixed part";
}

TEST(RingOpen, ElementSizeBeyondReasonIsRefused) {
  SharedRing shared(4, kShift);
  shared.header().log2_elem_size = 200;
  EXPECT_FALSE(Consumer::open(shared.memory()));
}

TEST(RingOpen, MappingWithoutAHeaderIsRefused) {
  SharedRing shared(4, kShift);
  EXPECT_FALSE(Consumer::open(shared.memory().first(100)));
  EXPECT_FALSE(Consumer::open({}));
}

TEST(ProducerRing, OneSlotStaysEmpty) {
  SharedRing shared(4, kShift);
  Producer ring = *Producer::open(shared.memory(), 8);
  EXPECT_EQ(ring.capacity(), 3u);
  for (std::uint64_t value = 0; value < 3; value++) {
    ASSERT_FALSE(ring.is_full());
    produce(ring, value);
  }
  EXPECT_TRUE(ring.is_full());
  shared.consume(1);
  EXPECT_FALSE(ring.is_full());
}

TEST(ProducerRing, IndexWrapsMasked) {
  SharedRing shared(4, kShift);
  Producer ring = *Producer::open(shared.memory(), 8);
  for (std::uint64_t value = 0; value < 11; value++) {
    produce(ring, value);
    EXPECT_EQ(shared.copy<std::uint64_t>(static_cast<std::uint32_t>(value % 4)), value);
    shared.consume(1);
  }
  EXPECT_EQ(shared.header().producer_index, 3u);
}

TEST(ProducerRing, FollowsWhenTheKernelEmptiesIt) {
  SharedRing shared(4, kShift);
  Producer ring = *Producer::open(shared.memory(), 8);
  produce(ring, 1);
  produce(ring, 2);
  shared.header().producer_index = 0;
  shared.header().consumer_index = 0;
  produce(ring, 3);
  EXPECT_EQ(shared.copy<std::uint64_t>(0), 3u);
  EXPECT_EQ(shared.header().producer_index, 1u);
}

TEST(ProducerRing, PayloadIsTheRestOfTheSlot) {
  SharedRing shared(4, kShift);
  Producer ring = *Producer::open(shared.memory(), 8);
  produce(ring, 1);
  EXPECT_EQ(ring.slot_payload().size(), 56u);
  EXPECT_EQ(ring.slot_payload().data(), shared.element(1).data() + 8);
}

TEST(ConsumerRing, EmptyHasNothingPending) {
  SharedRing shared(4, kShift);
  EXPECT_EQ(Consumer::open(shared.memory())->pending(), 0u);
}

TEST(ConsumerRing, TakesAFullRingOldestFirstAcrossTheWrap) {
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
  EXPECT_EQ(shared.header().consumer_index, 1u) << "kept masked";
}

// One memory, both ends, two threads: every value arrives once, in order and whole.
TEST(Ring, HandsOverBetweenThreads) {
  constexpr std::uint64_t count = 20000;
  SharedRing shared(8, kShift);
  Producer producer = *Producer::open(shared.memory(), 8);
  Consumer consumer = *Consumer::open(shared.memory());
  std::thread kernel([&] {
    for (std::uint64_t value = 0; value < count;) {
      if (producer.is_full())
        std::this_thread::yield();
      else
        produce(producer, value++);
    }
  });
  for (std::uint64_t expected = 0; expected < count;) {
    const std::uint32_t pending = consumer.pending();
    if (!pending) std::this_thread::yield();
    for (std::uint32_t i = 0; i < pending; i++) ASSERT_EQ(consumer.peek(i), expected++);
    consumer.release(pending);
  }
  kernel.join();
}

}  // namespace
