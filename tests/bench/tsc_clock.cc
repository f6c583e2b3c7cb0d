// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// perftest counts cycles, and calibrates them against gettimeofday() 200 times. On a busy machine
// it is interrupted between the two readings, rejects the calibration, and prints 0.00 for every
// figure. This library, preloaded, derives gettimeofday() from the TSC with the frequency in
// /proc/cpuinfo, which perftest reads as well.
#include <sys/time.h>
#include <x86intrin.h>

#include <cstdio>
#include <cstdlib>

namespace {

double read_mhz() {
  double mhz = 0;
  if (std::FILE* file = std::fopen("/proc/cpuinfo", "r")) {
    char line[512];
    while (mhz == 0 && std::fgets(line, sizeof line, file) != nullptr)
      std::sscanf(line, "cpu MHz : %lf", &mhz);
    std::fclose(file);
  }
  if (mhz == 0) std::abort();
  return mhz;
}

double mhz() {
  static const double value = read_mhz();
  return value;
}

// Read the file before perftest calibrates, or its first reading would include that time.
const double g_read_early = mhz();

}  // namespace

extern "C" int gettimeofday(timeval* now, void*) noexcept {
  const auto us = static_cast<unsigned long long>(static_cast<double>(__rdtsc()) / mhz());
  now->tv_sec = static_cast<time_t>(us / 1000000);
  now->tv_usec = static_cast<suseconds_t>(us % 1000000);
  return 0;
}
