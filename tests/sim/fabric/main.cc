// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// fabric [--list] [NAME...]: runs the scenarios whose names begin with one of NAME, or all. Prints
// their figures and limits. Fails if a limit that is not pending is missed.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/fabric/report.h"

namespace {

using fabric::Scenario;

bool is_wanted(const Scenario& scenario, const std::vector<std::string>& names) {
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return scenario.name.starts_with(name);
         });
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

bool run_all(const std::vector<Scenario>& scenarios) {
  std::string limits, pending;
  bool good = true;
  print("# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB\n\n" + fabric::table_head());
  for (const Scenario& scenario : scenarios) {
    if (scenario.pending) {
      pending += scenario.name + "\n";
      continue;
    }
    const fabric::Result result = fabric::Fabric(scenario).run();
    print(table_row(scenario, result));
    const fabric::Verdict verdict = judge(scenario, result);
    limits += verdict.text;
    good &= verdict.good;
  }
  if (!limits.empty()) print("\nlimits\n" + limits);
  if (!pending.empty()) print("\nnot run yet\n" + pending);
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> names(argv + 1, argv + argc);
  const bool list = !names.empty() && names[0] == "--list";
  if (list) names.erase(names.begin());
  std::vector<Scenario> scenarios = fabric::all_scenarios();
  std::erase_if(scenarios, [&](const Scenario& scenario) { return !is_wanted(scenario, names); });
  if (scenarios.empty()) {
    std::fputs("no such scenario\n", stderr);
    return 2;
  }
  if (!list) return run_all(scenarios) ? 0 : 1;
  for (const Scenario& scenario : scenarios) print(scenario.name + "\n");
  return 0;
}
