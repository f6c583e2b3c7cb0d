// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/doorbell_policy.h"
#include "transport/time.h"
}

namespace {

constexpr u64 kMicrosecond = 1000;
constexpr u64 kPoll = 50 * kMicrosecond;
constexpr u64 kPollMax = 1000 * kMicrosecond;
constexpr u64 kIdlePollMax = 250 * kMicrosecond;

class DoorbellPolicy : public testing::Test {
 protected:
  DoorbellPolicy() {
    db_.supported = true;
    in_.now_ns = 1000 * kMicrosecond;
    in_.responses_due = true;
  }

  // A process posts @count signaled requests, with or without a doorbell.
  sroce_db_action post(u32 count, bool doorbell) {
    db_.found = count;
    db_.signaled = true;
    db_.doorbell_seen = doorbell;
    const sroce_db_action action = sroce_db_decide(&db_, &in_);
    deadline_ = sroce_db_deadline(&db_, &in_);
    return action;
  }

  // The timer fires at its deadline and finds nothing.
  sroce_db_action expire() {
    in_.now_ns = db_.poll_until_ns;
    return post(0, false);
  }

  // One grant that expires after a request has waited for the timer.
  void wait_for_timer() {
    in_.now_ns += 5000 * kMicrosecond;
    ASSERT_EQ(post(2, true), SROCE_DB_GRANT);
    in_.now_ns = db_.poll_until_ns;
    db_.found = 1;
    db_.signaled = true;
    sroce_db_decide(&db_, &in_);
    if (db_.active) expire();
  }

