// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Lines that are longer than a terminal is wide, broken between words.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <streambuf>
#include <string>

namespace sroce {

/// Breaks a line without a newline. The rest is indented as the last column of the line that leaves
/// room, or less if a word needs that. A word that is too long stays as it is. A tab at the
/// beginning becomes spaces. Each character of UTF-8 is taken for one column.
std::string wrap(const std::string& line, size_t width);

/// Wraps what is written to a stream, as long as it exists. A flush keeps the part of a line back.
class WrappedStream : private std::streambuf {
 public:
  /// width is called for each line; 0 means any.
  WrappedStream(std::ostream& stream, std::function<size_t()> width);
  ~WrappedStream() override;
  WrappedStream(const WrappedStream&) = delete;
  WrappedStream& operator=(const WrappedStream&) = delete;

 private:
  int_type overflow(int_type c) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* target_;
  std::function<size_t()> width_;
  std::string line_;
};

/// From wrap_off on, a WrappedStream leaves lines as they are, such as JSON, and commands to copy.
/// Other streams ignore both.
std::ostream& wrap_off(std::ostream& stream);
std::ostream& wrap_on(std::ostream& stream);

/// The columns of a terminal; 0 if the descriptor is none.
size_t terminal_width(int fd);

}  // namespace sroce
