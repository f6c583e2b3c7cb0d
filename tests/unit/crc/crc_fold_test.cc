// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Each folding width against the definition of the CRC. A width folds multiples of its unit; the
// caller handles the rest.
#include <gtest/gtest.h>
#include <linux/types.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <random>
#include <span>
#include <string_view>
#include <vector>

extern "C" {
#ifdef __x86_64__
#include "crc/crc_fold.h"
#endif
#include "crc/crc_method.h"
}

namespace {

constexpr u32 kSeed = 0xdebb20e3;

struct Width {
  std::string_view name;
  size_t unit;
  u32 (*fold)(u32, const void*, size_t);
  u32 (*copy)(u32, void*, const void*, size_t);
  u32 (*prefixed)(const sroce_crc_prefix*, const void*, size_t);
  u32 (*prefixed_copy)(const sroce_crc_prefix*, void*, const void*, size_t);
  bool (*present)();
};

#ifdef __x86_64__
const Width kWidths[] = {
    {"pclmul", SROCE_FOLD_PCLMUL_BYTES, sroce_fold_pclmul, sroce_fold_pclmul_copy,
     sroce_fold_pclmul_prefixed, sroce_fold_pclmul_prefixed_copy,
     [] { return __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"); }},
    {"avx2", SROCE_FOLD_AVX2_BYTES, sroce_fold_avx2, sroce_fold_avx2_copy, sroce_fold_avx2_prefixed,
     sroce_fold_avx2_prefixed_copy,
     [] { return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx2"); }},
    {"avx512", SROCE_FOLD_AVX512_BYTES, sroce_fold_avx512, sroce_fold_avx512_copy,
     sroce_fold_avx512_prefixed, sroce_fold_avx512_prefixed_copy,
     [] {
       return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512vbmi2") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
     }},
};
#else
void sroce_fold_init() {}

const Width kWidths[] = {
    {"arm64", 16,
     [](u32 crc, const void* from, size_t bytes) {
       return sroce_crc_arch_method(0)->fold(crc, from, bytes);
     },
     [](u32 crc, void* to, const void* from, size_t bytes) {
       return sroce_crc_arch_method(0)->fold_copy(crc, to, from, bytes);
     },
     nullptr, nullptr, [] { return sroce_crc_arch_method(0) != nullptr; }},
};
#endif

u32 crc_of_byte(u32 crc, u8 byte) {
  crc ^= byte;
  for (int i = 0; i < 8; i++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
}

u32 crc_of(u32 crc, std::span<const u8> data) {
  return std::accumulate(data.begin(), data.end(), crc, crc_of_byte);
}

std::vector<u8> random_bytes(size_t bytes, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<u8> data(bytes);
  for (u8& byte : data) byte = static_cast<u8>(random() >> 8);
  return data;
}

class CrcFold : public testing::TestWithParam<Width> {
 protected:
  void SetUp() override {
    if (!width.present()) GTEST_SKIP() << "this CPU has no " << width.name;
    sroce_fold_init();
  }

  // Checks both functions, and that nothing is written outside the target.
  void expect_both(u32 seed, std::span<const u8> from, std::vector<u8>& target, size_t offset,
                   u32 expected) {
    const size_t end = offset + from.size();
    std::fill(target.begin(), target.end(), 0xa5);
    ASSERT_EQ(width.fold(seed, from.data(), from.size()), expected) << from.size();
    ASSERT_EQ(width.copy(seed, &target[offset], from.data(), from.size()), expected)
        << from.size() << " bytes to " << offset;
    ASSERT_TRUE(std::equal(from.begin(), from.end(), &target[offset]));
    std::fill(&target[offset], &target[end], 0xa5);
    ASSERT_EQ(std::count(target.begin(), target.end(), 0xa5), std::ssize(target));
  }

  const Width& width = GetParam();
};

TEST(CrcDefinition, MatchesTheWellKnownCheckValue) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(~crc_of(~0u, {reinterpret_cast<const u8*>(digits.data()), digits.size()}), 0xcbf43926);
}

TEST_P(CrcFold, IsCorrectForEveryShortLengthAndOffset) {
  const auto data = random_bytes(400, 1);
  alignas(64) static u8 aligned[400];
  std::vector<u8> target(600);
  std::copy(data.begin(), data.end(), aligned);
  for (size_t offset = 0; offset < 64; offset++) {
    u32 expected = kSeed;
    for (size_t bytes = 1; bytes <= 300; bytes++) {
      expected = crc_of_byte(expected, aligned[offset + bytes - 1]);
      if (bytes % width.unit == 0)
        expect_both(kSeed, {aligned + offset, bytes}, target, 64 + (offset * 7 + bytes) % 64,
                    expected);
    }
  }
}

TEST_P(CrcFold, IsCorrectForLongDataAtEveryTargetOffset) {
  const auto data = random_bytes(9000, 2);
  std::vector<u8> target(9300);
  std::minstd_rand random(3);
  for (size_t to = 0; to < 64; to++) {
    for (size_t bytes :
         std::initializer_list<size_t>{512, 1024, 2048, 4096, 512 + random() % 8000}) {
      const std::span<const u8> from(data.data() + random() % 64, bytes / width.unit * width.unit);
      expect_both(kSeed + to, from, target, 64 + to, crc_of(kSeed + to, from));
    }
  }
}

TEST_P(CrcFold, IsZeroForZerosAndAZeroSeed) {
  const std::vector<u8> zeros(4096);
  for (size_t bytes = width.unit; bytes <= zeros.size(); bytes += width.unit)
    ASSERT_EQ(width.fold(0, zeros.data(), bytes), 0u);
}

TEST_P(CrcFold, PartsChainToTheWhole) {
  const auto data = random_bytes(1024, 4);
  const u32 whole = width.fold(kSeed, data.data(), data.size());
  for (size_t split = width.unit; split < data.size(); split += width.unit) {
    const u32 first = width.fold(kSeed, data.data(), split);
    ASSERT_EQ(width.fold(first, data.data() + split, data.size() - split), whole) << split;
  }
}

// Sets each bit alone, so that an error in any constant shows.
TEST_P(CrcFold, DependsOnEveryBit) {
  std::vector<u8> data(704);
  for (size_t bit = 0; bit < data.size() * 8; bit++) {
    data[bit / 8] = static_cast<u8>(1 << bit % 8);
    ASSERT_EQ(width.fold(0, data.data(), data.size()), crc_of(0, data)) << bit;
    data[bit / 8] = 0;
  }
}

// Data between inaccessible pages: sanitizers do not see accesses by inline assembly.
class CrcFoldAtPageEdge : public CrcFold {
 protected:
  static constexpr size_t kPage = 4096;

  void SetUp() override {
    CrcFold::SetUp();
    if (IsSkipped()) return;
    for (u8*& page : pages) {
      void* all = mmap(nullptr, 3 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      ASSERT_NE(all, MAP_FAILED);
      page = static_cast<u8*>(all) + kPage;
      ASSERT_EQ(mprotect(page, kPage, PROT_READ | PROT_WRITE), 0);
      const auto data = random_bytes(kPage, 5);
      std::copy(data.begin(), data.end(), page);
    }
  }

  void TearDown() override {
    for (u8* page : pages)
      if (page != nullptr) munmap(page - kPage, 3 * kPage);
  }

  void expect(size_t offset, size_t bytes) {
    const u32 expected = crc_of(kSeed, {pages[0] + offset, bytes});
    EXPECT_EQ(width.fold(kSeed, pages[0] + offset, bytes), expected) << bytes;
    EXPECT_EQ(width.copy(kSeed, pages[1] + offset, pages[0] + offset, bytes), expected) << bytes;
    EXPECT_EQ(std::memcmp(pages[1] + offset, pages[0] + offset, bytes), 0) << bytes;
  }

  u8* pages[2] = {};
};

TEST_P(CrcFoldAtPageEdge, TouchesNothingOutside) {
  for (size_t bytes = width.unit; bytes <= kPage; bytes += width.unit * (bytes < 700 ? 1 : 5)) {
    expect(0, bytes);
    expect(kPage - bytes, bytes);
  }
}

// The words of a CRC prefix are XORed in where a packet has its identification and BTH.
class CrcPrefix : public CrcFoldAtPageEdge {
 protected:
  void SetUp() override {
    CrcFoldAtPageEdge::SetUp();
    if (width.prefixed == nullptr) GTEST_SKIP() << width.name << " has no function for prefixes";
    prefix.block = block.data();
    prefix.ip_id_word = 0x2b1a;
    prefix.bth_words = 0x1122334455667788;
    prefix.tail_word = 0xa1b2c3d4;
  }

  u32 expected(std::span<const u8> data) const {
    std::vector<u8> whole(block);
    add(whole, 28, &prefix.ip_id_word, sizeof(prefix.ip_id_word));
    add(whole, 52, &prefix.bth_words, sizeof(prefix.bth_words));
    add(whole, 60, &prefix.tail_word, sizeof(prefix.tail_word));
    whole.insert(whole.end(), data.begin(), data.end());
    return crc_of(0, whole);
  }

  static void add(std::vector<u8>& to, size_t at, const void* value, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) to[at + i] ^= static_cast<const u8*>(value)[i];
  }

  const std::vector<u8> block = random_bytes(SROCE_CRC_BLOCK_BYTES, 6);
  sroce_crc_prefix prefix{};
};

TEST_P(CrcPrefix, PayloadContinuesTheCrcOfThePrefix) {
  const auto data = random_bytes(4300, 7);
  for (size_t bytes = 0; bytes <= 4224; bytes += SROCE_CRC_PREFIXED_UNIT) {
    const std::span<const u8> from(data.data() + bytes / 16 % 64, bytes);
    std::vector<u8> target(bytes + 128, 0xa5);
    const u32 crc = expected(from);
    ASSERT_EQ(width.prefixed(&prefix, from.data(), bytes), crc) << bytes;
    ASSERT_EQ(width.prefixed_copy(&prefix, &target[64], from.data(), bytes), crc) << bytes;
    ASSERT_TRUE(std::equal(from.begin(), from.end(), target.begin() + 64));
    std::fill_n(target.begin() + 64, bytes, 0xa5);
    ASSERT_EQ(std::count(target.begin(), target.end(), 0xa5), std::ssize(target));
  }
}

TEST_P(CrcPrefix, TouchesNothingOutside) {
  for (size_t bytes = 0; bytes <= kPage; bytes += SROCE_CRC_PREFIXED_UNIT * (bytes < 700 ? 1 : 5)) {
    for (const size_t offset : {size_t{0}, kPage - bytes}) {
      const std::span<const u8> from(pages[0] + offset, bytes);
      const u32 crc = expected(from);
      EXPECT_EQ(width.prefixed(&prefix, from.data(), bytes), crc) << bytes;
      EXPECT_EQ(width.prefixed_copy(&prefix, pages[1] + offset, from.data(), bytes), crc) << bytes;
      EXPECT_EQ(std::memcmp(pages[1] + offset, from.data(), bytes), 0) << bytes;
    }
  }
}

std::string name_of(const testing::TestParamInfo<Width>& info) {
  return std::string(info.param.name);
}

INSTANTIATE_TEST_SUITE_P(Widths, CrcFold, testing::ValuesIn(kWidths), name_of);
INSTANTIATE_TEST_SUITE_P(Widths, CrcFoldAtPageEdge, testing::ValuesIn(kWidths), name_of);
INSTANTIATE_TEST_SUITE_P(Widths, CrcPrefix, testing::ValuesIn(kWidths), name_of);

}  // namespace
