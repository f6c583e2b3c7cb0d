// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// "sroce ping": whether a RoCEv2 stack responds at a host, and why not. It asks for a connection to
// a service that nobody has. Each stack rejects that, so the host needs no server.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "sroce/cm.h"
#include "sroce/device.h"
#include "sroce/output.h"

namespace sroce {

struct PingOptions {
  std::string host;
  std::optional<std::string> device{};  // absent: the one that the route takes
  uint32_t count = 0;                   // 0: until SIGINT
  double wait_seconds = 2;              // for a response
  Format format = Format::table;
};

/// Returns 0 after a response and 1 without one, as ping(8). Throws Failure.
int run_ping(System& system, const PingOptions& options, std::ostream& out);

/// The first address of a host name, or the address that it is. Throws Failure.
sockaddr_storage resolve_host(const std::string& host);

/// Throws Failure if the kernel's rdma_cm could not be asked at all.
void check_asked(System& system, const CmReply& reply);

}  // namespace sroce
