// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The ICRC of a payload, alone and while copying it, by each method that this CPU supports. Compare
// with memcpy of the same length.
#ifdef CONFIG_X86_64
#include <benchmark/benchmark.h>
#include <linux/types.h>

#include <cstddef>
#include <vector>

extern "C" {
#include "crc/crc_fold.h"
}

namespace {

constexpr u32 kSeed = ~0u;

struct Buffers {
  explicit Buffers(benchmark::State& state)
      : bytes(static_cast<std::size_t>(state.range(0))), from(bytes, 'x'), to(bytes) {
    sroce_fold_init();
  }
  std::size_t bytes;
  std::vector<char> from, to;
};

template <u32 (*fold)(u32, const void*, std::size_t)>
void sum(benchmark::State& state) {
  Buffers buffers(state);
  for (auto _ : state) benchmark::DoNotOptimize(fold(kSeed, buffers.from.data(), buffers.bytes));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <u32 (*fold)(u32, void*, const void*, std::size_t)>
void copy(benchmark::State& state) {
  Buffers buffers(state);
  for (auto _ : state) {
    benchmark::DoNotOptimize(fold(kSeed, buffers.to.data(), buffers.from.data(), buffers.bytes));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void sizes(benchmark::internal::Benchmark* what) { what->Arg(64)->Arg(256)->Arg(1024)->Arg(4096); }

const int registered = [] {
  const auto add = [](const char* name, void (*function)(benchmark::State&)) {
    sizes(benchmark::RegisterBenchmark(name, function));
  };
  if (__builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
    add("crc/pclmul", sum<sroce_fold_pclmul>);
    add("copy+crc/pclmul", copy<sroce_fold_pclmul_copy>);
  }
  if (__builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2")) {
    add("crc/avx2", sum<sroce_fold_avx2>);
    add("copy+crc/avx2", copy<sroce_fold_avx2_copy>);
  }
  if (__builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    add("crc/avx512", sum<sroce_fold_avx512>);
    add("copy+crc/avx512", copy<sroce_fold_avx512_copy>);
  }
  return 0;
}();

}  // namespace
#endif
