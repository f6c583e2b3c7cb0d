// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <ostream>
#include <string>

#include "sroce/device.h"
#include "sroce/genl.h"
#include "sroce/output.h"

namespace sroce {

struct ShowOptions {
  std::string device;
  Format format = Format::table;
};

/// Prints the parameters of a device with their values and ranges. Throws Failure.
void run_show(System& system, const ShowOptions& options, std::ostream& out);

std::string parameter_table(const genl::DeviceReply& device);
std::string parameter_json(const genl::DeviceReply& device);

}  // namespace sroce
