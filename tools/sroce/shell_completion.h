// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Completion of the command line by shells, made from the grammar itself.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sroce {

/// A script for the shell: bash, zsh or fish. Positional arguments named IF, TARGET, DEV and FILE,
/// and values of the type IF, are completed as interfaces, devices and files.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace sroce
