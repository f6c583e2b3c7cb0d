// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_module.h"

#include <linux/genetlink.h>

#include "sroce_netlink.h"

namespace sroce::test {
namespace {

Bytes header(uint8_t command) { return bytes_of(genlmsghdr{command, 1, 0}); }

}  // namespace

Bytes family_payload(const Attributes& attributes) { return header(1) + attributes.bytes(); }

Bytes family_request(uint16_t family, uint8_t command, uint16_t flags,
                     const Attributes& attributes) {
  return message(family, static_cast<uint16_t>(NLM_F_REQUEST | flags), 0,
                 header(command) + attributes.bytes());
}

std::vector<Bytes> FakeModule::exchange(Request request) {
  const Bytes bytes(request.bytes().begin(), request.bytes().end());
  nlmsghdr header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.nlmsg_type == GENL_ID_CTRL) {
    if (!loaded) throw KernelError(ENOENT, "");
    const uint16_t family = fake_family;
    return {family_payload(Attributes().raw(CTRL_ATTR_FAMILY_ID, &family, sizeof(family)))};
  }
  if (header.nlmsg_type != fake_family) throw KernelError(EOPNOTSUPP, "");
  requests.push_back(bytes);
  genlmsghdr family_header{};
  std::memcpy(&family_header, &bytes.at(sizeof(header)), sizeof(family_header));
  const bool shows = family_header.cmd == SROCE_CMD_DEV_GET && !replies.empty();
  if (error && !shows) throw KernelError(error, extended_ack);
  return replies;
}

}  // namespace sroce::test
