// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The time-sequence log, and the exception for a broken rule.
#ifndef TESTS_SIM_LOG_H
#define TESTS_SIM_LOG_H

#include <concepts>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>

#include "port/engine.h"

namespace sim {

// A broken rule. Only checks throw it, so it never unwinds through the engine's C frames.
class Violation : public std::runtime_error {
 public:
  Violation(std::string rule, const std::string& detail)
      : std::runtime_error(rule + ": " + detail), rule_(std::move(rule)) {}
  const std::string& rule() const { return rule_; }

 private:
  std::string rule_;
};

std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

// Throws Violation(@rule) unless @condition. The text is formatted only then.
template <typename... Args>
void require(bool condition, const char* rule, const char* pattern, Args... args) {
  if (!condition) [[unlikely]]
    throw Violation(rule, format(pattern, args...));
}

// The same for a text that is costly to make: @describe is called only if the rule is broken.
template <std::invocable Describe>
void require(bool condition, const char* rule, Describe describe) {
  if (!condition) [[unlikely]]
    throw Violation(rule, describe());
}

std::string opcode_name(u8 opcode);
std::string syndrome_name(u8 syndrome);
std::string describe(const sroce_packet& pkt);

// Callers test on() first, so a log that is off costs nothing. A failing seed is rerun with it on.
class Log {
 public:
  enum class Mode { off, keep_last, print };

  explicit Log(Mode mode) : mode_(mode) {}
  bool on() const { return mode_ != Mode::off; }
  void set_time(uint64_t now_ns) { now_ns_ = now_ns; }
  void line(const std::string& text);
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  static constexpr size_t kMaxLines = 120;
  Mode mode_;
  uint64_t now_ns_ = 0;
  std::deque<std::string> lines_;
};

}  // namespace sim

#endif
