// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sroce/add.h"
#include "sroce/del.h"
#include "sroce/doctor.h"
#include "sroce/explain.h"
#include "sroce/gids.h"
#include "sroce/ping.h"
#include "sroce/qp.h"
#include "sroce/set.h"
#include "sroce/shell_completion.h"
#include "sroce/show.h"
#include "sroce/stats.h"
#include "sroce/status.h"
#include "sroce/up.h"
#include "sroce/wrap.h"

namespace sroce {
namespace {

constexpr char examples[] =
    "Examples:\n"
    "  sroce add eth0             attach to eth0 as sroce0, or the next free name\n"
    "  sroce add eth0 storage     attach to eth0 under the name storage\n"
    "  sroce add --dummy 10.99.0.1/24\n"
    "                             attach to a new dummy interface\n"
    "  sroce                      devices, GIDs and nonzero counters, as sroce status\n"
    "  sroce status -j | jq '.[].gids[].address'\n"
    "  sroce status --all         include devices of the in-tree rdma_rxe\n"
    "  sroce show sroce0          parameters, such as congestion control\n"
    "  sroce set sroce0 cc delay delay_target 50\n"
    "  sroce qp                   queue pairs, their rates and round-trip times\n"
    "  sroce gids                 GIDs, and which of them programs take\n"
    "  sroce stats -w             counters that change, and their rates, each second\n"
    "  sroce ping 10.0.0.2        whether a host responds to RoCE, and why not\n"
    "  sroce up                   what the files in /etc/sroce.d say, as after boot\n"
    "  sroce doctor               why programs cannot use RDMA here\n"
    "  sroce doctor 10.0.0.2      the same, and why that host does not respond\n"
    "  sroce del sroce0           detach\n";

constexpr char more_in_help[] = "Examples and exit status: sroce --help\n";

constexpr char add_footer[] =
    "Loads the modules that are missing. Then waits until the port is active and has\n"
    "the GID of each address of the interface, and prints them. --dummy makes the\n"
    "interface first: use it where another RDMA device has the address of the real\n"
    "one. sroce del removes it, too. --v1 is for peers without RoCE v2, and SMC-R v1.\n";

constexpr char doctor_footer[] =
    "Prints a line for each check: ok, warn, fail or skip. Commands that fix it\n"
    "follow. The exit status is 0 if all is well, 1 after a warning, and 2 after a\n"
    "failure. Only root sees the rules of a firewall: else skip. A host is asked as\n"
    "by sroce ping.\n";

constexpr char stats_footer[] =
    "Prints the counters that are not zero. With -w, prints those that change: by how\n"
    "much, and how much that is per second. The first lines follow after one\n"
    "interval.\n";

constexpr char ping_footer[] =
    "Asks the host for a connection to a service that it does not have, and prints\n"
    "the time until its stack rejects that. The host needs no server. Without a\n"
    "response it prints why, as far as this host can know. The exit status is 0 after\n"
    "a response and 1 without one; others as in sroce --help.\n";

constexpr char set_footer[] =
    "Sets all of the parameters, or none of them if one is invalid. sroce show DEV\n"
    "lists them with ranges, choices, defaults and units. cc (congestion control) and\n"
    "selective apply to queue pairs that connect later. All others take effect at\n"
    "once.\n\n"
    "  sroce set sroce0 cc dcqcn rp_ai_rate 5\n";

constexpr char up_footer[] =
    "A device that is there already stays, and gets the parameters again. udev runs\n"
    "this command for each interface that appears or gets another name.\n\n"
    "A file, by default each that matches /etc/sroce.d/*.conf, has such sections:\n\n"
    "  [device]\n"
    "  # a name, a pattern of names such as eth*, or a MAC address\n"
    "  interface = eth0\n"
    "  # default: the next free sroceN; only if one interface matches\n"
    "  name = storage\n"
    "  # GIDs of RoCE v1, too; default: no\n"
    "  v1 = yes\n"
    "  # as sroce set ... cc dcqcn\n"
    "  param.cc = dcqcn\n";

constexpr char qp_footer[] =
    "Prints two lines for each queue pair. Fields of the second line:\n"
    "  cc             congestion control algorithm / its state\n"
    "  rate, cwnd     shown only while they limit; values of the algorithm\n"
    "                 follow; resp_...: the same for READ responses\n"
    "  rtt, minrtt    round-trip time: smoothed / deviation, and minimum; in ms\n"
    "  inflight       packets sent and not yet acknowledged\n"
    "  retrans, timeouts, probes\n"
    "                 packets retransmitted, ACK timeouts, and tail loss probes\n"
    "  cnp, cuts      congestion notifications handled; decreases of the limit\n"
    "  selective      offered (no reply yet), on, off (standard peer), withdrawn\n"
    "  reorder        packets / bytes queued out of order\n"
    "  ce, cnp_sent   packets received with a congestion mark; notifications sent\n";

std::string footer() {
  std::string text = std::string(examples) + "\nExit status:\n";
  for (const auto& [code, meaning] : exit_code_texts()) {
    const std::string number = std::to_string(static_cast<int>(code));
    text += std::string(4 - number.size(), ' ') + number + "  " + meaning + '\n';
  }
  return text;
}

std::string version_text(System& system) {
  const auto module = system.sysfs.module_text("sroce", "version");
  return "sroce " + system.version + "\nmodule " +
         module.value_or(system.sysfs.module_loaded("sroce") ? "of unknown version" : "not loaded");
}

/// The command that the word names or is the only prefix of. Throws Failure.
std::string full_command(const std::string& word) {
  static const std::vector<std::string> commands{"add",  "del",  "status", "stats", "gids",
                                                 "show", "set",  "qp",     "ping",  "doctor",
                                                 "up",   "down", "help"};
  std::vector<std::string> found;
  for (const std::string& command : commands) {
    if (command == word) return command;
    if (command.starts_with(word)) found.push_back(command);
  }
  if (found.empty()) throw unknown_command(word, commands);
  if (found.size() > 1) throw ambiguous_command(word, found);
  return found.front();
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
}

/// "-w", or flags of a letter that end so, as "-aw".
bool is_interval(const std::string& argument) {
  if (argument == "--interval") return true;
  return argument.size() > 1 && argument[0] == '-' && argument.back() == 'w' &&
         argument.find_first_not_of("ajx", 1) == argument.size() - 1;
}

/// The value of -w may be left out.
void complete_interval(std::vector<std::string>& arguments) {
  const auto option = std::find_if(arguments.begin(), arguments.end(), is_interval);
  if (option == arguments.end()) return;
  const auto next = option + 1;
  if (next == arguments.end() || !is_number(*next)) arguments.insert(next, "1");
}

/// The arguments with commands in full, and "help COMMAND" as "COMMAND --help". Throws Failure.
std::vector<std::string> plain_arguments(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments[0].starts_with('-')) return arguments;
  arguments[0] = full_command(arguments[0]);
  complete_interval(arguments);
  if (arguments[0] != "help") return arguments;
  if (arguments.size() == 1) return {"--help"};
  return {full_command(arguments[1]), "--help"};
}

/// As CLI::Range, which accepts "nan".
CLI::Validator seconds_between(double least, double most) {
  return {[=](const std::string& text) -> std::string {
            double number = 0;
            if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most)
              return "";
            return "not in the range " + decimal_text(least, 2) + " to " + decimal_text(most, 2);
          },
          ""};
}

