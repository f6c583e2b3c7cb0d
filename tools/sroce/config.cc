// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/config.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <string_view>

#include "sroce/name.h"

namespace sroce {
namespace {

constexpr std::string_view param_prefix = "param.";

std::string trimmed(const std::string& text) {
  constexpr char spaces[] = " \t\r";
  const size_t first = text.find_first_not_of(spaces);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

bool is_mac(const std::string& text) {
  static const std::regex mac("[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}");
  return std::regex_match(text, mac);
}

std::string in_lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::string place(const std::string& file, unsigned line) {
  return file + ':' + std::to_string(line) + ": ";
}

class Parser {
 public:
  explicit Parser(const std::string& file) : file_(file) {}

  void take_line(const std::string& raw) {
    ++line_;
    const std::string line = trimmed(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') return;
    if (line[0] == '[') {
      take_heading(line);
      return;
    }
    const size_t equals = line.find('=');
    if (equals == std::string::npos) fail("neither KEY = VALUE nor [device]: " + line);
    if (sections_.empty()) fail("no [device] before this line");
    take_value(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }

  std::vector<DeviceConfig> end() {
    finish_section();
    return std::move(sections_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Failure(ExitCode::bad_file, place(file_, line_) + what, "the format: man sroce");
  }

  void take_heading(const std::string& line) {
    if (line != "[device]") fail("unknown section " + line);
    finish_section();
    sections_.push_back({.file = file_, .line = line_, .interface = ""});
  }

  void finish_section() {
    if (sections_.empty() || !sections_.back().interface.empty()) return;
    line_ = sections_.back().line;
    fail("this device has no interface");
  }

  void take_value(const std::string& key, const std::string& value) {
    DeviceConfig& section = sections_.back();
    if (value.empty()) fail(key + " has no value");
    if (key == "interface") {
      if (!section.interface.empty()) fail("a second interface");
      if (value.find_first_of(" \t") != std::string::npos)
        fail("an interface has no spaces: " + value);
      section.interface = is_mac(value) ? in_lower_case(value) : value;
    } else if (key == "name") {
      if (section.name) fail("a second name");
      if (const auto objection = name_objection(value))
        fail("'" + value + "' is not a name of a device: " + *objection);
      section.name = value;
    } else if (key == "v1") {
      if (value != "yes" && value != "no") fail("v1 is yes or no, not " + value);
      section.roce_v1 = value == "yes";
    } else if (key.starts_with(param_prefix) && key.size() > param_prefix.size()) {
      section.parameters.push_back(key.substr(param_prefix.size()));
      section.parameters.push_back(value);
    } else {
      fail("unknown key " + key + "; known are interface, name, v1 and param.NAME");
    }
  }

  const std::string& file_;
  unsigned line_ = 0;
  std::vector<DeviceConfig> sections_;
};

}  // namespace

std::vector<DeviceConfig> parse_config(std::istream& text, const std::string& file) {
  Parser parser(file);
  for (std::string line; std::getline(text, line);) parser.take_line(line);
  return parser.end();
}

std::vector<DeviceConfig> read_configs(const std::vector<std::string>& files) {
  std::vector<DeviceConfig> all;
  for (const std::string& file : files) {
    const Failure unreadable(ExitCode::bad_file, "cannot read the file " + file, "");
    std::error_code error;
    // To open a FIFO would wait for a writer.
    if (!std::filesystem::is_regular_file(file, error)) throw unreadable;
    std::ifstream text(file);
    if (!text) throw unreadable;
    for (DeviceConfig& section : parse_config(text, file)) all.push_back(std::move(section));
    if (text.bad()) throw unreadable;
  }
  return all;
}

std::vector<std::string> config_files(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    // Editors leave hidden files.
    if (path.extension() == ".conf" && !path.filename().string().starts_with('.'))
      files.push_back(path);
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw Failure(ExitCode::bad_file,
                  "cannot read the folder " + folder.string() + ": " + error.message(), "");
  std::sort(files.begin(), files.end());
  return files;
}

bool is_by_mac(const DeviceConfig& config) { return is_mac(config.interface); }

bool matches(const DeviceConfig& config, const std::string& interface, const std::string& mac) {
  if (is_by_mac(config)) return config.interface == mac;
  return fnmatch(config.interface.c_str(), interface.c_str(), 0) == 0;
}

Failure in_section(const DeviceConfig& config, const Failure& failure) {
  return {failure.code(), place(config.file, config.line) + failure.what(), failure.cure()};
}

}  // namespace sroce
