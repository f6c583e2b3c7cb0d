// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// bad_input: tables of wrong calls and requests, each with the error that it must cause.
#include <cstdio>

#include "bad_input/bench.h"
#include "harness/args.h"
#include "harness/failure.h"

namespace {

constexpr const char* usage =
    R"(usage: bad_input --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--seed N] [--skip TEXT]
                 [--only modify|objects|post|wire|rings|flush|overflow]

Make wrong calls and requests, in rows of tables. After each row, another QP pair must still
transfer correct data in both directions. Both devices must be visible to this process; without
--peer-dev, a device is its own peer. The name of a row begins with the layer that must reject it:
[provider], [core] or [driver]. [wire] means an error completion.)";

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
  tap.run("the witness pair works before the first row", [&] { bench.check_witness(); });
  for (const Table& table : tables)
    if (only.empty() || only == table.name) table.run(bench, tap);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  if (!tap.completes([&] { run(args, tap); })) return 1;
  verbs::check_closes(tap);
  return tap.finish();
}
