// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/cm.h"

#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "sroce/sigint.h"
#include "sroce/udp_port.h"

namespace sroce {
namespace {

constexpr char cm_path[] = "/dev/infiniband/rdma_cm";
/// Only root may listen there, and no known program does (tcpmux).
constexpr uint16_t unused_service_port = 1;
/// The request carries the number of a queue pair, to which the peer would send if it accepted. 0
/// and 1 are those of management.
constexpr uint32_t some_qpn = 2;
constexpr std::chrono::milliseconds address_slice{100};
/// The event of the kernel's own timeout comes within this time.
constexpr std::chrono::milliseconds kernel_slack{10000};
/// enum rdma_cm_event_type, which has no uapi header.
enum CmEvent : uint32_t {
  event_address_resolved = 0,
  event_route_resolved = 2,
  event_connect_response = 5,
  event_rejected = 8,
};

sockaddr_storage with_port(sockaddr_storage address, uint16_t port) {
  if (address.ss_family == AF_INET)
    reinterpret_cast<sockaddr_in&>(address).sin_port = htons(port);
  else
    reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(port);
  return address;
}

/// One connection identifier of rdma_cm. The functions return an errno.
class CmFile {
 public:
  CmFile() : fd_(open(cm_path, O_RDWR | O_CLOEXEC | O_NONBLOCK)), error_(fd_ < 0 ? errno : 0) {}
  ~CmFile() {
    if (fd_ >= 0) close(fd_);  // this destroys the identifier, too
  }
  CmFile(const CmFile&) = delete;
  CmFile& operator=(const CmFile&) = delete;

  int open_error() const { return error_; }

  int create() {
    rdma_ucm_create_id_resp response{};
    rdma_ucm_create_id command{};
    command.uid = 1;  // of 0, the kernel drops all events
    command.response = address_of(response);
    command.ps = RDMA_PS_TCP;
    const int error = send(RDMA_USER_CM_CMD_CREATE_ID, command, sizeof(response));
    id_ = response.id;
    return error;
  }

  /// In slices, because the kernel may miss that the neighbour has answered: it looks again only at
  /// the end of its own timeout, which is that of a slice.
  int resolve_address(const CmQuestion& question) {
    const auto end = std::chrono::steady_clock::now() + question.wait;
    int error = 0;
    do {
      error = resolve_address_in(std::min(question.wait, address_slice), question);
    } while (error == ETIMEDOUT && std::chrono::steady_clock::now() < end);
    return error;
  }

  int resolve_route(std::chrono::milliseconds wait) {
    rdma_ucm_resolve_route command{};
    command.id = id_;
    command.timeout_ms = static_cast<uint32_t>(wait.count());
    const int error = send(RDMA_USER_CM_CMD_RESOLVE_ROUTE, command, 0);
    return error ? error : await(event_route_resolved, wait);
  }

  int connect(std::chrono::milliseconds wait, CmReply& reply) {
    rdma_ucm_connect command{};
    command.id = id_;
    command.conn_param.qp_num = some_qpn;
    command.conn_param.valid = 1;
    const auto start = std::chrono::steady_clock::now();
    int error = send(RDMA_USER_CM_CMD_CONNECT, command, 0);
    if (!error) error = await(event_connect_response, wait);
    reply.round_trip = std::chrono::steady_clock::now() - start;
    reply.reject_reason = reject_reason_;
    return error;
  }

  void query(CmReply& reply) {
    rdma_ucm_query_addr_resp response{};
    rdma_ucm_query command{};
    command.response = address_of(response);
    command.id = id_;
    command.option = RDMA_USER_CM_QUERY_ADDR;
    if (send(RDMA_USER_CM_CMD_QUERY, command, sizeof(response))) return;
    reply.device_index = response.ibdev_index;
    static_assert(sizeof(reply.source) == sizeof(response.src_addr));
    std::memcpy(&reply.source, &response.src_addr, sizeof(reply.source));
  }

 private:
  int resolve_address_in(std::chrono::milliseconds time, const CmQuestion& question) {
    rdma_ucm_resolve_addr command{};
    command.id = id_;
    command.timeout_ms = static_cast<uint32_t>(time.count());
    command.src_size = static_cast<uint16_t>(size_of(question.source));
    command.dst_size = static_cast<uint16_t>(size_of(question.peer));
    const sockaddr_storage peer = with_port(question.peer, unused_service_port);
    std::memcpy(&command.src_addr, &question.source, command.src_size);
    std::memcpy(&command.dst_addr, &peer, command.dst_size);
    const int error = send(RDMA_USER_CM_CMD_RESOLVE_ADDR, command, 0);
    return error ? error : await(event_address_resolved, time + kernel_slack);
  }

  template <typename T>
  static uint64_t address_of(T& object) {
    return reinterpret_cast<uintptr_t>(&object);
  }

