// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/wrap.h"

#include <gtest/gtest.h>

#include <sstream>

#include "sroce/explain.h"

namespace sroce {
namespace {

TEST(Wrap, ALineThatFitsStays) {
  EXPECT_EQ(wrap("", 10), "");
  EXPECT_EQ(wrap("four five ", 10), "four five ");
  EXPECT_EQ(wrap("0123456789", 10), "0123456789");
}

TEST(Wrap, ALineIsBrokenBetweenWords) {
  EXPECT_EQ(wrap("four five six", 10), "four five\nsix");
  EXPECT_EQ(wrap("0123456789 six", 10), "0123456789\nsix");
  EXPECT_EQ(wrap("one two three four five", 9), "one two\nthree\nfour five");
}

TEST(Wrap, TheRestIsIndentedAsTheFirstLine) {
  EXPECT_EQ(wrap("    cc:delay rtt:3 cuts:0 wqes:9", 20), "    cc:delay rtt:3\n    cuts:0 wqes:9");
}

TEST(Wrap, TheRestIsIndentedAsTheLastColumnThatLeavesRoom) {
  EXPECT_EQ(wrap("ok    rxe0     on rdma0, GID 0 fe80::1, GID 1", 35),
            "ok    rxe0     on rdma0, GID 0\n               fe80::1, GID 1");
  EXPECT_EQ(wrap("rxe0    1    RoCE v2  10.99.0.1  rdma_cm, NCCL", 40),
            "rxe0    1    RoCE v2  10.99.0.1\n                      rdma_cm, NCCL");
}

TEST(Wrap, ALongWordIsIndentedLess) {
  EXPECT_EQ(wrap("sroce0  eth0  0123456789abcdef  rdma_cm", 30),
            "sroce0  eth0  0123456789abcdef\n              rdma_cm");
  EXPECT_EQ(wrap("sroce0  eth0  0123456789abcdefghij  rdma_cm", 28),
            "sroce0  eth0\n        0123456789abcdefghij\n              rdma_cm");
}

TEST(Wrap, ATabAtTheBeginningBecomesSpaces) {
  EXPECT_EQ(wrap("\t cuts:0", 20), "         cuts:0");
  EXPECT_EQ(wrap("\t cuts:0 wqes:9 ce:0", 24), "         cuts:0 wqes:9\n         ce:0");
}

TEST(Wrap, AWordThatIsTooLongStays) {
  EXPECT_EQ(wrap("a 0123456789abcdef b", 10), "a\n0123456789abcdef\nb");
  EXPECT_EQ(wrap("  0123456789abcdef", 10), "  0123456789abcdef");
}

TEST(Wrap, ACharacterOfSeveralBytesIsOneColumn) {
  EXPECT_EQ(wrap("v\u00e9n\u00e9 \u00e9tait six", 10), "v\u00e9n\u00e9 \u00e9tait\nsix");
  EXPECT_EQ(wrap("\u00e9\u00e9\u00e9  0123456789ab cd", 17),
            "\u00e9\u00e9\u00e9  0123456789ab\n     cd");
  EXPECT_EQ(wrap("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9 ab", 4),
            "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\nab");
}

TEST(Wrap, LinesStayWhileWrappingIsOff) {
  std::ostringstream out;
  const WrappedStream wrapped(out, [] { return 10; });
  out << wrap_off << "four five six\n" << wrap_on << "four five six\n";
  EXPECT_EQ(out.str(), "four five six\nfour five\nsix\n");
}

TEST(Wrap, ACureStays) {
  std::ostringstream out;
  const WrappedStream wrapped(out, [] { return 10; });
  write_failure(out, Failure(ExitCode::other, "it broke", "do this\nor that"));
  EXPECT_EQ(out.str(), "sroce: it\nbroke\n  hint: do this\n  hint: or that\n");
}

TEST(Wrap, AStreamIsWrappedAsLongAsTheObjectExists) {
  std::ostringstream out;
  {
    size_t width = 10;
    WrappedStream wrapped(out, [&] { return width; });
    out << "four five "
        << "six\n";
    width = 0;
    out << "four five six\n";
    out << "part " << std::flush;
    EXPECT_EQ(out.str(), "four five\nsix\nfour five six\n");
  }
  out << "four five six\n";
  EXPECT_EQ(out.str(), "four five\nsix\nfour five six\npart four five six\n");
}

}  // namespace
}  // namespace sroce
