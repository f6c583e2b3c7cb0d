// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/sigint.h"

#include <poll.h>

#include <csignal>

namespace sroce {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

void install_handler() {
  static const bool once = [] {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART;  // poll ends all the same
    return sigaction(SIGINT, &action, nullptr) == 0;
  }();
  static_cast<void>(once);
}

/// Blocks SIGINT, so that it cannot come between a look at the flag and the wait.
class BlockedInterrupt {
 public:
  BlockedInterrupt() {
    sigset_t interrupt{};
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before_);
  }
  ~BlockedInterrupt() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BlockedInterrupt(const BlockedInterrupt&) = delete;
  BlockedInterrupt& operator=(const BlockedInterrupt&) = delete;

  /// The mask that admits it.
  sigset_t admitting_mask() const {
    sigset_t mask = before_;
    sigdelset(&mask, SIGINT);
    return mask;
  }

 private:
  sigset_t before_{};
};

}  // namespace

Wait wait_for_input(int fd, std::chrono::milliseconds time) {
  install_handler();
  const BlockedInterrupt blocked;
  if (interrupted) return Wait::interrupted;
  const sigset_t mask = blocked.admitting_mask();
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