  template <typename T>
  int send(uint32_t number, const T& command, size_t response_bytes) {
    struct {
      rdma_ucm_cmd_hdr header;
      std::byte body[sizeof(T)];
    } message;
    static_assert(sizeof(message) == sizeof(rdma_ucm_cmd_hdr) + sizeof(T));
    message.header = {number, sizeof(T), static_cast<uint16_t>(response_bytes)};
    std::memcpy(message.body, &command, sizeof(T));
    return write(fd_, &message, sizeof(message)) < 0 ? errno : 0;
  }

  /// A rejection is a response of the peer.
  int await(CmEvent wanted, std::chrono::milliseconds wait) {
    switch (wait_for_input(fd_, wait)) {
      case Wait::interrupted:
        return EINTR;
      case Wait::elapsed:
        return ETIMEDOUT;
      case Wait::input:
        break;
    }
    rdma_ucm_event_resp event{};
    rdma_ucm_get_event command{};
    command.response = address_of(event);
    if (const int error = send(RDMA_USER_CM_CMD_GET_EVENT, command, sizeof(event))) return error;
    if (event.event == wanted) return 0;
    if (event.event == event_rejected) {
      reject_reason_ = event.status;
      return 0;
    }
    const int status = static_cast<int>(event.status);
    return status < 0 ? -status : EPROTO;
  }

  int fd_;
  int error_;
  uint32_t id_ = 0;
  uint32_t reject_reason_ = 0;
};

/// The errno of the ICMP message that has come, which is that of the socket too. For IPv4 Linux
/// takes a destination that is prohibited for one that cannot be reached.
int error_of_message(int fd, int error) {
  alignas(cmsghdr) std::array<std::byte, 256> control{};
  msghdr message{};
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  if (recvmsg(fd, &message, MSG_ERRQUEUE) < 0) return error;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_IP || part->cmsg_type != IP_RECVERR) continue;
    sock_extended_err reason{};
    std::memcpy(&reason, CMSG_DATA(part), sizeof(reason));
    if (is_prohibition(reason)) return EACCES;
  }
  return error;
}

/// As probe_port(). EAGAIN: there is nothing to receive.
int probe_from(int fd, const CmQuestion& question) {
  const int all_errors = 1;  // not only those that are final for TCP
  if (question.peer.ss_family == AF_INET)
    setsockopt(fd, IPPROTO_IP, IP_RECVERR, &all_errors, sizeof(all_errors));
  else
    setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &all_errors, sizeof(all_errors));
  if (question.link_index)
    setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &question.link_index, sizeof(question.link_index));
  if (question.source.ss_family &&
      bind(fd, reinterpret_cast<const sockaddr*>(&question.source), size_of(question.source)) != 0)
    return 0;
  const sockaddr_storage port = with_port(question.peer, roce_port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&port), size_of(port)) != 0) return 0;
  std::byte byte{};
  if (send(fd, &byte, sizeof(byte), 0) < 0) return errno == EPERM ? EPERM : 0;
  // An earlier SIGINT, which has ended the requests, does not end this wait.
  pollfd file{fd, POLLIN, 0};
  if (poll(&file, 1, static_cast<int>(question.wait.count())) < 0) return errno;
  return recv(fd, &byte, sizeof(byte), 0) < 0 ? error_of_message(fd, errno) : 0;
}

}  // namespace

bool is_prohibition(const sock_extended_err& reason) {
  return reason.ee_origin == SO_EE_ORIGIN_ICMP && reason.ee_type == ICMP_DEST_UNREACH &&
         (reason.ee_code == ICMP_NET_ANO || reason.ee_code == ICMP_HOST_ANO ||
          reason.ee_code == ICMP_PKT_FILTERED);
}

socklen_t size_of(const sockaddr_storage& address) {
  switch (address.ss_family) {
    case AF_INET:
      return sizeof(sockaddr_in);
    case AF_INET6:
      return sizeof(sockaddr_in6);
    default:
      return 0;
  }
}

CmReply request_connection(const CmQuestion& question) {
  CmReply reply;
  CmFile file;
  if ((reply.error = file.open_error())) return reply;
  reply.stage = CmStage::create;
  if ((reply.error = file.create())) return reply;
  reply.stage = CmStage::address;
  if ((reply.error = file.resolve_address(question))) return reply;
  reply.stage = CmStage::route;
  file.query(reply);
  if ((reply.error = file.resolve_route(question.wait))) return reply;
  reply.stage = CmStage::connect;
  reply.error = file.connect(question.wait, reply);
  return reply;
}

int probe_port(const CmQuestion& question) {
  const sockaddr_storage& peer = question.peer;
  const int fd = socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return 0;
  const int error = probe_from(fd, question);
  close(fd);
  return error == EAGAIN ? 0 : error;
}

}  // namespace sroce
