// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "packet_script/wire_end.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "harness/failure.h"

namespace packet_script {
namespace {

using harness::fail_errno;

constexpr std::size_t ethernet_bytes = 14;
constexpr std::size_t udp_offset = 20;
// The case gives these addresses to the veth pair.
constexpr std::array<std::uint8_t, ethernet_bytes> ethernet = {2, 0, 0, 0, 0, 1, 2,
                                                               0, 0, 0, 0, 2, 8, 0};

int open_in(const std::string& netns) {
  const int home = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (!netns.empty()) {
    const int there = ::open(("/run/netns/" + netns).c_str(), O_RDONLY | O_CLOEXEC);
    if (there < 0 || ::setns(there, CLONE_NEWNET)) fail_errno(errno, "namespace ", netns);
    ::close(there);
  }
  const int fd = ::socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
  const int error = errno;
  if (::setns(home, CLONE_NEWNET)) fail_errno(errno, "back to the first namespace");
  ::close(home);
  if (fd < 0) fail_errno(error, "packet socket");
  return fd;
}

int index_of(int fd, const std::string& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(fd, SIOCGIFINDEX, &request)) fail_errno(errno, "interface ", interface);
  return request.ifr_ifindex;
}

bool is_roce(const wire::Bytes& packet) {
  return packet.size() >= udp_offset + 8 + wire::bth_bytes + wire::icrc_bytes &&
         packet[0] == 0x45 && packet[9] == IPPROTO_UDP &&
         (packet[udp_offset + 2] << 8 | packet[udp_offset + 3]) == wire::roce_port;
}

}  // namespace

WireEnd::WireEnd(const std::string& netns, const std::string& interface) : fd_(open_in(netns)) {
  const int on = 1;
  const int buffer = 4 << 20;
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_IP);
  address.sll_ifindex = index_of(fd_, interface);
  if (::setsockopt(fd_, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) ||
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) ||
      ::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address))
    fail_errno(errno, "packet socket on ", interface);
}

WireEnd::~WireEnd() { ::close(fd_); }

void WireEnd::send(const wire::Bytes& ip_packet) {
  wire::Bytes frame(ethernet.begin(), ethernet.end());
  frame.insert(frame.end(), ip_packet.begin(), ip_packet.end());
  if (::send(fd_, frame.data(), frame.size(), 0) < 0) fail_errno(errno, "sending a packet");
}

std::optional<wire::Bytes> WireEnd::receive(harness::Deadline deadline) {
  while (true) {
    wire::Bytes frame(16384);
    const auto length = ::recv(fd_, frame.data(), frame.size(), MSG_DONTWAIT);
    if (length > static_cast<ssize_t>(ethernet_bytes)) {
      wire::Bytes packet(frame.begin() + ethernet_bytes, frame.begin() + length);
      if (is_roce(packet)) return packet;
      continue;
    }
    if (length < 0 && errno != EAGAIN) fail_errno(errno, "receiving a packet");
    if (deadline.expired()) return std::nullopt;
    pollfd wanted{fd_, POLLIN, 0};
    ::poll(&wanted, 1, deadline.left_ms());
  }
}

}  // namespace packet_script
