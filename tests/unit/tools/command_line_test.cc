// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/command_line.h"

#include <gmock/gmock.h>

#include <sstream>
#include <vector>

#include "fake_kernel.h"
#include "sroce/explain.h"
#include "sroce/wrap.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome run(FakeMachine& machine, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "sroce");
  std::ostringstream out, err;
  const int status = run_command_line(static_cast<int>(arguments.size()), arguments.data(),
                                      machine.system, out, err);
  return {status, out.str(), err.str()};
}

TEST(CommandLine, AddStatusAndDelWorkTogether) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {"add", "eth0", "--no-wait"}).out, "sroce0 on eth0\n");
  machine.sysfs.write("class/infiniband/sroce0/sroce/abi_version", "103\n");  // as the module does
  EXPECT_THAT(run(machine, {"status"}).out, HasSubstr("sroce0  sroce   eth0"));
  EXPECT_THAT(run(machine, {"status", "-j"}).out, StartsWith("[\n"));
  EXPECT_EQ(run(machine, {"del", "sroce0"}).out, "sroce0 removed\n");
  EXPECT_THAT(run(machine, {"status"}).out, HasSubstr("no sroce devices"));
}

TEST(CommandLine, JsonIsNotWrapped) {
  FakeMachine machine;
  run(machine, {"add", "eth0", "--no-wait"});
  const char* arguments[] = {"sroce", "status", "--all", "-j"};
  std::ostringstream out, err;
  const WrappedStream wrapped(out, [] { return 10; });
  EXPECT_EQ(run_command_line(4, arguments, machine.system, out, err), 0);
  EXPECT_EQ(out.str(), run(machine, {"status", "--all", "-j"}).out);
}

