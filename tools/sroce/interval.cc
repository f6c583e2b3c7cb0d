// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/interval.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace sroce {

void call_at_interval(System& system, double interval_seconds, std::ostream& out,
                      const std::function<void(double seconds)>& sample) {
  using std::chrono::milliseconds;
  using std::chrono::nanoseconds;
  const milliseconds interval(std::lround(interval_seconds * 1000));
  nanoseconds last = system.now();
  nanoseconds next = last;
  double seconds = 0;
  bool goes_on = system.pause({});  // SIGINT counts from here on
  while (goes_on) {
    sample(seconds);
    if (!out) return;
    next = std::max(next + interval, system.now());  // no burst after a stop
    const auto rest = std::chrono::ceil<milliseconds>(next - system.now());
    goes_on = system.pause(std::max(rest, milliseconds(0)));
    const nanoseconds now = system.now();
    seconds = std::chrono::duration<double>(now - last).count();
    last = now;
  }
}

}  // namespace sroce
