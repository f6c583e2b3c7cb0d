// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/path_mtu.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sroce/ping.h"

namespace sroce {
namespace {

CmQuestion question(const char* peer) {
  CmQuestion question;
  question.peer = resolve_host(peer);
  question.wait = std::chrono::seconds(1);
  return question;
}

bool may_send_echoes() {
  for (const int type : {SOCK_DGRAM, SOCK_RAW}) {
    const int fd = socket(AF_INET, type | SOCK_CLOEXEC, IPPROTO_ICMP);
    if (fd < 0) continue;
    close(fd);
    return true;
  }
  return false;
}

// Odd sizes, because the checksum covers words.
TEST(FindLargestEcho, IsTheLargestWithAResponse) {
  if (!may_send_echoes()) GTEST_SKIP() << "this user may send no ICMP echo requests";
  EXPECT_EQ(find_largest_echo(question("127.0.0.1"), {100, 1001, 4157}), 4157u);
  // No interface has an MTU for the larger one.
  EXPECT_EQ(find_largest_echo(question("127.0.0.1"), {101, 65535 + 20}), 101u);
}

TEST(FindLargestEcho, IsNoneWithoutResponses) {
  CmQuestion elsewhere = question("127.0.0.1");
  elsewhere.source = resolve_host("192.0.2.1");  // not of this host
  EXPECT_EQ(find_largest_echo(elsewhere, {100}), 0u);
}

}  // namespace
}  // namespace sroce
