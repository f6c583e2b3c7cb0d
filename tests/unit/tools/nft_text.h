// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Parts of what "nft -j list ruleset" prints. Conditions end with a comma, before a verdict.
#pragma once

#include <string>

namespace sroce::test {

inline constexpr char accepts[] = R"({"accept": null})";
inline constexpr char returns[] = R"({"return": null})";
inline constexpr char drops[] = R"({"drop": null})";

/// Objects that each end with a comma.
inline std::string ruleset(const std::string& objects) {
  return R"({"nftables": [)" + objects + R"({"metainfo": {}}]})";
}
inline std::string match(const std::string& left, const std::string& right,
                         const std::string& op = "==") {
  return R"({"match": {"op": ")" + op + R"(", "left": )" + left + R"(, "right": )" + right + "}}, ";
}
inline std::string meta(const std::string& key) { return R"({"meta": {"key": ")" + key + R"("}})"; }
inline std::string field(const std::string& protocol, const std::string& name) {
  return R"({"payload": {"protocol": ")" + protocol + R"(", "field": ")" + name + R"("}})";
}
inline std::string call(const std::string& verdict, const std::string& chain) {
  return "{\"" + verdict + R"(": {"target": ")" + chain + R"("}})";
}
inline std::string target(const std::string& name) {
  return R"({"xt": {"type": "target", "name": ")" + name + R"("}})";
}
inline std::string vmap(const std::string& key, const std::string& data) {
  return R"({"vmap": {"key": )" + key + R"(, "data": )" + data + "}}";
}

inline const std::string saddr = field("ip", "saddr"), daddr = field("ip", "daddr");
inline const std::string dport = field("udp", "dport");
inline const std::string unknown = match(field("ether", "saddr"), R"("02:00:00:00:00:01")");

}  // namespace sroce::test
