// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "port/engine.h"

namespace {

constexpr u32 kRcInit = SROCE_QP_PKEY_INDEX | SROCE_QP_PORT | SROCE_QP_ACCESS_FLAGS;
constexpr u32 kRcRtr = SROCE_QP_AV | SROCE_QP_PATH_MTU | SROCE_QP_DEST_QPN | SROCE_QP_RQ_PSN |
                       SROCE_QP_MAX_DEST_RD_ATOMIC | SROCE_QP_MIN_RNR_TIMER;
constexpr u32 kRcRts = SROCE_QP_TIMEOUT | SROCE_QP_RETRY_CNT | SROCE_QP_RNR_RETRY |
                       SROCE_QP_SQ_PSN | SROCE_QP_MAX_QP_RD_ATOMIC;
constexpr u32 kUdInit = SROCE_QP_PKEY_INDEX | SROCE_QP_PORT | SROCE_QP_QKEY;

constexpr sroce_qp_state kStates[] = {SROCE_QPS_RESET, SROCE_QPS_INIT, SROCE_QPS_RTR, SROCE_QPS_RTS,
                                      SROCE_QPS_SQD,   SROCE_QPS_SQE,  SROCE_QPS_ERR};

sroce_qp_transition rc(sroce_qp_state from, sroce_qp_state to, u32 mask) {
  return sroce_qp_state_check(from, to, SROCE_SERVICE_RC, mask | SROCE_QP_STATE);
}

sroce_qp_transition ud(sroce_qp_state from, sroce_qp_state to, u32 mask) {
  return sroce_qp_state_check(from, to, SROCE_SERVICE_UD, mask | SROCE_QP_STATE);
}

// Checks that the transition needs every attribute of @mask.
void expect_all_required(sroce_service service, sroce_qp_state from, sroce_qp_state to, u32 mask) {
  EXPECT_EQ(sroce_qp_state_check(from, to, service, mask | SROCE_QP_STATE), SROCE_TRANSITION_OK);
  for (u32 bit = 1; bit; bit <<= 1) {
    if (!(mask & bit)) continue;
    EXPECT_EQ(sroce_qp_state_check(from, to, service, (mask & ~bit) | SROCE_QP_STATE),
              SROCE_TRANSITION_MISSING)
        << std::hex << bit;
  }
}

TEST(QpStateRc, InitNeedsPortKeyAndAccess) {
  expect_all_required(SROCE_SERVICE_RC, SROCE_QPS_RESET, SROCE_QPS_INIT, kRcInit);
}

TEST(QpStateRc, ReadyToReceiveNeedsThePath) {
  expect_all_required(SROCE_SERVICE_RC, SROCE_QPS_INIT, SROCE_QPS_RTR, kRcRtr);
}

TEST(QpStateRc, ReadyToSendNeedsRetriesAndPsn) {
  expect_all_required(SROCE_SERVICE_RC, SROCE_QPS_RTR, SROCE_QPS_RTS, kRcRts);
}

TEST(QpStateUd, InitNeedsPortAndKeys) {
  expect_all_required(SROCE_SERVICE_UD, SROCE_QPS_RESET, SROCE_QPS_INIT, kUdInit);
}

TEST(QpStateUd, ReadyToSendNeedsThePsn) {
  expect_all_required(SROCE_SERVICE_UD, SROCE_QPS_RTR, SROCE_QPS_RTS, SROCE_QP_SQ_PSN);
}

TEST(QpStateRc, ResetAndErrorAreReachableFromEveryState) {
  for (sroce_qp_state from : kStates) {
    EXPECT_EQ(rc(from, SROCE_QPS_RESET, 0), SROCE_TRANSITION_OK) << from;
    if (from == SROCE_QPS_RESET) continue;
    EXPECT_EQ(rc(from, SROCE_QPS_ERR, 0), SROCE_TRANSITION_OK) << from;
  }
}

TEST(QpStateRc, ResetAndErrorTakeNoAttributes) {
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_RESET, SROCE_QP_AV), SROCE_TRANSITION_EXTRA);
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_ERR, SROCE_QP_TIMEOUT), SROCE_TRANSITION_EXTRA);
}

