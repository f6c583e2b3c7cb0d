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
/// room, or less if a word needs that. JSON, and a word that is too long, stay as they are. A tab
/// at the beginning becomes spaces.
std::string fold(const std::string& line, size_t width);

/// Folds what is written to a stream, as long as it exists. A flush keeps the part of a line back.
class FoldedStream : private std::streambuf {
 public:
  /// width is called for each line; 0 means any.
  FoldedStream(std::ostream& stream, std::function<size_t()> width);
  ~FoldedStream() override;
  FoldedStream(const FoldedStream&) = delete;
  FoldedStream& operator=(const FoldedStream&) = delete;

 private:
  int_type overflow(int_type c) override;
  int sync() override;

  std::ostream& stream_;
  std::streambuf* target_;
  std::function<size_t()> width_;
  std::string line_;
};

/// The columns of a terminal; 0 if the descriptor is none.
size_t terminal_width(int fd);

}  // namespace sroce
