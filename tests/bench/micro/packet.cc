// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Writing and parsing of headers.
#include <benchmark/benchmark.h>

#include <array>

#include "port/engine.h"

namespace {

sroce_packet packet_of(u8 opcode) {
  sroce_packet pkt = {};
  pkt.opcode = opcode;
  pkt.info = sroce_opcode_lookup(opcode);
  pkt.pkey = SROCE_PKEY_DEFAULT;
  pkt.dest_qpn = 17;
  pkt.psn = 4711;
  pkt.va = 0x7f0000001000;
  pkt.rkey = 0x1234;
  pkt.dma_length = 65536;
  pkt.header_bytes = pkt.info->header_bytes;
  pkt.payload_bytes = pkt.info->flags & SROCE_OPF_AETH ? 0 : 1024;
  return pkt;
}

void write(benchmark::State& state, u8 opcode) {
  const sroce_packet pkt = packet_of(opcode);
  std::array<u8, 64> header{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(sroce_packet_write(&pkt, header.data()));
    benchmark::ClobberMemory();
  }
}

void parse(benchmark::State& state, u8 opcode) {
  const sroce_packet pkt = packet_of(opcode);
  std::array<u8, 64> header{};
  const u32 bytes = sroce_packet_write(&pkt, header.data());
  sroce_packet parsed;
  for (auto _ : state) {
    const auto status = sroce_packet_parse(header.data(), bytes,
                                           bytes + pkt.payload_bytes + SROCE_ICRC_BYTES, &parsed);
    if (status != SROCE_PARSE_OK) state.SkipWithError("does not parse");
    benchmark::DoNotOptimize(parsed);
  }
}

BENCHMARK_CAPTURE(write, write_first, SROCE_OP_WRITE_FIRST);
BENCHMARK_CAPTURE(write, write_middle, SROCE_OP_WRITE_MIDDLE);
BENCHMARK_CAPTURE(write, ack, SROCE_OP_ACK);
BENCHMARK_CAPTURE(parse, write_first, SROCE_OP_WRITE_FIRST);
BENCHMARK_CAPTURE(parse, write_middle, SROCE_OP_WRITE_MIDDLE);
BENCHMARK_CAPTURE(parse, ack, SROCE_OP_ACK);

}  // namespace
