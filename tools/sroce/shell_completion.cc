// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/shell_completion.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "sroce/text.h"

namespace sroce {
namespace {

struct OptionWords {
  std::vector<std::string> names{};  // with their dashes
  std::string description{};
  std::string value{};  // what it is, as "SECONDS"; empty if there need not be one
};

struct Positional {
  std::string name;
  bool repeats = false;
};

struct CommandWords {
  std::string name{};  // empty: before the command
  std::string description{};
  std::vector<OptionWords> options{};
  std::vector<Positional> positionals{};
};

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  words.description = option.get_description();
  if (option.get_type_size_max() > 0 && !option.get_type_name().starts_with('['))
    words.value = option.get_type_name();
  return words;
}

CommandWords words_of(const CLI::App& app) {
  CommandWords words{.name = app.get_name(), .description = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional())
      words.positionals.push_back(
          {option->get_single_name(), option->get_items_expected_max() > 1});
    else if (!option->get_group().empty())
      words.options.push_back(words_of(*option));
  }
  return words;
}

std::vector<CommandWords> commands_of(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(words_of(*command));
  return commands;
}

template <typename List, typename Text>
std::string joined(const List& list, const std::string& separator, const Text& text) {
  std::string all;
  for (const auto& item : list) all += (all.empty() ? "" : separator) + text(item);
  return all;
}

std::string names_of(const std::vector<CommandWords>& commands) {
  return joined(commands, " ", [](const CommandWords& command) { return command.name; });
}

std::string option_names(const CommandWords& command) {
  return joined(command.options, " ", [](const OptionWords& option) {
    return joined(option.names, " ", [](const std::string& name) { return name; });
  });
}

// --- bash

constexpr char bash_start[] = R"(# Completion of sroce for bash. Made by: sroce --completion bash
_sroce() {
  local current=${COMP_WORDS[COMP_CWORD]} options='' values='' places='' kind='' word i
  # Readline makes a word of the = in --option=value.
  [[ $current != = ]] || current=''
  case ${COMP_WORDS[1]} in
)";

// values has the options with a value and what it is, places what the arguments are. compgen -W
// expands its list once: the quotes keep it from also expanding a $(...) in the name of an
// interface.
constexpr char bash_end[] = R"(  esac
  for ((i = 2; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    [[ $word != = ]] || continue
    if [[ $kind ]]; then
      kind=''
    elif [[ " $values" == *" $word="* ]]; then
      kind=${values##*"$word="}
      kind=${kind%% *}
    elif [[ $word != -* && ${places%% *} != *... ]]; then
      places=${places#* }
    fi
  done
  if ((COMP_CWORD == 1)); then
    places=COMMAND options=$top
  fi
  if [[ ! $kind && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W '$options' -- "$current")
    return
  fi
  case ${kind:-${places%% *}} in
  COMMAND) words=$commands ;;
  IF | TARGET) words=$(command ls /sys/class/net) ;;
  DEV) words=$(command ls /sys/class/infiniband 2>/dev/null) ;;
  FILE...)
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
    ;;
  *) words='' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W '$words' -- "$current")
}
complete -F _sroce sroce
)";

std::string place_names(const CommandWords& command) {
  return joined(command.positionals, " ", [](const Positional& positional) {
    return positional.name + (positional.repeats ? "..." : "");
  });
}

std::string bash_branch(const CommandWords& command) {
  std::string values;
  for (const OptionWords& option : command.options) {
    if (option.value.empty()) continue;
    for (const std::string& name : option.names)
      values += (values.empty() ? "" : " ") + name + "=" + option.value;
  }
  return "  " + command.name + ") options=" + shell_quoted(option_names(command)) +
         " values=" + shell_quoted(values) +
         " places=" + shell_quoted(place_names(command) + " -") + " ;;\n";
}

std::string bash_script(const CommandWords& top, const std::vector<CommandWords>& commands) {
  std::string script = bash_start;
  for (const CommandWords& command : commands) script += bash_branch(command);
  script += bash_end;
  const std::string locals = "  local commands=" + shell_quoted(names_of(commands)) +
                             " top=" + shell_quoted(option_names(top)) + " words\n";
  return script.insert(script.find("  case"), locals);
}

// --- zsh

