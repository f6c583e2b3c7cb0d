// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// abuse: an unprivileged process that uses a device in ways that must harm nobody else.
#include <cstdio>

#include "abuse/abuse.h"
#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"

namespace {

constexpr const char* usage =
    R"(usage: abuse --job JOB --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--count N]
             [--seconds S] [--seed N]

Both ends belong to this process. A job repeats N times (default 1), or for S seconds.
  exhaust  N objects of each kind, and address handles until there are no more; then sleep
  churn    create and destroy 100 objects of each kind
  keys     guess R_Keys
  cycle    create a QP pair, connect it, transfer data, destroy it
  idle     a connected pair that a flood may aim at; then sleep)";

struct Job {
  const char* name;
  void (*run)(const abuse::Bench& bench);
};

constexpr Job jobs[] = {{"exhaust", abuse::exhaust},
                        {"churn", abuse::churn},
                        {"keys", abuse::guess_keys},
                        {"cycle", abuse::cycle},
                        {"idle", abuse::stay_idle}};

const Job& job_of(const std::string& name) {
  for (const Job& job : jobs)
    if (name == job.name) return job;
  harness::fail("no job '", name, "'");
}

void run(harness::Args& args, harness::Tap& tap) {
  const Job& job = job_of(args.required("--job"));
  const std::string near_name = args.required("--dev");
  const std::string far_name = args.text("--peer-dev", near_name);
  const auto near_gid = static_cast<int>(args.number("--gid", 1));
  const auto far_gid =
      static_cast<int>(args.number("--peer-gid", static_cast<std::uint64_t>(near_gid)));
  const std::uint64_t count = args.number("--count", 1);
  const std::chrono::seconds seconds(args.number("--seconds", 0));
  const std::uint64_t seed = args.number("--seed", 1);
  args.finish();
  tap.run(job.name, [&] {
    const verbs::Context near(near_name);
    const verbs::Context far(far_name);
    job.run({near, far, near_gid, far_gid, count, seconds, seed});
  });
  tap.run("every verbs object can be closed", [] {
    harness::expect(verbs::close_failures() == 0, verbs::close_failures(), " cannot");
  });
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
  tap.finish();
  if (verbs::close_failures()) return 3;
  return tap.failed() ? 2 : 0;
}