TEST(CommandLine, HelpShowsExamplesAndEveryExitStatus) {
  FakeMachine machine;
  const Outcome help = run(machine, {"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("sroce add eth0 "));
  for (const auto& [code, text] : exit_code_texts()) EXPECT_THAT(help.out, HasSubstr(text));
}

TEST(CommandLine, EachSubcommandHasItsOwnHelp) {
  FakeMachine machine;
  const Outcome set = run(machine, {"set", "--help"});
  EXPECT_EQ(set.status, 0);
  EXPECT_THAT(set.out, HasSubstr("congestion control"));
  EXPECT_THAT(set.out, Not(HasSubstr("sroce add eth0")));
  EXPECT_THAT(run(machine, {"qp", "--help"}).out, HasSubstr("selective"));
  EXPECT_THAT(run(machine, {"del", "--help"}).out, HasSubstr("sroce --help"));
  EXPECT_THAT(run(machine, {"add", "--help"}).out, HasSubstr("--dummy"));
}

TEST(CommandLine, PrintsTheVersionsOfTheToolAndTheModule) {
  FakeMachine machine;
  machine.sysfs.write("module/sroce/version", "0.9.1\n");
  for (const char* option : {"-V", "--version"}) {
    const Outcome version = run(machine, {option});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.out, StartsWith("sroce 1.2.3\n"));
    EXPECT_THAT(version.out, HasSubstr("\nmodule 0.9.1\n"));
  }
  std::filesystem::remove(machine.sysfs.root() / "module/sroce/version");
  EXPECT_THAT(run(machine, {"-V"}).out, HasSubstr("module of unknown version"));
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  EXPECT_THAT(run(machine, {"-V"}).out, HasSubstr("module not loaded"));
}

TEST(CommandLine, PingTakesOptionsAsPing8Does) {
  FakeMachine machine;
  CmReply reply;
  reply.stage = CmStage::connect;
  machine.cm_replies = {reply};
  const Outcome outcome = run(machine, {"ping", "-c", "2", "-W", "0.5", "10.0.0.2"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("2 requests, 2 responses"));
  machine.cm_replies[0].error = ETIMEDOUT;
  EXPECT_EQ(run(machine, {"p", "-c", "1", "-j", "10.0.0.2"}).status, 1);
  EXPECT_EQ(run(machine, {"ping"}).status, static_cast<int>(ExitCode::usage));
  EXPECT_EQ(run(machine, {"ping", "-c", "0", "10.0.0.2"}).status,
            static_cast<int>(ExitCode::usage));
}

TEST(CommandLine, TakesAnIntervalOrNot) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  for (const auto& [arguments, interval] :
       std::vector<std::pair<std::vector<const char*>, int>>{{{"stats", "-w"}, 1000},
                                                             {{"stats", "-w", "0.5"}, 500},
                                                             {{"stats", "-w", "sroce0"}, 1000},
                                                             {{"stats", "sroce0", "-w", "2"}, 2000},
                                                             {{"stats", "-w", "-j"}, 1000},
                                                             {{"stats", "-aw"}, 1000},
                                                             {{"stats", "-jw", "sroce0"}, 1000},
                                                             {{"stats", "-jaw", "2"}, 2000}}) {
    machine.now = {};
    machine.pauses = 0;
    machine.pauses_until_interrupt = 1;
    const Outcome outcome = run(machine, arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_EQ(machine.now, std::chrono::milliseconds(interval)) << arguments.back();
  }
  for (const char* interval : {"0", "86401"})
    EXPECT_EQ(run(machine, {"qp", "--interval", interval}).status,
              static_cast<int>(ExitCode::usage))
        << interval;
  for (const char* interval : {"-wnan", "--interval=nan"})
    EXPECT_EQ(run(machine, {"qp", interval}).status, static_cast<int>(ExitCode::usage)) << interval;
  EXPECT_EQ(run(machine, {"ping", "-W", "nan", "10.0.0.2"}).status,
            static_cast<int>(ExitCode::usage));
  EXPECT_EQ(run(machine, {"stats", "-xw"}).status, static_cast<int>(ExitCode::usage));
}

TEST(CommandLine, HelpIsAtMost80ColumnsWide) {
  FakeMachine machine;
  std::string texts = run(machine, {"--help"}).out;
  for (const char* command : {"add", "del", "status", "doctor", "stats", "gids", "show", "set",
                              "qp", "ping", "up", "down"})
    texts += run(machine, {command, "--help"}).out;
  std::istringstream lines(texts);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(CommandLine, ShowsTheStatusWithoutACommand) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  EXPECT_EQ(run(machine, {}).status, 0);
  EXPECT_EQ(run(machine, {}).out, run(machine, {"status"}).out);
}

TEST(CommandLine, AcceptsUniquePrefixesOfCommands) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  EXPECT_EQ(run(machine, {"statu"}).out, run(machine, {"status"}).out);
  EXPECT_EQ(run(machine, {"de", "sroce0"}).out, "sroce0 removed\n");
  const Outcome ambiguous = run(machine, {"s"});
  EXPECT_EQ(ambiguous.status, static_cast<int>(ExitCode::usage));
  EXPECT_THAT(ambiguous.err, HasSubstr("may be any of status, stats, show, set"));
}

TEST(CommandLine, HelpTakesACommand) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {"help"}).out, run(machine, {"--help"}).out);
  EXPECT_EQ(run(machine, {"help", "set"}).out, run(machine, {"set", "--help"}).out);
  EXPECT_EQ(run(machine, {"help", "q"}).out, run(machine, {"qp", "--help"}).out);
}

TEST(CommandLine, SuggestsTheCommandThatWasMeant) {
  FakeMachine machine;
  EXPECT_THAT(run(machine, {"doctr"}).err, HasSubstr("did you mean doctor?"));
  EXPECT_THAT(run(machine, {"help", "delete"}).err, HasSubstr("did you mean del?"));
}

TEST(CommandLine, TakesOnlyTheDeviceNameWithDummy) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {"add", "--no-wait", "--dummy", "10.99.0.1/24"}).out, "sroce0 on rdma0\n");
  EXPECT_EQ(run(machine, {"add", "--no-wait", "--dummy", "10.98.0.1/24", "rxe0"}).out,
            "rxe0 on rdma1\n");
  EXPECT_THAT(run(machine, {"add", "eth0", "rxe0", "--dummy", "10.99.0.1/24"}).err,
              HasSubstr("omit IF"));
}

TEST(CommandLine, TakesFilesOfDevices) {
  FakeMachine machine;
  const test::TemporaryTree files;
  files.write("a.conf", "[device]\ninterface = eth9\n");
  const std::string file = files.root() / "a.conf";
  EXPECT_EQ(run(machine, {"up", "--wait", "0", file.c_str(), file.c_str()}).out,
            "eth9: no such interface yet\neth9: no such interface yet\n");
  EXPECT_EQ(run(machine, {"up", "--interface", "eth0", file.c_str()}).out, "");
  EXPECT_EQ(run(machine, {"down", file.c_str()}).status, 0);
  EXPECT_EQ(run(machine, {"up", "/absent"}).status, static_cast<int>(ExitCode::bad_file));
  EXPECT_EQ(run(machine, {"up", "--wait", "-1"}).status, static_cast<int>(ExitCode::usage));
}

