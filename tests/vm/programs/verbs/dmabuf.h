// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Regions over a DMA-BUF by a system call, because librxe does not offer ibv_reg_dmabuf_mr().
#pragma once

#include "verbs/context.h"

namespace verbs {

struct DmabufRange {
  int fd = -1;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t address = 0;  // in requests
  unsigned access = 0;        // IBV_ACCESS_*
};

// Of the ibv_mr only context, handle and keys are set. It is none of libibverbs.
class DmabufMr {
 public:
  // Throws Failure on an error.
  DmabufMr(const Pd& pd, const DmabufRange& range);
  ~DmabufMr();
  DmabufMr(const DmabufMr&) = delete;

  // Returns 0 or an errno, with which nothing was registered.
  static int try_register(const Pd& pd, const DmabufRange& range, ibv_mr* mr);
  static int deregister(const ibv_mr& mr);

  const ibv_mr* operator->() const { return &mr_; }
  // Returns 0 or an errno. Later calls do nothing.
  int close();

 private:
  ibv_mr mr_{};
  bool open_ = false;
};

}  // namespace verbs
