// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The guest's network: interfaces, addresses, RDMA devices. It needs no program of the userland,
// which may have no iproute2. Each function returns false if the kernel rejects a request.
#pragma once

#include <string>

namespace sroce {

bool set_link_up(const std::string& name);
bool add_dummy(const std::string& name);
/// The peer has the same name in the other namespace.
bool add_veth(const std::string& name, int other_netns);
/// Sets up an interface of this namespace with two addresses: 10.99.0.NUMBER and fd99::NUMBER.
bool set_up_link(const std::string& name, int number);
/// Makes this end and NUMBER learn each other's link-layer address, unless the link loses it.
bool resolve_neighbour(int number);
bool add_device(const std::string& name, const std::string& link);

}  // namespace sroce
