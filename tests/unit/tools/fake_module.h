// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A fake module behind generic netlink: it records requests and returns preset replies.
#pragma once

#include <cerrno>
#include <vector>

#include "message.h"
#include "sroce/netlink.h"

namespace sroce::test {

constexpr uint16_t fake_family = 0x1b;

/// A reply of the family: its header, then attributes.
Bytes family_payload(const Attributes& attributes);

/// A complete request to the family, as the tool should send it.
Bytes family_request(uint16_t family, uint8_t command, uint16_t flags,
                     const Attributes& attributes);

class FakeModule : public Channel {
 public:
  std::vector<Bytes> exchange(Request request) override;

  bool loaded = true;
  int error = 0;  // of every request, but DEV_GET has the replies if there are any
  std::string extended_ack;
  std::vector<Bytes> replies;
  std::vector<Bytes> requests;  // except those that look up the family
};

}  // namespace sroce::test
