// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The bound for everything that touches payload: memcpy within the caches, and the two copies that
// a message needs from one end's memory to the other's.
#include <benchmark/benchmark.h>

#include <algorithm>
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

constexpr std::size_t packet = 4096, round = 128 << 10;

// Copies a message into packets and out of them, one round of the data path at a time. Packets use
// `in_turn` bytes of memory, cyclically.
void through_packets(benchmark::State& state) {
  const auto message = static_cast<std::size_t>(state.range(0));
  const auto in_turn = static_cast<std::size_t>(state.range(1));
  std::vector<char> from(message, 'x'), packets(in_turn), to(message);
  std::size_t first = 0;
  for (auto _ : state) {
    for (std::size_t done = 0; done < message; done += round) {
      const std::size_t bytes = std::min(message - done, round);
      for (std::size_t at = 0; at < bytes; at += packet) {
        std::memcpy(&packets[(first + at) % in_turn], &from[done + at], packet);
        benchmark::ClobberMemory();
      }
      for (std::size_t at = 0; at < bytes; at += packet) {
        std::memcpy(&to[done + at], &packets[(first + at) % in_turn], packet);
        benchmark::ClobberMemory();
      }
      first = (first + bytes) % in_turn;
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK(copy)->Name("memcpy")->Arg(40)->Arg(64)->Arg(256)->Arg(1024)->Arg(4096);
BENCHMARK(through_packets)->ArgsProduct({{64 << 10, 1 << 20}, {256 << 10, 1 << 20, 4 << 20}});
