// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/silence.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "sroce/rtnl.h"

namespace sroce {
namespace {

Cause no_device(const Silence& silence) {
  if (silence.interface == "lo")
    return {"no_device", "no RDMA device of this host has the address " + silence.peer,
            "sroce add IF"};
  return {"no_device",
          "interface '" + silence.interface + "', which leads to " + silence.peer +
              ", has no RDMA device",
          "sroce add " + silence.interface};
}

Cause no_neighbour(const Silence& silence) {
  const bool is_ipv6 = silence.peer.find(':') != std::string::npos;
  const std::string asked = silence.gateway ? "the gateway " + *silence.gateway : silence.peer;
  return {"no_neighbour",
          "the neighbour is not resolved: " + asked + " does not answer " +
              (is_ipv6 ? "neighbour discovery" : "ARP") + " on '" + silence.interface + "'",
          "to see it: ip neighbour show dev " + silence.interface};
}

/// The address or the route was not resolved.
Cause explain_resolution(const Silence& silence) {
  switch (silence.error) {
    case ENETUNREACH:
    case EHOSTUNREACH:
      break;
    case ENODEV:
      return no_device(silence);
    case ETIMEDOUT:
      if (!silence.interface.empty()) return no_neighbour(silence);
      break;
    default:
      return {"error",
              "the address is not resolved: " + std::generic_category().message(silence.error), ""};
  }
  return {"no_route", "there is no route to " + silence.peer,
          "to see it: ip route get " + silence.peer};
}

Cause explain_firewall(const FirewallRule& rule) {
  return {"local_firewall",
          rule.certain
              ? "a rule of '" + rule.chain + "' of this host drops RoCE packets (UDP port 4791)"
              : "'" + rule.chain + "' of this host drops what no rule accepts, and none names " +
                    "UDP port 4791",
          rule.cure};
}

Cause explain_icmp(const Silence& silence) {
  if (silence.icmp_error == ECONNREFUSED)
    return {"port_unreachable",
            "port unreachable (ICMP): nobody has UDP port 4791, or a firewall rejects it",
            "at the peer: sroce add IF"};
  return {"icmp",
          "ICMP says: " + std::generic_category().message(silence.icmp_error) +
              "; a router or a firewall rejects UDP port 4791",
          "to see it: tracepath " + silence.peer};
}

std::string interface_name(System& system, uint32_t link_index) {
  for (const Bytes& payload : system.route.exchange(rtnl::link_request(link_index)))
    return rtnl::decode_link(payload).name;
  return {};
}

/// Fills in the interface and the gateway. There may be no route.
void find_route(System& system, const CmQuestion& question, Silence& silence) try {
  const in6_addr peer = in6_of(question.peer);
  uint32_t scope = 0;
  if (question.peer.ss_family == AF_INET6)
    scope = reinterpret_cast<const sockaddr_in6&>(question.peer).sin6_scope_id;
  for (const Bytes& payload : system.route.exchange(rtnl::route_request(peer, scope))) {
    const rtnl::Route route = rtnl::decode_route(payload);
    silence.interface = interface_name(system, route.link_index);
    if (route.gateway) silence.gateway = address_text(*route.gateway);
  }
} catch (const KernelError&) {
}

}  // namespace

in6_addr in6_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET6)
    return reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  in6_addr mapped{};
  mapped.s6_addr[10] = mapped.s6_addr[11] = 0xff;
  std::memcpy(&mapped.s6_addr[12], &reinterpret_cast<const sockaddr_in&>(address).sin_addr,
              sizeof(in_addr));
  return mapped;
}

std::string address_text(const sockaddr_storage& address) { return address_text(in6_of(address)); }

Cause explain_silence(const Silence& silence) {
  if (silence.stage != CmStage::connect) return explain_resolution(silence);
  if (silence.icmp_error) return explain_icmp(silence);
  if (!silence.firewall.empty()) return explain_firewall(silence.firewall.front());
  return {"dropped",
          "no response: dropped on the way or by the peer (firewall, or NAT: wrong ICRC)",
          std::string("at the peer: sroce doctor") +
              (silence.may_see_firewall ? "" : "\nas root, this looks at rules of this host, too")};
}

Cause find_cause(System& system, const CmQuestion& question, const CmReply& reply) {
  Silence silence;
  silence.peer = address_text(question.peer);
  silence.stage = reply.stage;
  silence.error = reply.error;
  silence.may_see_firewall = system.is_root;
  find_route(system, question, silence);
  if (reply.stage == CmStage::connect) {
    silence.icmp_error = system.probe_port(question.peer, question.wait);
    silence.firewall = find_drops(system.nft_ruleset());
    const auto more = find_iptables_drops(system.iptables_rules());
    silence.firewall.insert(silence.firewall.end(), more.begin(), more.end());
  }
  return explain_silence(silence);
}

}  // namespace sroce
