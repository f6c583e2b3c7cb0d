// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"
#include "port/resource_storage.h"

namespace {

// struct sroce_qp, which has both, shall fit 4096 bytes; see kernel/datapath/qp.h.
static_assert(sizeof(sroce_requester) + sizeof(sroce_responder) <= 2336);

class ResourceRing : public ::testing::Test {
 protected:
  explicit ResourceRing(u32 capacity = 4) : storage_(capacity) {
    sroce_resources_init(&ring_, storage_.get(), capacity);
  }

  // Adds a READ or atomic with all of its responses pending; null when the ring has no room.
  sroce_resource* add(u32 first_psn, u32 psn_count) {
    if (!sroce_resources_have_room(&ring_)) return nullptr;
    sroce_resource* entry = sroce_resources_add(&ring_);
    entry->first_psn = first_psn;
    entry->psn_count = psn_count;
    entry->end_count = psn_count;
    return entry;
  }
  sroce_resource* add_responded(u32 first_psn, u32 psn_count) {
    sroce_resource* entry = add(first_psn, psn_count);
    u32 index = 0;
    EXPECT_TRUE(sroce_resources_find(&ring_, first_psn, &index));
    sroce_resources_sent(&ring_, index, psn_count);
    return entry;
  }
  const sroce_resource* find(u32 psn) {
    u32 index;
    return sroce_resources_find(&ring_, psn, &index) ? sroce_resources_at(&ring_, index) : nullptr;
  }
  const sroce_resource* first_pending(u32* index = nullptr) {
    u32 i;
    if (!sroce_resources_first_pending(&ring_, &i)) return nullptr;
    if (index) *index = i;
    return sroce_resources_at(&ring_, i);
  }

  ResourceStorage storage_;
  sroce_resources ring_;
};

using ResourcesAdd = ResourceRing;
using ResourcesFind = ResourceRing;
using ResourcesPending = ResourceRing;
using ResourcesReplay = ResourceRing;

TEST_F(ResourcesAdd, EveryEntryOfTheRingMayBePending) {
  for (u32 i = 0; i < 4; i++) EXPECT_NE(add(i, 1), nullptr);
  EXPECT_EQ(add(4, 1), nullptr);
}

TEST_F(ResourcesAdd, CompletedEntryMakesRoom) {
  for (u32 i = 0; i < 4; i++) add(i, 1);
  u32 index;
  first_pending(&index);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_NE(add(4, 1), nullptr);
  EXPECT_EQ(add(5, 1), nullptr);
}

TEST_F(ResourcesAdd, OldestCompletedEntryIsForgotten) {
  for (u32 i = 0; i < 5; i++) add_responded(i, 1);
  EXPECT_EQ(find(0), nullptr);
  for (u32 i = 1; i < 5; i++) EXPECT_NE(find(i), nullptr) << i;
}

TEST_F(ResourcesAdd, NewEntryIsZeroed) {
  for (u32 i = 0; i < 4; i++) add_responded(i, 1)->original = ~0ull;
  const sroce_resource* entry = sroce_resources_add(&ring_);
  EXPECT_EQ(entry->original, 0u);
  EXPECT_EQ(entry->psn_count, 0u);
}

TEST(ResourcesCapacity, ZeroAcceptsNothing) {
  sroce_resources ring;
  sroce_resources_init(&ring, nullptr, 0);
  u32 index;
  EXPECT_FALSE(sroce_resources_have_room(&ring));
  EXPECT_FALSE(sroce_resources_find(&ring, 0, &index));
  EXPECT_FALSE(sroce_resources_first_pending(&ring, &index));
}

TEST_F(ResourcesFind, EveryPsnOfTheResponsesBelongsToTheRequest) {
  const sroce_resource* entry = add(100, 5);
  for (u32 psn = 100; psn < 105; psn++) EXPECT_EQ(find(psn), entry);
  EXPECT_EQ(find(99), nullptr);
  EXPECT_EQ(find(105), nullptr);
}

TEST_F(ResourcesFind, ResponsesMayCrossThePsnWrap) {
  const sroce_resource* entry = add(0xfffffe, 4);
  for (u32 psn : {0xfffffeu, 0xffffffu, 0u, 1u}) EXPECT_EQ(find(psn), entry);
  EXPECT_EQ(find(2), nullptr);
}

TEST_F(ResourcesFind, EmptyRingHasNoEntry) { EXPECT_EQ(find(0), nullptr); }

TEST_F(ResourcesPending, ResponsesAreDueInTheOrderOfTheRequests) {
  add(10, 2);
  add(12, 1);
  u32 index;
  EXPECT_EQ(first_pending(&index)->first_psn, 10u);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_EQ(first_pending(&index)->first_psn, 10u);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_EQ(first_pending(&index)->first_psn, 12u);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_EQ(first_pending(), nullptr);
}

TEST_F(ResourcesReplay, CompletedRequestMayRestartInTheMiddle) {
  add_responded(10, 4);
  u32 index;
  ASSERT_TRUE(sroce_resources_find(&ring_, 12, &index));
  sroce_resources_replay(&ring_, index, 2, 4);
  const sroce_resource* entry = first_pending();
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->first_psn, 10u);
  EXPECT_EQ(entry->sent_count, 2u);
}

