// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/no_response.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include <cerrno>

#include "fake_kernel.h"
#include "sroce/ping.h"

namespace sroce {
namespace {

using test::FakeMachine;
using ::testing::HasSubstr;
using ::testing::Not;

UnansweredRequest request(CmStage stage, int error) {
  UnansweredRequest request;
  request.peer = "10.0.0.2";
  request.stage = stage;
  request.error = error;
  request.interface = request.lower = "eth0";
  return request;
}

TEST(NoResponse, ThereIsNoRoute) {
  for (const int error : {ENETUNREACH, EHOSTUNREACH}) {
    const Cause cause = explain_no_response(request(CmStage::address, error));
    EXPECT_EQ(cause.name, "no_route");
    EXPECT_EQ(cause.text, "there is no route to 10.0.0.2");
    EXPECT_EQ(cause.cure, "to see it: ip route get 10.0.0.2");
  }
}

TEST(NoResponse, TheInterfaceHasNoDevice) {
  UnansweredRequest absent = request(CmStage::address, ENODEV);
  EXPECT_EQ(explain_no_response(absent).name, "no_device");
  EXPECT_EQ(explain_no_response(absent).text,
            "interface 'eth0', which leads to 10.0.0.2, has no RDMA device");
  EXPECT_EQ(explain_no_response(absent).cure, "sroce add eth0");
  absent.interface = "eth0.5";  // a VLAN
  EXPECT_THAT(explain_no_response(absent).text, HasSubstr("'eth0.5'"));
  EXPECT_EQ(explain_no_response(absent).cure, "sroce add eth0");
  absent.interface = "lo";
  EXPECT_EQ(explain_no_response(absent).text,
            "no RDMA device of this host has the address 10.0.0.2");
  absent.interface = "";
  EXPECT_EQ(explain_no_response(absent).text, "no RDMA device leads to 10.0.0.2");
  EXPECT_EQ(explain_no_response(absent).cure, "sroce add IF");
}

TEST(NoResponse, TheDeviceOfTheInterfaceIsNotReady) {
  UnansweredRequest unready = request(CmStage::address, ENODEV);
  unready.device = "sroce0";
  EXPECT_EQ(explain_no_response(unready).name, "not_ready");
  EXPECT_THAT(explain_no_response(unready).text, HasSubstr("although there is sroce0"));
  EXPECT_EQ(explain_no_response(unready).cure, "to see why: sroce doctor eth0");
}

TEST(NoResponse, TheNeighbourIsNotResolved) {
  UnansweredRequest unresolved = request(CmStage::address, ETIMEDOUT);
  EXPECT_EQ(explain_no_response(unresolved).name, "no_neighbour");
  EXPECT_THAT(explain_no_response(unresolved).text,
              HasSubstr("10.0.0.2 does not answer ARP on 'eth0'"));
  EXPECT_EQ(explain_no_response(unresolved).cure, "to see it: ip neighbour show dev eth0");
  unresolved.peer = "fd00::2";
  unresolved.gateway = "fd00::9";
  EXPECT_THAT(explain_no_response(unresolved).text,
              HasSubstr("the gateway fd00::9 does not answer neighbour discovery"));
  unresolved.peer = "10.0.0.2";
  EXPECT_THAT(explain_no_response(unresolved).text, HasSubstr("neighbour discovery"));
}

TEST(NoResponse, AnotherErrorIsNamed) {
  const Cause cause = explain_no_response(request(CmStage::route, EINVAL));
  EXPECT_EQ(cause.name, "error");
  EXPECT_THAT(cause.text, HasSubstr("Invalid argument"));
}

TEST(NoResponse, AnErrorOfTheRequestIsNoTimeout) {
  UnansweredRequest failed = request(CmStage::connect, EPROTO);
  failed.icmp_error = ECONNREFUSED;
  EXPECT_EQ(explain_no_response(failed).name, "error");
  EXPECT_THAT(explain_no_response(failed).text, HasSubstr("the request failed: Protocol error"));
}

TEST(NoResponse, TheHintForARouteNamesTheOnlyInterface) {
  UnansweredRequest restricted = request(CmStage::address, ENETUNREACH);
  restricted.peer = "fe80::2%eth0";
  restricted.only_interface = true;
  EXPECT_EQ(explain_no_response(restricted).cure, "to see it: ip route get fe80::2 oif eth0");
}

TEST(NoResponse, NothingListensOnThePort) {
  UnansweredRequest unreachable = request(CmStage::connect, ETIMEDOUT);
  unreachable.icmp_error = ECONNREFUSED;
  unreachable.drops = {{"inet filter input", false, true, false, "nft ..."}};
  EXPECT_EQ(explain_no_response(unreachable).name, "port_unreachable");
  EXPECT_THAT(explain_no_response(unreachable).text, HasSubstr("port unreachable (ICMP)"));
  EXPECT_EQ(explain_no_response(unreachable).cure,
            "at the peer: sroce add IF\nif it has a device, as root: sroce doctor");
  unreachable.icmp_error = EHOSTUNREACH;
  EXPECT_EQ(explain_no_response(unreachable).name, "icmp");
  EXPECT_THAT(explain_no_response(unreachable).text,
              HasSubstr("No route to host; a router has no route, or a firewall"));
  unreachable.icmp_error = EACCES;
  EXPECT_EQ(explain_no_response(unreachable).text,
            "UDP port 4791 is prohibited (ICMP), usually by a firewall at the peer or on the way");
  EXPECT_THAT(explain_no_response(unreachable).cure, HasSubstr("sroce doctor"));
  unreachable.icmp_error = EMSGSIZE;
  EXPECT_THAT(explain_no_response(unreachable).text, HasSubstr("firewall rejects UDP port 4791"));
}

TEST(NoResponse, TheFirewallOfThisHostDropsWhatLeaves) {
  UnansweredRequest dropped = request(CmStage::connect, ETIMEDOUT);
  dropped.icmp_error = EPERM;
  EXPECT_EQ(explain_no_response(dropped).name, "local_firewall");
  EXPECT_THAT(explain_no_response(dropped).text, HasSubstr("as they leave"));
  dropped.drops = {{"in", false, true, false, "nft in"}, {"out", false, false, true, "nft out"}};
  EXPECT_EQ(explain_no_response(dropped).cure, "nft out");
  dropped.icmp_error = ECONNREFUSED;
  EXPECT_EQ(explain_no_response(dropped).name, "port_unreachable");
  dropped.drops[1].certain = true;
  EXPECT_EQ(explain_no_response(dropped).cure, "nft out") << "this host has sent the message";
}

TEST(NoResponse, AnInterruptedSearchHasNoResult) {
  UnansweredRequest interrupted = request(CmStage::connect, ETIMEDOUT);
  interrupted.icmp_error = EINTR;
  EXPECT_EQ(explain_no_response(interrupted).name, "interrupted");
}

TEST(NoResponse, TheFirewallOfThisHostDrops) {
  UnansweredRequest dropped = request(CmStage::connect, ETIMEDOUT);
  dropped.drops = {{"inet filter input", false, true, false, "nft delete rule ..."}};
  EXPECT_EQ(explain_no_response(dropped).name, "local_firewall");
  EXPECT_THAT(explain_no_response(dropped).text,
              HasSubstr("a rule of 'inet filter input' of this host drops"));
  EXPECT_EQ(explain_no_response(dropped).cure, "nft delete rule ...");
  dropped.drops[0].certain = false;
  EXPECT_THAT(explain_no_response(dropped).text, HasSubstr("of this host may drop"));
  dropped.drops.push_back({"inet filter pre", true, true, false, "nft insert rule ..."});
  EXPECT_EQ(explain_no_response(dropped).cure, "nft insert rule ...") << "it is certain";
}

TEST(NoResponse, TheNatOfThisHostChanges) {
  UnansweredRequest changed = request(CmStage::connect, ETIMEDOUT);
  changed.nat = {{"ip nat a", "the source port (snat)", false, "nft a"},
                 {"ip nat b", "the source port (masquerade)", true, "nft b"}};
  EXPECT_EQ(explain_no_response(changed).name, "local_nat");
  EXPECT_THAT(explain_no_response(changed).text, HasSubstr("'ip nat b' of this host changes"));
  EXPECT_EQ(explain_no_response(changed).cure, "nft b");
  for (const int error : {ECONNREFUSED, EPERM}) {
    changed.icmp_error = error;
    EXPECT_EQ(explain_no_response(changed).name, "local_nat") << error;
  }
  changed.icmp_error = EINTR;
  EXPECT_EQ(explain_no_response(changed).name, "interrupted");
}

TEST(NoResponse, TheNatOfThisHostThatMayChangeIsTheLastCause) {
  UnansweredRequest changed = request(CmStage::connect, ETIMEDOUT);
  changed.nat = {{"ip nat a", "the source port (snat)", false, "nft a"}};
  EXPECT_THAT(explain_no_response(changed).text, HasSubstr("'ip nat a' of this host may change"));
  changed.icmp_error = ECONNREFUSED;
  EXPECT_EQ(explain_no_response(changed).name, "port_unreachable");
  changed.icmp_error = 0;
  changed.drops = {{"inet filter input", false, true, false, "nft ..."}};
  EXPECT_EQ(explain_no_response(changed).name, "local_firewall");
}

TEST(NoResponse, NothingIsKnown) {
  UnansweredRequest dropped = request(CmStage::connect, ETIMEDOUT);
  EXPECT_EQ(explain_no_response(dropped).name, "dropped");
  EXPECT_THAT(explain_no_response(dropped).text,
              HasSubstr("a firewall on the way or at the peer drops UDP port 4791"));
  EXPECT_EQ(explain_no_response(dropped).cure, "at the peer, as root: sroce doctor");
  dropped.may_see_firewall = false;
  EXPECT_THAT(explain_no_response(dropped).cure, HasSubstr("as root"));
}

Cause find(FakeMachine& machine, CmStage stage, int error) {
  CmReply reply;
  reply.stage = stage;
  reply.error = error;
  CmQuestion question;
  question.peer = resolve_host("10.0.0.2");
  return find_cause(machine.system, question, reply);
}

TEST(FindCause, LooksAtTheRoute) {
  FakeMachine machine;
  EXPECT_EQ(find(machine, CmStage::address, ETIMEDOUT).name, "no_route");
  machine.route.destinations["10.0.0.2"] = {3, "10.1.0.1", "10.1.0.2"};
  EXPECT_THAT(find(machine, CmStage::address, ETIMEDOUT).text,
              HasSubstr("the gateway 10.1.0.1 does not answer ARP on 'eth1'"));
  EXPECT_THAT(find(machine, CmStage::address, ENODEV).text, HasSubstr("'eth1'"));
}

TEST(FindCause, LooksAtTheInterfaceOfTheSource) {
  FakeMachine machine;
  machine.route.destinations["10.0.0.2"] = {3};
  CmQuestion question;
  question.peer = resolve_host("10.0.0.2");
  question.link_index = 3;
  CmReply reply;
  reply.stage = CmStage::connect;
  reply.error = ETIMEDOUT;
  find_cause(machine.system, question, reply);
  EXPECT_EQ(machine.route.only_link, 3u);
  ASSERT_EQ(machine.probes.size(), 1u);
  EXPECT_EQ(machine.probes[0].link_index, 3u);
}

TEST(FindCause, LooksForTheDeviceOfTheInterface) {
  FakeMachine machine;
  machine.route.links.push_back({.name = "eth0.5", .kind = "vlan", .lower_index = 2});
  machine.route.destinations["10.0.0.2"] = {4};
  EXPECT_EQ(find(machine, CmStage::address, ENODEV).cure, "sroce add eth0");
  machine.add_device({.index = 0, .name = "sroce0", .netdev = "eth0"}, test::is_sroce);
  EXPECT_EQ(find(machine, CmStage::address, ENODEV).name, "not_ready");
  machine.route.destinations["10.0.0.2"] = {1};
  EXPECT_EQ(find(machine, CmStage::address, ENODEV).name, "no_device") << "an own address";
  machine.add_gid("sroce0", 0, "0000:0000:0000:0000:0000:ffff:0a00:0002", "eth0");
  EXPECT_EQ(find(machine, CmStage::address, ENODEV).name, "not_ready");
}

TEST(FindCause, LooksForTheDeviceOfAnInterfaceThatIsOnAnotherButNoVlan) {
  FakeMachine machine;
  machine.route.links.push_back({.name = "mac0", .kind = "macvlan", .lower_index = 2});
  machine.route.destinations["10.0.0.2"] = {4};
  EXPECT_EQ(find(machine, CmStage::address, ENODEV).cure, "sroce add mac0");
}

TEST(FindCause, NamesTheInterfaceOfAnAddressOfALink) {
  FakeMachine machine;
  CmQuestion question;
  question.peer = resolve_host("fe80::2");
  reinterpret_cast<sockaddr_in6&>(question.peer).sin6_scope_id = 2;
  CmReply reply;
  reply.stage = CmStage::address;
  reply.error = ENETUNREACH;
  EXPECT_EQ(find_cause(machine.system, question, reply).text, "there is no route to fe80::2%eth0");
}

TEST(FindCause, ProbesThePortAndTheFirewallOnlyIfAConnectionIsSilent) {
  FakeMachine machine;
  machine.icmp_error = ECONNREFUSED;
  EXPECT_EQ(find(machine, CmStage::address, ENETUNREACH).name, "no_route");
  EXPECT_EQ(find(machine, CmStage::connect, EPROTO).name, "error");
  EXPECT_TRUE(machine.probes.empty());
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "port_unreachable");
  machine.icmp_error = 0;
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "dropped");
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "ip", "table": "t", "name": "c", "type": "filter",)"
      R"( "hook": "input", "policy": "drop"}}]})";
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "local_firewall");
  EXPECT_THAT(find(machine, CmStage::connect, ETIMEDOUT).cure, Not(HasSubstr("at the peer")));
  machine.nft_ruleset.replace(machine.nft_ruleset.find(R"("ip")"), 4, R"("ip6")");
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "dropped") << "the peer has IPv4";
}

