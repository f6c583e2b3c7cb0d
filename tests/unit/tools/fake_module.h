// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The module behind generic netlink: keeps the requests, and gives the answers it was told to.
#pragma once

#include <cerrno>
#include <vector>

#include "message.h"
#include "sroce/netlink.h"

namespace sroce::test {

constexpr uint16_t fake_family = 0x1b;

/// A reply of the family: its header, then attributes.
Bytes family_payload(const Attributes& attributes);

/// A whole request to the family, as the tool should have sent it.
Bytes family_request(uint16_t family, uint8_t command, uint16_t flags,
                     const Attributes& attributes);

class FakeModule : public Channel {
 public:
  std::vector<Bytes> exchange(Request request) override;

  bool loaded = true;
  int error = 0;
  std::string extended_ack;
  std::vector<Bytes> replies;
  std::vector<Bytes> requests;  // but for those that look for the family
};

}  // namespace sroce::test
