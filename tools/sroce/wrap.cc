// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/wrap.h"

#include <sys/ioctl.h>

#include <algorithm>

namespace sroce {
namespace {

constexpr size_t least_room = 12;  // of a last column, in characters
constexpr size_t tab_width = 8;

/// Of UTF-8.
size_t count_characters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

/// The byte where the character of this number begins, or the length if there are fewer.
size_t place_of(const std::string& text, size_t character) {
  size_t place = 0;
  for (; place < text.size(); ++place) {
    if ((text[place] & 0xc0) != 0x80 && character-- == 0) break;
  }
  return place;
}

/// The character where the last column begins that leaves room: after two spaces or more.
size_t indent_of(const std::string& line, size_t width) {
  size_t indent = 0;
  for (size_t gap = line.find("  "); gap != std::string::npos; gap = line.find("  ", gap)) {
    gap = line.find_first_not_of(' ', gap);
    if (gap == std::string::npos) break;
    const size_t column = count_characters(line.substr(0, gap));
    if (column + least_room > width) break;
    indent = column;
  }
  return indent;
}

/// Where a stream keeps whether lines stay as they are.
int wrap_off_index() {
  static const int index = std::ios_base::xalloc();
  return index;
}

}  // namespace

std::string wrap(const std::string& line, size_t width) {
  if (line.starts_with('\t')) return wrap(std::string(tab_width, ' ') + line.substr(1), width);
  if (count_characters(line) <= width) return line;
  const size_t indent = indent_of(line, width);
  std::string text, rest = line;
  while (count_characters(rest) > width) {
    const size_t end = place_of(rest, width);
    size_t space = rest.rfind(' ', end);
    if (space == std::string::npos || space < rest.find_first_not_of(' '))
      space = rest.find(' ', end);
    const size_t next = rest.find_first_not_of(' ', space);
    if (next == std::string::npos) break;
    text += rest.substr(0, rest.find_last_not_of(' ', space) + 1) + '\n';
    const size_t word = count_characters(rest.substr(next, rest.find(' ', next) - next));
    rest = std::string(std::min(indent, width - std::min(width, word)), ' ') + rest.substr(next);
  }
  return text + rest;
}

WrappedStream::WrappedStream(std::ostream& stream, std::function<size_t()> width)
    : stream_(stream), target_(stream.rdbuf()), width_(std::move(width)) {
  stream.rdbuf(this);
}

WrappedStream::~WrappedStream() {
  target_->sputn(line_.data(), static_cast<std::streamsize>(line_.size()));
  stream_.rdbuf(target_);
}

WrappedStream::int_type WrappedStream::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  line_ += traits_type::to_char_type(c);
  if (line_.back() != '\n') return c;
  line_.pop_back();
  const size_t width = stream_.iword(wrap_off_index()) ? 0 : width_();
  const std::string text = (width ? wrap(line_, width) : line_) + '\n';
  line_.clear();
  const auto length = static_cast<std::streamsize>(text.size());
  return target_->sputn(text.data(), length) == length ? c : traits_type::eof();
}

int WrappedStream::sync() { return target_->pubsync(); }

std::ostream& wrap_off(std::ostream& stream) {
  stream.iword(wrap_off_index()) = 1;
  return stream;
}

std::ostream& wrap_on(std::ostream& stream) {
  stream.iword(wrap_off_index()) = 0;
  return stream;
}

size_t terminal_width(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace sroce
