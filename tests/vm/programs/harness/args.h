// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Command lines of the form `--name value` and `--flag`. Query each name exactly once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace harness {

class Args {
 public:
  Args(int argc, char** argv, std::string usage);

  bool flag(const std::string& name);
  std::string text(const std::string& name, const std::string& otherwise);
  std::string required(const std::string& name);
  std::uint64_t number(const std::string& name, std::uint64_t otherwise);

  // Call last: any remaining argument is an error.
  void finish();

 private:
  bool take_value(const std::string& name, std::string& value);
  [[noreturn]] void die(const std::string& complaint);

  std::vector<std::string> words_;
  std::string usage_;
  bool help_ = false;
};

// The main() of a program that prints no TAP. Returns 1 if the body throws.
int run_main(int argc, char** argv, const char* usage, void (*body)(Args&));

}  // namespace harness
