// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// packet_script: plays the same scripts on sroce and on rdma_rxe, and compares what they do.
#include <cstdio>
#include <fstream>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "packet_script/known.h"
#include "packet_script/scripts.h"

namespace {

using packet_script::Device;
using packet_script::Difference;
using packet_script::Script;
using packet_script::Transcript;

constexpr const char* usage =
    R"(usage: packet_script --dev A --gid a --netns N --wire I --peer-dev B --peer-gid b
                     --peer-netns M --peer-wire J --known FILE --kernel NAME
                     [--random N] [--seed N] [--only TEXT] [--print]

Device A is sroce, B rdma_rxe. I and J are the other ends of their veth pairs, in the namespaces N
and M, "" for this one. The program is the peer of each: it sends scripted packets and reads the
responses. Both devices must do the same, except for the differences in FILE, each of which must be
seen on the kernel NAME. Needs root.
  --random N  also play N random scripts of a responder and N/4 of a requester
  --only TEXT only scripts whose name contains it
  --print     print what the devices do)";

// A device may be late, above all rdma_rxe, whose work waits for a kernel thread. So a script that
// differs is played again with longer waits. A wrong answer that does
// not come every time is not found.
constexpr int attempts = 7;

struct Outcome {
  Transcript ours;
  Transcript theirs;
  std::optional<Difference> difference;
};

class Comparison {
 public:
  Comparison(Device& ours, Device& theirs, std::map<std::string, Difference> known, bool prints)
      : ours_(ours), theirs_(theirs), known_(std::move(known)), prints_(prints) {}

  // Throws Failure if the outcome is not the expected one.
  void run(const Script& script) {
    const auto listed = known_.find(script.name);
    std::optional<Difference> expected;
    if (listed != known_.end()) expected = listed->second;
    Outcome outcome;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      outcome = play_both(script, attempt);
      if (outcome.difference == expected) break;
    }
    if (prints_ || outcome.difference != expected) print(outcome);
    if (outcome.difference == expected) return;
    if (!outcome.difference) harness::fail("the devices no longer differ as the list says");
    harness::fail(expected ? "the devices differ in another way: " : "the devices differ: ",
                  outcome.difference->ours, " | ", outcome.difference->theirs);
  }

  std::size_t known() const { return known_.size(); }

 private:
  Outcome play_both(const Script& script, int attempt) {
    Outcome outcome;
    outcome.ours = play(ours_, script, attempt);
    outcome.theirs = play(theirs_, script, attempt);
    outcome.difference = packet_script::first_difference(outcome.ours, outcome.theirs);
    return outcome;
  }

  static void print(const Outcome& outcome) {
    for (std::size_t i = 0; i < std::max(outcome.ours.size(), outcome.theirs.size()); ++i) {
      const std::string mine = i < outcome.ours.size() ? outcome.ours[i] : "nothing";
      const std::string other = i < outcome.theirs.size() ? outcome.theirs[i] : "nothing";
      harness::note(mine == other ? "  " + mine : "! sroce    " + mine + "\n! rdma_rxe " + other);
    }
  }

  Device& ours_;
  Device& theirs_;
  std::map<std::string, Difference> known_;
  bool prints_;
};

packet_script::DeviceSpec device_of(harness::Args& args, const std::string& prefix) {
  return {args.required("--" + prefix + "dev"),
          static_cast<int>(args.number("--" + prefix + "gid", 1)),
          args.text("--" + prefix + "netns", ""), args.required("--" + prefix + "wire")};
}

// One check for all; a script that differs is a failed check of its own.
void run_random(Comparison& comparison, harness::Tap& tap, const std::string& what,
                std::uint64_t count, std::uint64_t seed, Script (*make)(std::uint64_t)) {
  std::uint64_t failed = 0;
  for (std::uint64_t i = 0; i < count && failed < 5; ++i) {
    const Script script = make(seed + i);
    try {
      comparison.run(script);
    } catch (const harness::Failure& failure) {
      tap.not_ok(script.name, failure.what());
      ++failed;
    }
  }
  if (count && !failed)
    tap.ok(harness::text(count, " random scripts of a ", what, ", seeds ", seed, " to ",
                         seed + count - 1));
}

void run(harness::Args& args, harness::Tap& tap) {
  const auto our_spec = device_of(args, "");
  const auto their_spec = device_of(args, "peer-");
  const std::string kernel = args.required("--kernel");
  std::ifstream list(args.required("--known"));
  const std::uint64_t random = args.number("--random", 0);
  const std::uint64_t seed = args.number("--seed", 1);
  const std::string only = args.text("--only", "");
  const bool prints = args.flag("--print");
  args.finish();

  harness::expect(list.good(), "the list of known differences cannot be read");
  auto known = packet_script::read_known(list, kernel);
  Device ours(our_spec);
  Device theirs(their_spec);
  std::vector<Script> scripts = packet_script::message_scripts();
  for (auto& more : {packet_script::responder_scripts(), packet_script::requester_scripts()})
    scripts.insert(scripts.end(), more.begin(), more.end());
  std::set<std::string> names;
  for (const Script& script : scripts)
    harness::expect(names.insert(script.name).second, "two scripts are called ", script.name);
  for (const auto& [name, difference] : known)
    harness::expect(names.contains(name), "the list has a script that does not exist: ", name);
  Comparison comparison(ours, theirs, std::move(known), prints);
  for (const Script& script : scripts)
    if (script.name.find(only) != std::string::npos)
      tap.run(script.name, [&] { comparison.run(script); });
  harness::note(harness::text(comparison.known(), " differences are known"));
  run_random(comparison, tap, "responder", random, seed, packet_script::random_responder_script);
  run_random(comparison, tap, "requester", random / 4, seed,
             packet_script::random_requester_script);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  if (!tap.completes([&] { run(args, tap); })) return 1;
  verbs::check_closes(tap);
  return tap.finish();
}
