// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/path_mtu.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "sroce/text.h"

namespace sroce {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr uint32_t only_port = 1;
/// A firewall may limit the rate, and packets may be lost.
constexpr int rounds = 3;
constexpr milliseconds round_time{330};
/// Of the largest RoCEv2 packet: UDP, BTH, XRCETH, RETH, ImmDt, ICRC.
constexpr size_t roce_header_bytes = 8 + 12 + 4 + 16 + 4 + 4;
/// The headers that rdma_cm subtracts from the MTU of an interface to find the path MTU.
constexpr size_t rdma_cm_overhead_bytes = 96;
constexpr size_t least_mtu = 1024, largest_mtu = 4096;

bool is_ipv4(const sockaddr_storage& address) { return address.ss_family == AF_INET; }

size_t ip_header_bytes(const sockaddr_storage& peer) { return is_ipv4(peer) ? 20 : 40; }

/// The last bytes of each request, and so of the response.
struct Mark {
  uint64_t random;
  uint64_t ip_bytes;
};

uint16_t checksum(const std::vector<unsigned char>& message) {
  uint32_t sum = 0;
  for (size_t i = 0; i + 1 < message.size(); i += 2) sum += message[i] << 8 | message[i + 1];
  if (message.size() % 2) sum += message.back() << 8;
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

std::vector<unsigned char> echo_request(const sockaddr_storage& peer, const Mark& mark,
                                        uint16_t sequence) {
  std::vector<unsigned char> message(mark.ip_bytes - ip_header_bytes(peer));
  std::memcpy(&message[4], &mark.random, sizeof(uint16_t));  // identifier
  message[6] = static_cast<unsigned char>(sequence >> 8);
  message[7] = static_cast<unsigned char>(sequence);
  message[0] = is_ipv4(peer) ? ICMP_ECHO : ICMP6_ECHO_REQUEST;
  std::memcpy(&message[message.size() - sizeof(mark)], &mark, sizeof(mark));
  // The kernel fills in the checksum of ICMPv6.
  const uint16_t sum = is_ipv4(peer) ? checksum(message) : 0;
  message[2] = static_cast<unsigned char>(sum >> 8);
  message[3] = static_cast<unsigned char>(sum);
  return message;
}

class EchoSocket {
 public:
  explicit EchoSocket(const CmQuestion& question) : peer_(question.peer) {
    const int protocol = is_ipv4(peer_) ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6};
    // net.ipv4.ping_group_range says who may have the first, CAP_NET_RAW is for the second.
    for (const int type : {SOCK_DGRAM, SOCK_RAW}) {
      fd_ = socket(peer_.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
      if (fd_ >= 0) break;
    }
    is_ready_ = fd_ >= 0 && prepare(question);
  }
  ~EchoSocket() {
    if (fd_ >= 0) close(fd_);
  }
  EchoSocket(const EchoSocket&) = delete;
  EchoSocket& operator=(const EchoSocket&) = delete;

  bool is_ready() const { return is_ready_; }
  int fd() const { return fd_; }

  /// A packet that does not fit the interface or the route is not sent, as one that is lost.
  void send_request(size_t ip_bytes, uint16_t sequence) const {
    const auto request = echo_request(peer_, {random_, ip_bytes}, sequence);
    [[maybe_unused]] const ssize_t sent = send(fd_, request.data(), request.size(), 0);
  }

  /// The size of a request that the peer has returned; 0: none, another message, or in fragments,
  /// which says nothing of the way back.
  size_t receive_response() const {
    std::array<unsigned char, 8192> message;
    std::array<unsigned char, 256> control;
    iovec part{message.data(), message.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t count = recvmsg(fd_, &header, 0);
    Mark mark{};
    if (count < static_cast<ssize_t>(sizeof(mark)) || was_fragmented(header)) return 0;
    std::memcpy(&mark, &message.at(static_cast<size_t>(count) - sizeof(mark)), sizeof(mark));
    return mark.random == random_ ? mark.ip_bytes : 0;
  }

 private:
  void set(int level, int option, int value) const {
    setsockopt(fd_, level, option, &value, sizeof(value));
  }

  /// The kernel gives the size of fragments only with a datagram that came in some.
  bool was_fragmented(msghdr& header) const {
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item; item = CMSG_NXTHDR(&header, item)) {
      if ((item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVFRAGSIZE) ||
          (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVFRAGSIZE))
        return true;
    }
    return false;
  }

  /// A raw socket also receives errors, which quote the request.
  void receive_replies_only() const {
    if (is_ipv4(peer_)) {
      constexpr int filter_option = 1;  // ICMP_FILTER
      set(SOL_RAW, filter_option, ~(1 << ICMP_ECHOREPLY));
    } else {
      icmp6_filter filter;
      ICMP6_FILTER_SETBLOCKALL(&filter);
      ICMP6_FILTER_SETPASS(ICMP6_ECHO_REPLY, &filter);
      setsockopt(fd_, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof(filter));
    }
  }

  bool prepare(const CmQuestion& question) const {
    receive_replies_only();
    // Like the module, obey the MTU of the route.
    if (is_ipv4(peer_)) {
      set(IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
      set(IPPROTO_IP, IP_RECVFRAGSIZE, 1);
    } else {
      set(IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
      set(IPPROTO_IPV6, IPV6_RECVFRAGSIZE, 1);
    }
    if (question.link_index)
      set(SOL_SOCKET, SO_BINDTOIFINDEX, static_cast<int>(question.link_index));
    const sockaddr_storage& source = question.source;
    if (source.ss_family &&
        bind(fd_, reinterpret_cast<const sockaddr*>(&source), size_of(source)) != 0)
      return false;
    return connect(fd_, reinterpret_cast<const sockaddr*>(&peer_), size_of(peer_)) == 0;
  }

  sockaddr_storage peer_;
  uint64_t random_ = std::random_device{}();
  int fd_ = -1;
  bool is_ready_ = false;
};

/// The path MTU that connections get on an interface: that of rdma_cm, or a smaller one of the
/// device.
size_t path_mtu(System& system, const std::string& interface, size_t active_mtu) {
  const auto bytes = system.sysfs.mtu(interface);
  size_t mtu = std::min(active_mtu, largest_mtu);
  while (bytes && mtu > least_mtu && mtu + rdma_cm_overhead_bytes > *bytes) mtu /= 2;
  return mtu;
}

std::optional<uint32_t> active_mtu_bytes(System& system, uint32_t device_index) {
  for (const DeviceIdentity& device : list_devices(system)) {
    if (device.index == device_index && device.uverbs)
      return system.active_mtu_bytes(*device.uverbs, only_port);
  }
  return std::nullopt;
}

/// As find_largest_echo(), of one round.
size_t ask_once(const EchoSocket& socket, const std::vector<size_t>& sizes, uint16_t& sequence) {
  for (const size_t size : sizes) socket.send_request(size, sequence++);
  const auto end = steady_clock::now() + round_time;
  size_t found = 0;
  while (found < sizes.front()) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    if (left.count() <= 0) break;
    // An earlier SIGINT, which has ended the requests, does not end this wait.
    pollfd file{socket.fd(), POLLIN, 0};
    if (poll(&file, 1, static_cast<int>(left.count())) < 0) return 0;
    if (file.revents) found = std::max(found, socket.receive_response());
  }
  return found;
}

}  // namespace

size_t find_largest_echo(const CmQuestion& question, const std::vector<size_t>& sizes) {
  const EchoSocket socket(question);
  if (!socket.is_ready()) return 0;
  std::vector<size_t> largest_first = sizes;
  std::sort(largest_first.rbegin(), largest_first.rend());
  size_t found = 0;
  uint16_t sequence = 1;
  for (int i = 0; i < rounds && found < largest_first.front(); i++) {
    const size_t size = ask_once(socket, largest_first, sequence);
    if (size == 0) return 0;  // a firewall, or SIGINT
    found = std::max(found, size);
  }
  return found;
}

std::optional<Cause> find_mtu_fault(System& system, const CmQuestion& question,
                                    uint32_t device_index) {
  const auto active = active_mtu_bytes(system, device_index);
  const std::string interface = interface_to(system, question);
  if (!active || interface.empty()) return std::nullopt;
  const size_t wanted = path_mtu(system, interface, *active);
  const size_t headers = ip_header_bytes(question.peer) + roce_header_bytes;
  std::vector<size_t> sizes;
  for (size_t mtu = least_mtu; mtu <= wanted; mtu *= 2) sizes.push_back(headers + mtu);
  const size_t largest = sizes.size() < 2 ? 0 : system.find_largest_echo(question, sizes);
  if (largest == 0 || largest == sizes.back()) return std::nullopt;
  const size_t mtu = largest - headers;
  const size_t interface_mtu = mtu == least_mtu ? 1500 : mtu + rdma_cm_overhead_bytes;
  return Cause{"path_mtu",
               "packets for the path MTU " + std::to_string(wanted) + " do not arrive at " +
                   scoped_text(system, question.peer) + " (ICMP echo), those for " +
                   std::to_string(mtu) + " do; connections fail or stall",
               "ip link set " + shell_word(interface) + " mtu " + std::to_string(interface_mtu)};
}

}  // namespace sroce
