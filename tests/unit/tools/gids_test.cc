// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/gids.h"

#include <gmock/gmock.h>

#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char v1[] = "IB/RoCE v1", v2[] = "RoCE v2";

Gid gid(uint32_t index, const std::string& type, const std::string& address) {
  return {index, type, "", address, "eth0"};
}

const std::vector<Gid> usual{gid(0, v2, "fe80::1"), gid(1, v2, "10.0.0.1"), gid(2, v2, "fd00::1"),
                             gid(3, v2, "10.0.1.1")};
// As of mlx5, with both types for each address.
const std::vector<Gid> both{gid(0, v1, "fe80::1"),  gid(1, v2, "fe80::1"), gid(2, v1, "10.0.0.1"),
                            gid(3, v2, "10.0.0.1"), gid(4, v1, "fd00::1"), gid(5, v2, "fd00::1")};

TEST(GidIndex, IsTheFirstOfIpv4AndVersion2) {
  for (const auto choose : {&nccl_gid_index, &ucx_gid_index, &perftest_gid_index}) {
    EXPECT_EQ(choose(usual), 1u);
    EXPECT_EQ(choose(both), 3u);
    EXPECT_EQ(choose(std::vector<Gid>{}), std::nullopt);
    const std::vector<Gid> later{gid(4, v2, "fd00::1"), gid(7, v2, "10.0.0.1")};
    EXPECT_EQ(choose(later), 7u) << "index 0 is empty";
    const std::vector<Gid> at_once{gid(0, v2, "10.0.0.1"), gid(1, v2, "10.0.0.2")};
    EXPECT_EQ(choose(at_once), 0u);
  }
}

TEST(GidIndex, WithoutIpv4StaysAtTheFirst) {
  const std::vector<Gid> ipv6{gid(0, v2, "fe80::1"), gid(1, v2, "fd00::1")};
  EXPECT_EQ(nccl_gid_index(ipv6), 0u);
  EXPECT_EQ(perftest_gid_index(ipv6), 0u);
  EXPECT_EQ(ucx_gid_index(ipv6), std::nullopt) << "not known";
  const std::vector<Gid> empty_first{gid(1, v2, "fd00::1")};
  EXPECT_EQ(nccl_gid_index(empty_first), std::nullopt);
  EXPECT_EQ(perftest_gid_index(empty_first), std::nullopt);
}

TEST(GidIndex, PerftestPrefersVersion2ToIpv4AndNcclDoesNot) {
  const std::vector<Gid> gids{gid(0, v1, "10.0.0.1"), gid(1, v2, "fd00::1")};
  EXPECT_EQ(perftest_gid_index(gids), 1u);
  EXPECT_EQ(nccl_gid_index(gids), 0u);
}

TEST(UsersOfGid, AreThoseThatTakeIt) {
  EXPECT_THAT(users_of_gid(usual, usual[0]), ElementsAre("rdma_cm"));
  EXPECT_THAT(users_of_gid(usual, usual[1]), ElementsAre("rdma_cm", "NCCL", "UCX", "perftest"));
  EXPECT_THAT(users_of_gid(both, both[2]), ElementsAre());
}

class GidsCommand : public ::testing::Test {
 protected:
  GidsCommand() {
    machine.add_device({.index = 0, .name = "sroce0", .netdev = "eth0"}, is_sroce);
    machine.add_device({.index = 1, .name = "mana_0", .driver_id = 1, .netdev = "eth1"});
    machine.add_gid("sroce0", 0, "fe80:0000:0000:0000:0000:0000:0000:0001", "eth0");
    machine.add_gid("sroce0", 1, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
    machine.add_gid("mana_0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0002", "eth1");
  }
  std::string gids(const GidsOptions& options) {
    std::ostringstream out;
    run_gids(machine.system, options, out);
    return out.str();
  }
  FakeMachine machine;
};

TEST_F(GidsCommand, PrintsATableAndReasons) {
  const std::string text = gids({});
  EXPECT_EQ(text.substr(0, text.find("\n\n") + 1),
            "DEVICE  GID  TYPE     NETDEV  ADDRESS   PICKED BY\n"
            "sroce0  0    RoCE v2  eth0    fe80::1   rdma_cm\n"
            "sroce0  1    RoCE v2  eth0    10.0.0.1  rdma_cm, NCCL, UCX, perftest\n");
  EXPECT_THAT(text, HasSubstr("need -g N"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST_F(GidsCommand, ShowsAnyDeviceThatIsNamed) {
  EXPECT_THAT(gids({.device = "mana_0"}), HasSubstr("mana_0  0"));
  EXPECT_THAT(gids({.device = "mana_0"}), Not(HasSubstr("sroce0")));
  EXPECT_THROW(gids({.device = "sroce1"}), Failure);
}

TEST_F(GidsCommand, PrintsJson) {
  const Json list = Json::parse(gids({.format = Format::json}));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[1]["index"], 1);
  EXPECT_EQ(list[1]["address"], "10.0.0.1");
  EXPECT_EQ(list[1]["picked_by"], (Json{"rdma_cm", "NCCL", "UCX", "perftest"}));
}

TEST_F(GidsCommand, SaysThatThereAreNone) {
  machine.add_device({.index = 2, .name = "sroce1", .netdev = "eth1"}, is_sroce);
  EXPECT_EQ(gids({.device = "sroce1"}), "no GIDs; to see why: sroce doctor\n");
}

}  // namespace
}  // namespace sroce
