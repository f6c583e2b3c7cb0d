// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A connection request through /dev/infiniband/rdma_cm, the kernel's interface below librdmacm. As
// the request is for a service that does not exist, no queue pair is needed, and so neither
// librdmacm nor libibverbs with a provider.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

struct sock_extended_err;

namespace sroce {

/// The stages of a request, in turn.
enum class CmStage { open, create, address, route, connect };

struct CmQuestion {
  sockaddr_storage source{};  // of family 0: the kernel chooses
  uint32_t link_index = 0;    // the interface of the source; 0: any
  sockaddr_storage peer{};
  std::chrono::milliseconds wait{};  // for the end of each stage
};

struct CmReply {
  CmStage stage = CmStage::open;  // the last one that began
  int error = 0;                  // an errno that ended it; 0: the peer has responded
  uint32_t reject_reason = 0;     // IBTA 12.6.7.2; 0 if the peer accepts
  std::chrono::nanoseconds round_trip{};
  std::optional<uint32_t> device_index{};  // of the local RDMA device, from stage route on
  sockaddr_storage source{};               // ... and its address
};

/// Does a firewall say that the destination is prohibited (RFC 1812, 5.2.7.1)? IPv4 only.
bool is_prohibition(const sock_extended_err& reason);

/// The size of the address of its family; 0 if it has none.
socklen_t size_of(const sockaddr_storage& address);

/// EINTR: SIGINT has come. ETIMEDOUT: the wait has ended.
CmReply request_connection(const CmQuestion& question);

/// Sends a byte to the peer's UDP port 4791, which its RoCE stack ignores, on the way that the
/// request takes. Returns the errno of the ICMP message that comes back: ECONNREFUSED if nothing
/// listens on the port, EACCES if a firewall says that it is prohibited. EPERM: a firewall of this
/// host drops the byte. EINTR: SIGINT has come during the wait. Otherwise 0.
int probe_port(const CmQuestion& question);

}  // namespace sroce
