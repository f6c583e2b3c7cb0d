// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/cm.h"

#include <gtest/gtest.h>
#include <linux/errqueue.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "sroce/ping.h"
#include "sroce/sigint.h"

namespace sroce {
namespace {

CmQuestion question(const char* peer) {
  CmQuestion question;
  question.peer = resolve_host(peer);
  question.wait = std::chrono::seconds(10);
  return question;
}

// Nothing listens on the port of this address.
TEST(ProbePort, ReturnsTheErrorOfIcmp) {
  EXPECT_EQ(probe_port(question("127.47.91.1")), ECONNREFUSED);
}

// Linux makes EHOSTUNREACH of it, as of a host that does not answer.
TEST(ProbePort, KnowsAFirewall) {
  sock_extended_err reason{};
  reason.ee_origin = SO_EE_ORIGIN_ICMP;
  reason.ee_type = 3;
  for (int code = 0; code < 16; code++) {
    reason.ee_code = static_cast<uint8_t>(code);
    EXPECT_EQ(is_prohibition(reason), code == 9 || code == 10 || code == 13) << code;
  }
  reason.ee_type = 11;  // time exceeded
  EXPECT_FALSE(is_prohibition(reason));
  reason.ee_type = 3;
  reason.ee_origin = SO_EE_ORIGIN_LOCAL;
  EXPECT_FALSE(is_prohibition(reason));
}

TEST(ProbePort, TakesTheSource) {
  CmQuestion from_loopback = question("127.47.91.1");
  from_loopback.source = resolve_host("127.47.91.2");
  EXPECT_EQ(probe_port(from_loopback), ECONNREFUSED);
  from_loopback.source = resolve_host("192.0.2.1");  // not of this host
  EXPECT_EQ(probe_port(from_loopback), 0);
}

// A child, because an interrupt is for good.
TEST(ProbePort, AnEarlierInterruptDoesNotEndTheWait) {
  EXPECT_EXIT(
      {
        pause({});
        raise(SIGINT);
        _exit(probe_port(question("127.47.91.1")) == ECONNREFUSED && !pause({}) ? 7 : 1);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace sroce
