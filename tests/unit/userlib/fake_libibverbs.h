// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

struct FakeResult {
  const char* registered;  // the name of the provider, or nullptr
  bool matches_any;        // whatever its driver id
  bool matched;
  bool opened;
  bool closed;
};

/// Matches, opens and closes the device with files in @p path. Unless it is @p native, its module
/// does not know our ABI.
extern "C" FakeResult fake_open(const char* path, bool native);
