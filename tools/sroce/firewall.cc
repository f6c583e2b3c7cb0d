// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/firewall.h"

#include <algorithm>
#include <optional>

#include "sroce/chain_walk.h"
#include "sroce/text.h"

namespace sroce {
namespace {

using nlohmann::json;

/// The name of a chain without its table.
std::string short_name(const std::string& chain) { return chain.substr(table_of(chain).size()); }

/// The options of firewall-cmd for the place of a drop, in front of --add-port, which lets packets
/// pass there. Empty if it does not, as in a chain of rich rules.
std::optional<std::string> place_in_firewalld(const std::string& chain, const std::string& base) {
  static const std::string zone = "filter_IN_", policy = "filter_IN_policy_";
  if (chain == base) return "";  // of the interface's zone, or else of the default one
  const std::string name = short_name(chain);
  for (const char* part : {"_pre", "_log", "_deny", "_allow", "_post"}) {
    if (name.ends_with(part)) return std::nullopt;
  }
  if (name.starts_with(policy)) return shell_word("--policy=" + name.substr(policy.size())) + ' ';
  if (name.starts_with(zone)) return shell_word("--zone=" + name.substr(zone.size())) + ' ';
  return std::nullopt;
}

/// The command of ufw that lets packets pass at the place of a drop; empty if its rules come behind
/// that place. It changes the rule for this port, or adds one: before the other ones for a drop by
/// one of them.
std::string cure_of_ufw(const Ruleset& ruleset, const std::string& base, const Drop& drop,
                        const Rule* rule) {
  const std::string table = table_of(base), name = short_name(drop.chain);
  const std::string ufw = ruleset.chains.contains(table + "ufw-user-input") ? "ufw-" : "ufw6-";
  if (!ruleset.chains.contains(table + ufw + "user-input")) return "";
  const std::string port = std::string(drop.leave ? "out " : "") + "4791/udp";
  const std::string user = ufw + (drop.leave ? "user-output" : "user-input");
  if (rule && name == user) {
    const std::string own = ' ' + user + " -p udp -m udp --dport 4791 -j ";
    const bool is_own = rule->deletion.find(own) != std::string::npos;
    return (is_own ? "ufw allow " : "ufw prepend allow ") + port;
  }
  const bool is_before = name.starts_with(ufw + "before") || name.starts_with(ufw + "not-local");
  if (rule && (!name.starts_with(ufw) || is_before)) return "";
  return "ufw allow " + port;
}

/// The commands that let packets pass at the place of a drop, a rule or else the policy.
std::string cure_of(const Ruleset& ruleset, const std::string& base, const Drop& drop,
                    const Rule* rule, bool is_for_port) {
  const Chain& chain = ruleset.chains.at(base);
  const bool is_usual = chain.hook == "input" || chain.hook == "output";
  if (const std::string cure = is_usual ? cure_of_ufw(ruleset, base, drop, rule) : "";
      !cure.empty())
    return cure;
  if (table_of(base).ends_with(" firewalld ")) {  // which may not let others change its table
    const auto place = chain.hook == "input" ? place_in_firewalld(drop.chain, base) : std::nullopt;
    if (!place)
      return "to see its rules: firewall-cmd --list-all-zones; firewall-cmd --list-all-policies";
    return "firewall-cmd " + *place + "--add-port=4791/udp\nto keep it: firewall-cmd --permanent " +
           *place + "--add-port=4791/udp";
  }
  return is_for_port ? rule->deletion : chain.acceptance;
}

/// Follows packets through a base chain that filters.
class FilterWalk : public ChainWalk {
 public:
  FilterWalk(const Ruleset& ruleset, const Packets& packets) : ChainWalk(ruleset, packets, true) {}

  std::optional<Drop> find(const std::string& base, Reach start) {
    base_ = base;
    found_.reset();
    const auto reach = walk(base, start);
    if (reach && *reach != Reach::condition && ruleset_.chains.at(base).policy == "drop")
      record({base, true, *reach == Reach::certain, packets_.leave}, nullptr, false);
    return found_;
  }

 private:
  std::optional<End> execute(const Step& step) override {
    const json& statement = step.statement;
    const std::string target = text_of(member(statement, "xt"), "name");
    if (statement.contains("accept") || statement.contains("queue"))
      return step.is_named ? End::named_pass : End::pass;
    if (!statement.contains("drop") && !statement.contains("reject") && target != "REJECT")
      return std::nullopt;
    if (step.reach != Reach::condition || step.is_named)
      record({step.chain, false, step.reach == Reach::certain, packets_.leave}, &step.rule,
             step.is_for_port);
    return End::drop;
  }

