// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The verbs: cq.cc, domain.cc, memory.cc, provider.cc, qp.cc, srq.cc and xrcd.cc implement
// them.
#pragma once

#include "private_abi.h"
#include "provider.h"

namespace sroce::verbs {

#define SROCE_DECLARE(name, result, arguments, ...) result name arguments;
SROCE_VERBS(SROCE_DECLARE)
#undef SROCE_DECLARE

bool is_parent_domain(ibv_pd* pd);

/// True if the application guarantees one thread at a time for the objects of @p pd, or nullptr.
bool is_single_threaded(ibv_pd* pd);

sroce_completion_queue* queue_of(ibv_cq* cq);

}  // namespace sroce::verbs
