// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>
#include <thread>

#include "stream.h"

namespace sroce {
namespace {

constexpr int status_of_failure = 125;
constexpr int status_of_known_failure = 255;  // scripts/run adds nothing, and ends with 125

constexpr size_t longest_report = 200;  // a token and three numbers are shorter

// The consoles' descriptors in the kernel's process; scripts/run names them in its command line.
enum { first_console_fd = 3, input_fd = 3, output_fd, error_fd, control_fd };

struct Pipe {
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) _exit(status_of_failure);
  }
  int ends[2];
};

volatile pid_t guest;

/// Ends the guest and its userspace, which is one session.
void kill_guest() { kill(-guest, SIGKILL); }

void end_by_signal(int signal) {
  kill_guest();
  _exit(128 + signal);
}

/// A command whose reader has gone ends as if by SIGPIPE.
void end_by_output() {
  if (errno == EPIPE) end_by_signal(SIGPIPE);
  fprintf(stderr, "sroce: cannot write the output: %s\n", strerror(errno));
  kill_guest();
  _exit(status_of_known_failure);
}

/// Threads of User-mode Linux run one at a time, and migrating them makes a system call five times
/// as expensive.
void stay_on_one_cpu() {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(sched_getcpu(), &only);
  sched_setaffinity(0, sizeof(only), &only);
}

[[noreturn]] void start_kernel(pid_t host, const std::string& log, char** kernel,
                               const int (&consoles)[4]) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != host) _exit(status_of_failure);
  setsid();
  if (const char* pin = getenv("SROCE_RUN_PIN"); pin && *pin) stay_on_one_cpu();
  unsetenv("SROCE_RUN_TOKEN");
  // Above the places that they are copied to.
  int copies[4];
  for (int i = 0; i < 4; ++i) copies[i] = fcntl(consoles[i], F_DUPFD, 64);
  for (int i = 0; i < 4; ++i) {
    dup2(copies[i], first_console_fd + i);
    close(copies[i]);
  }
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666), STDOUT_FILENO);
  dup2(STDOUT_FILENO, STDERR_FILENO);
  execvp(kernel[0], kernel);
  _exit(status_of_failure);
}

/// Copies to one of our standard streams. Its count is the highest one when no more can come.
void copy_output(int from, int to, Count& count) {
  if (!copy_stream(from, to, count)) end_by_output();
  count = std::numeric_limits<uint64_t>::max();
  count.notify_one();
}

void wait_until(const Count& count, uint64_t wanted) {
  for (uint64_t seen = count; seen < wanted; seen = count) count.wait(seen);
}

/// Whether the guest says something, or ends, in the seconds that it may take to start.
bool starts_in_time(int control) {
  const char* limit = getenv("SROCE_RUN_LIMIT");
  pollfd entry{control, POLLIN, 0};
  return poll(&entry, 1, limit ? atoi(limit) * 1000 : -1) == 1;
}

/// Reads what the guest says about the command: a byte when its consoles are ready, then the token,
/// its status and the lengths of its outputs. Waits for these. The guest may still run.
int follow_command(int control, int input, std::chrono::steady_clock::time_point start,
                   const Count& output_count, const Count& error_count) {
  char ready = 0;
  if (!starts_in_time(control)) {
    fprintf(stderr, "sroce: the guest does not start\n");
    return status_of_failure;
  }
  if (read(control, &ready, 1) != 1) return status_of_failure;
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  if (const char* time = getenv("SROCE_RUN_TIME"); time && *time)
    fprintf(stderr, "sroce: the command started after %.2f s\n", waited.count());
  std::thread([=] { send_records(STDIN_FILENO, input); }).detach();
  std::string text;
  bool has_ended = false;  // the line, not the console
  for (char c; !has_ended && text.size() < longest_report && read(control, &c, 1) == 1;) {
    has_ended = c == '\n';
    if (!has_ended) text += c;
  }
  // The command can write to this console. A false length would be waited for without end.
  const char* wanted = getenv("SROCE_RUN_TOKEN");
  std::string token;
  int status = 0;
  uint64_t output_length = 0, error_length = 0;
  std::istringstream report(text);
  if (!has_ended || !(report >> token >> status >> output_length >> error_length) || !wanted ||
      token != wanted) {
    if (!text.empty()) fprintf(stderr, "sroce: not a report of the command: %s\n", text.c_str());
    return status_of_failure;
  }
  wait_until(output_count, output_length);
  wait_until(error_count, error_length);
  return status;
}

}  // namespace

int run_host(const std::string& log, char** kernel) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  // A standard stream may be closed.
  int spare = 0;
  while (spare >= 0 && spare <= STDERR_FILENO) spare = open("/dev/null", O_RDWR | O_CLOEXEC);
  close(spare);
  const auto start = std::chrono::steady_clock::now();
  Pipe input, output, error, control;
  const pid_t host = getpid();
  guest = fork();
  if (guest < 0) return status_of_failure;
  if (guest == 0)
    start_kernel(host, log, kernel,
                 {input.ends[0], output.ends[1], error.ends[1], control.ends[1]});
  // The caller may ignore a signal, as nohup does.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    if (::signal(signal, SIG_IGN) != SIG_IGN) ::signal(signal, end_by_signal);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGTTIN, SIG_IGN);  // in the background of a terminal, the input is empty
  for (const int fd : {input.ends[0], output.ends[1], error.ends[1], control.ends[1]}) close(fd);

  Count output_count = 0, error_count = 0;
  std::thread copies[] = {
      std::thread([&] { copy_output(output.ends[0], STDOUT_FILENO, output_count); }),
      std::thread([&] { copy_output(error.ends[0], STDERR_FILENO, error_count); })};
  const int status =
      follow_command(control.ends[0], input.ends[1], start, output_count, error_count);
  kill_guest();
  int kernel_status = 0;
  waitpid(guest, &kernel_status, 0);
  kill_guest();  // what is left of its userspace, so that the streams end
  for (std::thread& copy : copies) copy.join();
  fflush(nullptr);
  _exit(status);  // a thread may still wait for input
}

}  // namespace sroce
