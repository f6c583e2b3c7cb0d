// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/netlink_socket.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstring>

namespace sroce {
namespace {

// The kernel fills at most 32 KiB per datagram of a dump.
constexpr size_t datagram_bytes_max = 32768;

}  // namespace

void NetlinkSocket::Closer::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

void NetlinkSocket::open() {
  socket_.reset(mnl_socket_open2(protocol_, SOCK_CLOEXEC));
  if (!socket_) {
    if (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT)
      throw SubsystemAbsent(std::strerror(errno));
    throw KernelError(errno, "");
  }
  if (mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) throw KernelError(errno, "");
  // Both only improve error texts, so a kernel that refuses them is no reason to stop.
  int on = 1;
  mnl_socket_setsockopt(socket_.get(), NETLINK_EXT_ACK, &on, sizeof(on));
  mnl_socket_setsockopt(socket_.get(), NETLINK_CAP_ACK, &on, sizeof(on));
}

size_t NetlinkSocket::receive(std::span<std::byte> buffer) {
  for (;;) {
    const ssize_t length = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (length > 0) return static_cast<size_t>(length);
    if (length == 0) throw MalformedMessage("netlink: the kernel closed the socket");
    if (errno != EINTR) throw KernelError(errno, "");
  }
}

std::vector<Bytes> NetlinkSocket::exchange(Request request) {
  if (!socket_) open();
  request.set_sequence(++sequence_);
  const ByteView bytes = request.bytes();
  if (mnl_socket_sendto(socket_.get(), bytes.data(), bytes.size()) < 0)
    throw KernelError(errno, "");

  std::vector<Bytes> replies;
  Bytes buffer(datagram_bytes_max);
  for (bool complete = false; !complete;) {
    const Datagram datagram = decode_datagram(ByteView(buffer).first(receive(buffer)), sequence_);
    for (const ByteView payload : datagram.payloads)
      replies.emplace_back(payload.begin(), payload.end());
    complete = datagram.complete;
  }
  return replies;
}

}  // namespace sroce
