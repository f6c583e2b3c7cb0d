// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"

extern "C" {
#include "transport/srq_policy.h"
}

namespace {

TEST(SrqPolicy, LimitEventIsDueBelowTheLimitOnly) {
  EXPECT_FALSE(sroce_srq_below_limit(0, 0)) << "not armed";
  EXPECT_FALSE(sroce_srq_below_limit(3, 4));
  EXPECT_FALSE(sroce_srq_below_limit(3, 3));
  EXPECT_TRUE(sroce_srq_below_limit(3, 2));
  EXPECT_TRUE(sroce_srq_below_limit(1, 0));
}

TEST(SrqPolicy, SizeAndLimitMustFit) {
  EXPECT_TRUE(sroce_srq_modify_is_valid(1, 0, 100));
  EXPECT_TRUE(sroce_srq_modify_is_valid(100, 100, 100));
  EXPECT_FALSE(sroce_srq_modify_is_valid(0, 0, 100));
  EXPECT_FALSE(sroce_srq_modify_is_valid(101, 0, 100));
  EXPECT_FALSE(sroce_srq_modify_is_valid(10, 11, 100));
}

TEST(SrqPolicy, LastWqeIsReportedOnce) {
  EXPECT_TRUE(sroce_srq_reports_last_wqe(true, false));
  EXPECT_FALSE(sroce_srq_reports_last_wqe(true, true)) << "ERR to ERR";
  EXPECT_FALSE(sroce_srq_reports_last_wqe(false, false)) << "its receives are flushed";
}

TEST(SrqPolicy, MoveEndsWhenAllPostedHaveMoved) {
  sroce_srq_move move = {0, 0};
  EXPECT_EQ(10u, sroce_srq_left_to_move(&move, 10));
  move.moved = 4;
  EXPECT_EQ(6u, sroce_srq_left_to_move(&move, 10));
  move.moved = 10;
  EXPECT_EQ(0u, sroce_srq_left_to_move(&move, 10));
}

TEST(SrqPolicy, WhatWasTakenNeedNotMove) {
  sroce_srq_move move = {3, 4};
  EXPECT_EQ(6u, sroce_srq_left_to_move(&move, 7)) << "one of the 7 has moved";
  move = {6, 4};
  EXPECT_EQ(4u, sroce_srq_left_to_move(&move, 4));
  EXPECT_EQ(6u, move.moved) << "the two that were taken first count as moved";
  move = {0xfffffffe, 1};
  EXPECT_EQ(2u, sroce_srq_left_to_move(&move, 5));
  EXPECT_EQ(1u, move.moved);
}

TEST(SrqPolicy, ProcessMayTakeItsRequestsBack) {
  sroce_srq_move move = {0, 8};
  EXPECT_EQ(0u, sroce_srq_left_to_move(&move, 3));
  EXPECT_EQ(8u, move.moved);
}

}  // namespace
