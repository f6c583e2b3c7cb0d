// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Messages through the engine, from work request to completion.
#include <benchmark/benchmark.h>

#include "conversation.h"

namespace {

void converse(benchmark::State& state, u8 opcode) {
  bench::Conversation talk;
  const auto length = static_cast<u32>(state.range(0));
  for (auto _ : state) {
    talk.post(opcode, length);
    if (talk.run() != 1) {
      state.SkipWithError("the message did not complete");
      break;
    }
  }
  state.counters["packet"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * bench::packets_of(length),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(converse, write, SROCE_WR_WRITE)->Arg(64)->Arg(65536);
BENCHMARK_CAPTURE(converse, send, SROCE_WR_SEND)->Arg(64)->Arg(65536);
BENCHMARK_CAPTURE(converse, read, SROCE_WR_READ)->Arg(64)->Arg(65536);

}  // namespace
