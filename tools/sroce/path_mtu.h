// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Whether packets of the size that connections use arrive. rdma_cm takes the path MTU from the
// local interface. If the peer's is smaller, connections fail; if it is smaller on the way, they
// stall when data flows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sroce/cm.h"
#include "sroce/device.h"
#include "sroce/no_response.h"

namespace sroce {

/// Sends ICMP echo requests in IP packets of these sizes, in bytes, that nobody may fragment.
/// Returns the largest size that the peer returns unfragmented within a second; 0 if there is none,
/// this process may send none, or a signal has come.
size_t find_largest_echo(const CmQuestion& question, const std::vector<size_t>& sizes);

/// Empty if packets of the path MTU that connections get arrive, or if nothing is known: the peer
/// returns no echo of the size that the path MTU 1024 needs.
std::optional<Cause> find_mtu_fault(System& system, const CmQuestion& question,
                                    uint32_t device_index);

}  // namespace sroce
