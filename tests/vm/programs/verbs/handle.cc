// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/handle.h"

#include <atomic>
#include <cerrno>

#include "harness/failure.h"
#include "harness/tap.h"

namespace verbs {
namespace {

std::atomic<int> failures;

}  // namespace

void report_close(int result, const char* what) {
  if (result == 0) return;
  ++failures;
  harness::note(
      harness::text("close failed: ", std::strerror(result > 0 ? result : errno), " in ", what));
}

int close_failures() { return failures; }

void check_closes(harness::Tap& tap) {
  tap.run("every verbs object can be closed",
          [] { harness::expect(failures == 0, failures.load(), " cannot"); });
}

}  // namespace verbs
