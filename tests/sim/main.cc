// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// sim: runs seeds, or replays one with its complete log.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sim/simulation.h"
#include "sim/uc.h"

extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

struct Options {
  u64 first = 1;
  u64 count = 1;
  bool log = false;
  bool stop_at_first = false;
  sim::Style style = sim::Style::any;
};

struct Sums {
  sim::Totals totals;
  double slowest_recovery = 0;
  u64 failed = 0;
};

constexpr char kUsage[] =
    "usage: sim [--seed S [--log]] [--seeds N [--first S]] [--hostile | --honest | --placement | "
    "--revoke | --paging | --xrc | --uc] [--stop]\n"
    "  --seed S    run one seed; --log prints its complete time-sequence log\n"
    "  --seeds N   run N seeds, from --first (1)\n"
    "  --hostile   malicious peers only; --honest: no malicious peers\n"
    "  --placement no malicious peers; also FLUSH and ATOMIC WRITE\n"
    "  --revoke    no malicious peers; also windows that are revoked under traffic\n"
    "  --paging    no malicious peers; also buffers of READs whose pages are missing\n"
    "  --xrc       XRC instead of RC\n"
    "  --uc        UC: messages that may be lost\n"
    "  --stop      stop at the first failure\n";

// Printed when the process dies.
char seed_line[64];

void print_seed() { (void)!write(STDOUT_FILENO, seed_line, std::strlen(seed_line)); }

void on_signal(int number) {
  print_seed();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void remember_seed(u64 seed) {
  std::snprintf(seed_line, sizeof(seed_line), "died in seed=%llu\n", (unsigned long long)seed);
}

// Memory stays with the process: the kernel would clear that of each seed.
void keep_memory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

void install_handlers() {
  std::signal(SIGABRT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGXCPU, on_signal);
  if (__sanitizer_set_death_callback)
    __sanitizer_set_death_callback(print_seed);
  else
    for (int number : {SIGSEGV, SIGBUS, SIGFPE}) std::signal(number, on_signal);
}

// Runs the failed seed again with the log on.
template <typename Simulation>
void explain(u64 seed, sim::Style style) {
  Simulation simulation(seed, style, sim::Log::Mode::keep_last);
  try {
    simulation.run();
  } catch (const sim::Violation&) {
  }
  for (const std::string& line : simulation.log().lines()) std::puts(line.c_str());
}

template <typename Simulation>
void run_seed(u64 seed, const Options& options, Sums& sums) {
  const auto mode = options.log ? sim::Log::Mode::print : sim::Log::Mode::off;
  Simulation simulation(seed, options.style, mode);
  if (options.log) std::printf("%s\n", simulation.scenario().describe().c_str());
  try {
    simulation.run();
  } catch (const sim::Violation& violation) {
    sums.failed++;
    if (!options.log) {
      std::printf("seed=%llu %s\n", (unsigned long long)seed,
                  simulation.scenario().describe().c_str());
      explain<Simulation>(seed, options.style);
    }
    std::printf("%s\nFAILED seed=%llu rule: %s\nreplay: sim --seed %llu --log%s\n",
                violation.what(), (unsigned long long)seed, violation.rule().c_str(),
                (unsigned long long)seed,
                options.style == sim::Style::hostile     ? " --hostile"
                : options.style == sim::Style::honest    ? " --honest"
                : options.style == sim::Style::placement ? " --placement"
                : options.style == sim::Style::revoke    ? " --revoke"
                : options.style == sim::Style::paging    ? " --paging"
                : options.style == sim::Style::xrc       ? " --xrc"
                : options.style == sim::Style::uc        ? " --uc"
                                                         : "");
  }
  sums.totals.packets += simulation.totals().packets;
  sums.totals.drops += simulation.totals().drops;
  sums.totals.retransmits += simulation.totals().retransmits;
  sums.totals.naks += simulation.totals().naks;
  sums.totals.completions += simulation.totals().completions;
  for (u32 i = 0; i <= sim::kMaxLateTimeouts; i++)
    sums.totals.late_timeouts[i] += simulation.totals().late_timeouts[i];
  sums.slowest_recovery = std::max(sums.slowest_recovery, simulation.slowest_recovery());
}

[[noreturn]] void usage() {
  std::fputs(kUsage, stderr);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i++) {
    const std::string option = argv[i];
    const auto number = [&] {
      char* end = nullptr;
      const u64 value = ++i < argc ? std::strtoull(argv[i], &end, 0) : 0;
      if (!end || *end) usage();
      return value;
    };
    if (option == "--seed" || option == "--first")
      options.first = number();
    else if (option == "--seeds")
      options.count = number();
    else if (option == "--log")
      options.log = true;
    else if (option == "--stop")
      options.stop_at_first = true;
    else if (option == "--hostile")
      options.style = sim::Style::hostile;
    else if (option == "--honest")
      options.style = sim::Style::honest;
    else if (option == "--placement")
      options.style = sim::Style::placement;
    else if (option == "--revoke")
      options.style = sim::Style::revoke;
    else if (option == "--paging")
      options.style = sim::Style::paging;
    else if (option == "--xrc")
      options.style = sim::Style::xrc;
    else if (option == "--uc")
      options.style = sim::Style::uc;
    else
      usage();
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::printf("seed=%llu count=%llu\n", (unsigned long long)options.first,
              (unsigned long long)options.count);
  std::fflush(stdout);
  install_handlers();
  keep_memory();
  Sums sums;
  u64 done = 0;
  while (done < options.count && !(sums.failed && options.stop_at_first)) {
    remember_seed(options.first + done);
    const u64 seed = options.first + done++;
    if (options.style == sim::Style::uc)
      run_seed<sim::UcSimulation>(seed, options, sums);
    else
      run_seed<sim::Simulation>(seed, options, sums);
  }
  const sim::Totals& totals = sums.totals;
  std::printf("hosts by ACK timeouts after the last fault:");
  for (const u64 hosts : totals.late_timeouts) std::printf(" %llu", (unsigned long long)hosts);
  std::printf(
      "\n%llu packets, %llu drops, %llu retransmits, %llu naks, %llu completions, slowest recovery "
      "%.0f%% of its bound\n%llu passed, %llu failed\n",
      (unsigned long long)totals.packets, (unsigned long long)totals.drops,
      (unsigned long long)totals.retransmits, (unsigned long long)totals.naks,
      (unsigned long long)totals.completions, 100 * sums.slowest_recovery,
      (unsigned long long)(done - sums.failed), (unsigned long long)sums.failed);
  return sums.failed ? 1 : 0;
}
