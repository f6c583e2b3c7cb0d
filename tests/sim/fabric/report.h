// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Figures as text, and the check of their limits.
#ifndef TESTS_SIM_FABRIC_REPORT_H
#define TESTS_SIM_FABRIC_REPORT_H

#include <string>

#include "sim/fabric/fabric.h"

namespace fabric {

std::string table_head();
std::string table_row(const Scenario& scenario, const Result& result);

struct Verdict {
  std::string text;  // a line per limit
  bool good = true;  // every limit that is not pending is met
};
Verdict judge(const Scenario& scenario, const Result& result);

}  // namespace fabric

#endif
