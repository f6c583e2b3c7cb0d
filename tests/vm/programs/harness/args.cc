// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/args.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <utility>

namespace harness {

Args::Args(int argc, char** argv, std::string usage)
    : words_(argv + 1, argv + argc), usage_(std::move(usage)) {
  help_ = flag("--help");
  if (help_) {
    std::printf("%s\n", usage_.c_str());
    std::exit(0);
  }
}

bool Args::flag(const std::string& name) {
  const auto found = std::find(words_.begin(), words_.end(), name);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

bool Args::take_value(const std::string& name, std::string& value) {
  const auto found = std::find(words_.begin(), words_.end(), name);
  if (found == words_.end()) return false;
  if (std::next(found) == words_.end()) die(name + " requires a value");
  value = *std::next(found);
  words_.erase(found, found + 2);
  return true;
}

std::string Args::text(const std::string& name, const std::string& otherwise) {
  std::string value = otherwise;
  take_value(name, value);
  return value;
}

std::string Args::required(const std::string& name) {
  std::string value;
  if (!take_value(name, value)) die(name + " is required");
  return value;
}

std::uint64_t Args::number(const std::string& name, std::uint64_t otherwise) {
  std::string value;
  if (!take_value(name, value)) return otherwise;
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(value.c_str(), &end, 0);
  if (value.empty() || *end != '\0') die(name + " requires a number, not '" + value + "'");
  return number;
}

void Args::finish() {
  if (!words_.empty()) die("unknown argument '" + words_.front() + "'");
}

void Args::die(const std::string& complaint) {
  std::fprintf(stderr, "%s\n%s\n", complaint.c_str(), usage_.c_str());
  std::exit(2);
}

int run_main(int argc, char** argv, const char* usage, void (*body)(Args&)) {
  Args args(argc, argv, usage);
  try {
    body(args);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}

}  // namespace harness
