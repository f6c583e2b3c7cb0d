// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/text.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

TEST(Text, HasNoControlCharactersForTerminals) {
  EXPECT_EQ(printable("eth0"), "eth0");
  EXPECT_EQ(printable("a\033[31mb\x7f"), "a?[31mb?");
  EXPECT_EQ(printable("å"), "å");
}

TEST(Text, IsOneWordOfAShell) {
  for (const char* plain :
       {"eth0", "lan.7", "net/ipv4/conf/eth0/rp_filter=2", "fe80::1%eth0", "--zone=a"})
    EXPECT_EQ(shell_word(plain), plain);
  EXPECT_EQ(shell_word("e;id"), "'e;id'");
  EXPECT_EQ(shell_word("$(id)"), "'$(id)'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("*"), "'*'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace sroce
