// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "port/engine.h"

namespace sroce_test {

/// Packet @i of a burst of @count, as @fill writes it. Checks that it equals the one before where
/// sroce_packet_repeats() says so.
template <typename Fill>
sroce_packet packet_of_burst(u32 i, u32 count, const Fill& fill) {
  sroce_packet pkt, before;
  fill(i, &pkt);
  if (sroce_packet_repeats(i, count)) {
    fill(i - 1, &before);
    before.psn = pkt.psn;
    EXPECT_EQ(std::memcmp(&before, &pkt, sizeof(pkt)), 0)
        << "packet " << i << " differs from the one before";
  }
  return pkt;
}

}  // namespace sroce_test
