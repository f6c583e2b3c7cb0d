// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The named network namespaces of "ip netns". RDMA netlink tells a device's netdev only to a
// socket in the netdev's own namespace, so the others are found by asking from inside each.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sroce/netlink.h"

namespace sroce {

/// Called with a namespace's name and a channel opened in it; returns whether to go on.
using NetnsVisitor = std::function<bool(const std::string& name, Channel& channel)>;

/// The name of the caller's network namespace, if it has one.
std::optional<std::string> current_netns_name();

/// Visits every named namespace but the caller's. Those that cannot be entered (it takes
/// CAP_SYS_ADMIN) are left out. The thread is back in its own namespace when this returns.
void visit_other_netns(const NetnsVisitor& visitor);

}  // namespace sroce
