// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/table.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

Device busy_device() {
  Device device;
  device.name = "sroce0";
  device.driver = "sroce";
  device.mode = "rxe";
  device.netdev = "enp3s0f0np0";
  device.in_current_netns = true;
  device.state = "ACTIVE";
  device.mtu_bytes = 4096;
  device.qps = 12;
  device.gids = {
      {0, "RoCE v2", "fe80:0000:0000:0000:0000:0000:0000:0001", "fe80::1", "enp3s0f0np0"},
      {10, "RoCE v2", "0000:0000:0000:0000:0000:ffff:0a00:0001", "10.0.0.1", {}}};
  device.counters = {{"rcvd_pkts", 7}, {"sent_pkts", 18446744073709551615u}};
  return device;
}

Device unknown_device() {
  Device device;
  device.name = "a-rather-long-name";
  device.driver = "rdma_rxe";
  return device;
}

TEST(RenderTable, AlignsThreeTables) {
  EXPECT_EQ(render_table(std::vector{busy_device(), unknown_device()}),
            R"(DEVICE              DRIVER    MODE  NETDEV       NETNS      STATE   MTU   QPS
sroce0              sroce     rxe   enp3s0f0np0  (current)  ACTIVE  4096  12
a-rather-long-name  rdma_rxe  -     -            -          -       -     -

DEVICE  GID  TYPE     NETDEV       ADDRESS
sroce0  0    RoCE v2  enp3s0f0np0  fe80::1
sroce0  10   RoCE v2  -            10.0.0.1

DEVICE  COUNTER    VALUE
sroce0  rcvd_pkts  7
sroce0  sent_pkts  18446744073709551615
)");
}

TEST(RenderTable, LeavesOutEmptyTables) {
  EXPECT_EQ(render_table(std::vector{unknown_device()}),
            R"(DEVICE              DRIVER    MODE  NETDEV  NETNS  STATE  MTU  QPS
a-rather-long-name  rdma_rxe  -     -       -      -      -    -
)");
  EXPECT_EQ(render_table({}), "");
}

TEST(RenderTable, PrefersTheNameOfTheNamespace) {
  Device device = unknown_device();
  device.in_current_netns = true;
  device.netns = "red";
  const std::string text = render_table(std::vector{device});
  EXPECT_NE(text.find("  red  "), std::string::npos);
  EXPECT_EQ(text.find("(current)"), std::string::npos);
}

TEST(RenderTable, LetsNoControlCharacterReachTheTerminal) {
  Device device = unknown_device();
  device.netdev = "e\x1b[31m";
  EXPECT_NE(render_table(std::vector{device}).find("e?[31m"), std::string::npos);
}

}  // namespace
}  // namespace sroce
