// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"

namespace {

constexpr u64 kMicrosecond = 1000;

TEST(RnrTimer, EveryCodeMatchesTheStandardTable) {
  // Milliseconds by code, from the table of the standard.
  const double ms[32] = {655.36, .01,   .02,   .03,    .04,    .06,    .08,    .12,
                         .16,    .24,   .32,   .48,    .64,    .96,    1.28,   1.92,
                         2.56,   3.84,  5.12,  7.68,   10.24,  15.36,  20.48,  30.72,
                         40.96,  61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52};
  for (u8 code = 0; code < 32; code++)
    EXPECT_EQ(sroce_rnr_wait_ns(code), static_cast<u64>(ms[code] * 1e6 + .5)) << int{code};
}

TEST(RnrTimer, CodeZeroIsTheLongestWait) {
  for (u8 code = 1; code < 32; code++) EXPECT_LT(sroce_rnr_wait_ns(code), sroce_rnr_wait_ns(0));
}

TEST(RnrTimer, OnlyTheFiveValueBitsCount) {
  EXPECT_EQ(sroce_rnr_wait_ns(SROCE_AETH_RNR_NAK | 14), 1280 * kMicrosecond);
}

TEST(AckTimeout, ZeroMeansNoTimeout) { EXPECT_EQ(sroce_ack_timeout_ns(0), 0u); }

TEST(AckTimeout, IsFourMicrosecondsTimesAPowerOfTwo) {
  EXPECT_EQ(sroce_ack_timeout_ns(1), 8192u);
  EXPECT_EQ(sroce_ack_timeout_ns(14), 4096ull << 14);
  EXPECT_EQ(sroce_ack_timeout_ns(31), 4096ull << 31);
}

TEST(NakStatus, EveryFatalNakHasACompletionStatus) {
  EXPECT_EQ(sroce_nak_wc_status(SROCE_NAK_INVALID_REQUEST), SROCE_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(sroce_nak_wc_status(SROCE_NAK_REMOTE_ACCESS), SROCE_WC_REM_ACCESS_ERR);
  EXPECT_EQ(sroce_nak_wc_status(SROCE_NAK_REMOTE_OPERATION), SROCE_WC_REM_OP_ERR);
}

TEST(NakStatus, NothingElseIsFatal) {
  for (int syndrome = 0; syndrome < 256; syndrome++) {
    if (syndrome >= SROCE_NAK_INVALID_REQUEST && syndrome <= SROCE_NAK_REMOTE_OPERATION) continue;
    EXPECT_EQ(sroce_nak_wc_status(static_cast<u8>(syndrome)), SROCE_WC_SUCCESS) << syndrome;
  }
}

}  // namespace
