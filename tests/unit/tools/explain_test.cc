// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/explain.h"

#include <gmock/gmock.h>

#include <cerrno>

#include "temporary_tree.h"

namespace sroce {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ExitCodes, AllHaveATextInNumericOrder) {
  int expected = 0;
  for (const auto& [code, text] : exit_code_texts()) {
    EXPECT_EQ(static_cast<int>(code), expected++);
    EXPECT_STRNE(text, "");
  }
  EXPECT_EQ(expected, static_cast<int>(ExitCode::bad_file) + 1);
}

TEST(FailureText, PrintsEachLineOfTheCureBelowTheCause) {
  EXPECT_EQ(failure_text(Failure(ExitCode::other, "it broke", "do this\nor that")),
            "sroce: it broke\n  hint: do this\n  hint: or that\n");
}

TEST(FailureText, HasOneLineIfThereIsNoCure) {
  EXPECT_EQ(failure_text(Failure(ExitCode::other, "it broke", "")), "sroce: it broke\n");
}

ModuleState state_of(const test::TemporaryTree& tree) {
  return module_state(Sysfs(tree.root()), tree.root() / "modules.alias");
}

TEST(ModuleState, IsLoadedRegardlessOfModprobe) {
  test::TemporaryTree tree;
  tree.write("module/sroce/refcnt", "0\n");
  EXPECT_EQ(state_of(tree), ModuleState::loaded);
}

TEST(ModuleState, IsInstalledIfDepmodListsTheLinkType) {
  test::TemporaryTree tree;
  tree.write("modules.alias", "alias rdma-link-rxe rdma_rxe\nalias rdma-link-sroce sroce\n");
  EXPECT_EQ(state_of(tree), ModuleState::installed);
  tree.write("modules.alias", "alias rdma_link_sroce sroce\n");
  EXPECT_EQ(state_of(tree), ModuleState::installed);
}

TEST(ModuleState, IsMissingIfNeitherLoadedNorListed) {
  test::TemporaryTree tree;
  EXPECT_EQ(state_of(tree), ModuleState::missing);
  tree.write("modules.alias", "alias rdma-link-rxe rdma_rxe\nalias rdma-link-sroce2 other\n");
  EXPECT_EQ(state_of(tree), ModuleState::missing);
}

TEST(KernelRelease, HasADottedVersion) { EXPECT_NE(kernel_release().find('.'), std::string::npos); }

AddAttempt attempt() {
  AddAttempt attempt;
  attempt.name = "sroce0";
  attempt.netdev = "eth0";
  attempt.is_root = true;
  attempt.kernel_release = "6.1.0-test";
  return attempt;
}

TEST(ExplainAdd, MapsEveryErrnoToAnExitCode) {
  const std::pair<int, ExitCode> table[] = {
      {EPERM, ExitCode::no_permission},
      {EACCES, ExitCode::no_permission},
      {ENODEV, ExitCode::no_such_interface},
      {ENFILE, ExitCode::name_taken},
      {EEXIST, ExitCode::name_taken},
      {EADDRINUSE, ExitCode::port_taken},
      {EOPNOTSUPP, ExitCode::interface_unsupported},
      {EINVAL, ExitCode::interface_unsupported},
      {ENOMEM, ExitCode::other},
  };
  for (const auto& [error, code] : table)
    EXPECT_EQ(explain_add(KernelError(error, ""), attempt()).code(), code) << error;
}

TEST(ExplainAdd, TakesEinvalForAMissingModuleIfItIsNotLoaded) {
  AddAttempt missing = attempt();
  missing.module = ModuleState::missing;
  const Failure failure = explain_add(KernelError(EINVAL, ""), missing);
  EXPECT_EQ(failure.code(), ExitCode::module_absent);
  EXPECT_THAT(failure.cure(), HasSubstr("insmod"));
  EXPECT_THAT(failure.cure(), HasSubstr("modprobe sroce"));
  EXPECT_THAT(failure.cure(), HasSubstr("6.1.0-test"));
}

TEST(ExplainAdd, PointsToTheKernelLogIfAnInstalledModuleIsNotLoaded) {
  AddAttempt installed = attempt();
  installed.module = ModuleState::installed;
  const Failure failure = explain_add(KernelError(EINVAL, ""), installed);
  EXPECT_EQ(failure.code(), ExitCode::module_absent);
  EXPECT_THAT(failure.what(), HasSubstr("installed"));
  EXPECT_THAT(failure.cure(), HasSubstr("dmesg"));
}

TEST(ExplainAdd, NamesTheUsualHolderOfATakenPort) {
  const Failure failure = explain_add(KernelError(EADDRINUSE, ""), attempt());
  EXPECT_THAT(failure.what(), HasSubstr("4791"));
  EXPECT_THAT(failure.cure(), HasSubstr("rdma_rxe"));
  EXPECT_THAT(failure.cure(), HasSubstr("rdma link"));
  EXPECT_THAT(failure.cure(), HasSubstr("ss -ulnp"));
  EXPECT_THAT(failure.cure(), Not(HasSubstr("modprobe -r")));
}

TEST(ExplainAdd, ListsTheRxeDevicesIfThePortIsTaken) {
  AddAttempt beside_rxe = attempt();
  beside_rxe.rxe_devices = {"rxe0", "rxe1"};
  beside_rxe.rxe_loaded = true;
  const Failure failure = explain_add(KernelError(EADDRINUSE, ""), beside_rxe);
  EXPECT_THAT(failure.cure(), HasSubstr("rxe0, rxe1"));
  EXPECT_THAT(failure.cure(), HasSubstr("rdma link delete rxe0 && rdma link delete rxe1\n"));
  EXPECT_THAT(failure.cure(), HasSubstr("modprobe -r rdma_rxe"));
}

