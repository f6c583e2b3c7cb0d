// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Advice about memory by a system call, because not every provider offers ibv_advise_mr().
#pragma once

#include "verbs/context.h"

namespace verbs {

// Returns 0 or an errno. `advice` is one of enum ib_uverbs_advise_mr_advice.
int advise_mr(const Pd& pd, unsigned advice, unsigned flags, ibv_sge sge);

}  // namespace verbs
