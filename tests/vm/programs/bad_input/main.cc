// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// bad_input: tables of wrong calls and wrong requests, each with the error it must give.
#include <cstdio>

#include "bad_input/bench.h"
#include "harness/args.h"
#include "harness/failure.h"

namespace {

constexpr const char* usage =
    "bad_input --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--seed N] [--skip TEXT]\n"
    "          [--only modify|objects|post|wire|rings|flush|overflow]\n"
    "Both devices must be visible to this process; without --peer-dev the device talks to itself.\n"
    "Each row says in brackets who is to refuse: the provider library, the RDMA core, the driver, "
    "or the wire.";

struct Table {
  const char* name;
  void (*run)(bad_input::Bench&, harness::Tap&);
};

constexpr Table tables[] = {
    {"modify", bad_input::run_modify_rows},    {"objects", bad_input::run_object_rows},
    {"post", bad_input::run_post_rows},        {"wire", bad_input::run_wire_rows},
    {"rings", bad_input::run_ring_rows},       {"flush", bad_input::run_flush_rows},
    {"overflow", bad_input::run_overflow_rows}};

void run(harness::Args& args, harness::Tap& tap) {
  const std::string near_name = args.required("--dev");
  const std::string far_name = args.text("--peer-dev", near_name);
  const auto near_gid = args.number("--gid", 1);
  const auto far_gid = args.number("--peer-gid", near_gid);
  const std::uint64_t seed = args.number("--seed", 1);
  const std::string only = args.text("--only", "");
  const std::string skip = args.text("--skip", "");
  args.finish();

  harness::note(harness::text("seed ", seed, ", ", near_name, " and ", far_name));
  const verbs::Context near(near_name);
  const verbs::Context far(far_name);
  bad_input::Bench bench(near, static_cast<int>(near_gid), far, static_cast<int>(far_gid), seed,
                         skip);
  tap.run("the witness pair works before all", [&] { bench.check_witness(); });
  for (const Table& table : tables)
    if (only.empty() || only == table.name) table.run(bench, tap);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  try {
    run(args, tap);
  } catch (const std::exception& error) {
    std::printf("Bail out! %s\n", error.what());
    return 1;
  }
  tap.run("every verbs object could be closed", [] {
    harness::expect(verbs::close_failures() == 0, verbs::close_failures(), " could not");
  });
  return tap.finish();
}
