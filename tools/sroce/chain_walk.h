// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// How packets pass through the chains of nftables and iptables, as in the kernel.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "sroce/packet_match.h"
#include "sroce/ruleset.h"

namespace sroce {

/// How surely packets reach a rule. In order: the way through several is the least of theirs.
enum class Reach {
  condition,  // they do if they meet a condition that is not understood
  earlier,    // they do unless an earlier rule has ended them, under such a condition
  certain,
};

/// How packets end: they leave the chain, or the base chain. A filter drops them or lets them pass,
/// maybe by a rule that names their port (UDP 4791): its other conditions do not count then.
enum class End { none, chain, drop, pass, named_pass };

/// A statement that packets reach.
struct Step {
  const std::string& chain;
  const Rule& rule;
  const nlohmann::json& statement;
  Reach reach;
  bool is_named;     // the rule names the port, or one that leads to it does
  bool is_for_port;  // the rule is for that port only
};

/// Follows packets from a base chain. A class for NAT, or for filters, says what statements mean.
class ChainWalk {
 public:
  /// Unless looks_for_port is set, no rule counts as one that names the port.
  ChainWalk(const Ruleset& ruleset, const Packets& packets, bool looks_for_port)
      : ruleset_(ruleset), packets_(packets), looks_for_port_(looks_for_port) {}
  virtual ~ChainWalk() = default;
  ChainWalk(const ChainWalk&) = delete;
  ChainWalk& operator=(const ChainWalk&) = delete;

  /// Returns how packets reach the policy; empty if none does.
  std::optional<Reach> walk(const std::string& base, Reach start = Reach::certain);

 protected:
  /// The end of packets by a statement; empty if it has no meaning here, so that it may be a
  /// condition.
  virtual std::optional<End> execute(const Step& step) = 0;

  /// The elements of a set or map, which has them or the name of another.
  const nlohmann::json& resolved(const std::string& chain, const nlohmann::json& set) const;
  /// Whether packets have a key of a map, one of its pairs.
  Match match_key(const nlohmann::json& map, const nlohmann::json& pair) const;

  const Ruleset& ruleset_;
  const Packets& packets_;

 private:
  /// A chain, and how packets reach its present rule.
  struct Place {
    const std::string& chain;
    Reach reach;
    bool is_named;
    int depth;
    bool may_return = false;  // to the caller, by a rule before
  };

  End follow(const Place& start);
  End apply(const Rule& rule, Place& place);
  End execute(const Step& step, int depth, Match& match);
  End execute_map(const Step& step, int depth);
  End call(const Step& step, const nlohmann::json& call, int depth);

  const bool looks_for_port_;
  int passes_ = 0;   // how often packets may have passed
  int returns_ = 0;  // how often they may have returned to the caller of a chain
  int rules_ = 0;    // that have been applied
};

}  // namespace sroce
