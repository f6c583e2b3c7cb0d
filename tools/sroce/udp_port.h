// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstdint>

namespace sroce {

/// The destination of RoCEv2 packets (IBTA annex A17).
inline constexpr uint16_t roce_port = 4791;

}  // namespace sroce