TEST(FindCause, LooksForANatOfThePacketsToThePeer) {
  FakeMachine machine;
  machine.route.links[1].addresses = {{"10.0.0.1"}};
  machine.route.destinations["10.0.0.2"] = {2, "", "10.0.0.1"};
  const auto ruleset = [](const std::string& condition, const std::string& change) {
    return R"({"nftables": [{"chain": {"family": "ip", "table": "nat", "name": "out",)"
           R"( "type": "nat", "hook": "postrouting"}}, {"rule": {"family": "ip", "table": "nat",)"
           R"( "chain": "out", "expr": [{"match": {"op": "==", "left": )" +
           condition + "}}, " + change + "]}}]}";
  };
  const std::string to_peer =
      R"({"payload": {"protocol": "ip", "field": "daddr"}}, "right": "10.0.0.2")";
  const std::string by_eth0 = R"({"meta": {"key": "oifname"}}, "right": "eth0")";
  const std::string snat = R"({"snat": {"port": 5000}})", masquerade = R"({"masquerade": null})";
  machine.nft_ruleset = ruleset(to_peer, snat);
  EXPECT_THAT(find(machine, CmStage::connect, ETIMEDOUT).text,
              HasSubstr("'ip nat out' of this host changes the source port"));
  EXPECT_THAT(find(machine, CmStage::connect, ETIMEDOUT).cure,
              HasSubstr("nft insert rule ip nat out udp dport 4791 accept"));
  machine.nft_ruleset = ruleset(by_eth0, masquerade);
  EXPECT_EQ(find(machine, CmStage::connect, ETIMEDOUT).name, "dropped") << "it has that address";

  CmQuestion question;
  question.peer = resolve_host("10.0.0.2");
  CmReply reply;
  reply.stage = CmStage::connect;
  reply.error = ETIMEDOUT;
  reply.source = resolve_host("10.0.0.5");
  EXPECT_EQ(find_cause(machine.system, question, reply).name, "local_nat");
  machine.add_device({.index = 4, .name = "mlx5_0", .driver_id = 1});
  reply.device_index = 4;
  EXPECT_EQ(find_cause(machine.system, question, reply).name, "dropped")
      << "packets of hardware pass no rule";
  machine.icmp_error = EPERM;
  machine.system.is_root = false;
  EXPECT_EQ(find_cause(machine.system, question, reply).name, "dropped") << "but the probe does";
  EXPECT_EQ(find_cause(machine.system, question, reply).cure, "at the peer, as root: sroce doctor");
  machine.icmp_error = 0;
  reply.device_index.reset();
  machine.route.destinations["10.0.0.2"].link_index = 3;
  EXPECT_EQ(find_cause(machine.system, question, reply).name, "dropped") << "another interface";
}