struct CommandLine {
  CLI::App app{"sroce: RDMA over Converged Ethernet (RoCEv2) on network interfaces", "sroce"};
  AddOptions add;
  std::string del_name;
  StatusOptions status;
  DoctorOptions doctor;
  SetOptions set;
  ShowOptions show;
  QpOptions qp;
  PingOptions ping;
  StatsOptions stats;
  GidsOptions gids;
  UpOptions up;
  bool json = false;
  std::string completion;

  explicit CommandLine(System& system) {
    app.require_subcommand(0, 1);
    app.failure_message([](const CLI::App* parsed, const CLI::Error& error) {
      std::string command = "sroce";
      for (const CLI::App* sub : parsed->get_subcommands()) command += " " + sub->get_name();
      return failure_text(Failure(ExitCode::usage, error.what(), "see: " + command + " --help"));
    });
    app.set_version_flag("-V,--version", version_text(system));
    app.add_option("--completion", completion)
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->group("");           // hidden: the build asks
    app.footer(more_in_help);  // inherited by subcommands

    auto* add_command = app.add_subcommand("add", "Attach a new device to a network interface");
    add_command->add_option("IF", add.netdev, "network interface; not with --dummy");
    add_command->add_option("NAME", add.name, "device name (default: the next free sroceN)");
    add_command->add_option("--dummy", add.dummy, "make a dummy interface of this address first")
        ->type_name("ADDRESS/LENGTH");
    add_command->add_option("--wait", add.wait_seconds, "seconds to wait for the GIDs (default: 5)")
        ->type_name("SECONDS");
    add_command->add_flag("--v1", add.roce_v1, "with GIDs of RoCE v1 before those of v2");
    add_command->add_flag("!--no-wait", add.wait, "do not wait for the GIDs")->excludes("--wait");
    add_command->footer(add_footer);

    auto* del_command = app.add_subcommand("del", "Remove a device");
    del_command->add_option("DEV", del_name, "device name")->required();

    auto* status_command = app.add_subcommand("status", "Show devices, their GIDs and counters");
    status_command->add_option("DEV", status.name, "only this device");
    status_command->add_flag("-j,--json", json, "print JSON");
    status_command->add_flag("-a,--all", status.all, "show devices of the in-tree rdma_rxe, too");

    auto* doctor_command = app.add_subcommand("doctor", "Say why programs cannot use RDMA here");
    doctor_command->add_option("TARGET", doctor.target,
                               "an interface, or a host that has to respond");
    doctor_command->add_flag("-j,--json", json, "print JSON");
    doctor_command->footer(doctor_footer);
    add_table_commands();
    add_module_commands();
    add_ping_command();
    add_file_commands();
    app.footer(footer());
  }