  sroce_db_suppress db_ = {};
  sroce_db_input in_ = {};
  u64 deadline_ = 0;
};

TEST_F(DoorbellPolicy, SeveralRequestsPerDoorbellAreGrantedSuppression) {
  EXPECT_EQ(post(2, true), SROCE_DB_GRANT);
  EXPECT_EQ(deadline_, in_.now_ns + kPoll);
}

TEST_F(DoorbellPolicy, OneSignaledRequestIsNotGrantedSuppression) {
  EXPECT_EQ(post(1, true), SROCE_DB_KEEP);
}

// A decision about a settled state would change nothing but the counts.
TEST_F(DoorbellPolicy, SettledStateIsThatOfADecision) {
  u32 settled = 0;
  for (u32 bits = 0; bits < 1u << 15; bits++) {
    const auto bit = [&](u32 n) { return bits >> n & 1; };
    db_ = {};
    db_.supported = true;
    db_.active = bit(0);
    db_.unused = bit(1);
    db_.doorbell_seen = bit(2);
    db_.signaled = bit(3);
    db_.found = bit(4) + bit(5);
    db_.unacked_psn = bit(6);
    db_.late_cost = bit(7) ? 255 : 0;
    db_.epsn = bit(8);
    db_.cq_fetches = bit(9);
    db_.poll_ns = kPoll;
    db_.poll_until_ns = bit(10) ? 900 * kMicrosecond : 0;
    db_.pause_until_ns = bit(11) ? 2000 * kMicrosecond : 0;
    in_.epsn = 1;
    in_.cq_fetches = 1;
    in_.cq_behind = bit(12);
    in_.responses_due = bit(13);
    in_.is_busy = in_.storage_full = bit(14);
    if (!sroce_db_is_settled(&db_, in_.cq_behind)) continue;
    settled++;
    sroce_db_suppress skipped = db_;
    sroce_db_settle(&skipped, in_.epsn, in_.cq_fetches);
    ASSERT_EQ(SROCE_DB_KEEP, sroce_db_decide(&db_, &in_)) << bits;
    ASSERT_EQ(SROCE_NEVER, sroce_db_deadline(&db_, &in_)) << bits;
    ASSERT_EQ(0, memcmp(&db_, &skipped, sizeof(db_))) << bits;
  }
  EXPECT_EQ(1u << 11, settled);
}

TEST_F(DoorbellPolicy, UnreadCompletionsShowThatTheProcessPostsAhead) {
  in_.cq_behind = true;
  EXPECT_EQ(post(1, true), SROCE_DB_GRANT);
}

TEST_F(DoorbellPolicy, UnsignaledRequestIsGrantedWhileThePeerIsSilent) {
  db_.found = 1;
  EXPECT_EQ(sroce_db_decide(&db_, &in_), SROCE_DB_GRANT);
}

TEST_F(DoorbellPolicy, UnsignaledRequestAfterAPeerMessageIsNotGranted) {
  in_.epsn = 7;
  db_.found = 1;
  EXPECT_EQ(sroce_db_decide(&db_, &in_), SROCE_DB_KEEP);
}

TEST_F(DoorbellPolicy, SleepingProcessIsNeverGrantedSuppression) {
  db_.found = 2;
  EXPECT_TRUE(sroce_db_may_grant(&db_, &in_));
  in_.cq_armed = true;
  EXPECT_EQ(post(2, true), SROCE_DB_KEEP);
}

TEST_F(DoorbellPolicy, GrantWithoutRequestsIsRevokedByTheTimer) {
  post(2, true);
  EXPECT_EQ(expire(), SROCE_DB_REVOKE);
  EXPECT_EQ(deadline_, SROCE_NEVER);
}

TEST_F(DoorbellPolicy, MovingAcksExtendAGrant) {
  post(2, true);
  in_.unacked_psn++;
  EXPECT_EQ(expire(), SROCE_DB_GRANT);
}

TEST_F(DoorbellPolicy, MovingAcksDoNotExtendAGrantOnceAllIsAcked) {
  post(2, true);
  in_.unacked_psn++;
  in_.responses_due = false;
  EXPECT_EQ(expire(), SROCE_DB_REVOKE);
}

TEST_F(DoorbellPolicy, PollTimeGrowsByAnEighthUpToAMillisecond) {
  post(2, true);
  in_.unacked_psn++;
  expire();
  EXPECT_EQ(deadline_, in_.now_ns + kPoll + kPoll / 8);
  for (int i = 0; i < 60; i++) {
    in_.unacked_psn++;
    expire();
  }
  EXPECT_EQ(deadline_, in_.now_ns + kPollMax);
}

TEST_F(DoorbellPolicy, PollTimeIsShorterWhileNoResponseIsDue) {
  db_.poll_ns = kPollMax;
  in_.responses_due = false;
  post(2, true);
  EXPECT_EQ(deadline_, in_.now_ns + kIdlePollMax);
}

TEST_F(DoorbellPolicy, BusyQueueNeedsNoTimer) {
  in_.is_busy = true;
  EXPECT_EQ(post(2, true), SROCE_DB_GRANT);
  EXPECT_EQ(deadline_, SROCE_NEVER);
}

TEST_F(DoorbellPolicy, FullStorageRevokesAGrant) {
  post(2, true);
  in_.storage_full = true;
  EXPECT_EQ(post(2, false), SROCE_DB_REVOKE);
  EXPECT_EQ(post(2, true), SROCE_DB_KEEP);
}

TEST_F(DoorbellPolicy, UnusedGrantNeedsOneMoreDoorbell) {
  post(2, true);
  expire();
  in_.now_ns += kPoll;
  EXPECT_EQ(post(2, true), SROCE_DB_KEEP);
  in_.now_ns += kPoll / 2;
  EXPECT_EQ(post(2, true), SROCE_DB_GRANT);
}

TEST_F(DoorbellPolicy, UsedGrantIsGrantedAgainAtOnce) {
  post(2, true);
  post(2, false);
  expire();
  in_.now_ns += kPoll;
  EXPECT_EQ(post(2, true), SROCE_DB_GRANT);
}

TEST_F(DoorbellPolicy, RepeatedLateRequestsPauseSuppression) {
  for (int i = 0; i < 5; i++) wait_for_timer();
  in_.now_ns += 3900 * kMicrosecond;
  EXPECT_EQ(post(2, true), SROCE_DB_KEEP);
  in_.now_ns += 1000 * kMicrosecond;
  EXPECT_EQ(post(2, true), SROCE_DB_GRANT);
}

// Data and a flag, whose arrival it polls for in memory: no doorbell follows while it waits.
TEST_F(DoorbellPolicy, ProcessThatPostsPairsAndPollsMemoryRarelyWaitsForTheTimer) {
  int late = 0;
  for (int i = 0; i < 10000; i++) {
    late += db_.active;
    in_.now_ns = db_.active ? db_.poll_until_ns : in_.now_ns + 5 * kMicrosecond;
    in_.unacked_psn++;
    post(2, !db_.active);
  }
  EXPECT_LT(late, 100);
}

TEST_F(DoorbellPolicy, RequestsWithoutADoorbellPayForLateOnes) {
  for (int i = 0; i < 3; i++) wait_for_timer();
  EXPECT_GT(db_.late_cost, 128u);
  in_.now_ns += 5000 * kMicrosecond;
  post(2, true);
  post(200, false);
  EXPECT_EQ(db_.late_cost, 0u);
}

TEST_F(DoorbellPolicy, LateRequestShortensThePollTimeToItsMinimum) {
  db_.poll_ns = kPollMax;
  post(2, true);
  in_.now_ns = db_.poll_until_ns;
  post(1, false);
  EXPECT_EQ(db_.poll_ns, kPoll);
}

class SeveralQueuePairs : public DoorbellPolicy {
 protected:
  SeveralQueuePairs() { in_.cq_behind = true; }

