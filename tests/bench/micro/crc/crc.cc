// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// NAME/BYTES/near uses the same buffers each time, in the L1 cache. NAME/BYTES/far cycles through
// 384 KiB in the L2 cache, like payloads of large messages. Targets are at 16 modulo 64 and sources
// at 20, as payloads of packets may be.
#include <benchmark/benchmark.h>
#include <linux/types.h>
#include <zlib.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

extern "C" {
#include "crc/crc_fold.h"
#include "crc/crc_method.h"
}

namespace {

constexpr size_t kPieces = 96, kStride = 4096 + 128;

// Eight tables, like the generic crc32_le().
struct Tables {
  std::array<std::array<u32, 256>, 8> of;

  Tables() {
    for (u32 i = 0; i < 256; i++) {
      u32 crc = i;
      for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
      of[0][i] = crc;
    }
    for (size_t k = 1; k < 8; k++)
      for (u32 i = 0; i < 256; i++) of[k][i] = of[k - 1][i] >> 8 ^ of[0][of[k - 1][i] & 0xff];
  }
};

u32 table_crc(u32 crc, const u8* from, size_t bytes) {
  static const Tables tables;
  const auto& t = tables.of;
  for (; bytes >= 8; bytes -= 8, from += 8) {
    u32 a, b;
    std::memcpy(&a, from, 4);
    std::memcpy(&b, from + 4, 4);
    a ^= crc;
    crc = t[7][a & 0xff] ^ t[6][a >> 8 & 0xff] ^ t[5][a >> 16 & 0xff] ^ t[4][a >> 24] ^
          t[3][b & 0xff] ^ t[2][b >> 8 & 0xff] ^ t[1][b >> 16 & 0xff] ^ t[0][b >> 24];
  }
  while (bytes--) crc = crc >> 8 ^ t[0][(crc ^ *from++) & 0xff];
  return crc;
}

using Work = u32 (*)(u8* to, const u8* from, size_t bytes);

// The masked headers before a packet's payload.
alignas(64) u8 block[64];

void write_headers(const u8* bth) {
  static u16 id;
  id++;
  std::memcpy(block + 28, &id, sizeof(id));
  std::memcpy(block + 52, bth, 12);
}

sroce_crc_prefix prefix_of(const u8* bth) {
  static u16 id;
  sroce_crc_prefix prefix = {block, ++id, 0, 0};
  std::memcpy(&prefix.bth_words, bth, sizeof(prefix.bth_words));
  std::memcpy(&prefix.tail_word, bth + 8, sizeof(prefix.tail_word));
  return prefix;
}

void run(benchmark::State& state, Work work, size_t bytes, size_t pieces) {
  static std::vector<u8> from(kPieces * kStride + 128, 0x5a), to(kPieces * kStride + 128);
  const auto aligned = [](std::vector<u8>& bytes) {
    return reinterpret_cast<u8*>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) / 64 * 64);
  };
  u8 *target = aligned(to) + 16, *source = aligned(from) + 20;
  size_t piece = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(work(target + piece * kStride, source + piece * kStride, bytes));
    benchmark::ClobberMemory();
    if (++piece == pieces) piece = 0;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<long>(bytes));
}

struct Kind {
  const char* name;
  size_t unit;
  bool present;
  Work work;
};

template <u32 (*fold)(const sroce_crc_prefix*, void*, const void*, size_t)>
u32 copy_behind_prefix(u8* to, const u8* from, size_t bytes) {
  const sroce_crc_prefix prefix = prefix_of(to - 12);
  return fold(&prefix, to, from, bytes);
}

template <u32 (*fold)(const sroce_crc_prefix*, const void*, size_t)>
u32 sum_behind_prefix(u8*, const u8* from, size_t bytes) {
  const sroce_crc_prefix prefix = prefix_of(from - 12);
  return fold(&prefix, from, bytes);
}

