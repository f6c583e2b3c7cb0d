// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

struct FakeResult {
  const char* registered;  // the name of the provider, or nullptr
  bool opened;
  bool closed;
};

/// Opens a device and closes it again.
extern "C" FakeResult fake_open();
