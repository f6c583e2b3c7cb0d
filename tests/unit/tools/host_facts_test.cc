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

TEST(Provider, IsOurs) {
  const VerbsDevice device = describe_provider("sroce0", "/usr/lib/libibverbs/libsroce-rdmav34.so");
  EXPECT_EQ(device.name, "sroce0");
  EXPECT_EQ(device.provider, "libsroce");
  EXPECT_EQ(device.rejection, "");
}

TEST(Provider, IsNotKnown) {
  EXPECT_EQ(describe_provider("sroce0", "").provider, "");
  EXPECT_EQ(describe_provider("sroce0", "/usr/lib/libibverbs.so.1").provider, "libibverbs.so.1");
}

// libibverbs takes librxe then.
TEST(Provider, OfOursMayLackThisVersion) {
  const std::filesystem::path folder = ::testing::TempDir() + "providers";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto lacks = [&] {
    return describe_provider("sroce0", folder / "librxe-rdmav59.so").rejection != "";
  };
  EXPECT_FALSE(lacks()) << "it is not installed";
  std::ofstream(folder / "libsroce-rdmav34.so");
  EXPECT_TRUE(lacks());
  std::ofstream(folder / "libsroce-rdmav59.so");
  EXPECT_FALSE(lacks()) << "IBV_DRIVERS or the configuration prefers librxe";
  std::filesystem::remove(folder / "libsroce-rdmav59.so");
  std::filesystem::create_symlink("libsroce.so.9", folder / "libsroce-rdmav59.so");
  EXPECT_FALSE(lacks()) << "that link leads nowhere";
}

TEST(Provider, OfOursSaysWhyItRejects) {
  EXPECT_EQ(rejection_in(""), "");
  EXPECT_EQ(rejection_in("libibverbs: Warning: no userspace device-specific driver found\n"), "");
  EXPECT_EQ(rejection_in("a warning\nlibsroce: cannot work with it\nanother\n"),
            "libsroce cannot work with it");
}

/// The result of module_file() with a program "modinfo" that prints these lines.
std::optional<ModuleFile> module_file_with(const std::string& filename, const std::string& sig_id) {
  const std::string folder = ::testing::TempDir() + "modinfo-commands";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/modinfo")
      << "#!/bin/sh\n"
      << "case $2 in filename) " << filename << ";; sig_id) " << sig_id << ";; esac\n";
  std::filesystem::permissions(folder + "/modinfo", std::filesystem::perms::owner_all);
  const char* kept = getenv("PATH");
  const std::string path = kept ? kept : "";
  setenv("PATH", (folder + ":/usr/bin:/bin").c_str(), 1);
  const auto file = module_file();
  setenv("PATH", path.c_str(), 1);
  return file;
}

TEST(ModuleFile, MayHaveASignature) {
  const auto without = module_file_with("echo /lib/sroce.ko", "true");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->path, "/lib/sroce.ko");
  EXPECT_FALSE(without->is_signed);
  EXPECT_TRUE(module_file_with("echo /lib/sroce.ko", "echo 'PKCS#7'")->is_signed);
  const std::string path = ::testing::TempDir() + "signed.ko";
  std::ofstream(path) << "a module~Module signature appended~\n";
  EXPECT_TRUE(module_file_with("echo " + path, "true")->is_signed) << "busybox";
  std::ofstream(path) << "short";
  EXPECT_FALSE(module_file_with("echo " + path, "true")->is_signed);
  EXPECT_FALSE(module_file_with("exit 1", "echo 'PKCS#7'")) << "there is no such module";
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
      expected += command + " *raw\n" + command + " rules of " + command + '\n' + command +
                  " # end\n";  // even if there are no rules
    return int{iptables_rules() != expected};
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sroce
