// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The measure of everything that touches payload: copying it and nothing else, inside the caches.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

namespace {

void copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<char> from(bytes, 'x'), to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK(copy)->Name("memcpy")->Arg(40)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096);