TEST(CommandLine, WritesTheCompletionOfShells) {
  FakeMachine machine;
  EXPECT_THAT(run(machine, {"--completion", "bash"}).out, HasSubstr("complete -F _sroce sroce"));
  EXPECT_THAT(run(machine, {"--completion", "zsh"}).out, StartsWith("#compdef sroce\n"));
  EXPECT_THAT(run(machine, {"--completion", "fish"}).out,
              HasSubstr("'__fish_seen_subcommand_from ping' -s W -x"));
  EXPECT_EQ(run(machine, {"--completion", "csh"}).status, static_cast<int>(ExitCode::usage));
  EXPECT_THAT(run(machine, {"--help"}).out, Not(HasSubstr("--completion")));
}

TEST(CommandLine, SaysThatAKernelHasNoRdma) {
  FakeMachine machine;
  machine.kernel.has_rdma = false;
  machine.configured_with_rdma = false;
  machine.module.loaded = false;
  machine.cm_replies = {{.stage = CmStage::open, .error = ENOENT}};
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"add", "eth0"},
                                             {"qp"},
                                             {"show", "sroce0"},
                                             {"set", "sroce0", "cc", "dcqcn"},
                                             {"ping", "127.0.0.1"}}) {
    const Outcome outcome = run(machine, arguments);
    EXPECT_EQ(outcome.status, static_cast<int>(ExitCode::module_absent)) << arguments[0];
    EXPECT_THAT(outcome.err, StartsWith("sroce: this kernel (6.1.0-test) has no RDMA"));
    EXPECT_THAT(outcome.err, HasSubstr("scripts/run"));
    EXPECT_THAT(outcome.err, Not(HasSubstr("modprobe")));
  }
}

TEST(CommandLine, SaysThatRdmaIsNotThatOfTheKernel) {
  FakeMachine machine;
  machine.sysfs.write("module/mlx_compat/holders/ib_core", "");
  EXPECT_EQ(run(machine, {"add", "eth0", "--no-wait"}).status, 0)
      << "the module has been built for it";
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  const Outcome outcome = run(machine, {"add", "eth0"});
  EXPECT_EQ(outcome.status, static_cast<int>(ExitCode::module_absent));
  EXPECT_THAT(outcome.err, StartsWith("sroce: RDMA is that of MLNX_OFED or DOCA"));
}

TEST(CommandLine, ExitsWithUsageStatusAndAHintOnMisuse) {
  FakeMachine machine;
  const std::vector<std::vector<const char*>> misuses = {
      {"bogus"},
      {"add"},
      {"del"},
      {"add", "a", "b", "c"},
      {"add", "eth0", "--wait", "soon"},
      {"add", "eth0", "--wait", "-1"},
      {"add", "eth0", "--wait", "1", "--no-wait"},
      {"status", "--what"},
      {"show"},
      {"set", "sroce0"}};
  for (const auto& arguments : misuses) {
    const Outcome outcome = run(machine, arguments);
    EXPECT_EQ(outcome.status, static_cast<int>(ExitCode::usage));
    EXPECT_THAT(outcome.err, HasSubstr("--help"));
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CommandLine, PrintsFailuresOnStandardErrorAndReturnsTheirStatus) {
  FakeMachine machine;
  const Outcome outcome = run(machine, {"add", "eth7"});
  EXPECT_EQ(outcome.status, static_cast<int>(ExitCode::no_such_interface));
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, StartsWith("sroce: no network interface 'eth7'"));
}

TEST(CommandLine, ReportsAnAbsentModuleIfTheKernelHasNoRdma) {
  FakeMachine machine;
  machine.kernel.has_rdma = false;
  for (const auto& arguments :
       std::vector<std::vector<const char*>>{{"status"}, {"add", "eth0"}, {"del", "sroce0"}})
    EXPECT_EQ(run(machine, arguments).status, static_cast<int>(ExitCode::module_absent));
}

}  // namespace
}  // namespace sroce
