// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sroce/netlink.h"

namespace sroce {

/// The attributes of one nesting level by type; the last one wins where the kernel repeats a type.
class AttributeMap {
 public:
  explicit AttributeMap(ByteView payload) {
    for (const Attribute& attribute : parse_attributes(payload))
      by_type_.insert_or_assign(attribute.type, attribute);
  }

  const Attribute* find(uint16_t type) const {
    const auto found = by_type_.find(type);
    return found == by_type_.end() ? nullptr : &found->second;
  }

  const Attribute& get(uint16_t type) const {
    const Attribute* attribute = find(type);
    if (!attribute) throw MalformedMessage("netlink: attribute missing in the kernel's reply");
    return *attribute;
  }

 private:
  std::map<uint16_t, Attribute> by_type_;
};

}  // namespace sroce
