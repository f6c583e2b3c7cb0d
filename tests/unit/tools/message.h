// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Builds netlink messages byte by byte, independently of the code under test.
#pragma once

#include <linux/netlink.h>

#include <cstring>
#include <string>

#include "sroce/netlink.h"

namespace sroce::test {

/// A sequence of attributes: Attributes().u32(1, 7).text(2, "x").nest(3, Attributes()...)
class Attributes {
 public:
  Attributes& raw(uint16_t type, const void* data, size_t length) {
    const nlattr header{static_cast<uint16_t>(sizeof(nlattr) + length), type};
    append(&header, sizeof(header));
    append(data, length);
    bytes_.resize(NLA_ALIGN(bytes_.size()));
    return *this;
  }
  Attributes& u8(uint16_t type, uint8_t value) { return raw(type, &value, sizeof(value)); }
  Attributes& u32(uint16_t type, uint32_t value) { return raw(type, &value, sizeof(value)); }
  Attributes& u64(uint16_t type, uint64_t value) { return raw(type, &value, sizeof(value)); }
  Attributes& text(uint16_t type, const std::string& value) {
    return raw(type, value.c_str(), value.size() + 1);
  }
  Attributes& nest(uint16_t type, const Attributes& inner) {
    return raw(type, inner.bytes_.data(), inner.bytes_.size());
  }

  const Bytes& bytes() const { return bytes_; }

 private:
  void append(const void* data, size_t length) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + length);
  }

  Bytes bytes_;
};

/// A complete message with its header.
inline Bytes message(uint16_t type, uint16_t flags, uint32_t sequence, const Bytes& payload) {
  nlmsghdr header{};
  header.nlmsg_len = static_cast<uint32_t>(sizeof(header) + payload.size());
  header.nlmsg_type = type;
  header.nlmsg_flags = flags;
  header.nlmsg_seq = sequence;
  Bytes bytes(sizeof(header));
  std::memcpy(bytes.data(), &header, sizeof(header));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  bytes.resize(NLMSG_ALIGN(bytes.size()));
  return bytes;
}

template <typename T>
Bytes bytes_of(const T& value) {
  Bytes bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace sroce::test
