// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Test Anything Protocol on standard output. Each line is flushed, so that the output of a hanging
// program shows where it hangs.
#pragma once

#include <functional>
#include <string>

namespace harness {

class Tap {
 public:
  void ok(const std::string& name);
  void not_ok(const std::string& name, const std::string& why);
  void skip(const std::string& name, const std::string& reason);

  // Runs a case: Failure and other exceptions are `not ok`, Skip is `ok … # SKIP`.
  void run(const std::string& name, const std::function<void()>& body);

  // Runs all cases. Returns whether they ran to their end: an exception outside of a case prints
  // "Bail out!", and the program must return 1.
  bool completes(const std::function<void()>& body);

  // Prints the plan and returns the exit status of the program.
  int finish();

  int failed() const { return failed_; }

 private:
  int count_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

// A line that a TAP reader ignores; several lines are prefixed one by one.
void note(const std::string& text);

}  // namespace harness
