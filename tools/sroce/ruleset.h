// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Members of the JSON objects that "nft -j" prints. None of these functions throws, whatever the
// object is.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sroce {

/// The member of an object, or null.
inline const nlohmann::json& member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

/// The member of an object if it is a string, or "".
inline std::string text_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json& text = member(object, key);
  return text.is_string() ? text.get<std::string>() : std::string();
}

}  // namespace sroce
