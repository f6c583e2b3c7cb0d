// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/machine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

TEST(Memlock, HasNoLimitForRoot) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  EXPECT_EQ(status_of([] { return !set_limit() || memlock_bytes(); }), 0);
}

TEST(Memlock, IsLimitedForRootOfAUserNamespace) {
  constexpr int cannot = 2;
  const int status = status_of([] {
    if (!set_limit() || unshare(CLONE_NEWUSER) != 0) return cannot;  // has all capabilities now
    return int{memlock_bytes() != limit_bytes};
  });
  if (status == cannot) GTEST_SKIP() << "no user namespaces";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sroce
