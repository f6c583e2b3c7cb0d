// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/netns.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

namespace sroce {
namespace {

enum ChildStatus { passed = 0, wrong_names = 1, wrong_visit = 2, not_home = 3, no_permission = 77 };

bool pin_netns(const char* path) {
  const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  close(fd);
  return mount("/proc/self/ns/net", path, nullptr, MS_BIND, nullptr) == 0;
}

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

/// Makes the caller root of a new user namespace, so that the test needs no privilege outside.
bool become_private_root() {
  const std::string uid = std::to_string(getuid()), gid = std::to_string(getgid());
  return unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", "0 " + uid + " 1") &&
         write_file("/proc/self/gid_map", "0 " + gid + " 1");
}

/// Moves the process into mount and network namespaces of its own, where /run/netns lists "away",
/// a file that is no namespace, and "home", in which it ends up.
bool enter_private_namespaces() {
  return become_private_root() && unshare(CLONE_NEWNS | CLONE_NEWNET) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", "/run", "tmpfs", 0, nullptr) == 0 && mkdir("/run/netns", 0755) == 0 &&
         pin_netns("/run/netns/away") && unshare(CLONE_NEWNET) == 0 &&
         pin_netns("/run/netns/home") && close(creat("/run/netns/broken", 0600)) == 0;
}

ino_t netns_inode() {
  struct stat status {};
  return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

ChildStatus check_in_child() {
  if (!enter_private_namespaces()) return no_permission;
  if (current_netns_name() != "home") return wrong_names;
  const ino_t home = netns_inode();
  std::vector<std::string> visited;
  bool was_away = true;
  visit_other_netns([&](const std::string& name, Channel&) {
    visited.push_back(name);
    was_away = was_away && netns_inode() != home;
    return true;
  });
  if (visited != std::vector<std::string>{"away"} || !was_away) return wrong_visit;
  return netns_inode() == home ? passed : not_home;
}

TEST(Netns, OthersAreVisitedAndTheThreadComesHome) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(check_in_child());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == no_permission) GTEST_SKIP() << "cannot make namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), passed);
}

}  // namespace
}  // namespace sroce