  // The timer finds two requests after those of this many other queue pairs.
  bool is_late_after(u32 others) {
    in_.now_ns += 5000 * kMicrosecond;
    db_.late_cost = 0;
    post(2, true);
    post(2, true);
    EXPECT_TRUE(db_.active);
    in_.now_ns = db_.poll_until_ns;
    in_.cq_fetches += 1 + others;
    in_.epsn += responses_;
    post(2, false);
    return db_.late_cost > 0;
  }

  u32 responses_ = 0;
};

TEST_F(SeveralQueuePairs, BusyProcessHasNotWaitedForTheTimer) { EXPECT_FALSE(is_late_after(1)); }

TEST_F(SeveralQueuePairs, ProcessOfOneQueuePairHasWaited) { EXPECT_TRUE(is_late_after(0)); }

TEST_F(SeveralQueuePairs, ProcessThatHasReadItsCompletionsHasWaited) {
  in_.cq_behind = false;
  EXPECT_TRUE(is_late_after(1));
}

// It reaps completions rarely and polls memory for the responses.
TEST_F(SeveralQueuePairs, ProcessWhosePeerHasSentSomethingHasWaited) {
  responses_ = 1;
  EXPECT_TRUE(is_late_after(1));
}

TEST_F(SeveralQueuePairs, BusyProcessIsPolledMoreRarely) {
  ASSERT_EQ(post(2, true), SROCE_DB_GRANT);
  for (int i = 0; i < 30; i++) {
    in_.now_ns = db_.poll_until_ns;
    in_.cq_fetches += 2;
    EXPECT_EQ(post(3, false), SROCE_DB_GRANT);
  }
  EXPECT_EQ(db_.poll_ns, kPollMax);
}

// The ACK of a request comes before the response of the peer, and the timer after both.
TEST_F(SeveralQueuePairs, AckDoesNotHideTheResponseOfThePeer) {
  int late = 0;
  for (int i = 0; i < 10000; i++) {
    late += db_.active;
    in_.now_ns = db_.active ? db_.poll_until_ns : in_.now_ns + 5 * kMicrosecond;
    in_.cq_fetches += 2;
    post(2, !db_.active);
    in_.unacked_psn++;
    in_.epsn++;
    post(0, false);
  }
  EXPECT_LT(late, 100);
}

}  // namespace
