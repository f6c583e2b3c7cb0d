// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/tap.h"

#include <gtest/gtest.h>

#include "harness/failure.h"

namespace {

using testing::internal::CaptureStdout;
using testing::internal::GetCapturedStdout;

TEST(TapTest, PrintsEveryOutcomeAndTheCount) {
  CaptureStdout();
  harness::Tap tap;
  tap.run("good", [] {});
  tap.run("bad", [] { harness::fail("because ", 7); });
  tap.run("odd", [] { throw harness::Skip("not here"); });
  const int status = tap.finish();
  EXPECT_EQ(GetCapturedStdout(),
            "ok 1 - good\nnot ok 2 - bad\n# because 7\nok 3 - odd # SKIP not here\n1..3\n"
            "# 1 passed, 1 failed, 1 skipped\n");
  EXPECT_EQ(status, 1);
}

TEST(TapTest, FailsWhenNothingRan) {
  CaptureStdout();
  harness::Tap tap;
  EXPECT_EQ(tap.finish(), 1);
  EXPECT_EQ(GetCapturedStdout(), "1..0\n# 0 passed, 0 failed, 0 skipped\n");
}

TEST(TapTest, SucceedsWhenAllPass) {
  CaptureStdout();
  harness::Tap tap;
  tap.ok("fine");
  EXPECT_EQ(tap.finish(), 0);
  GetCapturedStdout();
}

}  // namespace
