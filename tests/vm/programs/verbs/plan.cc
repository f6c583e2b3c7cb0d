// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/plan.h"

#include <algorithm>

namespace verbs {
namespace {

using harness::Image;
using harness::Random;

constexpr std::size_t least_guard = 16;
constexpr std::size_t usual_guard = 80;
constexpr std::size_t widest_guard = 4200;  // some gaps cross a page boundary
constexpr std::size_t most_surplus = 100;   // receive buffers may be longer than messages
constexpr unsigned most_segments = 32;
constexpr std::size_t word_size = 8;

class Arena {
 public:
  explicit Arena(Random& random) : random_(random) {}

  std::size_t take(std::size_t length, std::size_t alignment) {
    cursor_ += random_.between(least_guard, random_.one_in(8) ? widest_guard : usual_guard);
    cursor_ = (cursor_ + alignment - 1) / alignment * alignment;
    const std::size_t offset = cursor_;
    cursor_ += length;
    return offset;
  }

  std::size_t size() const { return cursor_ + widest_guard; }

 private:
  Random& random_;
  std::size_t cursor_ = 0;
};

// Splits `size` bytes into up to `most` segments at random places, each with guard bytes around it.
Layout scatter(Random& random, Arena& arena, std::size_t size, unsigned most) {
  if (size == 0) return {};
  const auto count = std::min<std::size_t>(random.between(1, std::min(most, most_segments)), size);
  std::vector<std::size_t> cuts{0, size};
  while (cuts.size() <= count) cuts.push_back(random.between(1, size - 1));
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  Layout layout;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    layout.push_back({arena.take(cuts[i + 1] - cuts[i], 1), cuts[i + 1] - cuts[i]});
  return layout;
}

// Places `size` bytes of the pattern in the segments, in order. The rest of them is unchanged.
void place(Image& image, const Layout& layout, std::size_t size, std::uint64_t seed) {
  std::size_t done = 0;
  for (const Segment& segment : layout) {
    const std::size_t length = std::min(segment.length, size - done);
    image.place_pattern(segment.offset, length, seed, done);
    done += length;
  }
}

class Planner {
 public:
  Planner(const PlanLimits& limits, std::uint64_t seed)
      : limits_(limits), random_(seed), local_(random_), remote_(random_), plan_(seed) {
    for (Cell& cell : cells_) {
      cell.offset = remote_.take(word_size, word_size);
      cell.value = random_.next();
      plan_.remote_before.place_word(cell.offset, cell.value);
    }
  }

  void add(const TransferSpec& spec) {
    Transfer transfer{};
    transfer.spec = spec;
    transfer.id = random_.next();
    transfer.imm = random_.next32();
    data_seed_ = random_.next();
    if (is_atomic(spec.op))
      add_atomic(transfer);
    else if (spec.op == Op::read)
      add_read(transfer);
    else
      add_outbound(transfer);
    plan_.transfers.push_back(std::move(transfer));
  }

  Plan finish() {
    for (const Cell& cell : cells_) plan_.remote_after.place_word(cell.offset, cell.value);
    plan_.local_size = local_.size();
    plan_.remote_size = remote_.size();
    return std::move(plan_);
  }

 private:
  struct Cell {
    std::size_t offset;
    std::uint64_t value;
  };

  void add_outbound(Transfer& transfer) {
    const std::size_t size = transfer.spec.size;
    transfer.local = scatter(random_, local_, size, limits_.local_sge);
    place(plan_.local_before, transfer.local, size, data_seed_);
    // The source of an inline send is overwritten as soon as it has been posted.
    if (!transfer.spec.use_inline) place(plan_.local_after, transfer.local, size, data_seed_);
    if (consumes_receive(transfer.spec.op)) {
      const bool is_send = transfer.spec.op != Op::write_imm;
      const std::size_t wanted = (is_send ? size : 0) + random_.below(most_surplus);
      transfer.receive = scatter(random_, remote_, wanted, limits_.receive_sge);
      if (is_send) place(plan_.remote_after, transfer.receive, size, data_seed_);
    }
    if (transfer.spec.op == Op::write || transfer.spec.op == Op::write_imm) {
      transfer.remote_offset = remote_.take(size, 1);
      plan_.remote_after.place_pattern(transfer.remote_offset, size, data_seed_, 0);
    }
  }

  void add_read(Transfer& transfer) {
    const std::size_t size = transfer.spec.size;
    transfer.remote_offset = remote_.take(size, 1);
    plan_.remote_before.place_pattern(transfer.remote_offset, size, data_seed_, 0);
    plan_.remote_after.place_pattern(transfer.remote_offset, size, data_seed_, 0);
    transfer.local = scatter(random_, local_, size, limits_.local_sge);
    place(plan_.local_after, transfer.local, size, data_seed_);
  }

  // Atomics of one chain share two cells, so that the values reveal lost, repeated or reordered
  // ones.
  void add_atomic(Transfer& transfer) {
    Cell& cell = cells_[random_.below(2)];
    transfer.spec.size = word_size;
    transfer.remote_offset = cell.offset;
    transfer.local = {{local_.take(word_size, word_size), word_size}};
    plan_.local_after.place_word(transfer.local[0].offset, cell.value);
    if (transfer.spec.op == Op::fetch_add) {
      transfer.compare_or_add = random_.next();
      cell.value += transfer.compare_or_add;
      return;
    }
    const bool matches = random_.one_in(2);
    transfer.compare_or_add = matches ? cell.value : cell.value + 1 + random_.below(1000);
    transfer.swap = random_.next();
    if (matches) cell.value = transfer.swap;
  }

  PlanLimits limits_;
  Random random_;
  Arena local_;
  Arena remote_;
  Plan plan_;
  Cell cells_[2]{};
  std::uint64_t data_seed_ = 0;
};

}  // namespace

const char* op_name(Op op) {
  switch (op) {
    case Op::send:
      return "SEND";
    case Op::send_imm:
      return "SEND_WITH_IMM";
    case Op::send_inv:
      return "SEND_WITH_INV";
    case Op::write:
      return "WRITE";
    case Op::write_imm:
      return "WRITE_WITH_IMM";
    case Op::read:
      return "READ";
    case Op::cmp_swap:
      return "CMP_SWAP";
    case Op::fetch_add:
      return "FETCH_ADD";
  }
  return "?";
}

bool consumes_receive(Op op) {
  return op == Op::send || op == Op::send_imm || op == Op::send_inv || op == Op::write_imm;
}

bool is_atomic(Op op) { return op == Op::cmp_swap || op == Op::fetch_add; }

Plan::Plan(std::uint64_t seed)
    : local_before(harness::mix(seed + 1)),
      local_after(harness::mix(seed + 1)),
      remote_before(harness::mix(seed + 2)),
      remote_after(harness::mix(seed + 2)) {}

Plan make_plan(const std::vector<TransferSpec>& specs, const PlanLimits& limits,
               std::uint64_t seed) {
  Planner planner(limits, seed);
  for (const TransferSpec& spec : specs) planner.add(spec);
  return planner.finish();
}

std::size_t arena_bytes_for(std::size_t size) {
  return size + most_surplus + (most_segments + 3) * (widest_guard + word_size);
}

}  // namespace verbs
