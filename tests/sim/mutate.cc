// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// mutate FILE.mut SOURCE_DIR: prints NAME for each mutation in the file. mutate FILE.mut SOURCE_DIR
// NAME OUT_FILE: writes the source that the file is named after with one mutation applied, and
// prints the command that shows it, if the mutation names one. The old text must occur exactly
// once; white space is ignored.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Replacement {
  std::string before;
  std::string after;
};

struct Mutation {
  std::string name;
  std::string title;
  std::string command;
  std::vector<Replacement> replacements;
};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)); }

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; }

std::string trimmed(const std::string& text) {
  size_t begin = 0, end = text.size();
  while (begin < end && is_space(text[begin])) begin++;
  while (end > begin && is_space(text[end - 1])) end--;
  return text.substr(begin, end - begin);
}

// Returns the text after @word if @line begins with it.
std::optional<std::string> field(const std::string& line, const std::string& word) {
  if (!line.starts_with(word)) return std::nullopt;
  return trimmed(line.substr(word.size()));
}

void check_complete(const std::vector<Mutation>& mutations) {
  for (const Mutation& mutation : mutations) {
    if (mutation.title.empty() || mutation.replacements.empty())
      throw std::runtime_error(mutation.name + " needs a title and a replacement");
    // Names are words of shell commands and parts of paths.
    if (!std::ranges::all_of(mutation.name, is_name_character))
      throw std::runtime_error(mutation.name + " is not of letters, digits and hyphens");
    const auto same_name = [&](const Mutation& other) { return other.name == mutation.name; };
    if (std::ranges::count_if(mutations, same_name) != 1)
      throw std::runtime_error("two mutations are named " + mutation.name);
  }
  if (mutations.empty()) throw std::runtime_error("contains no mutation");
}

// Reads the lines outside of replacements.
void read_heading(const std::string& line, std::vector<Mutation>& mutations) {
  if (const auto name = field(line, "mutation: ")) {
    mutations.emplace_back().name = *name;
  } else if (trimmed(line).empty() || line.starts_with("#")) {
    return;
  } else if (mutations.empty() || !mutations.back().replacements.empty()) {
    throw std::runtime_error("not part of a mutation: " + line);
  } else if (const auto rows = field(line, "fabric: ")) {
    mutations.back().command = "fabric " + *rows;
  } else if (const auto options = field(line, "sim: ")) {
    mutations.back().command = "sim " + *options;
  } else if (const auto tests = field(line, "unit: ")) {
    mutations.back().command = "unit " + *tests;
  } else {
    mutations.back().title += line;
  }
}

// "mutation: NAME" begins a mutation. A title follows, perhaps "fabric: ROW...", "sim: OPTION..."
// or "unit: TEST...", then blocks of <<<< old text ==== new text >>>>. Lines outside of blocks that
// begin with # are comments.
std::vector<Mutation> read_mutations(std::istream& in) {
  enum { HEADING, BEFORE, AFTER } part = HEADING;
  std::vector<Mutation> mutations;
  std::string line;
  while (std::getline(in, line)) {
    if (part == HEADING && line == "<<<<" && !mutations.empty()) {
      mutations.back().replacements.emplace_back();
      part = BEFORE;
    } else if (part == BEFORE && line == "====") {
      part = AFTER;
    } else if (part == AFTER && line == ">>>>") {
      part = HEADING;
    } else if (part == HEADING) {
      read_heading(line, mutations);
    } else {
      Replacement& replacement = mutations.back().replacements.back();
      (part == BEFORE ? replacement.before : replacement.after) += line + "\n";
    }
  }
  if (part != HEADING) throw std::runtime_error(mutations.back().name + " has no closing >>>>");
  check_complete(mutations);
  return mutations;
}

// Returns where @pattern ends if it matches @text at @at. Any white space matches any other.
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

// Returns how often the old text occurs; replaces it if that is once.
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

std::string mutated(const Mutation& mutation, const std::string& source) {
  std::ifstream in(source);
  std::stringstream content;
  content << in.rdbuf();
  std::string text = content.str();
  if (text.empty()) throw std::runtime_error("cannot read " + source);
  for (const Replacement& replacement : mutation.replacements) {
    const int found = replace(text, replacement);
    if (found != 1)
      throw std::runtime_error(mutation.name + ": old text occurs " + std::to_string(found) +
                               " times in " + source);
  }
  return text;
}

void run(int argc, char** argv) {
  const std::filesystem::path file = argv[1];
  const std::filesystem::path source = argv[2] / file.stem();
  std::ifstream in(file);
  const std::vector<Mutation> mutations = read_mutations(in);
  if (argc == 3) {
    for (const Mutation& mutation : mutations) {
      mutated(mutation, source);
      std::cout << mutation.name << "\n";
    }
    return;
  }
  const auto named = [&](const Mutation& mutation) { return mutation.name == argv[3]; };
  const auto mutation = std::ranges::find_if(mutations, named);
  if (mutation == mutations.end()) throw std::runtime_error(std::string("no mutation ") + argv[3]);
  std::ofstream(argv[4]) << mutated(*mutation, source);
  std::cout << mutation->command << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::cerr << "usage: mutate FILE.mut SOURCE_DIR [NAME OUT_FILE]\n";
    return 2;
  }
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