  void add_table_commands() {
    auto* stats_command = app.add_subcommand("stats", "Show counters and how they change");
    stats_command->add_option("DEV", stats.device, "only this device, of any driver");
    stats_command->add_flag("-a,--all", stats.all, "show counters that are zero or do not change");
    auto* explain = stats_command->add_flag("-x,--explain", stats.explain,
                                            "say what counters mean; without DEV, only that");
    add_interval(stats_command, stats.interval_seconds)->excludes(explain);
    stats_command->add_flag("-j,--json", json, "print JSON; with -w, one object a line");
    stats_command->footer(stats_footer);

    auto* gids_command = app.add_subcommand("gids", "Show GIDs and the programs that take them");
    gids_command->add_option("DEV", gids.device, "only this device, of any driver");
    gids_command->add_flag("-j,--json", json, "print JSON");
    gids_command->footer("Shows port 1, the only one of a sroce device.\n");
  }

  static CLI::Option* add_interval(CLI::App* command, std::optional<double>& seconds) {
    return command
        ->add_option("-w,--interval", seconds, "print again at this interval until ^C (default: 1)")
        ->type_name("[SECONDS]")
        ->check(seconds_between(0.01, 86400));
  }

  void add_module_commands() {
    auto* show_command = app.add_subcommand("show", "Show the parameters of a device");
    show_command->add_option("DEV", show.device, "device name")->required();
    show_command->add_flag("-j,--json", json, "print JSON");

    auto* set_command = app.add_subcommand("set", "Set parameters of a device");
    set_command->add_option("DEV", set.device, "device name")->required();
    set_command->add_option("NAME-VALUE", set.pairs, "NAME VALUE, one or more times")->required();
    set_command->footer(set_footer);

    auto* qp_command = app.add_subcommand("qp", "Show queue pairs and their state");
    qp_command->add_option("DEV", qp.device, "only queue pairs of this device");
    add_interval(qp_command, qp.interval_seconds);
    qp_command->add_flag("-j,--json", json, "print JSON; with -w, one object a line");
    qp_command->footer(qp_footer);
  }

