// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/rtnl.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

namespace sroce::rtnl {
namespace {

constexpr size_t mapped_prefix_bytes = 12;

template <typename T>
Request request(uint16_t type, int flags, const T& header) {
  return {type, static_cast<uint16_t>(flags), std::as_bytes(std::span(&header, 1))};
}

template <typename T>
T header_of(ByteView payload) {
  if (payload.size() < sizeof(T)) throw MalformedMessage("netlink: truncated message");
  T header;
  std::memcpy(&header, payload.data(), sizeof(header));
  return header;
}

template <typename T>
AttributeMap attributes_of(ByteView payload) {
  return AttributeMap(payload.subspan(std::min(payload.size(), size_t{NLMSG_ALIGN(sizeof(T))})));
}

in6_addr mapped(ByteView ipv4) {
  in6_addr address{};
  address.s6_addr[10] = address.s6_addr[11] = 0xff;
  std::memcpy(&address.s6_addr[mapped_prefix_bytes], ipv4.data(), sizeof(in_addr));
  return address;
}

ByteView address_bytes(const in6_addr& address) {
  const auto bytes = std::as_bytes(std::span(address.s6_addr));
  return IN6_IS_ADDR_V4MAPPED(&address) ? bytes.subspan(mapped_prefix_bytes) : bytes;
}

in6_addr address_of(ByteView bytes) {
  if (bytes.size() == sizeof(in_addr)) return mapped(bytes);
  in6_addr address{};
  if (bytes.size() != sizeof(address)) throw MalformedMessage("netlink: address of a wrong length");
  std::memcpy(&address, bytes.data(), sizeof(address));
  return address;
}

std::string mac_text(ByteView bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    const auto value = std::to_integer<unsigned>(byte);
    text += text.empty() ? "" : ":";
    text += {digits[value / 16], digits[value % 16]};
  }
  return text;
}

std::string text_of(const AttributeMap& attributes, uint16_t type) {
  const Attribute* attribute = attributes.find(type);
  return attribute ? attribute->text() : std::string();
}

}  // namespace

std::optional<Prefix> parse_prefix(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Prefix prefix;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, prefix.length);
  if (error != std::errc{} || rest != end) return std::nullopt;
  const std::string address = text.substr(0, slash);
  in_addr ipv4{};
  if (inet_pton(AF_INET, address.c_str(), &ipv4) == 1) {
    prefix.address = mapped(std::as_bytes(std::span(&ipv4, 1)));
    return prefix.length <= 32 ? std::optional(prefix) : std::nullopt;
  }
  if (inet_pton(AF_INET6, address.c_str(), &prefix.address) != 1) return std::nullopt;
  return prefix.length <= 128 ? std::optional(prefix) : std::nullopt;
}

Request link_request(const std::string& name) {
  return request(RTM_GETLINK, NLM_F_ACK, ifinfomsg{}).put(IFLA_IFNAME, name);
}

Request link_request(uint32_t link_index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(link_index);
  return request(RTM_GETLINK, NLM_F_ACK, header);
}

Request links_request() { return request(RTM_GETLINK, NLM_F_DUMP, ifinfomsg{}); }

Request route_request(const in6_addr& address, uint32_t link_index) {
  const ByteView bytes = address_bytes(address);
  rtmsg header{};
  header.rtm_family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  header.rtm_dst_len = static_cast<uint8_t>(8 * bytes.size());
  Request message = request(RTM_GETROUTE, NLM_F_ACK, header);
  message.put(RTA_DST, bytes);
  if (link_index) message.put(RTA_OIF, link_index);
  return message;
}

Request addresses_request() { return request(RTM_GETADDR, NLM_F_DUMP, ifaddrmsg{}); }

Request add_dummy_request(const std::string& name) {
  ifinfomsg header{};
  header.ifi_flags = header.ifi_change = IFF_UP;
  return request(RTM_NEWLINK, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, header)
      .put(IFLA_IFNAME, name)
      .put_nest(IFLA_LINKINFO,
                [](Request& info) { info.put(IFLA_INFO_KIND, std::string("dummy")); });
}

Request set_alias_request(uint32_t link_index, const std::string& alias) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(link_index);
  return request(RTM_SETLINK, NLM_F_ACK, header).put(IFLA_IFALIAS, alias);
}