TEST(ExplainAdd, NamesTheDeviceOfAnInterfaceInUse) {
  AddAttempt occupied = attempt();
  occupied.device_on_netdev = "sroce7";
  const Failure failure = explain_add(KernelError(EEXIST, ""), occupied);
  EXPECT_EQ(failure.code(), ExitCode::interface_in_use);
  EXPECT_THAT(failure.what(), HasSubstr("sroce7"));
}

TEST(ExplainAdd, PrefersATakenNameToAnInterfaceInUse) {
  AddAttempt both = attempt();
  both.device_on_netdev = "sroce0";
  both.name_exists = true;
  EXPECT_EQ(explain_add(KernelError(EEXIST, ""), both).code(), ExitCode::name_taken);
}

TEST(ExplainAdd, IncludesTheMessageOfTheKernel) {
  for (const int error : {EPERM, ENODEV, EADDRINUSE, EOPNOTSUPP, EINVAL, EIO})
    EXPECT_THAT(explain_add(KernelError(error, "bad moon"), attempt()).what(),
                HasSubstr("bad moon"))
        << error;
}

TEST(ExplainAdd, GivesRootAnotherCureForMissingPermission) {
  AddAttempt user = attempt();
  user.is_root = false;
  EXPECT_THAT(explain_add(KernelError(EPERM, ""), user).cure(), HasSubstr("sudo"));
  EXPECT_THAT(explain_add(KernelError(EPERM, ""), attempt()).cure(), HasSubstr("container"));
}

TEST(ExplainDel, MapsEveryErrnoToAnExitCode) {
  EXPECT_EQ(explain_del(KernelError(EPERM, ""), "sroce0", false).code(), ExitCode::no_permission);
  EXPECT_EQ(explain_del(KernelError(EINVAL, ""), "sroce0", true).code(), ExitCode::no_such_device);
  EXPECT_EQ(explain_del(KernelError(EBUSY, ""), "sroce0", true).code(), ExitCode::other);
}

TEST(ExplainSubsystemAbsent, SuggestsModprobeIfTheModuleIsInstalled) {
  const Failure missing = explain_subsystem_absent(ModuleState::missing, "6.1.0-test", {});
  EXPECT_EQ(missing.code(), ExitCode::module_absent);
  EXPECT_THAT(missing.cure(), HasSubstr("CONFIG_INFINIBAND"));
  const Failure installed = explain_subsystem_absent(ModuleState::installed, "6.1.0-test", true);
  EXPECT_EQ(installed.cure(), "load it: modprobe sroce");
}

TEST(ExplainSubsystemAbsent, SaysThatTheKernelWasConfiguredWithoutRdma) {
  const Failure absent = explain_subsystem_absent(ModuleState::missing, "6.1.0-test", false);
  EXPECT_EQ(absent.code(), ExitCode::module_absent);
  EXPECT_STREQ(absent.what(), "this kernel (6.1.0-test) has no RDMA: CONFIG_INFINIBAND is off");
  EXPECT_THAT(absent.cure(), HasSubstr("scripts/run"));
  EXPECT_THAT(absent.cure(), testing::Not(HasSubstr("modprobe")));
}

TEST(ExplainDummy, NamesTheCause) {
  EXPECT_EQ(explain_dummy(KernelError(EPERM, ""), "rdma0", false).code(), ExitCode::no_permission);
  EXPECT_THAT(explain_dummy(KernelError(EOPNOTSUPP, ""), "rdma0", true).what(),
              HasSubstr("no module dummy"));
  EXPECT_THAT(explain_dummy(KernelError(EIO, ""), "rdma0", true).what(), HasSubstr("Input/output"));
}

TEST(UnknownCommand, SuggestsTheNearest) {
  const std::vector<std::string> commands{"add", "status", "show"};
  EXPECT_THAT(unknown_command("stats", commands).cure(), HasSubstr("did you mean status?"));
  EXPECT_EQ(unknown_command("frobnicate", commands).cure(), "see: sroce --help");
  EXPECT_STREQ(ambiguous_command("s", {"status", "show"}).what(), "'s' may be any of status, show");
}

TEST(NoSuchInterface, SuggestsSimilarNamesOrListsAllInterfaces) {
  const std::vector<std::string> interfaces{"lo", "eth0"};
  EXPECT_EQ(no_such_interface("eth1", "", interfaces).cure(), "did you mean eth0?");
  EXPECT_EQ(no_such_interface("wlp2s0", "", interfaces).cure(),
            "the interfaces here are: lo, eth0");
  const std::vector<std::string> many(20, "veth12345678");
  EXPECT_EQ(no_such_interface("wlp2s0", "", many).cure(), "see: ip -br link");
}

TEST(NoSuchInterface, DetectsSwappedArguments) {
  EXPECT_EQ(no_such_interface("sroce0", "eth0", {"lo", "eth0"}).cure(),
            "the interface comes first: sroce add eth0 sroce0");
}

TEST(NoSuchDevice, SuggestsSimilarNames) {
  EXPECT_EQ(no_such_device("sroce1", {"mlx5_0", "sroce0"}).cure(), "did you mean sroce0?");
  EXPECT_THAT(no_such_device("sroce1", {}).cure(), HasSubstr("sroce add"));
}

}  // namespace
}  // namespace sroce
