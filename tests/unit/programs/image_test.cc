// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/image.h"

#include <gtest/gtest.h>

#include <vector>

#include "harness/failure.h"

namespace {

using harness::Image;

std::vector<std::byte> painted(const Image& image, std::size_t size) {
  std::vector<std::byte> buffer(size);
  image.paint(buffer);
  return buffer;
}

TEST(Pattern, AnyPartMatchesTheWhole) {
  std::vector<std::byte> whole(200);
  harness::fill_pattern(whole, 7, 0);
  for (std::size_t start = 0; start < 40; ++start) {
    for (std::size_t length = 0; length < 40; ++length) {
      std::vector<std::byte> part(length);
      harness::fill_pattern(part, 7, start);
      ASSERT_TRUE(
          std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(start)))
          << start << " + " << length;
    }
  }
}

TEST(Pattern, DiffersAtEveryShiftAndForOtherSeeds) {
  std::vector<std::byte> whole(4096);
  harness::fill_pattern(whole, 7, 0);
  std::vector<std::byte> other(64);
  for (std::uint64_t shift = 1; shift < 4000; ++shift) {
    harness::fill_pattern(other, 7, shift);
    ASSERT_FALSE(std::equal(other.begin(), other.end(), whole.begin()));
  }
  harness::fill_pattern(other, 8, 0);
  EXPECT_FALSE(std::equal(other.begin(), other.end(), whole.begin()));
}

TEST(ImageTest, AcceptsWhatItPainted) {
  Image image(1);
  image.place_pattern(100, 5000, 2, 0);
  image.place_word(6000, 0x1122334455667788);
  EXPECT_EQ(image.check(painted(image, 10000)), "");
}

TEST(ImageTest, DetectsAChangeOfAnyByte) {
  Image image(1);
  image.place_pattern(10, 50, 2, 0);
  image.place_word(64, 42);
  std::vector<std::byte> buffer = painted(image, 100);
  for (std::byte& byte : buffer) {
    byte ^= std::byte{1};
    EXPECT_NE(image.check(buffer), "");
    byte ^= std::byte{1};
  }
  EXPECT_EQ(image.check(buffer), "");
}

TEST(ImageTest, ReportsOffsetAndKindOfAMismatch) {
  Image image(1);
  image.place_pattern(10, 50, 2, 0);
  std::vector<std::byte> buffer = painted(image, 100);
  buffer[60] ^= std::byte{1};
  EXPECT_NE(image.check(buffer).find("offset 60 (guard"), std::string::npos) << image.check(buffer);
  buffer[30] ^= std::byte{1};
  EXPECT_NE(image.check(buffer).find("offset 30 (data"), std::string::npos) << image.check(buffer);
}

TEST(ImageTest, RejectsOverlappingOrOutOfRangePieces) {
  Image overlapping(1);
  overlapping.place_pattern(0, 10, 2, 0);
  overlapping.place_pattern(9, 10, 2, 0);
  std::vector<std::byte> buffer(100);
  EXPECT_THROW(overlapping.paint(buffer), harness::Failure);
  Image outside(1);
  outside.place_pattern(95, 10, 2, 0);
  EXPECT_THROW(outside.paint(buffer), harness::Failure);
}

TEST(ImageTest, PaintGuardErasesAPiece) {
  Image with_piece(1);
  with_piece.place_pattern(10, 50, 2, 0);
  std::vector<std::byte> buffer = painted(with_piece, 100);
  with_piece.paint_guard(buffer, 10, 50);
  EXPECT_EQ(Image(1).check(buffer), "");
}

}  // namespace
