// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/set.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "sroce/explain.h"
#include "sroce/genl.h"

namespace sroce {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

genl::Setting setting_of(const std::string& name, const std::string& value) {
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) return {name, value};
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{})
    throw Failure(ExitCode::bad_parameter, name + ": " + value + " is too large", "");
  return {name, number};
}

}  // namespace

void run_set(System& system, const SetOptions& options, std::ostream& out) {
  const auto& pairs = options.pairs;
  if (pairs.size() % 2 != 0)
    throw Failure(ExitCode::usage, "'" + pairs.back() + "' has no value",
                  "sroce set DEV NAME VALUE [NAME VALUE]...");
  std::vector<genl::Setting> settings;
  std::string done;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    settings.push_back(setting_of(pairs[i], pairs[i + 1]));
    done += (done.empty() ? "" : ", ") + pairs[i] + ' ' + pairs[i + 1];
  }
  genl::ask_module(system, {"set", options.device}, [&](uint16_t family) {
    return genl::set_request(family, options.device, settings);
  });
  out << options.device << ": " << done << '\n';
}

}  // namespace sroce
