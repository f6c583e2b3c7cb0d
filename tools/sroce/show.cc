// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/show.h"

#include "sroce/genl.h"

namespace sroce {
namespace {

using genl::Parameter;

std::string value_text(const Parameter& parameter, uint32_t value) {
  return value < parameter.choices.size() ? parameter.choices[value] : std::to_string(value);
}

std::string range_text(const Parameter& parameter) {
  if (parameter.choices.empty())
    return std::to_string(parameter.min) + ".." + std::to_string(parameter.max);
  std::string text;
  for (const std::string& choice : parameter.choices) text += (text.empty() ? "" : "|") + choice;
  return text;
}

Json to_json(const Parameter& parameter) {
  if (!parameter.choices.empty())
    return {{"value", value_text(parameter, parameter.value)},
            {"default", value_text(parameter, parameter.default_value)},
            {"choices", parameter.choices}};
  return {{"value", parameter.value},
          {"default", parameter.default_value},
          {"min", parameter.min},
          {"max", parameter.max},
          {"unit", parameter.unit}};
}

}  // namespace

std::string parameter_table(const genl::DeviceReply& device) {
  std::vector<Row> rows{{"PARAMETER", "VALUE", "DEFAULT", "RANGE", "UNIT"}};
  for (const Parameter& parameter : device.parameters) {
    rows.push_back({parameter.name, value_text(parameter, parameter.value),
                    value_text(parameter, parameter.default_value), range_text(parameter),
                    parameter.unit.empty() ? "-" : parameter.unit});
  }
  return device.name + ": line rate " +
         (device.line_rate ? rate_text(*device.line_rate) : "unknown") + "\n\n" +
         align_text(std::move(rows));
}

std::string parameter_json(const genl::DeviceReply& device) {
  Json parameters = Json::object();
  for (const Parameter& parameter : device.parameters)
    parameters[parameter.name] = to_json(parameter);
  return json_text({{"device", device.name},
                    {"index", device.index},
                    {"line_rate", or_null(device.line_rate)},
                    {"parameters", std::move(parameters)}});
}

void run_show(System& system, const ShowOptions& options, std::ostream& out) {
  const auto replies = genl::ask_module(system, {"show", options.device}, [&](uint16_t family) {
    return genl::device_request(family, options.device);
  });
  if (replies.empty()) throw MalformedMessage("netlink: no reply from the kernel");
  const genl::DeviceReply device = genl::decode_device(replies.front());
  out << (options.format == Format::json ? parameter_json(device) : parameter_table(device));
}

}  // namespace sroce
