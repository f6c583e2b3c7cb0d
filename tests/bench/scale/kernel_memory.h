// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

namespace scale {

// Returns the memory of the kernel itself, in KiB.
double kernel_memory();

}  // namespace scale
