// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring_scribble/scribbles.h"

#include <rdma/rdma_user_rxe.h>
#include <sroce_abi.h>

#include <cstring>
#include <span>

namespace ring_scribble {
namespace {

using harness::Random;

constexpr std::uint32_t largest = ~0U;

template <std::size_t N>
std::uint32_t pick(Random& random, const std::uint32_t (&values)[N]) {
  return values[random.below(N)];
}

std::uint32_t odd_count(Random& random) {
  constexpr std::uint32_t counts[] = {0,  1,   2,      4,          5,          32,
                                      33, 255, 0xffff, 0x7fffffff, 0x80000000, largest};
  return pick(random, counts);
}

std::uint32_t odd_length(Random& random) {
  constexpr std::uint32_t lengths[] = {0,        1,          8,          64,         4096,   5000,
                                       1U << 20, 0x7fffffff, 0x80000000, 0x80000001, largest};
  return pick(random, lengths);
}

std::uint32_t odd_opcode(Random& random) {
  constexpr std::uint32_t rare[] = {16, 17, 31, 32, 0x20, 0x21, 0xf0, 0xff, 0x100, 0xffff, largest};
  // 0 to 15 are user opcodes. The kernel's own, such as REG_MR, are among and after them.
  return random.one_in(3) ? pick(random, rare) : static_cast<std::uint32_t>(random.below(16));
}

rxe_sge make_sge(Random& random, const Bait& bait) {
  rxe_sge sge{};
  sge.addr = bait.local + random.below(bait.length / 2);
  sge.length = static_cast<std::uint32_t>(random.below(2000));
  sge.lkey = bait.lkey;
  if (random.one_in(4)) sge.length = odd_length(random);
  if (random.one_in(6)) sge.lkey = random.next32();
  if (random.one_in(6)) sge.addr = random.one_in(2) ? ~random.below(64) : random.next();
  return sge;
}

struct List {
  std::uint32_t count;
  std::uint32_t length;
};

// Fills a list with at most as many entries as fit into `room`.
List forge_list(std::span<std::byte> room, Random& random, const Bait& bait) {
  List list{static_cast<std::uint32_t>(random.below(room.size() / sizeof(rxe_sge) + 1)), 0};
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const rxe_sge sge = make_sge(random, bait);
    std::memcpy(room.data() + i * sizeof sge, &sge, sizeof sge);
    list.length += sge.length;
  }
  return list;
}

// Fills the scatter list up to the end of the slot, with a header that may contradict it.
void forge_dma(rxe_dma_info& dma, std::size_t room, Random& random, const Bait& bait) {
  const std::size_t at = offsetof(rxe_dma_info, sge);
  const auto [count, length] =
      forge_list({reinterpret_cast<std::byte*>(&dma) + at, room - at}, random, bait);
  dma.num_sge = random.one_in(4) ? odd_count(random) : count;
  dma.cur_sge = random.one_in(4) ? odd_count(random) : 0;
  dma.length = random.one_in(4) ? odd_length(random) : length;
  dma.resid = random.one_in(4) ? odd_length(random) : dma.length;
  dma.sge_offset = random.one_in(6) ? odd_length(random) : 0;
  dma.reserved = random.one_in(8) ? random.next32() : 0;
}

std::uint32_t key_of_window(Random& random, const Bait& bait) {
  if (bait.windows.empty() || random.one_in(4))
    return random.one_in(2) ? bait.rkey : random.next32();
  return bait.windows[random.below(bait.windows.size())] ^ (random.one_in(2) ? random.byte() : 0);
}

std::uint32_t access_of_window(Random& random) {
  return random.one_in(4) ? random.next32()
                          : random.next32() & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                               IBV_ACCESS_ZERO_BASED);
}

void forge_operands(rxe_send_wqe& wqe, Random& random, const Bait& bait) {
  const std::uint64_t remote = bait.remote + 8 * random.below(bait.length / 16);
  switch (wqe.wr.opcode) {
    case 5:  // the atomics
    case 6:
      wqe.wr.wr.atomic.remote_addr = remote + (random.one_in(4) ? random.below(8) : 0);
      wqe.wr.wr.atomic.rkey = random.one_in(6) ? random.next32() : bait.rkey;
      break;
    case 7:  // LOCAL_INV
    case 9:  // SEND with invalidate
      wqe.wr.ex.invalidate_rkey = key_of_window(random, bait);
      break;
    case 8:  // a memory window bind
      wqe.wr.wr.mw.addr = random.one_in(2) ? bait.local : random.next();
      wqe.wr.wr.mw.length = random.one_in(2) ? bait.length : random.next();
      wqe.wr.wr.mw.mr_lkey = random.one_in(2) ? bait.lkey : random.next32();
      wqe.wr.wr.mw.mw_rkey = key_of_window(random, bait);
      wqe.wr.wr.mw.rkey = random.one_in(4) ? random.next32() : wqe.wr.wr.mw.mw_rkey;
      wqe.wr.wr.mw.access = access_of_window(random);
      break;
    case 14: {  // FLUSH: remote_addr, length, rkey, type and level
      const std::uint64_t operands[] = {remote, std::uint64_t{bait.rkey} << 32, random.next()};
      std::memcpy(&wqe.wr.wr, operands, sizeof operands);
      break;
    }
    default:
      wqe.wr.wr.rdma.remote_addr = random.one_in(6) ? random.next() : remote;
      wqe.wr.wr.rdma.rkey = random.one_in(6) ? random.next32() : bait.rkey;
      break;
  }
  wqe.iova = random.one_in(6) ? random.next() : wqe.wr.wr.rdma.remote_addr;
}

}  // namespace

