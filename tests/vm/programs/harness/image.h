// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The expected content of a buffer.
//
// An image is a guard pattern with pieces of data patterns over it. Both sides of a test compute
// the same images from the same seed. They paint one before a transfer and check another after it.
// A byte that is wrong, missing, misplaced or written outside its target differs, because patterns
// depend on the position.
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
  // Restores the guard bytes of a range.
  void paint_guard(std::span<std::byte> buffer, std::size_t offset, std::size_t length) const;
  // Empty if every byte is right, else a description of the first wrong one.
  std::string check(std::span<const std::byte> buffer) const;

 private:
  struct Piece {
    std::size_t length;
    std::uint64_t seed;
    std::uint64_t start;
    std::optional<std::uint64_t> word;
  };

  template <class Visit>
  void visit_pieces(std::size_t size, Visit visit) const;
  void expected(std::span<std::byte> out, const Piece& piece, std::size_t skip) const;

  std::uint64_t guard_seed_;
  std::map<std::size_t, Piece> pieces_;
};

}  // namespace harness
