// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Figures as text, and what is demanded of them.
#ifndef TESTS_SIM_FABRIC_REPORT_H
#define TESTS_SIM_FABRIC_REPORT_H

#include <string>

#include "sim/fabric/fabric.h"

namespace fabric {

std::string table_head();
std::string table_row(const Scenario& scenario, const Result& result);

struct Verdict {
  std::string text;  // a line per limit
  bool good = true;  // no limit is missed but pending ones
};
Verdict judge(const Scenario& scenario, const Result& result);

}  // namespace fabric

#endif