std::vector<Kind> kinds() {
  const bool pclmul = __builtin_cpu_supports("pclmul");
  const bool avx2 = __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512vbmi2");
  return {
      {"memcpy", 1, true,
       [](u8* to, const u8* from, size_t bytes) -> u32 {
         std::memcpy(to, from, bytes);
         return 0;
       }},
      {"crc/zlib", 1, true,
       [](u8*, const u8* from, size_t bytes) {
         return static_cast<u32>(crc32(1, from, static_cast<uInt>(bytes)));
       }},
      {"crc/table", 1, true,
       [](u8*, const u8* from, size_t bytes) { return table_crc(1, from, bytes); }},
      {"crc/pclmul", SROCE_FOLD_PCLMUL_BYTES, pclmul,
       [](u8*, const u8* from, size_t bytes) { return sroce_fold_pclmul(1, from, bytes); }},
      {"crc/avx2", SROCE_FOLD_AVX2_BYTES, avx2,
       [](u8*, const u8* from, size_t bytes) { return sroce_fold_avx2(1, from, bytes); }},
      {"crc/avx512", SROCE_FOLD_AVX512_BYTES, avx512,
       [](u8*, const u8* from, size_t bytes) { return sroce_fold_avx512(1, from, bytes); }},
      {"memcpy+crc/table", 1, true,
       [](u8* to, const u8* from, size_t bytes) {
         std::memcpy(to, from, bytes);
         return table_crc(1, to, bytes);
       }},
      {"memcpy+crc/avx512", SROCE_FOLD_AVX512_BYTES, avx512,
       [](u8* to, const u8* from, size_t bytes) {
         std::memcpy(to, from, bytes);
         return sroce_fold_avx512(1, to, bytes);
       }},
      {"copy_crc/pclmul", SROCE_FOLD_PCLMUL_BYTES, pclmul,
       [](u8* to, const u8* from, size_t bytes) {
         return sroce_fold_pclmul_copy(1, to, from, bytes);
       }},
      {"copy_crc/avx2", SROCE_FOLD_AVX2_BYTES, avx2,
       [](u8* to, const u8* from, size_t bytes) {
         return sroce_fold_avx2_copy(1, to, from, bytes);
       }},
      {"copy_crc/avx512", SROCE_FOLD_AVX512_BYTES, avx512,
       [](u8* to, const u8* from, size_t bytes) {
         return sroce_fold_avx512_copy(1, to, from, bytes);
       }},
      {"headers,copy_crc/pclmul", SROCE_FOLD_PCLMUL_BYTES, pclmul,
       [](u8* to, const u8* from, size_t bytes) {
         write_headers(to - 12);
         return sroce_fold_pclmul_copy(sroce_fold_pclmul(1, block, 64), to, from, bytes);
       }},
      {"headers,copy_crc/avx512", SROCE_FOLD_AVX512_BYTES, avx512,
       [](u8* to, const u8* from, size_t bytes) {
         write_headers(to - 12);
         return sroce_fold_avx512_copy(sroce_fold_avx512(1, block + 24, 40), to, from, bytes);
       }},
      {"prefixed_copy_crc/pclmul", SROCE_CRC_PREFIXED_UNIT, pclmul,
       copy_behind_prefix<sroce_fold_pclmul_prefixed_copy>},
      {"prefixed_copy_crc/avx2", SROCE_CRC_PREFIXED_UNIT, avx2,
       copy_behind_prefix<sroce_fold_avx2_prefixed_copy>},
      {"prefixed_copy_crc/avx512", SROCE_CRC_PREFIXED_UNIT, avx512,
       copy_behind_prefix<sroce_fold_avx512_prefixed_copy>},
      {"prefixed_crc/pclmul", SROCE_CRC_PREFIXED_UNIT, pclmul,
       sum_behind_prefix<sroce_fold_pclmul_prefixed>},
      {"prefixed_crc/avx2", SROCE_CRC_PREFIXED_UNIT, avx2,
       sum_behind_prefix<sroce_fold_avx2_prefixed>},
      {"prefixed_crc/avx512", SROCE_CRC_PREFIXED_UNIT, avx512,
       sum_behind_prefix<sroce_fold_avx512_prefixed>},
  };
}

void add(const Kind& kind, size_t bytes, const char* where, size_t pieces) {
  const auto name = std::string(kind.name) + "/" + std::to_string(bytes) + "/" + where;
  benchmark::RegisterBenchmark(name.c_str(), [work = kind.work, bytes,
                                              pieces](benchmark::State& s) {
    run(s, work, bytes, pieces);
  })->MinTime(0.02);
}

}  // namespace

int main(int argc, char** argv) {
  sroce_fold_init();
  for (const Kind& kind : kinds()) {
    for (size_t bytes : {40, 64, 256, 1024, 4096}) {
      if (!kind.present || bytes % kind.unit != 0) continue;
      add(kind, bytes, "near", 1);
      add(kind, bytes, "far", kPieces);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
