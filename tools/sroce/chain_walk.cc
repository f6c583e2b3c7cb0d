// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/chain_walk.h"

#include <algorithm>

namespace sroce {
namespace {

using nlohmann::json;

constexpr int most_jumps = 16;  // as in the kernel
/// The kernel has no such limit, but no ruleset that it takes is beyond.
constexpr int most_rules = 1'000'000;

/// All packets that get to the statement pass it.
bool is_neutral(const json& statement) {
  for (const char* name : {"counter", "log", "mangle", "continue"}) {
    if (statement.contains(name)) return true;
  }
  return text_of(member(statement, "xt"), "type") == "target";
}

Reach reach_if(Match match, Reach reach) {
  return match == Match::always ? reach : Reach::condition;
}

}  // namespace

std::optional<Reach> ChainWalk::walk(const std::string& base) {
  passes_ = rules_ = 0;
  if (follow(base, Reach::certain, 0) != End::none) return std::nullopt;
  return passes_ ? Reach::earlier : Reach::certain;
}

/// Returns the end of all packets that get to the chain; none if any may go back to the caller.
End ChainWalk::follow(const std::string& name, Reach reach, int depth) {
  const auto chain = ruleset_.chains.find(name);
  if (chain == ruleset_.chains.end() || depth > most_jumps) return End::none;
  Place place{name, reach, depth};
  for (const Rule& rule : chain->second.rules) {
    if (++rules_ > most_rules) return End::pass;
    const End end = apply(rule, place);
    if (end != End::none) return end == End::chain ? End::none : end;
  }
  return End::none;
}

/// Returns the end of all packets that get to the rule; none if any may go to the next.
End ChainWalk::apply(const Rule& rule, Place& place) {
  Match match = Match::always;
  for (const json& statement : rule.statements) {
    if (match == Match::never) break;
    if (!statement.is_object()) continue;
    const int before = passes_;
    const End end =
        execute({place.chain, rule, statement, reach_if(match, place.reach)}, place.depth, match);
    if (end != End::none && match == Match::always) return end;
    if (end == End::chain || passes_ != before) place.reach = std::min(place.reach, Reach::earlier);
  }
  return End::none;
}

End ChainWalk::execute(const Step& step, int depth, Match& match) {
  if (const json& condition = member(step.statement, "match"); step.statement.contains("match")) {
    match =
        std::min(match, match_packets(member(condition, "left"), text_of(condition, "op"),
                                      resolved(step.chain, member(condition, "right")), packets_));
    return End::none;
  }
  if (step.statement.contains("return")) return End::chain;
  if (step.statement.contains("vmap")) return execute_map(step, step.statement["vmap"], depth);
  for (const char* call : {"jump", "goto"}) {
    if (!step.statement.contains(call)) continue;
    const std::string target = text_of(step.statement[call], "target");
    const End end = follow(table_of(step.chain) + target, step.reach, depth + 1);
    if (end == End::pass) passes_++;
    return end == End::none && call == std::string("goto") ? End::chain : end;
  }
  if (const auto end = execute(step)) {
    if (*end == End::pass) passes_++;
    return *end;
  }
  if (!is_neutral(step.statement)) match = std::min(match, Match::maybe);
  return End::none;
}

/// Packets take the verdict of the first key that they have, or of any that they may have.
End ChainWalk::execute_map(const Step& step, const json& map, int depth) {
  const json& pairs = member(resolved(step.chain, member(map, "data")), "set");
  if (!pairs.is_array()) return End::none;
  for (const json& pair : pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[1].is_object()) continue;
    const Match key = match_key(map, pair);
    if (key == Match::never) continue;
    Match match = key;
    const End end =
        execute({step.chain, step.rule, pair[1], reach_if(key, step.reach)}, depth, match);
    if (key == Match::always) return end;
    if (end == End::chain) passes_++;
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