  void record(Drop drop, const Rule* rule, bool is_for_port) {
    if (found_ && (found_->certain || !drop.certain)) return;
    drop.cure = cure_of(ruleset_, base_, drop, rule, is_for_port);
    found_ = drop;
  }

  std::string base_;
  std::optional<Drop> found_;
};

/// A name, or the beginning of names in front of '*'.
bool fits(const std::string& pattern, const std::string& name) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

/// How packets reach the first rule of a base chain; empty if they do not.
std::optional<Reach> reach_of(const Chain& chain, const Packets& packets) {
  if (chain.type != "filter" && chain.type != "route") return std::nullopt;
  if (chain.family != "inet" && chain.family != "netdev" &&
      chain.family != (packets.ipv4 ? "ip" : "ip6"))
    return std::nullopt;
  if (chain.hook == (packets.leave ? "output" : "input") ||
      chain.hook == (packets.leave ? "postrouting" : "prerouting"))
    return Reach::certain;
  if (chain.hook != (packets.leave ? "egress" : "ingress")) return std::nullopt;
  if (packets.interface.empty() || chain.devices.empty()) return Reach::condition;
  const bool is_there =
      std::any_of(chain.devices.begin(), chain.devices.end(),
                  [&](const std::string& device) { return fits(device, packets.interface); });
  return is_there ? std::optional(Reach::certain) : std::nullopt;
}

/// Those that programs use: an address of the link counts only if there is no other.
std::vector<Packets> usual_packets(const PacketQuestion& question, bool may_be_untracked) {
  std::vector<Packets> all = packets_of(question, may_be_untracked);
  const auto of_link = [](const Packets& packets) { return packets.own.starts_with("fe80:"); };
  if (!std::all_of(all.begin(), all.end(), of_link)) std::erase_if(all, of_link);
  return all;
}

/// Which packets a drop affects if others of the same direction pass all chains, or "".
std::string only_of(const Packets& dropped, const std::vector<Packets>& all,
                    const std::vector<bool>& pass) {
  bool any = false, same_family = false;
  for (size_t i = 0; i < all.size(); i++) {
    if (!pass[i] || all[i].leave != dropped.leave) continue;
    any = true;
    same_family |= all[i].ipv4 == dropped.ipv4;
  }
  if (!any) return "";
  return same_family ? dropped.own : dropped.ipv4 ? "IPv4" : "IPv6";
}

/// A command that accepts RoCE packets accepts those of one family only.
void limit_cure(Drop& drop) {
  const size_t place = drop.cure.find(" udp dport 4791 accept");
  if (place == std::string::npos || !drop.cure.starts_with("nft insert rule inet ")) return;
  if (drop.only == "IPv4" || drop.only == "IPv6")
    drop.cure.insert(place, drop.only == "IPv4" ? " meta nfproto ipv4" : " meta nfproto ipv6");
}

}  // namespace

std::vector<Drop> find_drops(const Ruleset& ruleset, const PacketQuestion& question) {
  const std::vector<Packets> all = usual_packets(question, ruleset.has_notrack);
  std::vector<bool> pass(all.size(), true);
  std::vector<std::pair<Drop, size_t>> found;  // with the packets
  for (const auto& [name, chain] : ruleset.chains) {
    std::optional<std::pair<Drop, size_t>> first;
    for (size_t i = 0; i < all.size(); i++) {
      const auto reach = reach_of(chain, all[i]);
      const auto drop =
          reach ? FilterWalk(ruleset, all[i]).find(name, *reach) : std::optional<Drop>();
      if (!drop) continue;
      if (drop->certain) pass[i] = false;
      if (!first || (drop->certain && !first->first.certain)) first = {*drop, i};
    }
    if (first) found.push_back(*first);
  }
  std::vector<Drop> drops;
  for (auto& [drop, i] : found) {
    if (drop.certain) drop.only = only_of(all[i], all, pass);
    limit_cure(drop);
    drops.push_back(std::move(drop));
  }
  return drops;
}

std::string drop_text(const Drop& drop, const std::string& place) {
  const bool is_family = drop.only == "IPv4" || drop.only == "IPv6";
  return std::string(drop.by_policy ? "the policy" : "a rule") + " of '" + drop.chain + "'" +
         place + (drop.certain ? " drops" : " may drop") +
         (drop.leave ? " outgoing " : " incoming ") + (is_family ? drop.only + " " : "") +
         "RoCE packets (UDP port 4791)" +
         (is_family || drop.only.empty() ? "" : (drop.leave ? " from " : " to ") + drop.only) +
         (drop.by_policy && !drop.certain ? ": no rule names the port" : "");
}

}  // namespace sroce
