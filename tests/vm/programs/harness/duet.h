// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Two processes that run the same list of cases side by side.
//
// Inside a case they exchange() values and sync(). A case passes only if it passed on both sides;
// when one side fails, the other leaves the case at its next exchange, and both meet again at the
// next case.
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
  Duet(Rendezvous peer, Tap& tap, std::chrono::seconds patience);

  void run(const std::string& name, const std::function<void()>& body);

  // Both sides are here, or the case fails.
  void sync() { exchange<char>('s'); }

  template <class T>
  T exchange(const T& mine) {
    static_assert(std::is_trivially_copyable_v<T>);
    T theirs;
    exchange_bytes(&mine, &theirs, sizeof(T));
    return theirs;
  }

  std::string exchange_text(const std::string& mine);

  Deadline deadline() const { return Deadline::after(reo_wnd_); }
  std::chrono::seconds patience() const { return reo_wnd_; }

 private:
  enum Kind : std::uint32_t { data, passed, failed, skipped };

  void exchange_bytes(const void* mine, void* theirs, std::size_t length);
  Rendezvous::Message receive_data();
  Rendezvous::Message drain_to_result();

  Rendezvous peer_;
  Tap& tap_;
  std::chrono::seconds reo_wnd_;
  std::optional<Rendezvous::Message> peer_result_;
};

}  // namespace harness
