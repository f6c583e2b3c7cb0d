// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/interrupt.h"

#include <poll.h>

#include <csignal>

namespace sroce {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

/// Blocks SIGINT and returns the mask that admits it, so that it cannot come between a look at the
/// flag and the wait.
sigset_t admitting_mask() {
  static const sigset_t mask = [] {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigset_t interrupt{}, before{};
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    sigdelset(&before, SIGINT);
    return before;
  }();
  return mask;
}

}  // namespace

Wait wait_for_input(int fd, std::chrono::milliseconds time) {
  const sigset_t mask = admitting_mask();
  if (interrupted) return Wait::interrupted;
  pollfd file{fd, POLLIN, 0};
  const timespec limit{static_cast<time_t>(time.count() / 1000),
                       static_cast<long>(time.count() % 1000 * 1000000)};
  const int ready = ppoll(&file, 1, &limit, &mask);
  if (interrupted) return Wait::interrupted;
  return ready > 0 ? Wait::input : Wait::elapsed;
}

bool pause(std::chrono::milliseconds time) {
  return wait_for_input(-1, time) != Wait::interrupted;  // poll ignores a negative descriptor
}

}  // namespace sroce
