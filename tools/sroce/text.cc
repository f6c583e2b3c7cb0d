// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace sroce {
namespace {

bool is_plain(char c) {
  constexpr std::string_view others = "%+,-./:=@_";
  return std::isalnum(static_cast<unsigned char>(c)) || others.find(c) != std::string_view::npos;
}

}  // namespace

std::string printable(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

std::string shell_quoted(const std::string& text) {
  std::string all;
  for (const char c : text) all += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + all + "'";
}

std::string shell_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain) ? text
                                                                          : shell_quoted(text);
}

}  // namespace sroce