Request add_address_request(uint32_t link_index, const Prefix& prefix) {
  const ByteView address = address_bytes(prefix.address);
  ifaddrmsg header{};
  header.ifa_family = address.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  header.ifa_prefixlen = prefix.length;
  header.ifa_index = link_index;
  return request(RTM_NEWADDR, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, header)
      .put(IFA_LOCAL, address)
      .put(IFA_ADDRESS, address);
}

Request delete_link_request(uint32_t link_index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(link_index);
  return request(RTM_DELLINK, NLM_F_ACK, header);
}

Link decode_link(ByteView payload) {
  const auto header = header_of<ifinfomsg>(payload);
  const auto attributes = attributes_of<ifinfomsg>(payload);
  Link link{static_cast<uint32_t>(header.ifi_index), (header.ifi_flags & IFF_UP) != 0,
            (header.ifi_flags & IFF_LOWER_UP) != 0};
  link.name = text_of(attributes, IFLA_IFNAME);
  link.alias = text_of(attributes, IFLA_IFALIAS);
  if (const Attribute* info = attributes.find(IFLA_LINKINFO))
    link.kind = text_of(AttributeMap(info->payload), IFLA_INFO_KIND);
  // In another network namespace, the index may be that of another interface here.
  if (const Attribute* lower = attributes.find(IFLA_LINK);
      lower && !attributes.find(IFLA_LINK_NETNSID))
    link.lower_index = lower->u32();
  if (const Attribute* master = attributes.find(IFLA_MASTER)) link.master_index = master->u32();
  if (const Attribute* mac = attributes.find(IFLA_PERM_ADDRESS))
    link.permanent_mac = mac_text(mac->payload);
  return link;
}

Route decode_route(ByteView payload) {
  const auto attributes = attributes_of<rtmsg>(payload);
  Route route;
  route.link_index = attributes.get(RTA_OIF).u32();
  if (const Attribute* gateway = attributes.find(RTA_GATEWAY))
    route.gateway = address_of(gateway->payload);
  // An IPv4 route may have an IPv6 gateway: the family, then the address.
  if (const Attribute* via = attributes.find(RTA_VIA); via && via->payload.size() > 2)
    route.gateway = address_of(via->payload.subspan(sizeof(uint16_t)));
  if (const Attribute* source = attributes.find(RTA_PREFSRC))
    route.source = address_of(source->payload);
  return route;
}

std::optional<Address> decode_address(ByteView payload, uint32_t link_index) {
  const auto header = header_of<ifaddrmsg>(payload);
  const bool is_ipv4 = header.ifa_family == AF_INET;
  if (header.ifa_index != link_index || (!is_ipv4 && header.ifa_family != AF_INET6))
    return std::nullopt;
  const auto attributes = attributes_of<ifaddrmsg>(payload);
  // With a peer, IFA_ADDRESS is the peer's.
  const Attribute* local = attributes.find(IFA_LOCAL);
  const ByteView bytes = (local ? *local : attributes.get(IFA_ADDRESS)).payload;
  if (bytes.size() != (is_ipv4 ? sizeof(in_addr) : sizeof(in6_addr)))
    throw MalformedMessage("netlink: address of a wrong length");
  Address address;
  address.address = address_of(bytes);
  const Attribute* flags = attributes.find(IFA_FLAGS);
  const uint32_t bits = flags ? flags->u32() : header.ifa_flags;
  address.tentative = (bits & IFA_F_TENTATIVE) && !(bits & IFA_F_OPTIMISTIC);
  address.duplicate = bits & IFA_F_DADFAILED;
  address.prefix_length = header.ifa_prefixlen;
  address.global = header.ifa_scope == RT_SCOPE_UNIVERSE;
  address.secondary = is_ipv4 && (bits & IFA_F_SECONDARY);
  return address;
}

bool same_prefix(const uint8_t* first, const uint8_t* second, unsigned bits) {
  for (unsigned bit = 0; bit < bits; bit++) {
    if ((first[bit / 8] ^ second[bit / 8]) >> (7 - bit % 8) & 1) return false;
  }
  return true;
}

bool is_in_network(const in6_addr& address, const Address& network) {
  constexpr unsigned mapped_bits = 96;
  const unsigned bits =
      network.prefix_length + (IN6_IS_ADDR_V4MAPPED(&network.address) ? mapped_bits : 0);
  return same_prefix(address.s6_addr, network.address.s6_addr, bits);
}

}  // namespace sroce::rtnl
