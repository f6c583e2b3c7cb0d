// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Two processes that run the same list of cases in lockstep.
//
// Inside a case they exchange() values and sync(). A case passes only if it passes on both sides.
// If one side fails, the other leaves the case at its next exchange, and both go on with the next
// case.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>

#include "harness/failure.h"
#include "harness/rendezvous.h"
#include "harness/tap.h"

namespace harness {

class Duet {
 public:
  Duet(Rendezvous peer, Tap& tap, std::chrono::seconds wait_limit);

  void run(const std::string& name, const std::function<void()>& body);

  // Returns when both sides have called it.
  void sync() { exchange<char>('s'); }

  template <class T>
  T exchange(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    T theirs;
    exchange_bytes(&mine, &theirs, sizeof(T));
    return theirs;
  }

  std::string exchange_text(const std::string& mine);

  Deadline deadline() const { return Deadline::after(wait_limit_); }
  std::chrono::seconds wait_limit() const { return wait_limit_; }

 private:
  enum Kind : std::uint32_t { data, passed, failed, skipped };

  void exchange_bytes(const void* mine, void* theirs, std::size_t length);
  Rendezvous::Message receive_data();
  Rendezvous::Message drain_to_result();

  Rendezvous peer_;
  Tap& tap_;
  std::chrono::seconds wait_limit_;
  std::optional<Rendezvous::Message> peer_result_;
};

}  // namespace harness
