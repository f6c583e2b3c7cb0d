// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/netlink_socket.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>

#include "sroce/nldev.h"

namespace sroce {
namespace {

// Runs against the kernel of the machine: with RDMA it lists devices, without it says so.
TEST(NetlinkSocket, ListsDevicesOrReportsThatThereIsNoRdma) {
  NetlinkSocket socket(NETLINK_RDMA);
  try {
    for (int round = 0; round < 2; ++round) {
      for (const Bytes& payload : socket.exchange(nldev::devices_request()))
        EXPECT_NE(nldev::decode_device(payload).name, "");
    }
  } catch (const SubsystemAbsent& error) {
    EXPECT_STRNE(error.what(), "");
  }
}

}  // namespace
}  // namespace sroce
