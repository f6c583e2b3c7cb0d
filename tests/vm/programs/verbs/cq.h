// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A completion queue. Every wait has a deadline.
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
  // Returns the next completion, or throws Failure with `what`.
  ibv_wc next(harness::Deadline deadline, const std::string& what);
  // Throws Failure if a completion arrives during `quiet`.
  void expect_none(std::chrono::milliseconds quiet, const std::string& what);

  void arm(bool solicited_only);
  // Takes one event from the channel. Returns false if none arrives in time.
  bool wait_event(const Channel& channel, harness::Deadline deadline);

 private:
  Handle<ibv_cq, ibv_destroy_cq> handle_;
};

std::string describe(const ibv_wc& wc);

// Throws Failure unless status and wr_id are as given.
void expect_wc(const ibv_wc& wc, std::uint64_t wr_id, ibv_wc_status status,
               const std::string& what);

}  // namespace verbs