constexpr char zsh_end[] = R"(  esac
}
_sroce_interfaces() { local -a all=(/sys/class/net/*(N:t)); _describe interface all; }
_sroce_devices() { local -a all=(/sys/class/infiniband/*(N:t)); _describe device all; }
_sroce "$@"
)";

std::string zsh_action(const std::string& kind) {
  if (kind == "IF" || kind == "TARGET") return "_sroce_interfaces";
  if (kind == "DEV") return "_sroce_devices";
  if (kind == "FILE") return "_files";
  if (kind == "COMMAND") return "_sroce_commands";
  return " ";
}

std::string zsh_text(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') all += '\\';
    all += c;
  }
  return all;
}

std::string zsh_arguments(const CommandWords& command) {
  std::string words;
  for (const OptionWords& option : command.options) {
    const std::string value =
        option.value.empty() ? "" : ":" + zsh_text(option.value) + ":" + zsh_action(option.value);
    for (const std::string& name : option.names) {
      // The value is the next word, or follows the = of a long name.
      const bool has_equals = !value.empty() && name.starts_with("--");
      words += " " + shell_quoted(name + (has_equals ? "=" : "") + "[" +
                                  zsh_text(option.description) + "]" + value);
    }
  }
  for (const Positional& positional : command.positionals)
    words += " " + shell_quoted((positional.repeats ? "*:" : ":") + zsh_text(positional.name) +
                                ":" + zsh_action(positional.name));
  return words;
}

std::string zsh_script(const CommandWords& top, const std::vector<CommandWords>& commands) {
  std::string script =
      "#compdef sroce\n# Made by: sroce --completion zsh\n_sroce_commands() {\n  local -a all=(\n";
  for (const CommandWords& command : commands)
    script += "    " + shell_quoted(zsh_text(command.name) + ":" + command.description) + "\n";
  script +=
      "  )\n  _describe command all\n}\n_sroce() {\n  if ((CURRENT == 2)); then\n    _arguments" +
      zsh_arguments(top) + " '1:command:_sroce_commands'\n    return\n  fi\n" +
      "  shift words\n  ((CURRENT--))\n  case $words[1] in\n";
  for (const CommandWords& command : commands)
    script += "  " + command.name + ") _arguments" + zsh_arguments(command) + " ;;\n";
  return script + zsh_end;
}

// --- fish

std::string fish_values(const std::string& kind) {
  if (kind == "IF" || kind == "TARGET") return "(command ls /sys/class/net)";
  if (kind == "DEV") return "(command ls /sys/class/infiniband 2>/dev/null)";
  return "";
}

std::string fish_option(const std::string& condition, const OptionWords& option) {
  std::string line = "complete -c sroce -n " + shell_quoted(condition);
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.value.empty()) line += " -x -a " + shell_quoted(fish_values(option.value));
  return line + " -d " + shell_quoted(option.description) + "\n";
}

std::string fish_command(const CommandWords& command) {
  const std::string condition = "__fish_seen_subcommand_from " + command.name;
  std::string lines = "complete -c sroce -n __fish_use_subcommand -a " + command.name + " -d " +
                      shell_quoted(command.description) + "\n";
  for (const OptionWords& option : command.options) lines += fish_option(condition, option);
  for (const Positional& positional : command.positionals) {
    if (positional.name == "FILE")
      lines += "complete -c sroce -F -n " + shell_quoted(condition) + "\n";
    const std::string values = fish_values(positional.name);
    if (!values.empty())
      lines +=
          "complete -c sroce -n " + shell_quoted(condition) + " -a " + shell_quoted(values) + "\n";
  }
  return lines;
}

std::string fish_script(const CommandWords& top, const std::vector<CommandWords>& commands) {
  std::string script = "# Made by: sroce --completion fish\ncomplete -c sroce -f\n";
  for (const OptionWords& option : top.options)
    script += fish_option("__fish_use_subcommand", option);
  return script + joined(commands, "", fish_command) +
         "complete -c sroce -n '__fish_seen_subcommand_from help' -a " +
         shell_quoted(names_of(commands)) + "\n";
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  const CommandWords top = words_of(app);
  std::vector<CommandWords> commands = commands_of(app);
  // command_line.cc replaces it before the grammar sees it.
  commands.push_back(
      {.name = "help", .description = "Show the help of a command", .positionals = {{"COMMAND"}}});
  if (shell == "bash") return bash_script(top, commands);
  return shell == "zsh" ? zsh_script(top, commands) : fish_script(top, commands);
}

}  // namespace sroce
