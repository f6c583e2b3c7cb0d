// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Exceptions that end a test case early: it has failed, or the device does not support it.
#pragma once

#include <cerrno>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>

namespace harness {

class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Skip : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw Failure(text(parts...));
}

template <class... Parts>
void expect(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

template <class... Parts>
[[noreturn]] void fail_errno(int error, const Parts&... parts) {
  fail(parts..., ": ", std::strerror(error));
}

}  // namespace harness
