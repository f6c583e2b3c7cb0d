// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/chain_walk.h"

#include <algorithm>

namespace sroce {
namespace {

using nlohmann::json;

constexpr int most_jumps = 16;  // as in nf_tables; a deeper chain of iptables is taken to return
/// Beyond this limit the rest may do anything.
constexpr int most_rules = 200'000;

/// All packets that get to the statement pass it.
bool is_neutral(const json& statement) {
  for (const char* name : {"counter", "log", "mangle", "continue", "notrack"}) {
    if (statement.contains(name)) return true;
  }
  return text_of(member(statement, "xt"), "type") == "target";
}

Reach reach_if(Match match, Reach reach) {
  return match == Match::always ? reach : Reach::condition;
}

/// Does it end all packets that get to the rule?
bool is_whole(End end, Match match, bool is_named) {
  if (end == End::chain && is_named) return true;
  return end == End::named_pass || (end != End::none && match == Match::always);
}

}  // namespace

std::optional<Reach> ChainWalk::walk(const std::string& base, Reach start) {
  passes_ = returns_ = rules_ = 0;
  if (follow({base, start, false, 0}) != End::none) return std::nullopt;
  return passes_ ? std::min(start, Reach::earlier) : start;
}

/// Returns the end of all packets that get to the chain; none if any may go back to the caller.
End ChainWalk::follow(const Place& start) {
  const auto chain = ruleset_.chains.find(start.chain);
  if (chain == ruleset_.chains.end() || start.depth > most_jumps) return End::none;
  Place place = start;
  const int returns = returns_;
  for (const Rule& rule : chain->second.rules) {
    if (++rules_ > most_rules) {
      passes_++;
      break;
    }
    const End end = apply(rule, place);
    if (end == End::none) continue;
    returns_ = returns;  // those were of this chain
    const bool is_back = end == End::chain || (place.may_return && end != End::named_pass);
    return is_back ? End::none : end;
  }
  returns_ = returns;
  return End::none;
}

/// Returns the end of all packets that get to the rule; none if any may go to the next.
End ChainWalk::apply(const Rule& rule, Place& place) {
  Match match = Match::always;
  bool is_named = false, is_for_port = false;
  for (const json& statement : rule.statements) {
    if (match == Match::never) break;
    if (!statement.is_object()) continue;
    const json& condition = member(statement, "match");
    const json& right = resolved(place.chain, member(condition, "right"));
    if (looks_for_port_ && names_port(member(condition, "left"), text_of(condition, "op"), right)) {
      is_named = true;
      is_for_port |= names_only_port(member(condition, "left"), right);
    }
    const Step step{
        place.chain, rule, statement, reach_if(match, place.reach), place.is_named || is_named,
        is_for_port};
    const int before = passes_, returns = returns_;
    const End end = execute(step, place.depth, match);
    if (is_whole(end, match, step.is_named)) return end;
    const bool may_return = end == End::chain || returns_ != returns;
    place.may_return |= may_return;
    if (may_return || passes_ != before) place.reach = std::min(place.reach, Reach::earlier);
  }
  return End::none;
}

End ChainWalk::execute(const Step& step, int depth, Match& match) {
  const json& statement = step.statement;
  if (statement.contains("match")) {
    const json& condition = statement["match"];
    match =
        std::min(match, match_packets(member(condition, "left"), text_of(condition, "op"),
                                      resolved(step.chain, member(condition, "right")), packets_));
    return End::none;
  }
  if (statement.contains("return")) return End::chain;
  if (statement.contains("vmap")) return execute_map(step, depth);
  if (statement.contains("jump")) return call(step, statement["jump"], depth);
  if (statement.contains("goto")) {
    const End end = call(step, statement["goto"], depth);
    return end == End::none ? End::chain : end;
  }
  if (const auto end = execute(step)) {
    if (*end == End::pass) passes_++;
    return *end;
  }
  if (!is_neutral(statement)) match = std::min(match, Match::maybe);
  return End::none;
}

End ChainWalk::call(const Step& step, const json& call, int depth) {
  const std::string target = table_of(step.chain) + text_of(call, "target");
  const End end = follow({target, step.reach, step.is_named, depth + 1});
  if (end == End::pass) passes_++;
  return end;
}

/// Packets take the verdict of the first key that they have, or of any that they may have.
End ChainWalk::execute_map(const Step& step, int depth) {
  const json& map = step.statement["vmap"];
  const json& pairs = member(resolved(step.chain, member(map, "data")), "set");
  if (!pairs.is_array()) return End::none;
  Reach reach = step.reach;
  for (const json& pair : pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_object()) continue;
    const Match key = match_key(map, pair);
    if (key == Match::never) continue;
    const bool is_named =
        step.is_named || (looks_for_port_ && names_port(member(map, "key"), "==", pair[0]));
    Match match = key;
    const int before = passes_;
    const End end = execute({step.chain, step.rule, pair[1], reach_if(key, reach), is_named, false},
                            depth, match);
    if (key == Match::always || is_whole(end, key, is_named)) return end;
    if (end == End::chain) returns_++;
    if (end == End::chain || passes_ != before) reach = std::min(reach, Reach::earlier);
  }
  return End::none;
}

const json& ChainWalk::resolved(const std::string& chain, const json& set) const {
  if (!set.is_string()) return set;
  const std::string name = set.get<std::string>();
  if (!name.starts_with('@')) return set;
  const auto named = ruleset_.sets.find(table_of(chain) + name.substr(1));
  return named == ruleset_.sets.end() ? set : named->second;
}

Match ChainWalk::match_key(const json& map, const json& pair) const {
  return match_packets(member(map, "key"), "==", pair[0], packets_);
}

}  // namespace sroce
