// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// fail_nth: runs a command in which the kernel makes one allocation fail. The caller has told the
// kernel in /sys/kernel/debug/failslab and others which allocations count.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/deadline.h"
#include "harness/failure.h"

namespace {

using harness::expect;
using harness::text;

constexpr const char* usage = R"(usage: fail_nth N SECONDS COMMAND [ARGUMENT]...

Run the command so that its Nth allocation fails. Print "failed STATUS" or, if it has fewer
allocations, "spared STATUS". A command that a signal ends, or that takes longer, is an error.)";

std::string nth_file(const std::string& pid) { return "/proc/" + pid + "/fail-nth"; }

[[noreturn]] void run_command(const char* nth, char** command) {
  const int fd = ::open(nth_file("self").c_str(), O_WRONLY);
  const auto length = static_cast<ssize_t>(std::string(nth).size());
  if (fd < 0 || ::write(fd, nth, static_cast<std::size_t>(length)) != length) ::_exit(126);
  ::execvp(command[0], command);
  ::_exit(127);
}

// A process that has ended still has the file, until it is waited for.
bool allocation_failed(pid_t child) {
  std::FILE* file = std::fopen(nth_file(std::to_string(child)).c_str(), "r");
  expect(file, "the kernel cannot make allocations fail");
  unsigned left = 0;
  const int got = std::fscanf(file, "%u", &left);
  std::fclose(file);
  expect(got == 1, "cannot read fail-nth");
  return left == 0;
}

void run(char** argv) {
  const auto end = harness::Deadline::after(std::chrono::seconds(std::atol(argv[2])));
  const pid_t child = ::fork();
  if (child < 0) harness::fail_errno(errno, "fork");
  if (child == 0) run_command(argv[1], argv + 3);
  siginfo_t info{};
  harness::Backoff backoff;
  while (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         !info.si_pid) {
    if (end.expired()) {
      ::kill(child, SIGKILL);
      harness::fail("the command does not end");
    }
    backoff.pause();
  }
  const bool failed = allocation_failed(child);
  ::waitpid(child, nullptr, 0);
  expect(info.si_code == CLD_EXITED, "signal ", info.si_status, " has ended the command");
  expect(info.si_status < 126, "the command cannot be run");
  std::printf("%s %d\n", failed ? "failed" : "spared", info.si_status);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "%s\n", usage);
    return 2;
  }
  try {
    run(argv);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