// The kernel takes neither the source that the route prefers, nor a secondary address.
TEST(FindCause, KnowsTheAddressOfMasquerading) {
  FakeMachine machine;
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "ip", "table": "nat", "name": "out", "type": "nat",)"
      R"( "hook": "postrouting"}}, {"rule": {"family": "ip", "table": "nat", "chain": "out",)"
      R"( "expr": [{"masquerade": null}]}}]})";
  const auto cause = [&](const std::string& source, const std::string& gateway,
                         const std::vector<test::FakeAddress>& addresses) {
    machine.route.destinations["10.0.0.2"] = {2, gateway, source};
    machine.route.links[1].addresses = addresses;
    return find(machine, CmStage::connect, ETIMEDOUT).name;
  };
  const test::FakeAddress first{"10.0.0.1"}, second{"10.0.0.5", IFA_F_SECONDARY};
  const test::FakeAddress other{"10.7.0.1"};
  EXPECT_EQ(cause("10.0.0.1", "", {first, second}), "dropped");
  EXPECT_EQ(cause("10.0.0.5", "", {first, second}), "local_nat");
  EXPECT_EQ(cause("10.0.0.1", "", {other, first}), "dropped") << "in the network of the peer";
  EXPECT_EQ(cause("10.0.0.1", "10.7.0.254", {first, other}), "local_nat") << "of the gateway";
  EXPECT_EQ(cause("10.7.0.1", "10.8.0.254", {first, other}), "local_nat") << "of neither";
  EXPECT_EQ(cause("10.0.0.1", "10.8.0.254", {first, other}), "dropped");
  EXPECT_EQ(cause("10.0.0.1", "", {{"10.0.0.1", 0, 24, RT_SCOPE_LINK}}), "local_nat")
      << "one of another interface";
}

