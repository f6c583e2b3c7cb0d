// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/set.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <system_error>

#include "sroce/explain.h"
#include "sroce/genl.h"
#include "sroce/name.h"

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

/// The choices of the parameter, if the value is none of them.
std::string choices_instead(const genl::Parameter& parameter, const std::string& value) {
  const auto& choices = parameter.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end())
    return "";
  std::string text = parameter.name + " takes";
  for (const std::string& choice : choices)
    text += (&choice == &choices.front() ? " " : ", ") + choice;
  return text + '\n';
}

/// Lines about the names and values that the device does not have. Empty if the device does not
/// say.
std::string find_instead(System& system, const SetOptions& options) try {
  const auto replies = genl::ask_module(system, {"show", options.device}, [&](uint16_t family) {
    return genl::device_request(family, options.device);
  });
  if (replies.empty()) return "";
  const auto parameters = genl::decode_device(replies.front()).parameters;
  std::vector<std::string> names;
  for (const genl::Parameter& parameter : parameters) names.push_back(parameter.name);
  std::string lines;
  for (size_t i = 0; i + 1 < options.pairs.size(); i += 2) {
    const std::string& name = options.pairs[i];
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end())
      lines += choices_instead(parameters[found - names.begin()], options.pairs[i + 1]);
    else if (const auto near = near_names(name, names); !near.empty())
      lines += "did you mean " + near.front() + "?\n";
  }
  return lines;
} catch (const std::exception&) {
  return "";
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
  try {
    genl::ask_module(system, {"set", options.device}, [&](uint16_t family) {
      return genl::set_request(family, options.device, settings);
    });
  } catch (const Failure& failure) {
    if (failure.code() != ExitCode::bad_parameter) throw;
    throw Failure(failure.code(), failure.what(), find_instead(system, options) + failure.cure());
  }
  out << options.device << ": " << done << '\n';
}

}  // namespace sroce
