// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/fold.h"

#include <sys/ioctl.h>

#include <algorithm>

namespace sroce {
namespace {

constexpr size_t least_room = 12;  // of a last column, in characters
constexpr size_t tab_width = 8;

/// Where the last column begins that leaves room: after two spaces or more.
size_t indent_of(const std::string& line, size_t width) {
  size_t indent = 0;
  for (size_t gap = line.find("  "); gap != std::string::npos; gap = line.find("  ", gap)) {
    gap = line.find_first_not_of(' ', gap);
    if (gap == std::string::npos || gap + least_room > width) break;
    indent = gap;
  }
  return indent;
}

bool is_json(const std::string& line) {
  const size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && std::string("{}[]\"").find(line[first]) != std::string::npos;
}

}  // namespace

std::string fold(const std::string& line, size_t width) {
  if (line.starts_with('\t')) return fold(std::string(tab_width, ' ') + line.substr(1), width);
  if (line.size() <= width || is_json(line)) return line;
  const size_t indent = indent_of(line, width);
  std::string text, rest = line;
  while (rest.size() > width) {
    size_t space = rest.rfind(' ', width);
    if (space == std::string::npos || space < rest.find_first_not_of(' '))
      space = rest.find(' ', width);
    const size_t next = rest.find_first_not_of(' ', space);
    if (next == std::string::npos) break;
    text += rest.substr(0, rest.find_last_not_of(' ', space) + 1) + '\n';
    const size_t word = std::min(rest.find(' ', next), rest.size()) - next;
    rest = std::string(std::min(indent, width - std::min(width, word)), ' ') + rest.substr(next);
  }
  return text + rest;
}

FoldedStream::FoldedStream(std::ostream& stream, std::function<size_t()> width)
    : stream_(stream), target_(stream.rdbuf()), width_(std::move(width)) {
  stream.rdbuf(this);
}

FoldedStream::~FoldedStream() {
  target_->sputn(line_.data(), static_cast<std::streamsize>(line_.size()));
  stream_.rdbuf(target_);
}

FoldedStream::int_type FoldedStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  line_ += traits_type::to_char_type(c);
  if (line_.back() != '\n') return c;
  line_.pop_back();
  const size_t width = width_();
  const std::string text = (width ? fold(line_, width) : line_) + '\n';
  line_.clear();
  const auto length = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), length) == length ? c : traits_type::eof();
}

int FoldedStream::sync() { return target_->pubsync(); }

size_t terminal_width(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace sroce
