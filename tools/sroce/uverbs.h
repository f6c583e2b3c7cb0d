// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The active path MTU of a port, which neither netlink nor sysfs reports: one "query port" over the
// device's uverbs character file, as ibv_devinfo does it, without needing libibverbs.
#pragma once

#include <cstdint>
#include <optional>

#include "sroce/nldev.h"

namespace sroce {

/// Bytes of an enum ib_mtu value; nothing for a value the standard does not define.
std::optional<uint32_t> mtu_bytes(uint8_t ib_mtu);

/// Nothing if the character file cannot be opened or the device declines.
std::optional<uint32_t> query_active_mtu_bytes(const nldev::UverbsReply& uverbs, uint32_t port);

}  // namespace sroce