TEST_F(ResourcesReplay, EndsWhereTheRepeatedRequestEnds) {
  add_responded(10, 4);
  u32 index;
  ASSERT_TRUE(sroce_resources_find(&ring_, 11, &index));
  sroce_resources_replay(&ring_, index, 1, 3);
  sroce_resources_sent(&ring_, index, 2);
  EXPECT_EQ(first_pending(), nullptr);
}

TEST_F(ResourcesReplay, PendingResponsesOfLaterRequestsFollow) {
  add_responded(10, 1);
  add(11, 1);
  u32 index;
  ASSERT_TRUE(sroce_resources_find(&ring_, 10, &index));
  sroce_resources_replay(&ring_, index, 0, 1);
  EXPECT_EQ(first_pending(&index)->first_psn, 10u);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_EQ(first_pending(&index)->first_psn, 11u);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_EQ(first_pending(), nullptr);
}

TEST_F(ResourcesReplay, PendingRequestIsDueOnce) {
  add(10, 3);
  u32 index;
  first_pending(&index);
  sroce_resources_sent(&ring_, index, 2);
  sroce_resources_replay(&ring_, index, 0, 3);
  sroce_resources_sent(&ring_, index, 3);
  EXPECT_EQ(first_pending(), nullptr);
  EXPECT_EQ(ring_.pending, 0u);
}

TEST_F(ResourcesReplay, LeavesRoomForNewRequests) {
  for (u32 i = 0; i < 4; i++) add_responded(i, 1);
  u32 index;
  ASSERT_TRUE(sroce_resources_find(&ring_, 2, &index));
  sroce_resources_replay(&ring_, index, 0, 1);
  sroce_resources_sent(&ring_, index, 1);
  EXPECT_NE(add(4, 1), nullptr);
  EXPECT_EQ(first_pending()->first_psn, 4u);
}

using ResourcesBetween = ResourceRing;

TEST_F(ResourcesBetween, FindsTheOldestRequestFromAPsn) {
  add_responded(10, 4);
  add(20, 1);
  u32 first_psn;
  ASSERT_TRUE(sroce_resources_first_between(&ring_, 5, 30, &first_psn));
  EXPECT_EQ(first_psn, 10u);
  ASSERT_TRUE(sroce_resources_first_between(&ring_, 10, 30, &first_psn));
  EXPECT_EQ(first_psn, 10u);
  ASSERT_TRUE(sroce_resources_first_between(&ring_, 11, 30, &first_psn));
  EXPECT_EQ(first_psn, 20u);
  EXPECT_FALSE(sroce_resources_first_between(&ring_, 21, 30, &first_psn));
}

TEST_F(ResourcesBetween, SearchesAcrossThePsnWrap) {
  add(1, 1);
  u32 first_psn;
  ASSERT_TRUE(sroce_resources_first_between(&ring_, 0xfffff0, 5, &first_psn));
  EXPECT_EQ(first_psn, 1u);
  EXPECT_FALSE(sroce_resources_first_between(&ring_, 0xfffff0, 1, &first_psn));
}

TEST_F(ResourcesBetween, IgnoresOldRequests) {
  add_responded(10, 1);
  u32 first_psn;
  const u32 later = SROCE_PSN_SPAN + 100;
  EXPECT_FALSE(sroce_resources_first_between(&ring_, later, later + 50, &first_psn));
}

using ResourcesForget = ResourceRing;

TEST_F(ResourcesForget, KeepsRequestsThatADuplicateMayRepeat) {
  add_responded(10, 4);
  sroce_resources_forget(&ring_, 14);
  EXPECT_NE(find(10), nullptr);
  sroce_resources_forget(&ring_, 14 + SROCE_PSN_SPAN - 1);
  EXPECT_NE(find(10), nullptr);
}

TEST_F(ResourcesForget, DropsRequestsHalfACircleBack) {
  add_responded(10, 4);
  add_responded(20, 1);
  sroce_resources_forget(&ring_, 14 + SROCE_PSN_SPAN);
  EXPECT_EQ(find(13), nullptr);
  EXPECT_NE(find(20), nullptr);
  EXPECT_EQ(ring_.count, 1u);
}

TEST_F(ResourcesForget, KeepsTheLongestReadWhenItIsAccepted) {
  add(10, SROCE_PSN_SPAN);
  sroce_resources_forget(&ring_, psn_add(10, SROCE_PSN_SPAN));
  EXPECT_NE(find(10), nullptr);
  EXPECT_NE(first_pending(), nullptr);
}

