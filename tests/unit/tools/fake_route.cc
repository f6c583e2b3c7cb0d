// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_route.h"

#include <arpa/inet.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <cstring>

#include "message.h"

namespace sroce::test {
namespace {

template <typename T>
Bytes with_header(const T& header, const Attributes& attributes) {
  Bytes bytes(NLMSG_ALIGN(sizeof(T)));
  std::memcpy(bytes.data(), &header, sizeof(T));
  bytes.insert(bytes.end(), attributes.bytes().begin(), attributes.bytes().end());
  return bytes;
}

template <typename T>
T header_of(const Request& request) {
  T header;
  std::memcpy(&header, request.bytes().data() + sizeof(nlmsghdr), sizeof(T));
  return header;
}

Bytes address_message(uint32_t index, const FakeAddress& address) {
  unsigned char bytes[sizeof(in6_addr)];
  const bool is_ipv4 = inet_pton(AF_INET, address.text.c_str(), bytes) == 1;
  if (!is_ipv4) inet_pton(AF_INET6, address.text.c_str(), bytes);
  ifaddrmsg header{};
  header.ifa_family = is_ipv4 ? AF_INET : AF_INET6;
  header.ifa_index = index;
  header.ifa_prefixlen = address.prefix_length;
  header.ifa_scope = address.scope;
  Attributes attributes;
  attributes.raw(IFA_ADDRESS, bytes, is_ipv4 ? sizeof(in_addr) : sizeof(in6_addr));
  return with_header(header, attributes.u32(IFA_FLAGS, address.flags));
}

}  // namespace

std::vector<Bytes> FakeRoute::get_link(const std::string& name) const {
  for (size_t i = 0; i < links.size(); ++i) {
    if (links[i].name == name && !name.empty()) return get_link(i + 1);
  }
  throw KernelError(ENODEV, "");
}

std::vector<Bytes> FakeRoute::get_link(size_t index) const {
  if (index > links.size() || links[index - 1].name.empty()) throw KernelError(ENODEV, "");
  const FakeLink& link = links.at(index - 1);
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  header.ifi_flags = (link.up ? 1u : 0u) | (link.carrier ? 1u << 16 : 0u);
  Attributes attributes;
  attributes.text(IFLA_IFNAME, link.name);
  if (!link.alias.empty()) attributes.text(IFLA_IFALIAS, link.alias);
  if (link.lower_index) attributes.u32(IFLA_LINK, link.lower_index);
  if (link.is_lower_elsewhere) attributes.u32(IFLA_LINK_NETNSID, 0);
  if (link.master_index) attributes.u32(IFLA_MASTER, link.master_index);
  if (!link.permanent_mac.empty())
    attributes.raw(IFLA_PERM_ADDRESS, link.permanent_mac.data(), link.permanent_mac.size());
  if (!link.kind.empty())
    attributes.nest(IFLA_LINKINFO, Attributes().text(IFLA_INFO_KIND, link.kind));
  return {with_header(header, attributes)};
}

std::vector<Bytes> FakeRoute::get_links() const {
  std::vector<Bytes> replies;
  for (size_t i = 0; i < links.size(); ++i) {
    if (!links[i].name.empty()) replies.push_back(get_link(i + 1).front());
  }
  return replies;
}

std::vector<Bytes> FakeRoute::get_route(ByteView attributes, int family) {
  const AttributeMap question(attributes);
  const Attribute* only = question.find(RTA_OIF);
  only_link = only ? only->u32() : 0;
  char text[INET6_ADDRSTRLEN];
  inet_ntop(family, question.get(RTA_DST).payload.data(), text, sizeof(text));
  const auto found = destinations.find(text);
  if (found == destinations.end()) throw KernelError(ENETUNREACH, "");
  Attributes reply;
  reply.u32(RTA_OIF, found->second.link_index);
  const auto put = [&](uint16_t type, const std::string& address) {
    unsigned char bytes[sizeof(in6_addr)];
    if (!address.empty() && inet_pton(family, address.c_str(), bytes) == 1)
      reply.raw(type, bytes, family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr));
  };
  put(RTA_GATEWAY, found->second.gateway);
  put(RTA_PREFSRC, found->second.source);
  rtmsg header{};
  header.rtm_family = static_cast<unsigned char>(family);
  return {with_header(header, reply)};
}

std::vector<Bytes> FakeRoute::get_addresses() const {
  std::vector<Bytes> replies;
  for (size_t i = 0; i < links.size(); ++i) {
    for (const FakeAddress& address : links[i].addresses)
      replies.push_back(address_message(static_cast<uint32_t>(i + 1), address));
  }
  return replies;
}

std::vector<Bytes> FakeRoute::exchange(Request request) {
  nlmsghdr header;
  std::memcpy(&header, request.bytes().data(), sizeof(header));
  const ByteView rest = request.bytes().subspan(sizeof(nlmsghdr));
  switch (header.nlmsg_type) {
    case RTM_GETADDR:
      return get_addresses();
    case RTM_GETROUTE:
      return get_route(rest.subspan(sizeof(rtmsg)), header_of<rtmsg>(request).rtm_family);
    case RTM_GETLINK:
      if (const int index = header_of<ifinfomsg>(request).ifi_index)
        return get_link(static_cast<size_t>(index));
      if (header.nlmsg_flags & NLM_F_DUMP) {
        const std::vector<Bytes> replies = get_links();
        if (on_links_listed) on_links_listed();
        return replies;
      }
      return get_link(AttributeMap(rest.subspan(sizeof(ifinfomsg))).get(IFLA_IFNAME).text());
    case RTM_NEWLINK: {
      if (newlink_error) throw KernelError(newlink_error, "");
      const AttributeMap attributes(rest.subspan(sizeof(ifinfomsg)));
      const AttributeMap info(attributes.get(IFLA_LINKINFO).payload);
      for (const FakeLink& link : links)
        if (link.name == attributes.get(IFLA_IFNAME).text()) throw KernelError(EEXIST, "");
      links.push_back({attributes.get(IFLA_IFNAME).text(),
                       (header_of<ifinfomsg>(request).ifi_flags & IFF_UP) != 0,
                       true,
                       {},
                       info.get(IFLA_INFO_KIND).text()});
      return {};
    }
    case RTM_SETLINK:
      links.at(static_cast<size_t>(header_of<ifinfomsg>(request).ifi_index) - 1).alias =
          AttributeMap(rest.subspan(sizeof(ifinfomsg))).get(IFLA_IFALIAS).text();
      return {};
    case RTM_NEWADDR: {
      if (newaddr_error) throw KernelError(newaddr_error, "");
      const auto address = header_of<ifaddrmsg>(request);
      const AttributeMap attributes(rest.subspan(sizeof(ifaddrmsg)));
      char text[INET6_ADDRSTRLEN];
      inet_ntop(address.ifa_family, attributes.get(IFA_LOCAL).payload.data(), text, sizeof(text));
      links.at(address.ifa_index - 1).addresses.push_back({text});
      return {};
    }
    case RTM_DELLINK:
      links.at(static_cast<size_t>(header_of<ifinfomsg>(request).ifi_index) - 1) = {""};
      return {};
    default:
      throw KernelError(EINVAL, "");
  }
}

}  // namespace sroce::test
