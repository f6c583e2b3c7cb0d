// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/sysfs.h"

#include <gtest/gtest.h>

#include "temporary_tree.h"

namespace sroce {
namespace {

const std::string port = "class/infiniband/sroce0/ports/1/";

TEST(GidAddress, IsShortAsPeopleWriteIt) {
  EXPECT_EQ(gid_address("fe80:0000:0000:0000:5054:00ff:fe12:3456"), "fe80::5054:ff:fe12:3456");
  EXPECT_EQ(gid_address("0000:0000:0000:0000:0000:ffff:0a00:0001"), "10.0.0.1");
  EXPECT_EQ(gid_address("2001:0db8:0000:0000:0000:0000:0000:0001"), "2001:db8::1");
}

TEST(GidAddress, KeepsWhatIsNoAddress) { EXPECT_EQ(gid_address("bogus"), "bogus"); }

TEST(SysfsMode, IsTheTextOfTheAttribute) {
  test::TemporaryTree tree;
  tree.write("class/infiniband/sroce0/sroce/mode", "native\n");
  tree.write("class/infiniband/rxe0/parent", "eth0\n");
  EXPECT_EQ(Sysfs(tree.root()).sroce_mode("sroce0"), "native");
  EXPECT_EQ(Sysfs(tree.root()).sroce_mode("rxe0"), std::nullopt);
  EXPECT_EQ(Sysfs(tree.root()).sroce_mode("none"), std::nullopt);
}

TEST(SysfsGids, AreSortedByNumberAndLeaveOutUnusedEntries) {
  test::TemporaryTree tree;
  for (const auto& [index, gid] : {std::pair{"10", "2001:0db8:0000:0000:0000:0000:0000:0001\n"},
                                   std::pair{"2", "0000:0000:0000:0000:0000:ffff:0a00:0001\n"},
                                   std::pair{"3", "0000:0000:0000:0000:0000:0000:0000:0000\n"}}) {
    tree.write(port + "gids/" + index, gid);
    tree.write(port + "gid_attrs/types/" + index, "RoCE v2\n");
    tree.write(port + "gid_attrs/ndevs/" + index, "eth0\n");
  }
  const auto gids = Sysfs(tree.root()).gids("sroce0", 1);
  ASSERT_EQ(gids.size(), 2u);
  EXPECT_EQ(gids[0].index, 2u);
  EXPECT_EQ(gids[0].address, "10.0.0.1");
  EXPECT_EQ(gids[0].gid, "0000:0000:0000:0000:0000:ffff:0a00:0001");
  EXPECT_EQ(gids[0].type, "RoCE v2");
  EXPECT_EQ(gids[0].netdev, "eth0");
  EXPECT_EQ(gids[1].index, 10u);
}

TEST(SysfsGids, SurviveMissingAttributesAndStrangeNames) {
  test::TemporaryTree tree;
  tree.write(port + "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.write(port + "gids/x1", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.write(port + "gids/1", "");
  const auto gids = Sysfs(tree.root()).gids("sroce0", 1);
  ASSERT_EQ(gids.size(), 1u);
  EXPECT_EQ(gids[0].type, "-");
  EXPECT_EQ(gids[0].netdev, std::nullopt);
  EXPECT_TRUE(Sysfs(tree.root()).gids("sroce9", 1).empty());
}

TEST(SysfsCounters, AreTheNumbersInHwCounters) {
  test::TemporaryTree tree;
  tree.write(port + "hw_counters/sent_pkts", "18446744073709551615\n");
  tree.write(port + "hw_counters/send_err", "0\n");
  tree.write(port + "hw_counters/lifespan", "10\n");
  tree.write(port + "hw_counters/odd", "12 apples\n");
  const std::map<std::string, uint64_t> expected{{"send_err", 0}, {"sent_pkts", UINT64_MAX}};
  EXPECT_EQ(Sysfs(tree.root()).counters("sroce0", 1), expected);
  EXPECT_TRUE(Sysfs(tree.root()).counters("sroce0", 2).empty());
}

TEST(SysfsModule, IsLoadedIfItsDirectoryIsThere) {
  test::TemporaryTree tree;
  tree.write("module/sroce/refcnt", "0\n");
  EXPECT_TRUE(Sysfs(tree.root()).module_loaded("sroce"));
  EXPECT_FALSE(Sysfs(tree.root()).module_loaded("rdma_rxe"));
}

}  // namespace
}  // namespace sroce
