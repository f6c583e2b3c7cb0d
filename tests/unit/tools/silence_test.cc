// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/silence.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>

#include <cerrno>

#include "fake_kernel.h"
#include "sroce/ping.h"

namespace sroce {
namespace {

using test::FakeMachine;
using ::testing::HasSubstr;
using ::testing::Not;

Silence silence(CmStage stage, int error) {
  Silence silence;
  silence.peer = "10.0.0.2";
  silence.stage = stage;
  silence.error = error;
  silence.interface = "eth0";
  return silence;
}

TEST(Silence, ThereIsNoRoute) {
  for (const int error : {ENETUNREACH, EHOSTUNREACH}) {
    const Cause cause = explain_silence(silence(CmStage::address, error));
    EXPECT_EQ(cause.name, "no_route");
    EXPECT_EQ(cause.text, "there is no route to 10.0.0.2");
    EXPECT_EQ(cause.cure, "to see it: ip route get 10.0.0.2");
  }
}

TEST(Silence, TheInterfaceHasNoDevice) {
  Silence absent = silence(CmStage::address, ENODEV);
  EXPECT_EQ(explain_silence(absent).name, "no_device");
  EXPECT_EQ(explain_silence(absent).text,
            "interface 'eth0', which leads to 10.0.0.2, has no RDMA device");
  EXPECT_EQ(explain_silence(absent).cure, "sroce add eth0");
  absent.interface = "lo";
  EXPECT_EQ(explain_silence(absent).text, "no RDMA device of this host has the address 10.0.0.2");
}

TEST(Silence, TheNeighbourIsNotResolved) {
  Silence unresolved = silence(CmStage::address, ETIMEDOUT);
  EXPECT_EQ(explain_silence(unresolved).name, "no_neighbour");
  EXPECT_THAT(explain_silence(unresolved).text,
              HasSubstr("10.0.0.2 does not answer ARP on 'eth0'"));
  EXPECT_EQ(explain_silence(unresolved).cure, "to see it: ip neighbour show dev eth0");
  unresolved.peer = "fd00::2";
  unresolved.gateway = "fd00::9";
  EXPECT_THAT(explain_silence(unresolved).text,
              HasSubstr("the gateway fd00::9 does not answer neighbour discovery"));
}

TEST(Silence, AnotherErrorIsNamed) {
  const Cause cause = explain_silence(silence(CmStage::route, EINVAL));
  EXPECT_EQ(cause.name, "error");
  EXPECT_THAT(cause.text, HasSubstr("Invalid argument"));
}

TEST(Silence, NobodyHasThePort) {
  Silence unreachable = silence(CmStage::connect, ETIMEDOUT);
  unreachable.icmp_error = ECONNREFUSED;
  unreachable.firewall = {{"inet filter input", true, "nft ..."}};
  EXPECT_EQ(explain_silence(unreachable).name, "port_unreachable");
  EXPECT_THAT(explain_silence(unreachable).text, HasSubstr("port unreachable (ICMP)"));
  EXPECT_EQ(explain_silence(unreachable).cure, "at the peer: sroce add IF");
  unreachable.icmp_error = EHOSTUNREACH;
  EXPECT_EQ(explain_silence(unreachable).name, "icmp");
  EXPECT_THAT(explain_silence(unreachable).text, HasSubstr("No route to host"));
}

TEST(Silence, TheFirewallOfThisHostDrops) {
  Silence dropped = silence(CmStage::connect, ETIMEDOUT);
  dropped.firewall = {{"inet filter input", true, "nft delete rule ..."}};
  EXPECT_EQ(explain_silence(dropped).name, "local_firewall");
  EXPECT_THAT(explain_silence(dropped).text,
              HasSubstr("a rule of 'inet filter input' of this host drops"));
  EXPECT_EQ(explain_silence(dropped).cure, "nft delete rule ...");
  dropped.firewall[0].certain = false;
  EXPECT_THAT(explain_silence(dropped).text, HasSubstr("drops what no rule accepts"));
}

TEST(Silence, NothingIsKnown) {
  Silence dropped = silence(CmStage::connect, ETIMEDOUT);
  EXPECT_EQ(explain_silence(dropped).name, "dropped");
  EXPECT_THAT(explain_silence(dropped).text, HasSubstr("dropped on the way or by the peer"));
  EXPECT_EQ(explain_silence(dropped).cure, "at the peer: sroce doctor");
  dropped.may_see_firewall = false;
  EXPECT_THAT(explain_silence(dropped).cure, HasSubstr("as root"));
}

Cause find(FakeMachine& machine, CmStage stage, int error) {
  CmReply reply;
  reply.stage = stage;
  reply.error = error;
  return find_cause(machine.system, {{}, resolve_host("10.0.0.2"), {}}, reply);
}

TEST(FindCause, LooksAtTheRoute) {
  FakeMachine machine;
  EXPECT_EQ(find(machine, CmStage::address, ETIMEDOUT).name, "no_route");
  machine.route.destinations["10.0.0.2"] = {3, "10.1.0.1", "10.1.0.2"};
  EXPECT_THAT(find(machine, CmStage::address, ETIMEDOUT).text,
              HasSubstr("the gateway 10.1.0.1 does not answer ARP on 'eth1'"));
  EXPECT_THAT(find(machine, CmStage::address, ENODEV).text, HasSubstr("'eth1'"));
}

TEST(FindCause, ProbesThePortAndTheFirewallOnlyIfAConnectionIsSilent) {
  FakeMachine machine;
  machine.icmp_error = ECONNREFUSED;
  EXPECT_EQ(find(machine, CmStage::address, ENETUNREACH).name, "no_route");
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "port_unreachable");
  machine.icmp_error = 0;
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "dropped");
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "ip", "table": "t", "name": "c", "type": "filter",)"
      R"( "hook": "input", "policy": "drop"}}]})";
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "local_firewall");
  EXPECT_THAT(find(machine, CmStage::connect, ETIMEDOUT).cure, Not(HasSubstr("at the peer")));
}

TEST(SocketAddress, IsTextAndMapped) {
  EXPECT_EQ(address_text(resolve_host("10.0.0.2")), "10.0.0.2");
  EXPECT_EQ(address_text(resolve_host("fd00::2")), "fd00::2");
  const in6_addr mapped = in6_of(resolve_host("10.0.0.2"));
  EXPECT_TRUE(IN6_IS_ADDR_V4MAPPED(&mapped));
}

}  // namespace
}  // namespace sroce
