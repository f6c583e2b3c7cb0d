// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Names from elsewhere in lines that people read, and in commands that they copy. The kernel lets
// an interface or a chain of nftables have almost any name.
#pragma once

#include <string>

namespace sroce {

/// With question marks for control characters, such as those that terminals obey.
std::string printable(std::string text);

/// Text within single quotes of a shell.
std::string shell_quoted(const std::string& text);

/// One word of a shell: the text itself if that is one, else within quotes.
std::string shell_word(const std::string& text);

}  // namespace sroce
