// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/failure.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

TEST(ExitCodes, AreAllDocumentedInOrder) {
  int expected = 0;
  for (const auto& [code, text] : exit_code_texts()) {
    EXPECT_EQ(static_cast<int>(code), expected++);
    EXPECT_STRNE(text, "");
  }
  EXPECT_EQ(expected, static_cast<int>(ExitCode::bad_parameter) + 1);
}

TEST(FailureText, PutsEachLineOfTheCureBelowTheCause) {
  EXPECT_EQ(failure_text(Failure(ExitCode::other, "it broke", "do this\nor that")),
            "sroce: it broke\n  hint: do this\n  hint: or that\n");
}

TEST(FailureText, IsOneLineWithoutACure) {
  EXPECT_EQ(failure_text(Failure(ExitCode::other, "it broke", "")), "sroce: it broke\n");
}

}  // namespace
}  // namespace sroce
