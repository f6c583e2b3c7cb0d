// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Reregistration by a system call, because not every provider offers ibv_rereg_mr().
#pragma once

#include "verbs/context.h"

namespace verbs {

struct Rereg {
  unsigned flags = 0;  // IBV_REREG_MR_CHANGE_*
  const void* address = nullptr;
  std::size_t length = 0;
  std::uint64_t remote_address = 0;
  std::uint32_t pd_handle = 0;
  unsigned access = 0;
};

// Returns 0 or an errno. Throws Failure if the key changes. Leaves the fields of the region alone.
int rereg_mr(const Mr& mr, const Rereg& change);

}  // namespace verbs