  void add_ping_command() {
    auto* ping_command = app.add_subcommand("ping", "Say whether a host responds to RoCE");
    ping_command->add_option("HOST", ping.host, "name or address")->required();
    ping_command->add_option("-I", ping.device, "from this device (default: that of the route)")
        ->type_name("DEV");
    ping_command->add_option("-c", ping.count, "stop after N requests (default: go on until ^C)")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    ping_command->add_option("-W", ping.wait_seconds, "seconds to wait for a response (default: 2)")
        ->type_name("SECONDS")
        ->check(seconds_between(0.01, 600));
    ping_command->add_flag("-j,--json", json, "print JSON at the end");
    ping_command->footer(ping_footer);
  }

  void add_file_commands() {
    auto* up_command = app.add_subcommand("up", "Add the devices that files name");
    up_command
        ->add_option("--wait", up.wait_seconds, "seconds for interfaces to appear (default: 5)")
        ->type_name("SECONDS");
    auto* down_command = app.add_subcommand("down", "Remove the devices that files name");
    for (CLI::App* command : {up_command, down_command}) {
      command->add_option("FILE", up.files, "default: all of /etc/sroce.d/*.conf");
      command->add_option("--interface", up.interface_, "only the device of this interface")
          ->type_name("IF");
    }
    up_command->footer(up_footer);
    down_command->footer("sroce up --help describes the files.\n");
  }

  /// With --dummy, the first name is the device's.
  void arrange_names() {
    constexpr char see[] = "see: sroce add --help";
    if (!add.dummy) {
      if (add.netdev.empty()) throw Failure(ExitCode::usage, "IF is required", see);
      return;
    }
    if (add.name) throw Failure(ExitCode::usage, "--dummy makes the interface: omit IF", see);
    if (!add.netdev.empty()) add.name = std::exchange(add.netdev, {});
  }

  /// Returns the exit status. Throws Failure.
  int run(System& system, std::ostream& out, std::ostream& err) {
    if (!completion.empty()) {
      out << completion_script(app, completion);
      return static_cast<int>(ExitCode::success);
    }
    if (app.got_subcommand("add")) {
      arrange_names();
      run_add(system, add, out);
    }
    if (app.got_subcommand("del")) run_del(system, del_name, out);
    if (app.got_subcommand("set")) run_set(system, set, out);
    if (app.got_subcommand("up")) return static_cast<int>(run_up(system, up, out, err));
    if (app.got_subcommand("down")) return static_cast<int>(run_down(system, up, out, err));
    if (json) out << wrap_off;
    const Format format = json ? Format::json : Format::table;
    if (app.got_subcommand("status") || app.get_subcommands().empty()) {
      status.format = format;
      run_status(system, status, out);
    }
    if (app.got_subcommand("show")) {
      show.format = format;
      run_show(system, show, out);
    }
    if (app.got_subcommand("stats")) {
      stats.format = format;
      run_stats(system, stats, out);
    }
    if (app.got_subcommand("gids")) {
      gids.format = format;
      run_gids(system, gids, out);
    }
    if (app.got_subcommand("qp")) {
      qp.format = format;
      run_qp(system, qp, out);
    }
    if (app.got_subcommand("ping")) {
      ping.format = format;
      return run_ping(system, ping, out);
    }
    if (!app.got_subcommand("doctor")) return static_cast<int>(ExitCode::success);
    doctor.format = format;
    return run_doctor(system, doctor, out);
  }
};

int report(const Failure& failure, std::ostream& err) {
  write_failure(err, failure);
  return static_cast<int>(failure.code());
}

}  // namespace

int run_command_line(int argc, const char* const* argv, System& system, std::ostream& out,
                     std::ostream& err) {
  CommandLine command_line(system);
  try {
    auto arguments = plain_arguments({argv + 1, argv + argc});
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 takes
    command_line.app.parse(std::move(arguments));
    return command_line.run(system, out, err);
  } catch (const CLI::ParseError& error) {  // --help and --version arrive here too
    const int status = command_line.app.exit(error, out, err);
    return static_cast<int>(status == 0 ? ExitCode::success : ExitCode::usage);
  } catch (const Failure& failure) {
    return report(failure, err);
  } catch (const SubsystemAbsent&) {
    return report(explain_subsystem_absent(module_state(system.sysfs, system.modules_alias),
                                           system.kernel_release, system.kernel_has("INFINIBAND")),
                  err);
  } catch (const std::exception& error) {
    return report(Failure(ExitCode::other, error.what(), ""), err);
  }
}

}  // namespace sroce
