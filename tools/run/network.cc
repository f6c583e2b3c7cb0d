// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "network.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <functional>

namespace sroce {
namespace {

/// A netlink request; put() appends an attribute, nest() one that contains others.
class Request {
 public:
  Request(int type, int flags) {
    header().nlmsg_type = static_cast<uint16_t>(type);
    header().nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
  }
  template <typename T>
  Request& append(const T& value) {
    return append(&value, sizeof(value));
  }
  Request& put(int type, const void* data, size_t length) {
    return append(
               nlattr{static_cast<uint16_t>(sizeof(nlattr) + length), static_cast<uint16_t>(type)})
        .append(data, length);
  }
  Request& put(int type, const std::string& text) {
    return put(type, text.c_str(), text.size() + 1);
  }
  Request& nest(int type, const std::function<void(Request&)>& fill) {
    const size_t start = length_;
    append(nlattr{0, static_cast<uint16_t>(type)});
    fill(*this);
    const auto length = static_cast<uint16_t>(length_ - start);
    std::memcpy(&buffer_[start], &length, sizeof(length));
    return *this;
  }

  /// Sends it in the current network namespace, and returns whether the kernel has done it.
  bool done(int protocol) {
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    header().nlmsg_len = static_cast<uint32_t>(length_);
    std::array<char, 8192> reply{};
    const bool sent = send(fd, buffer_.data(), length_, 0) == static_cast<ssize_t>(length_);
    const bool received = sent && recv(fd, reply.data(), reply.size(), 0) > 0;
    close(fd);
    nlmsgerr error;
    std::memcpy(&error, &reply[sizeof(nlmsghdr)], sizeof(error));
    return received && reinterpret_cast<nlmsghdr*>(reply.data())->nlmsg_type == NLMSG_ERROR &&
           error.error == 0;
  }

 private:
  nlmsghdr& header() { return *reinterpret_cast<nlmsghdr*>(buffer_.data()); }
  Request& append(const void* data, size_t length) {
    std::memcpy(&buffer_[length_], data, length);
    length_ += NLMSG_ALIGN(length);
    return *this;
  }

  alignas(nlmsghdr) std::array<char, 1024> buffer_{};
  size_t length_ = sizeof(nlmsghdr);
};

constexpr int create = NLM_F_CREATE | NLM_F_EXCL;

bool add_address(const std::string& link, const std::string& text, int family, int prefix_length) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  inet_pton(family, text.c_str(), address.data());
  const size_t length = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  ifaddrmsg header{};
  header.ifa_family = static_cast<uint8_t>(family);
  header.ifa_prefixlen = static_cast<uint8_t>(prefix_length);
  header.ifa_flags = IFA_F_NODAD;
  header.ifa_index = if_nametoindex(link.c_str());
  return Request(RTM_NEWADDR, create)
      .append(header)
      .put(IFA_LOCAL, address.data(), length)
      .put(IFA_ADDRESS, address.data(), length)
      .done(NETLINK_ROUTE);
}

/// Sends a datagram that nobody reads.
bool send_datagram(const std::string& to, int family) {
  constexpr in_port_t discard = 9;
  sockaddr_in6 address6{};
  address6.sin6_family = AF_INET6;
  address6.sin6_port = htons(discard);
  sockaddr_in address4{};
  address4.sin_family = AF_INET;
  address4.sin_port = htons(discard);
  const bool old = family == AF_INET;
  inet_pton(family, to.c_str(), old ? static_cast<void*>(&address4.sin_addr) : &address6.sin6_addr);
  const auto* address = old ? reinterpret_cast<const sockaddr*>(&address4)
                            : reinterpret_cast<const sockaddr*>(&address6);
  const int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool sent = sendto(fd, "", 1, 0, address, old ? sizeof(address4) : sizeof(address6)) == 1;
  close(fd);
  return sent;
}

}  // namespace

bool set_link_up(const std::string& name) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(if_nametoindex(name.c_str()));
  header.ifi_flags = header.ifi_change = IFF_UP;
  return Request(RTM_NEWLINK, 0).append(header).done(NETLINK_ROUTE);
}

bool add_dummy(const std::string& name) {
  return Request(RTM_NEWLINK, create)
      .append(ifinfomsg{})
      .put(IFLA_IFNAME, name)
      .nest(IFLA_LINKINFO, [](Request& info) { info.put(IFLA_INFO_KIND, "dummy"); })
      .done(NETLINK_ROUTE);
}

bool add_veth(const std::string& name, int other_netns) {
  return Request(RTM_NEWLINK, create)
      .append(ifinfomsg{})
      .put(IFLA_IFNAME, name)
      .nest(IFLA_LINKINFO,
            [&](Request& info) {
              info.put(IFLA_INFO_KIND, "veth").nest(IFLA_INFO_DATA, [&](Request& data) {
                data.nest(VETH_INFO_PEER, [&](Request& peer) {
                  peer.append(ifinfomsg{})
                      .put(IFLA_IFNAME, name)
                      .put(IFLA_NET_NS_FD, &other_netns, sizeof(other_netns));
                });
              });
            })
      .done(NETLINK_ROUTE);
}

bool set_up_link(const std::string& name, int number) {
  const std::string last = std::to_string(number);
  return add_address(name, "10.99.0." + last, AF_INET, 24) &&
         add_address(name, "fd99::" + last, AF_INET6, 64) && set_link_up(name);
}

bool resolve_neighbour(int number) {
  const std::string last = std::to_string(number);
  return send_datagram("10.99.0." + last, AF_INET) && send_datagram("fd99::" + last, AF_INET6);
}

bool add_device(const std::string& name, const std::string& link) {
  return Request(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK), 0)
      .put(RDMA_NLDEV_ATTR_DEV_NAME, name)
      .put(RDMA_NLDEV_ATTR_LINK_TYPE, "sroce")
      .put(RDMA_NLDEV_ATTR_NDEV_NAME, link)
      .done(NETLINK_RDMA);
}

}  // namespace sroce
