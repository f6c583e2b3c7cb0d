// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// How the tool fails: one exit code per cause, and a message that names the cause and the cure.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace sroce {

/// Exit status of the process. Scripts depend on the numbers: append, never renumber.
enum class ExitCode : int {
  success = 0,
  other = 1,
  usage = 2,
  module_absent = 3,
  no_permission = 4,
  no_such_interface = 5,
  no_such_device = 6,
  name_taken = 7,
  interface_in_use = 8,
  port_taken = 9,
  interface_unsupported = 10,
  bad_name = 11,
  not_sroce = 12,
  bad_parameter = 13,
};

struct ExitCodeText {
  ExitCode code;
  const char* text;
};

/// Every exit code with its meaning, in numeric order (for --help).
std::span<const ExitCodeText> exit_code_texts();

/// A failure the user can act on: what() is the cause, cure() what to do about it (may be empty
/// or have several lines).
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& cause, std::string cure)
      : std::runtime_error(cause), code_(code), cure_(std::move(cure)) {}

  ExitCode code() const { return code_; }
  const std::string& cure() const { return cure_; }

 private:
  ExitCode code_;
  std::string cure_;
};

/// The text printed on standard error.
std::string failure_text(const Failure& failure);

}  // namespace sroce
