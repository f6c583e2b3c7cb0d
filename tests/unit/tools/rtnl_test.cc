// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/rtnl.h"

#include <gmock/gmock.h>
#include <linux/if_addr.h>

#include "fake_route.h"
#include "sroce/device.h"

namespace sroce {
namespace {

using test::FakeRoute;

std::string parsed(const std::string& text) {
  const auto prefix = rtnl::parse_prefix(text);
  if (!prefix) return "none";
  return address_text(prefix->address) + " " + std::to_string(prefix->length);
}

TEST(ParsePrefix, TakesAnAddressAndALength) {
  EXPECT_EQ(parsed("10.99.0.1/24"), "10.99.0.1 24");
  EXPECT_EQ(parsed("10.99.0.1/32"), "10.99.0.1 32");
  EXPECT_EQ(parsed("fd99::1/64"), "fd99::1 64");
  EXPECT_EQ(parsed("::1/128"), "::1 128");
}

TEST(ParsePrefix, RejectsAllElse) {
  for (const char* text : {"", "10.99.0.1", "10.99.0.1/", "10.99.0.1/33", "10.99.0/24",
                           "fd99::1/129", "10.99.0.1/24x", "10.99.0.1/-1", "/24", "eth0/24"})
    EXPECT_EQ(parsed(text), "none") << text;
}

TEST(Route, FindsTheFlagsOfALink) {
  FakeRoute route;
  route.links = {{"eth0", true, false, {}, "veth", "to the lab"}, {"eth1", false}};
  const rtnl::Link first = rtnl::decode_link(route.exchange(rtnl::link_request("eth0")).at(0));
  EXPECT_EQ(first.index, 1u);
  EXPECT_TRUE(first.is_up);
  EXPECT_FALSE(first.has_carrier);
  EXPECT_EQ(first.kind, "veth");
  EXPECT_EQ(first.alias, "to the lab");
  EXPECT_FALSE(rtnl::decode_link(route.exchange(rtnl::link_request("eth1")).at(0)).is_up);
}

TEST(Route, FindsThePermanentAddressAndTheMaster) {
  FakeRoute route;
  route.links = {{.name = "eth0", .master_index = 2, .permanent_mac = {0x52, 0x54, 0, 0xab, 9, 1}},
                 {.name = "bond0"}};
  const rtnl::Link member = rtnl::decode_link(route.exchange(rtnl::link_request("eth0")).at(0));
  EXPECT_EQ(member.permanent_mac, "52:54:00:ab:09:01");
  EXPECT_EQ(member.master_index, 2u);
  const rtnl::Link bond = rtnl::decode_link(route.exchange(rtnl::link_request("bond0")).at(0));
  EXPECT_EQ(bond.permanent_mac, "");
  EXPECT_EQ(bond.master_index, 0u);
}

TEST(Route, FindsTheInterfaceBelow) {
  FakeRoute route;
  route.links = {{"eth0"},
                 {.name = "sec0", .kind = "macsec", .lower_index = 1},
                 {.name = "mac0", .kind = "macvlan", .lower_index = 1, .is_lower_elsewhere = true}};
  std::vector<std::string> found;
  for (const Bytes& payload : route.exchange(rtnl::links_request())) {
    const rtnl::Link link = rtnl::decode_link(payload);
    found.push_back(link.name + " on " + std::to_string(link.lower_index));
  }
  EXPECT_THAT(found, testing::ElementsAre("eth0 on 0", "sec0 on 1", "mac0 on 0"));
}

TEST(Route, FindsTheAddressesOfOneLink) {
  FakeRoute route;
  route.links = {{"eth0", true, true, {{"10.0.0.1"}}},
                 {"eth1", true, true, {{"10.0.0.2"}, {"fd00::2", IFA_F_TENTATIVE}}}};
  std::vector<std::string> found;
  for (const Bytes& payload : route.exchange(rtnl::addresses_request())) {
    if (const auto address = rtnl::decode_address(payload, 2))
      found.push_back(address_text(address->address) + (address->tentative ? " tentative" : ""));
  }
  EXPECT_THAT(found, testing::ElementsAre("10.0.0.2", "fd00::2 tentative"));
}

in6_addr address_of(const std::string& text) { return rtnl::parse_prefix(text + "/32")->address; }

TEST(Route, FindsTheWayToAnAddress) {
  FakeRoute route;
  route.destinations = {{"10.9.0.1", {2, "10.0.0.254", "10.0.0.1"}}, {"fd00::2", {3}}};
  const auto ipv4 =
      rtnl::decode_route(route.exchange(rtnl::route_request(address_of("10.9.0.1"), 0)).at(0));
  EXPECT_EQ(ipv4.link_index, 2u);
  EXPECT_EQ(address_text(*ipv4.gateway), "10.0.0.254");
  EXPECT_EQ(address_text(*ipv4.source), "10.0.0.1");
  EXPECT_EQ(rtnl::decode_link(route.exchange(rtnl::link_request(2)).at(0)).name, "eth0");
  const auto ipv6 =
      rtnl::decode_route(route.exchange(rtnl::route_request(address_of("fd00::2"), 0)).at(0));
  EXPECT_EQ(ipv6.link_index, 3u);
  EXPECT_FALSE(ipv6.gateway);
  EXPECT_THROW(route.exchange(rtnl::route_request(address_of("10.8.0.1"), 0)), KernelError);
}

TEST(Route, RejectsShortMessages) {
  EXPECT_THROW(rtnl::decode_link(Bytes(4)), MalformedMessage);
  EXPECT_THROW(rtnl::decode_address(Bytes(4), 1), MalformedMessage);
}

TEST(Route, TakesAnOptimisticAddressForUsable) {
  FakeRoute route;
  route.links = {{"eth0", true, true, {{"fd00::2", IFA_F_TENTATIVE | IFA_F_OPTIMISTIC}}}};
  const auto replies = route.exchange(rtnl::addresses_request());
  EXPECT_FALSE(rtnl::decode_address(replies.at(0), 1)->tentative);
}

}  // namespace
}  // namespace sroce