TEST_F(ResourcesForget, DropsPendingResponsesToo) {
  add(10, 4);
  u32 slot;
  ASSERT_TRUE(sroce_resources_find(&ring_, 10, &slot));
  const sroce_replay hole = {.slot = slot, .base = 0, .sent = 0, .end = 1, .end_bytes = 4};
  ASSERT_TRUE(sroce_resources_fill_hole(&ring_, &hole));
  sroce_resources_forget(&ring_, 14 + SROCE_PSN_SPAN);
  EXPECT_EQ(ring_.pending, 0u);
  EXPECT_EQ(ring_.replay_count, 0u);
  EXPECT_EQ(first_pending(), nullptr);
}

TEST_F(ResourcesForget, RingContinuesAtItsPosition) {
  for (u32 i = 0; i < 4; i++) add_responded(i, 1);
  sroce_resources_forget(&ring_, 2 + SROCE_PSN_SPAN);
  EXPECT_EQ(ring_.count, 2u);
  for (u32 i = 0; i < 3; i++) add_responded(SROCE_PSN_SPAN + i, 1);
  EXPECT_EQ(find(2), nullptr);
  EXPECT_NE(find(3), nullptr);
  EXPECT_NE(find(SROCE_PSN_SPAN + 2), nullptr);
}

using ResourcesResize = ResourceRing;

TEST_F(ResourcesResize, LargerRingKeepsEverything) {
  for (u32 i = 0; i < 6; i++) add_responded(i, 1);
  add(6, 1);
  ResourceStorage storage(8);
  ASSERT_TRUE(sroce_resources_resize(&ring_, storage.get(), 8));
  EXPECT_EQ(sroce_resources_capacity(&ring_), 8u);
  u32 index;
  for (u32 psn = 3; psn <= 6; psn++) EXPECT_TRUE(sroce_resources_find(&ring_, psn, &index)) << psn;
  ASSERT_TRUE(sroce_resources_first_pending(&ring_, &index));
  EXPECT_EQ(sroce_resources_at(&ring_, index)->first_psn, 6u);
}

TEST_F(ResourcesResize, SmallerRingKeepsTheNewest) {
  for (u32 i = 0; i < 4; i++) add_responded(i, 1);
  ResourceStorage storage(2);
  ASSERT_TRUE(sroce_resources_resize(&ring_, storage.get(), 2));
  u32 index;
  EXPECT_FALSE(sroce_resources_find(&ring_, 1, &index));
  EXPECT_TRUE(sroce_resources_find(&ring_, 2, &index));
  EXPECT_TRUE(sroce_resources_find(&ring_, 3, &index));
  EXPECT_TRUE(sroce_resources_have_room(&ring_));
}

TEST_F(ResourcesResize, FirstPendingRequestStaysTheFirst) {
  for (u32 i = 0; i < 3; i++) add(i, 1);
  u32 index;
  ASSERT_TRUE(sroce_resources_first_pending(&ring_, &index));
  sroce_resources_sent(&ring_, index, 1);
  ResourceStorage storage(8);
  ASSERT_TRUE(sroce_resources_resize(&ring_, storage.get(), 8));
  ASSERT_TRUE(sroce_resources_first_pending(&ring_, &index));
  EXPECT_EQ(sroce_resources_at(&ring_, index)->first_psn, 1u);
}

TEST_F(ResourcesResize, PendingRequestsAreNeverDropped) {
  for (u32 i = 0; i < 3; i++) add(i, 1);
  const u32 capacity = sroce_resources_capacity(&ring_);
  ResourceStorage storage(2);
  EXPECT_FALSE(sroce_resources_resize(&ring_, storage.get(), 2));
  EXPECT_EQ(sroce_resources_capacity(&ring_), capacity);
  u32 index;
  for (u32 psn = 0; psn < 3; psn++) EXPECT_TRUE(sroce_resources_find(&ring_, psn, &index)) << psn;
}

class ResourcesLongLife : public ::testing::TestWithParam<u32> {};

TEST_P(ResourcesLongLife, NewestRequestsAreAlwaysFound) {
  const u32 capacity = GetParam();
  ResourceStorage storage(capacity);
  sroce_resources ring;
  sroce_resources_init(&ring, storage.get(), capacity);
  for (u32 i = 0; i < 10 * capacity; i++) {
    ASSERT_TRUE(sroce_resources_have_room(&ring)) << i;
    sroce_resource* entry = sroce_resources_add(&ring);
    entry->first_psn = i;
    entry->psn_count = 1;
    entry->end_count = 1;
    u32 index;
    ASSERT_TRUE(sroce_resources_first_pending(&ring, &index)) << i;
    ASSERT_EQ(sroce_resources_at(&ring, index)->first_psn, i);
    sroce_resources_sent(&ring, index, 1);
    for (u32 back = 0; back <= i; back++)
      ASSERT_EQ(sroce_resources_find(&ring, i - back, &index), back < capacity) << i << " " << back;
  }
}

INSTANTIATE_TEST_SUITE_P(Capacities, ResourcesLongLife, ::testing::Values(1, 3, 4, 16, 127));

}  // namespace
