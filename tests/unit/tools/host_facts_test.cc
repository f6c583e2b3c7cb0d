// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/host_facts.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace sroce {
namespace {

constexpr uint64_t limit_bytes = 1u << 20;

bool set_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
  limit.rlim_cur = limit_bytes;
  return setrlimit(RLIMIT_MEMLOCK, &limit) == 0;
}

/// The exit status of a process that runs this.
template <typename Body>
int status_of(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Whether no limit applies to this process.
bool is_exempt() {
  constexpr std::string_view initial = "user:[4026531837]";
  std::array<char, 64> space{};
  const ssize_t length = readlink("/proc/self/ns/user", space.data(), space.size());
  if (length < 0 || std::string_view(space.data(), static_cast<size_t>(length)) != initial)
    return false;
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != "CapEff:") continue;
    uint64_t effective = 0;
    file >> std::hex >> effective;
    return effective >> CAP_IPC_LOCK & 1;
  }
  return false;
}

constexpr int cannot = 2;

TEST(Memlock, HasNoLimitForRoot) {
  if (!is_exempt()) GTEST_SKIP() << "needs CAP_IPC_LOCK outside of user namespaces";
  const int status =
      status_of([] { return set_limit() ? int{memlock_bytes().has_value()} : cannot; });
  if (status == cannot) GTEST_SKIP() << "the limit cannot be set";
  EXPECT_EQ(status, 0);
}

TEST(Memlock, IsLimitedForRootOfAUserNamespace) {
  const int status = status_of([] {
    if (!set_limit() || unshare(CLONE_NEWUSER) != 0) return cannot;  // has all capabilities now
    return int{memlock_bytes() != limit_bytes};
  });
  if (status == cannot) GTEST_SKIP() << "no user namespaces";
  EXPECT_EQ(status, 0);
}

// Both variants have rules of their own, which the command without a variant would repeat.
TEST(IptablesRules, AreThoseOfBothVariants) {
  const std::string folder = ::testing::TempDir() + "save-commands";
  std::filesystem::create_directories(folder);
  for (const std::string family : {"iptables", "ip6tables"}) {
    for (const std::string& command : {family + "-legacy", family + "-nft", family}) {
      const std::string path = folder + '/' + command + "-save";
      std::ofstream(path) << "#!/bin/sh\necho '*raw'; echo rules of " << command << '\n';
      std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    }
  }
  const int status = status_of([&] {
    setenv("PATH", (folder + ":/usr/bin:/bin").c_str(), 1);
    std::string expected;
    for (const std::string& command :
         {std::string("iptables-legacy"), std::string("iptables-nft"),
          std::string("ip6tables-legacy"), std::string("ip6tables-nft")})
      expected += command + " *raw\n" + command + " rules of " + command + '\n';
    return int{iptables_rules() != expected};
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sroce