TEST(QpStateRc, OnlyTheTransitionsOfTheDiagramAreLegal) {
  const std::vector<std::pair<int, int>> legal = {
      {SROCE_QPS_RESET, SROCE_QPS_INIT}, {SROCE_QPS_INIT, SROCE_QPS_INIT},
      {SROCE_QPS_INIT, SROCE_QPS_RTR},   {SROCE_QPS_RTR, SROCE_QPS_RTS},
      {SROCE_QPS_RTS, SROCE_QPS_RTS},    {SROCE_QPS_RTS, SROCE_QPS_SQD},
      {SROCE_QPS_SQD, SROCE_QPS_SQD},    {SROCE_QPS_SQD, SROCE_QPS_RTS}};
  for (sroce_qp_state from : kStates) {
    for (sroce_qp_state to : kStates) {
      if (to == SROCE_QPS_RESET || to == SROCE_QPS_ERR) continue;
      const bool expected =
          std::find(legal.begin(), legal.end(), std::pair<int, int>{from, to}) != legal.end();
      EXPECT_EQ(rc(from, to, 0) != SROCE_TRANSITION_ILLEGAL, expected) << from << " to " << to;
    }
  }
}

TEST(QpStateRc, ErrorStateIsLeftOnlyByReset) {
  for (sroce_qp_state to : {SROCE_QPS_INIT, SROCE_QPS_RTR, SROCE_QPS_RTS, SROCE_QPS_SQD})
    EXPECT_EQ(rc(SROCE_QPS_ERR, to, ~0u), SROCE_TRANSITION_ILLEGAL);
}

TEST(QpStateRc, SqeIsNotAStateOfReliableService) {
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_SQE, 0), SROCE_TRANSITION_ILLEGAL);
  EXPECT_EQ(rc(SROCE_QPS_SQE, SROCE_QPS_RTS, 0), SROCE_TRANSITION_ILLEGAL);
}

TEST(QpStateUd, SqeReturnsToReadyToSend) {
  EXPECT_EQ(ud(SROCE_QPS_SQE, SROCE_QPS_RTS, SROCE_QP_QKEY), SROCE_TRANSITION_OK);
}

TEST(QpStateRc, AccessAndRnrTimerMayChangeWhileSending) {
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_RTS, SROCE_QP_ACCESS_FLAGS | SROCE_QP_MIN_RNR_TIMER),
            SROCE_TRANSITION_OK);
}

TEST(QpStateRc, PathMtuDoesNotChangeWhileSending) {
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_RTS, SROCE_QP_PATH_MTU), SROCE_TRANSITION_EXTRA);
  EXPECT_EQ(rc(SROCE_QPS_SQD, SROCE_QPS_SQD, SROCE_QP_PATH_MTU), SROCE_TRANSITION_EXTRA);
}

TEST(QpStateRc, DrainingMayRequestAnEvent) {
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_SQD, SROCE_QP_EN_SQD_ASYNC_NOTIFY), SROCE_TRANSITION_OK);
}

TEST(QpStateRc, DrainedQueueTakesANewPathAndRetries) {
  EXPECT_EQ(rc(SROCE_QPS_SQD, SROCE_QPS_SQD,
               SROCE_QP_AV | SROCE_QP_TIMEOUT | SROCE_QP_RETRY_CNT | SROCE_QP_RNR_RETRY |
                   SROCE_QP_MAX_QP_RD_ATOMIC | SROCE_QP_MAX_DEST_RD_ATOMIC),
            SROCE_TRANSITION_OK);
}

TEST(QpStateRc, QkeyBelongsToDatagrams) {
  EXPECT_EQ(rc(SROCE_QPS_RESET, SROCE_QPS_INIT, kRcInit | SROCE_QP_QKEY), SROCE_TRANSITION_EXTRA);
}

TEST(QpStateUd, ReliableAttributesAreRejected) {
  EXPECT_EQ(ud(SROCE_QPS_INIT, SROCE_QPS_RTR, SROCE_QP_DEST_QPN), SROCE_TRANSITION_EXTRA);
  EXPECT_EQ(ud(SROCE_QPS_RTR, SROCE_QPS_RTS, SROCE_QP_SQ_PSN | SROCE_QP_RETRY_CNT),
            SROCE_TRANSITION_EXTRA);
}

// With these, struct sroce_qp just fits into 4 KiB in Debian's kernel configuration. One byte more
// and the allocator uses 8 KiB.
TEST(QpState, EngineStateLeavesRoomInAPage) {
  EXPECT_LE(sizeof(sroce_requester) + sizeof(sroce_responder), 2640u);
}

TEST(QpState, UnknownStateIsIllegal) {
  EXPECT_EQ(rc(SROCE_QPS_COUNT, SROCE_QPS_RESET, 0), SROCE_TRANSITION_ILLEGAL);
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_COUNT, 0), SROCE_TRANSITION_ILLEGAL);
}

TEST(QpState, UnknownAttributeIsExtra) {
  EXPECT_EQ(rc(SROCE_QPS_RTS, SROCE_QPS_RTS, 1u << 31), SROCE_TRANSITION_EXTRA);
}

}  // namespace