void scribble_noise(Ring& ring, Random& random) {
  const std::size_t begin = random.below(ring.memory.size());
  const std::size_t length =
      std::min<std::size_t>(1 + random.below(64), ring.memory.size() - begin);
  for (std::size_t i = 0; i < length; ++i) ring.memory[begin + i] = std::byte{random.byte()};
}

void scribble_indices(Ring& ring, Random& random) {
  const std::uint32_t values[] = {
      0,          1,       ring.slots() - 1, ring.slots(),        ring.slots() + 1,   0x7fffffff,
      0x80000000, largest, random.next32(),  ring.producer() + 1, ring.producer() - 1};
  if (random.one_in(2))
    ring.set_producer(pick(random, values));
  else
    ring.set_consumer(pick(random, values));
}

void scribble_geometry(Ring& ring, Random& random) {
  constexpr std::uint32_t masks[] = {0, 1, 63, 127, 0xffff, 0x7fffffff, largest};
  constexpr std::uint32_t shifts[] = {0, 1, 5, 8, 12, 20, 31, 32, 63, 64, largest};
  ring.set_geometry(pick(random, shifts), pick(random, masks));
}

namespace {

void forge_native_send(Ring& ring, Random& random, const Bait& bait) {
  const std::span<std::byte> bytes = ring.slot(ring.producer());
  sroce_send_slot slot{};
  slot.wr_id = random.next();
  slot.opcode = static_cast<std::uint8_t>(odd_opcode(random));
  slot.flags = static_cast<std::uint8_t>(random.one_in(4) ? random.next32() : random.below(32));
  slot.imm_data = random.next32();
  slot.rkey = random.one_in(6) ? random.next32() : bait.rkey;
  slot.remote_addr =
      random.one_in(6) ? random.next() : bait.remote + 8 * random.below(bait.length / 16);
  slot.compare_add = random.next();
  slot.swap = random.next();
  if (slot.opcode == IBV_WR_LOCAL_INV || slot.opcode == IBV_WR_SEND_WITH_INV)
    slot.invalidate_rkey = key_of_window(random, bait);
  if (slot.opcode == IBV_WR_BIND_MW) {
    slot.rkey = key_of_window(random, bait);
    slot.invalidate_rkey = random.one_in(4) ? random.next32() : slot.rkey;
    slot.remote_addr = random.one_in(4) ? random.next() : bait.local + random.below(bait.length);
    slot.bind.length = random.one_in(4) ? random.next() : random.below(bait.length);
    slot.bind.lkey = random.one_in(4) ? random.next32() : bait.lkey;
    slot.bind.access = access_of_window(random);
  }
  const List list = forge_list(bytes.subspan(sizeof slot), random, bait);
  slot.num_sge = static_cast<std::uint16_t>(random.one_in(4) ? odd_count(random) : list.count);
  slot.length = random.one_in(4) ? odd_length(random) : list.length;
  std::memcpy(bytes.data(), &slot, sizeof slot);
  ring.advance_producer();
}

void forge_native_receive(Ring& ring, Random& random, const Bait& bait) {
  const std::span<std::byte> bytes = ring.slot(ring.producer());
  const sroce_recv_slot slot{.wr_id = random.next()};
  std::memcpy(bytes.data(), &slot, sizeof slot);
  forge_list(bytes.subspan(sizeof slot), random, bait);
  ring.advance_producer();
}

}  // namespace

void forge_send(Ring& ring, Random& random, const Bait& bait) {
  if (ring.native) return forge_native_send(ring, random, bait);
  const std::span<std::byte> slot = ring.slot(ring.producer());
  if (slot.size() < sizeof(rxe_send_wqe)) return scribble_noise(ring, random);
  rxe_send_wqe wqe{};
  wqe.wr.wr_id = random.next();
  wqe.wr.opcode = odd_opcode(random);
  wqe.wr.send_flags =
      random.one_in(4) ? random.next32() : static_cast<std::uint32_t>(random.below(32));
  wqe.wr.ex.imm_data = random.next32();
  forge_operands(wqe, random, bait);
  // Fields that the kernel must not trust.
  if (random.one_in(3)) {
    wqe.status = random.next32();
    wqe.state = static_cast<std::uint32_t>(random.below(8));
    wqe.mask = random.next32();
    wqe.first_psn = random.next32();
    wqe.last_psn = random.next32();
    wqe.ack_length = random.next32();
    wqe.ssn = random.next32();
    wqe.has_rd_atomic = random.next32();
  }
  std::memcpy(slot.data(), &wqe, offsetof(rxe_send_wqe, dma));
  auto* in_place = reinterpret_cast<rxe_send_wqe*>(slot.data());
  forge_dma(in_place->dma, slot.size() - offsetof(rxe_send_wqe, dma), random, bait);
  ring.advance_producer();
}

void forge_receive(Ring& ring, Random& random, const Bait& bait) {
  if (ring.native) return forge_native_receive(ring, random, bait);
  const std::span<std::byte> slot = ring.slot(ring.producer());
  if (slot.size() < sizeof(rxe_recv_wqe)) return scribble_noise(ring, random);
  auto* wqe = reinterpret_cast<rxe_recv_wqe*>(slot.data());
  wqe->wr_id = random.next();
  forge_dma(wqe->dma, slot.size() - offsetof(rxe_recv_wqe, dma), random, bait);
  ring.advance_producer();
}

}  // namespace ring_scribble
