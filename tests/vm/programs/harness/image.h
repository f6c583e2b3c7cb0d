// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What every byte of a buffer must be.
//
// An image is a guard pattern with pieces of data patterns laid over it. Both sides of a test
// compute the same images from the same seed, paint the one before a transfer and check the one
// after it; a byte that is wrong, missing, misplaced or written outside its target differs, because
// patterns depend on position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace harness {

// Bytes [start, start + out.size()) of the endless pattern `seed`.
void fill_pattern(std::span<std::byte> out, std::uint64_t seed, std::uint64_t start);

class Image {
 public:
  explicit Image(std::uint64_t guard_seed) : guard_seed_(guard_seed) {}

  // Pieces must not overlap.
  void place_pattern(std::size_t offset, std::size_t length, std::uint64_t seed,
                     std::uint64_t start);
  // Eight bytes in host order, as atomic operations see them. May replace an earlier word.
  void place_word(std::size_t offset, std::uint64_t word);

  void paint(std::span<std::byte> buffer) const;
  // Guard bytes again, where a piece may have been.
  void paint_guard(std::span<std::byte> buffer, std::size_t offset, std::size_t length) const;
  // Empty when every byte is right, else where and how the first wrong one differs.
  std::string check(std::span<const std::byte> buffer) const;

 private:
  struct Piece {
    std::size_t length;
    std::uint64_t seed;
    std::uint64_t start;
    std::optional<std::uint64_t> word;
  };

  template <class Visit>
  void visit_runs(std::size_t size, Visit visit) const;
  void expected(std::span<std::byte> out, const Piece& piece, std::size_t skip) const;

  std::uint64_t guard_seed_;
  std::map<std::size_t, Piece> pieces_;
};

}  // namespace harness
