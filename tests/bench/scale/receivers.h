// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queue pairs that only receive, with receive queues of their own or a shared one.
#pragma once

#include "scale/pairs.h"

namespace scale {

// KiB of kernel memory per queue pair, with `count` of them and all receives posted.
double receiver_kib(const DeviceName& device, std::size_t count, bool shared);

}  // namespace scale
