// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#ifndef TESTS_UNIT_KERNEL_ATTRIBUTES_H
#define TESTS_UNIT_KERNEL_ATTRIBUTES_H

#include <map>
#include <stdexcept>
#include <string>

#include "stand_in/netlink.h"
#include "unit/kernel/packets.h"

// Attributes by type; those of one type in their order.
struct Attributes {
  Attributes(const u8* at, u32 bytes) {
    while (bytes) {
      nlattr header;
      memcpy(&header, at, sizeof(header));
      const u32 aligned = NLA_ALIGN(header.nla_len);
      require(header.nla_len >= NLA_HDRLEN && aligned <= bytes);
      values.emplace(header.nla_type & NLA_TYPE_MASK, Bytes(at + NLA_HDRLEN, at + header.nla_len));
      at += aligned;
      bytes -= aligned;
    }
  }
  static void require(bool condition) {
    if (!condition) throw std::runtime_error("malformed attributes");
  }
  bool has(int type) const { return values.count(type); }
  template <typename T>
  T get(int type) const {
    T value = {};
    const auto found = values.find(type);
    require(found != values.end() && found->second.size() == sizeof(T));
    memcpy(&value, found->second.data(), sizeof(T));
    return value;
  }
  u32 u32_of(int type) const { return get<u32>(type); }
  u64 u64_of(int type) const { return get<u64>(type); }
  u32 u8_of(int type) const { return get<u8>(type); }
  std::string string_of(int type) const {
    const auto found = values.find(type);
    require(found != values.end() && !found->second.empty() && !found->second.back());
    return reinterpret_cast<const char*>(found->second.data());
  }
  std::vector<Attributes> nests(int type) const {
    std::vector<Attributes> all;
    const auto [from, to] = values.equal_range(type);
    for (auto i = from; i != to; ++i) all.emplace_back(i->second.data(), i->second.size());
    return all;
  }
  Attributes nest(int type) const {
    const std::vector<Attributes> all = nests(type);
    require(all.size() == 1);
    return all[0];
  }
  std::multimap<int, Bytes> values;
};

#endif
