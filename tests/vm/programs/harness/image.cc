// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/image.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "harness/failure.h"
#include "harness/random.h"

namespace harness {
namespace {

static_assert(std::endian::native == std::endian::little,
              "fill_pattern() stores words as they are");

constexpr std::size_t chunk = 4096;

std::string mismatch(std::span<const std::byte> wanted, std::span<const std::byte> found,
                     std::size_t offset, const std::string& what) {
  std::size_t at = 0;
  while (wanted[at] == found[at]) ++at;
  std::size_t wrong = 0;
  for (std::size_t i = at; i < wanted.size(); ++i) wrong += wanted[i] != found[i];
  std::string words;
  if (wanted.size() == sizeof(std::uint64_t)) {
    std::uint64_t values[2];
    std::memcpy(&values[0], found.data(), sizeof values[0]);
    std::memcpy(&values[1], wanted.data(), sizeof values[1]);
    words = text("; as words ", values[0], ", wanted ", values[1]);
  }
  return text("byte at offset ", offset + at, " (", what, " + ", at, ") is ",
              std::to_integer<int>(found[at]), ", wanted ", std::to_integer<int>(wanted[at]), "; ",
              wrong, " of the next ", wanted.size() - at, " bytes are wrong", words);
}

}  // namespace

void fill_pattern(std::span<std::byte> out, std::uint64_t seed, std::uint64_t start) {
  const std::uint64_t base = mix(seed);
  std::uint64_t index = start / 8;
  std::size_t skip = start % 8;
  while (!out.empty()) {
    const std::uint64_t word = mix(base + index++);
    const std::size_t length = std::min(out.size(), 8 - skip);
    std::memcpy(out.data(), reinterpret_cast<const std::byte*>(&word) + skip, length);
    out = out.subspan(length);
    skip = 0;
  }
}

void Image::place_pattern(std::size_t offset, std::size_t length, std::uint64_t seed,
                          std::uint64_t start) {
  if (length) pieces_.insert_or_assign(offset, Piece{length, seed, start, std::nullopt});
}

void Image::place_word(std::size_t offset, std::uint64_t word) {
  pieces_.insert_or_assign(offset, Piece{sizeof word, 0, 0, word});
}

// Calls visit(offset, length, piece, is_guard) for consecutive pieces that cover [0, size).
template <class Visit>
void Image::visit_pieces(std::size_t size, Visit visit) const {
  std::size_t at = 0;
  const auto guard = [&](std::size_t end) {
    if (end > at) visit(at, end - at, Piece{end - at, guard_seed_, at, std::nullopt}, true);
    at = std::max(at, end);
  };
  for (const auto& [offset, piece] : pieces_) {
    expect(offset >= at && offset + piece.length <= size, "image piece at ", offset,
           " overlaps another or exceeds the buffer");
    guard(offset);
    visit(offset, piece.length, piece, false);
    at = offset + piece.length;
  }
  guard(size);
}

void Image::expected(std::span<std::byte> out, const Piece& piece, std::size_t skip) const {
  if (piece.word)
    std::memcpy(out.data(), reinterpret_cast<const std::byte*>(&*piece.word) + skip, out.size());
  else
    fill_pattern(out, piece.seed, piece.start + skip);
}

void Image::paint(std::span<std::byte> buffer) const {
  visit_pieces(buffer.size(), [&](std::size_t offset, std::size_t length, const Piece& piece,
                                  bool) { expected(buffer.subspan(offset, length), piece, 0); });
}

void Image::paint_guard(std::span<std::byte> buffer, std::size_t offset, std::size_t length) const {
  fill_pattern(buffer.subspan(offset, length), guard_seed_, offset);
}

std::string Image::check(std::span<const std::byte> buffer) const {
  std::string complaint;
  visit_pieces(buffer.size(), [&](std::size_t offset, std::size_t length, const Piece& piece,
                                  bool is_guard) {
    std::array<std::byte, chunk> wanted;
    for (std::size_t done = 0; done < length && complaint.empty(); done += chunk) {
      const std::size_t step = std::min(chunk, length - done);
      const std::span<std::byte> now(wanted.data(), step);
      expected(now, piece, done);
      const auto found = buffer.subspan(offset + done, step);
      if (std::memcmp(now.data(), found.data(), step) == 0) continue;
      complaint = mismatch(now, found, offset + done,
                           text(is_guard ? "guard at " : "data at ", offset, " + ", done));
      fill_pattern(now, guard_seed_, offset + done);
      if (!is_guard && std::memcmp(now.data(), found.data(), step) == 0)
        complaint += "; nothing was written there";
    }
  });
  return complaint;
}

}  // namespace harness
