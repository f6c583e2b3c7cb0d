// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/output.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

TEST(RateText, PicksTheLargestFittingUnit) {
  EXPECT_EQ(rate_text(0), "0bps");
  EXPECT_EQ(rate_text(100), "800bps");
  EXPECT_EQ(rate_text(1500), "12Kbps");
  EXPECT_EQ(rate_text(1250000), "10Mbps");
  EXPECT_EQ(rate_text(1176543210), "9.41Gbps");
}

TEST(DecimalText, HasNoTrailingZeros) {
  EXPECT_EQ(decimal_text(100, 0), "100");
  EXPECT_EQ(decimal_text(0.1, 3), "0.1");
}

Device busy_device() {
  Device device;
  device.name = "sroce0";
  device.driver = "sroce";
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

TEST(RenderTable, AlignsTheColumnsOfThreeTables) {
  EXPECT_EQ(render_table(std::vector{busy_device(), unknown_device()}),
            R"(DEVICE              DRIVER    NETDEV       NETNS      STATE   MTU   QPS
sroce0              sroce     enp3s0f0np0  (current)  ACTIVE  4096  12
a-rather-long-name  rdma_rxe  -            -          -       -     -

DEVICE  GID  TYPE     NETDEV       ADDRESS
sroce0  0    RoCE v2  enp3s0f0np0  fe80::1
sroce0  10   RoCE v2  -            10.0.0.1

DEVICE  COUNTER    VALUE
sroce0  rcvd_pkts  7
sroce0  sent_pkts  18446744073709551615
)");
}

TEST(RenderTable, OmitsEmptyTables) {
  EXPECT_EQ(render_table(std::vector{unknown_device()}),
            R"(DEVICE              DRIVER    NETDEV  NETNS  STATE  MTU  QPS
a-rather-long-name  rdma_rxe  -       -      -      -    -
)");
  EXPECT_EQ(render_table({}), "");
}

TEST(RenderTable, PrintsTheNameOfTheCurrentNamespaceIfItHasOne) {
  Device device = unknown_device();
  device.in_current_netns = true;
  device.netns = "red";
  const std::string text = render_table(std::vector{device});
  EXPECT_NE(text.find("  red  "), std::string::npos);
  EXPECT_EQ(text.find("(current)"), std::string::npos);
}

TEST(RenderTable, ReplacesControlCharacters) {
  Device device = unknown_device();
  device.netdev = "e\x1b[31m";
  EXPECT_NE(render_table(std::vector{device}).find("e?[31m"), std::string::npos);
}

TEST(RenderJson, ContainsEveryField) {
  Device device;
  device.name = "sroce0";
  device.index = 3;
  device.driver = "sroce";
  device.netdev = "eth0";
  device.netns = "red";
  device.in_current_netns = true;
  device.state = "ACTIVE";
  device.mtu_bytes = 1024;
  device.qps = 2;
  device.gids = {{1, "RoCE v2", "0000:0000:0000:0000:0000:ffff:0a00:0001", "10.0.0.1", "eth0"}};
  device.counters = {{"sent_pkts", 18446744073709551615u}};
  EXPECT_EQ(render_json(std::vector{device}), R"([
  {
    "device": "sroce0",
    "index": 3,
    "driver": "sroce",
    "netdev": "eth0",
    "netns": "red",
    "in_current_netns": true,
    "state": "ACTIVE",
    "mtu": 1024,
    "qps": 2,
    "gids": [
      {
        "index": 1,
        "type": "RoCE v2",
        "address": "10.0.0.1",
        "gid": "0000:0000:0000:0000:0000:ffff:0a00:0001",
        "netdev": "eth0"
      }
    ],
    "counters": {
      "sent_pkts": 18446744073709551615
    }
  }
]
)");
}

TEST(RenderJson, UsesNullForUnknownValues) {
  Device device;
  device.name = "rxe0";
  device.driver = "rdma_rxe";
  EXPECT_EQ(render_json(std::vector{device}), R"([
  {
    "device": "rxe0",
    "index": 0,
    "driver": "rdma_rxe",
    "netdev": null,
    "netns": null,
    "in_current_netns": false,
    "state": null,
    "mtu": null,
    "qps": null,
    "gids": [],
    "counters": {}
  }
]
)");
}

TEST(RenderJson, IsAnEmptyArrayWithoutDevices) { EXPECT_EQ(render_json({}), "[]\n"); }

TEST(RenderJson, ReplacesInvalidUtf8InInterfaceNames) {
  Device device;
  device.netdev = "eth\xff";
  EXPECT_NE(render_json(std::vector{device}).find("\"eth\xef\xbf\xbd\""), std::string::npos);
}

}  // namespace
}  // namespace sroce
