// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "mapping.h"
#include "ring.h"

namespace sroce {

static_assert(sizeof(ib_uverbs_wc) == 48);
static_assert(offsetof(ib_uverbs_wc, ex) == 24);
static_assert(offsetof(ib_uverbs_wc, wc_flags) == 36);
static_assert(sizeof(rxe_create_cq_resp) == sizeof(mminfo));
static_assert(sizeof(rxe_resize_cq_resp) == sizeof(mminfo));

/// A completion queue. Polling is safe from many threads.
class CompletionQueue {
 public:
  /// Nothing, and errno set, when the ring cannot be mapped or is not what it should be.
  static std::unique_ptr<CompletionQueue> open(int fd, const mminfo& where);

  /// Take up to @p completions.size() entries, oldest first; returns how many there were.
  std::size_t poll(std::span<ibv_wc> completions);

  /// Exchange the ring for another one. @p change asks the kernel for it, which carries over what
  /// has not been polled: so nobody polls meanwhile. Returns 0 or an errno.
  template <typename Change>
  int replace(int fd, Change change) {
    const std::lock_guard guard(lock_);
    mminfo where{};
    if (const int err = change(where)) return err;
    return remap(fd, where);
  }

 private:
  CompletionQueue(Mapping memory, ConsumerRing<ib_uverbs_wc> ring);
  int remap(int fd, const mminfo& where);

  Mapping memory_;
  ConsumerRing<ib_uverbs_wc> ring_;
  std::mutex lock_;
};

}  // namespace sroce
