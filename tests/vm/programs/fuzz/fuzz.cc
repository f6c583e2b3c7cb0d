// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fuzz/fuzz.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "harness/failure.h"

namespace fuzz {

using harness::text;

Tally& tally() {
  static Tally* shared = [] {
    void* memory =
        mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) harness::fail_errno(errno, "mmap");
    return new (memory) Tally{};
  }();
  return *shared;
}

void complain(const std::string& why) {
  if (tally().failed.exchange(true)) return;
  std::snprintf(tally().why, sizeof(Tally::why), "%s", why.c_str());
}

void count(int error, std::initializer_list<int> allowed, const std::string& what) {
  ++tally().calls;
  ++tally().errors[std::clamp(error, 0, most_errno)];
  if (error && std::find(allowed.begin(), allowed.end(), error) == allowed.end())
    complain(text(what, ": unexpected error ", error, ", ", strerror(error)));
}

pid_t start(const std::function<void()>& body) {
  tally();
  const pid_t pid = fork();
  if (pid < 0) harness::fail_errno(errno, "fork");
  if (pid) return pid;
  try {
    body();
  } catch (const std::exception& why) {
    complain(why.what());
  }
  _exit(0);
}

void finish(pid_t pid, const harness::Deadline& limit, const std::string& name) {
  harness::Backoff backoff;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) break;
    if (ended < 0) harness::fail_errno(errno, "waitpid");
    if (limit.expired()) {
      complain(text(name, " hangs"));
      kill(pid, SIGKILL);
      return;
    }
    backoff.pause();
  }
  if (WIFSIGNALED(status)) complain(text(name, " died of signal ", WTERMSIG(status)));
}

std::string summary() {
  std::string all = text(tally().calls, " calls, ", tally().errors[0], " accepted;");
  for (int error = 1; error <= most_errno; ++error)
    if (tally().errors[error]) all += text(" ", strerrorname_np(error), " ", tally().errors[error]);
  return all;
}

}  // namespace fuzz
