// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/sigint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace sroce {
namespace {

TEST(Interrupt, InputEndsTheWait) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(wait_for_input(ends[0], std::chrono::milliseconds(1)), Wait::elapsed);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(wait_for_input(ends[0], std::chrono::hours(1)), Wait::input);
  close(ends[0]);
  close(ends[1]);
}

TEST(Interrupt, IsBlockedOnlyDuringTheWait) {
  pause({});
  sigset_t blocked{};
  sigprocmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_FALSE(sigismember(&blocked, SIGINT));
}

// A child, because an interrupt is for good.
TEST(Interrupt, SigintEndsTheWaitAndNotTheProcess) {
  EXPECT_EXIT(
      {
        alarm(60);  // instead of waiting on
        const bool goes_on = pause({});
        raise(SIGINT);
        _exit(goes_on && !pause(std::chrono::hours(1)) && !pause(std::chrono::hours(1)) ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sroce
