// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/json.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

TEST(RenderJson, HasEveryField) {
  Device device;
  device.name = "sroce0";
  device.index = 3;
  device.driver = "sroce";
  device.mode = "rxe";
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
    "mode": "rxe",
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

TEST(RenderJson, SaysNullForTheUnknown) {
  Device device;
  device.name = "rxe0";
  device.driver = "rdma_rxe";
  EXPECT_EQ(render_json(std::vector{device}), R"([
  {
    "device": "rxe0",
    "index": 0,
    "driver": "rdma_rxe",
    "mode": null,
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

TEST(RenderJson, SurvivesInterfaceNamesThatAreNotUtf8) {
  Device device;
  device.netdev = "eth\xff";
  EXPECT_NE(render_json(std::vector{device}).find("\"eth\xef\xbf\xbd\""), std::string::npos);
}

}  // namespace
}  // namespace sroce
