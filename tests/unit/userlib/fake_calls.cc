// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The functions of a fake libibverbs that only have to exist. fake_libibverbs.cc replaces some.
#include "rdma_core/private_abi.h"

extern "C" {

#define FAKE_CALL(result, name, arguments) \
  __attribute__((weak)) void name() {}
SROCE_CALLS(FAKE_CALL)

void ibv_cmd_create_cq_ex() {}

}  // extern "C"
