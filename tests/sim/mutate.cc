// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// mutate MUTATION ENGINE_DIR OUT_FILE: apply one mutation to a copy of an engine file and print the
// file's name. White space does not matter in finding the old text; it must be there exactly once.
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Replacement {
  std::string before;
  std::string after;
};

struct Mutation {
  std::string file;
  std::vector<Replacement> replacements;
};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

std::string trimmed(const std::string& text) {
  size_t begin = 0, end = text.size();
  while (begin < end && is_space(text[begin])) begin++;
  while (end > begin && is_space(text[end - 1])) end--;
  return text.substr(begin, end - begin);
}

// file: NAME, then blocks of <<<< old ==== new >>>>; everything else is prose.
Mutation read_mutation(std::istream& in) {
  Mutation mutation;
  std::string line, *part = nullptr;
  while (std::getline(in, line)) {
    if (line == "<<<<") {
      mutation.replacements.emplace_back();
      part = &mutation.replacements.back().before;
    } else if (line == "====" && part) {
      part = &mutation.replacements.back().after;
    } else if (line == ">>>>") {
      part = nullptr;
    } else if (part) {
      *part += line + "\n";
    } else if (line.starts_with("file: ")) {
      mutation.file = trimmed(line.substr(6));
    }
  }
  return mutation;
}

// Where @pattern ends when it starts at @at in @text, any white space matching any other.
std::optional<size_t> match_end(const std::string& text, size_t at, const std::string& pattern) {
  size_t i = 0;
  while (i < pattern.size()) {
    if (is_space(pattern[i])) {
      if (at >= text.size() || !is_space(text[at])) return std::nullopt;
      while (i < pattern.size() && is_space(pattern[i])) i++;
      while (at < text.size() && is_space(text[at])) at++;
    } else if (at < text.size() && text[at] == pattern[i]) {
      at++;
      i++;
    } else {
      return std::nullopt;
    }
  }
  return at;
}

// Returns how often the old text was found.
int replace(std::string& text, const Replacement& replacement) {
  const std::string pattern = trimmed(replacement.before);
  size_t begin = 0, end = 0;
  int found = 0;
  for (size_t at = 0; at < text.size() && !pattern.empty(); at++) {
    if (const auto match = match_end(text, at, pattern)) {
      begin = at;
      end = *match;
      found++;
    }
  }
  if (found == 1) text.replace(begin, end - begin, trimmed(replacement.after));
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: mutate MUTATION ENGINE_DIR OUT_FILE\n";
    return 2;
  }
  std::ifstream in(argv[1]);
  const Mutation mutation = read_mutation(in);
  std::ifstream source(std::string(argv[2]) + "/" + mutation.file);
  std::stringstream content;
  content << source.rdbuf();
  std::string text = content.str();
  if (mutation.replacements.empty() || text.empty()) {
    std::cerr << argv[1] << ": no file or no replacement\n";
    return 1;
  }
  for (const Replacement& replacement : mutation.replacements) {
    const int found = replace(text, replacement);
    if (found == 1) continue;
    std::cerr << argv[1] << ": old text found " << found << " times in " << mutation.file << "\n";
    return 1;
  }
  std::ofstream(argv[3]) << text;
  std::cout << mutation.file << "\n";
  return 0;
}
