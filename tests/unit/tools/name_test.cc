// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/name.h"

#include <gmock/gmock.h>

namespace sroce {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(NameObjection, AllowsOrdinaryNames) {
  for (const char* name : {"sroce0", "storage", "a", "rx0", "roce-1", "my.device_2", "rxe0"})
    EXPECT_EQ(name_objection(name), std::nullopt) << name;
}

TEST(NameObjection, RejectsNamesThatTheKernelOrToolsMisread) {
  for (const char* name :
       {"", "sroce%d", "a/b", ".", "..", "a b", "a\tb", "tab\n", "siw_eth0", "caf\xc3\xa9"})
    EXPECT_NE(name_objection(name), std::nullopt) << name;
}

TEST(NameObjection, HasTheLengthLimitOfTheKernel) {
  EXPECT_EQ(name_objection(std::string(63, 'a')), std::nullopt);
  EXPECT_NE(name_objection(std::string(64, 'a')), std::nullopt);
}

TEST(NextFreeName, UsesTheLowestFreeNumber) {
  EXPECT_EQ(next_free_name("sroce", {}), "sroce0");
  EXPECT_EQ(next_free_name("sroce", {"sroce0", "sroce1", "sroce3"}), "sroce2");
  EXPECT_EQ(next_free_name("sroce", {"sroce1", "rxe0"}), "sroce0");
  EXPECT_EQ(next_free_name("sroce", {"sroce00"}), "sroce0");
  EXPECT_EQ(next_free_name("rdma", {"rdma0", "sroce1"}), "rdma1");
}

TEST(NextFreeName, ContinuesBeyondTen) {
  std::set<std::string> taken;
  for (int i = 0; i <= 10; ++i) taken.insert(next_free_name("sroce", taken));
  EXPECT_EQ(next_free_name("sroce", taken), "sroce11");
}

TEST(NearNames, SortsMisspellingsByDistance) {
  const std::vector<std::string> names{"lo", "eth0", "eth10", "enp3s0"};
  EXPECT_THAT(near_names("eht0", names), ElementsAre("eth0", "eth10"));
  EXPECT_THAT(near_names("eth1", names), ElementsAre("eth0", "eth10"));
  EXPECT_THAT(near_names("enp0s3", names), ElementsAre("enp3s0"));
}

TEST(NearNames, FindsNamesThatBeginWithTheWord) {
  const std::vector<std::string> names{"enp3s0f0np0", "wlan0"};
  EXPECT_THAT(near_names("enp", names), ElementsAre("enp3s0f0np0"));
}

TEST(NearNames, ReturnsAtMostThreeAndNoDistantNames) {
  const std::vector<std::string> names{"eth0", "eth1", "eth2", "eth3", "docker0"};
  EXPECT_EQ(near_names("eth9", names).size(), 3u);
  EXPECT_THAT(near_names("bond7", names), IsEmpty());
  EXPECT_THAT(near_names("", names), IsEmpty());
}

}  // namespace
}  // namespace sroce
