// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sroce::test {

/// A temporary directory in place of /sys, deleted with the object.
class TemporaryTree {
 public:
  TemporaryTree() {
    std::string name = std::filesystem::temp_directory_path() / "sroce-test-XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~TemporaryTree() { std::filesystem::remove_all(root_); }
  TemporaryTree(const TemporaryTree&) = delete;
  TemporaryTree& operator=(const TemporaryTree&) = delete;

  const std::filesystem::path& root() const { return root_; }

  void write(const std::filesystem::path& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

 private:
  std::filesystem::path root_;
};

}  // namespace sroce::test
