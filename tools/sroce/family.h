// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Talking to the module itself: its family's number, and what its refusals mean.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sroce/system.h"

namespace sroce {

/// What is asked, for the message if it fails: "show", "set", and of which device.
struct Errand {
  std::string verb;
  std::optional<std::string> device{};
};

/// Sends the request that make builds with the number of the family. Throws Failure.
std::vector<Bytes> ask_module(System& system, const Errand& errand,
                              const std::function<Request(uint16_t family)>& make);

}  // namespace sroce