// The kernel takes the first address of the interface.
TEST(FindCause, KnowsTheAddressOfARedirect) {
  FakeMachine machine;
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "ip", "table": "nat", "name": "in", "type": "nat",)"
      R"( "hook": "prerouting"}}, {"rule": {"family": "ip", "table": "nat", "chain": "in",)"
      R"( "expr": [{"redirect": null}]}}]})";
  const auto cause = [&](const std::string& source) {
    machine.route.destinations["10.0.0.2"] = {2, "", source};
    machine.route.links[1].addresses = {{"10.7.0.1"}, {"10.0.0.1"}};
    return find(machine, CmStage::connect, ETIMEDOUT).name;
  };
  EXPECT_EQ(cause("10.0.0.1"), "local_nat");
  EXPECT_EQ(cause("10.7.0.1"), "dropped");
}

TEST(SocketAddress, IsTextAndMapped) {
  EXPECT_EQ(address_text(resolve_host("10.0.0.2")), "10.0.0.2");
  EXPECT_EQ(address_text(resolve_host("fd00::2")), "fd00::2");
  const in6_addr mapped = in6_of(resolve_host("10.0.0.2"));
  EXPECT_TRUE(IN6_IS_ADDR_V4MAPPED(&mapped));
}

}  // namespace
}  // namespace sroce
