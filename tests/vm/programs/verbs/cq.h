// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A completion queue, and waiting for it without spinning for ever.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "verbs/context.h"

namespace verbs {

class Cq {
 public:
  Cq(const Context& context, int depth, const Channel* channel = nullptr);

  ibv_cq* get() const { return handle_.get(); }

  std::optional<ibv_wc> poll();
  // The next completion, or Failure that names what was waited for.
  ibv_wc next(harness::Deadline deadline, const std::string& what);
  // Failure if a completion turns up during `quiet`.
  void expect_none(std::chrono::milliseconds quiet, const std::string& what);

  void arm(bool solicited_only);
  // Takes one event from the channel; false if none comes in time.
  bool wait_event(const Channel& channel, harness::Deadline deadline);

 private:
  Handle<ibv_cq, ibv_destroy_cq> handle_;
};

std::string describe(const ibv_wc& wc);

// Failure unless status and wr_id are as wanted.
void expect_wc(const ibv_wc& wc, std::uint64_t wr_id, ibv_wc_status status,
               const std::string& what);

}  // namespace verbs
