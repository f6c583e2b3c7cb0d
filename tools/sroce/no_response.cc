// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/no_response.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "sroce/rtnl.h"
#include "sroce/text.h"

namespace sroce {
namespace {

constexpr uint32_t only_port = 1;

Cause no_device(const UnansweredRequest& request) {
  if (request.device)
    return {"not_ready",
            "rdma_cm finds no RDMA device for " + request.peer + ", although there is " +
                *request.device,
            "to see why: sroce doctor " + shell_word(request.lower)};
  if (request.interface.empty())
    return {"no_device", "no RDMA device leads to " + request.peer, "sroce add IF"};
  if (request.interface == "lo")
    return {"no_device", "no RDMA device of this host has the address " + request.peer,
            "sroce add IF"};
  return {"no_device",
          "interface '" + request.interface + "', which leads to " + request.peer +
              ", has no RDMA device",
          "sroce add " + shell_word(request.lower)};
}

Cause no_neighbour(const UnansweredRequest& request) {
  const std::string neighbour = request.gateway.value_or(request.peer);
  const bool is_ipv6 = neighbour.find(':') != std::string::npos;
  return {"no_neighbour",
          "the neighbour is not resolved: " + std::string(request.gateway ? "the gateway " : "") +
              neighbour + " does not answer " + (is_ipv6 ? "neighbour discovery" : "ARP") +
              " on '" + request.interface + "'",
          "to see it: ip neighbour show dev " + shell_word(request.interface)};
}

Cause other_error(const std::string& attempt, int error) {
  return {"error", attempt + std::generic_category().message(error), ""};
}

Cause no_route(const UnansweredRequest& request) {
  std::string way = request.peer.substr(0, request.peer.find('%'));  // ip takes no %IF
  if (request.only_interface && !request.interface.empty())
    way += " oif " + shell_word(request.interface);
  return {"no_route", "there is no route to " + request.peer, "to see it: ip route get " + way};
}

/// The address or the route was not resolved.
Cause explain_resolution(const UnansweredRequest& request) {
  switch (request.error) {
    case ENETUNREACH:
    case EHOSTUNREACH:
      break;
    case ENODEV:
      return no_device(request);
    case ETIMEDOUT:
      if (!request.interface.empty()) return no_neighbour(request);
      break;
    default:
      return other_error("the address is not resolved: ", request.error);
  }
  return no_route(request);
}

Cause explain_drop(const Drop& drop) {
  return {"local_firewall", drop_text(drop, " of this host"), drop.cure};
}

/// Does it explain the message? The host itself sends one if a rule rejects what leaves.
bool explains(const Drop& drop, int icmp_error) {
  return drop.leave && (drop.certain || icmp_error == EPERM);
}

/// The first that is certain, or else the first.
const Drop* worst_of(const std::vector<Drop>& drops) {
  const auto certain =
      std::find_if(drops.begin(), drops.end(), [](const Drop& drop) { return drop.certain; });
  if (certain != drops.end()) return &*certain;
  return drops.empty() ? nullptr : &drops.front();
}

Cause explain_nat(const NatRule& rule) {
  return {"local_nat", nat_text(rule, " of this host"), rule.cure};
}

Cause explain_icmp(const UnansweredRequest& request) {
  const std::string says =
      "ICMP says: " + std::generic_category().message(request.icmp_error) + "; ";
  const std::string cure = "to see it: tracepath " + request.peer;
  switch (request.icmp_error) {
    case EPERM:
      return {"local_firewall",
              "a firewall of this host drops packets to UDP port 4791 as they leave",
              "to see it: nft list ruleset\nor: iptables -S OUTPUT"};
    case ECONNREFUSED:
      return {"port_unreachable",
              "port unreachable (ICMP): nothing listens on UDP port 4791, or a firewall rejects it",
              "at the peer: sroce add IF\nif it has a device, as root: sroce doctor"};
    case EACCES:
      return {"icmp",
              "UDP port 4791 is prohibited (ICMP), usually by a firewall at the peer or on the way",
              "at the peer, as root: sroce doctor\n" + cure};
    case EHOSTUNREACH:
    case ENETUNREACH:
      return {
          "icmp",
          says + "a router has no route, or a firewall there or on the way rejects UDP port 4791",
          "at the peer, as root: sroce doctor\n" + cure};
    default:
      return {"icmp", says + "a router or a firewall rejects UDP port 4791", cure};
  }
}

rtnl::Link link_of(System& system, uint32_t index) try {
  for (const Bytes& payload : system.route.exchange(rtnl::link_request(index)))
    return rtnl::decode_link(payload);
  return {};
} catch (const KernelError&) {
  return {};
}

uint32_t scope_of(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6
             ? reinterpret_cast<const sockaddr_in6&>(address).sin6_scope_id
             : 0;
}

void set_interface(System& system, UnansweredRequest& request, uint32_t index) {
  const rtnl::Link link = link_of(system, index);
  request.interface = link.name;
  const bool is_on_another = link.kind == "vlan" && link.lower_index;
  request.lower = is_on_another ? link_of(system, link.lower_index).name : link.name;
}

/// Fills in the interface and the gateway. There may be no route.
void find_route(System& system, const CmQuestion& question, UnansweredRequest& request) try {
  const uint32_t only = question.link_index ? question.link_index : scope_of(question.peer);
  request.only_interface = only != 0;
  if (only) set_interface(system, request, only);
  for (const Bytes& payload :
       system.route.exchange(rtnl::route_request(in6_of(question.peer), only))) {
    const rtnl::Route route = rtnl::decode_route(payload);
    set_interface(system, request, route.link_index);
    if (route.gateway) request.gateway = address_text(*route.gateway);
    request.next_hop = route.gateway.value_or(in6_of(question.peer));
    if (route.source) request.source = address_text(*route.source);
  }
} catch (const KernelError&) {
}

/// Is it on the interface, or with the own address that the request is for?
bool is_there(System& system, const DeviceIdentity& device, const UnansweredRequest& request) {
  if (request.interface != "lo") return netdev_of(system.channel, device.index) == request.lower;
  const auto gids = system.sysfs.gids(device.name, only_port);
  return std::any_of(gids.begin(), gids.end(),
                     [&](const Gid& gid) { return gid.address == request.peer; });
}

void find_device(System& system, UnansweredRequest& request) {
  if (request.interface.empty()) return;
  for (const DeviceIdentity& device : list_devices(system)) {
    if (is_there(system, device, request)) request.device = device.name;
  }
}

/// Fills in the IPv4 addresses that the kernel gives to packets of the interface. Masquerading
/// takes a primary one in the network of the next hop, or else the first that is global
/// (inet_select_addr() of the kernel; without any it takes one of another interface). A redirect
/// takes the first of all.
void add_given_addresses(System& system, const in6_addr& next_hop, PacketQuestion& packets) {
  packets.masquerade = packets.redirect = "";
  bool in_network = false;
  const uint32_t index = link_index(system, packets.interface);
  for (const Bytes& payload : system.route.exchange(rtnl::addresses_request())) {
    const auto found = rtnl::decode_address(payload, index);
    if (!found || !IN6_IS_ADDR_V4MAPPED(&found->address)) continue;
    const std::string text = address_text(found->address);
    if (packets.redirect->empty()) packets.redirect = text;
    if (found->secondary || !found->global || in_network) continue;
    in_network = rtnl::is_in_network(next_hop, *found);
    if (in_network || packets.masquerade->empty()) packets.masquerade = text;
  }
}

/// Packets of hardware pass no rule of the host.
bool is_hardware(System& system, const CmReply& reply) {
  const auto devices = list_devices(system);
  return std::any_of(devices.begin(), devices.end(), [&](const DeviceIdentity& device) {
    return device.index == reply.device_index && !device.is_sroce && !device.is_rxe;
  });
}

/// Looks at the rules of this host.
void find_rules(System& system, const CmQuestion& question, const CmReply& reply,
                UnansweredRequest& request) {
  const Ruleset ruleset = read_ruleset(system.nft_ruleset(), system.iptables_rules());
  const std::string source = size_of(reply.source) ? address_text(reply.source) : "";
  const std::string own = source.empty() ? request.source.value_or("") : source;
  PacketQuestion packets{request.interface, {}, address_text(question.peer)};
  if (!own.empty()) packets.addresses.push_back(own);
  request.drops = find_drops(ruleset, packets);
  if (own.empty()) return;
  if (IN6_IS_ADDR_V4MAPPED(&request.next_hop))
    add_given_addresses(system, request.next_hop, packets);
  else
    packets.masquerade = request.source.value_or(own);
  request.nat = find_nat(ruleset, packets);
}

}  // namespace

std::string interface_to(System& system, const CmQuestion& question) {
  UnansweredRequest request;
  find_route(system, question, request);
  return request.interface;
}

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

std::string scoped_text(System& system, const sockaddr_storage& address) {
  const uint32_t scope = scope_of(address);
  const std::string name = scope ? link_of(system, scope).name : "";
  return address_text(address) + (name.empty() ? "" : '%' + name);
}

uint32_t link_index(System& system, const std::string& name) try {
  for (const Bytes& payload : system.route.exchange(rtnl::link_request(name)))
    return rtnl::decode_link(payload).index;
  return 0;
} catch (const KernelError&) {
  return 0;
}

Cause explain_no_response(const UnansweredRequest& request) {
  if (request.stage != CmStage::connect) return explain_resolution(request);
  if (request.error != ETIMEDOUT) return other_error("the request failed: ", request.error);
  if (request.icmp_error == EINTR)
    return {"interrupted", "no response; the search for the cause was interrupted", ""};
  const auto certain = std::find_if(request.nat.begin(), request.nat.end(),
                                    [](const NatRule& rule) { return rule.certain; });
  // A NAT may be why another host or port has sent the ICMP message. If it gives all flows one
  // port, the kernel drops the second flow, as a firewall of this host does.
  if (certain != request.nat.end()) return explain_nat(*certain);
  if (request.icmp_error) {
    std::vector<Drop> drops = request.drops;
    std::erase_if(drops, [&](const Drop& drop) { return !explains(drop, request.icmp_error); });
    const Drop* drop = worst_of(drops);
    return drop ? explain_drop(*drop) : explain_icmp(request);
  }
  if (const Drop* drop = worst_of(request.drops)) return explain_drop(*drop);
  if (!request.nat.empty()) return explain_nat(request.nat.front());
  return {
      "dropped",
      "no response: a firewall on the way or at the peer drops UDP port 4791, or a NAT changes the "
      "packets",
      std::string("at the peer, as root: sroce doctor") +
          (request.may_see_firewall || request.by_hardware
               ? ""
               : "\nrun this as root to check this host's firewall, too")};
}

Cause find_cause(System& system, const CmQuestion& question, const CmReply& reply) {
  UnansweredRequest request;
  request.peer = scoped_text(system, question.peer);
  request.stage = reply.stage;
  request.error = reply.error;
  request.may_see_firewall = system.is_root;
  find_route(system, question, request);
  if (reply.error == ENODEV) find_device(system, request);
  if (reply.stage == CmStage::connect && reply.error == ETIMEDOUT) {
    request.by_hardware = is_hardware(system, reply);
    request.icmp_error = system.probe_port(question);
    // The byte of the probe passes rules, though packets of hardware do not.
    if (request.by_hardware && request.icmp_error == EPERM) request.icmp_error = 0;
    if (!request.by_hardware) find_rules(system, question, reply, request);
  }
  return explain_no_response(request);
}

}  // namespace sroce
