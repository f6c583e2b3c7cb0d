// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <algorithm>

#include "harness/failure.h"
#include "harness/random.h"
#include "packet_script/scripts.h"

namespace packet_script {
namespace {

using harness::Random;

constexpr std::uint32_t psn_mask = 0xffffff;
constexpr int retained = 4;  // READs and atomics that a responder remembers

std::size_t packets_of(std::size_t bytes, std::size_t mtu) {
  return std::max<std::size_t>(1, (bytes + mtu - 1) / mtu);
}

Setup random_setup(Random& random) {
  Setup setup;
  setup.psn = random.next32() & psn_mask;
  if (random.one_in(4)) setup.psn = psn_mask - static_cast<std::uint32_t>(random.below(12));
  setup.mtu = random.one_in(3) ? IBV_MTU_512 : IBV_MTU_256;
  setup.dest_rd_atomic = retained;
  return setup;
}

// --- responder
// ------------------------------------------------------------------------------------

// A peer that mostly keeps the rules. It leaves out what differential.known lists.
class Peer {
 public:
  Peer(Random& random, Player& player, std::size_t mtu)
      : random_(random), player_(player), mtu_(mtu) {}

  void play() {
    const std::uint64_t steps = random_.between(3, 9);
    for (std::uint64_t i = 0; i < steps; ++i) step();
    if (random_.one_in(2)) break_a_rule();
  }

 private:
  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
        return message(true);
      case 2:
        return message(false);
      case 3:
        return rd_atomic(read());
      case 4:
        return rd_atomic(atomic());
      case 5:
        return duplicate_message();
      case 6:
        return duplicate_rd_atomic();
      default:
        return random_.one_in(2) ? gap() : no_receive();
    }
  }

  // Left out: no bytes, which are in the lists above.
  std::size_t some_bytes() {
    constexpr std::size_t sizes[] = {1, 3, 8, 100, 255, 256, 257, 511, 512, 513, 1000, 1300};
    return sizes[random_.below(std::size(sizes))];
  }

  Request decorated(Request request) {
    request.wants_ack = !random_.one_in(4);
    request.is_solicited = random_.one_in(4);
    request.is_migrated = !random_.one_in(4);
    if (random_.one_in(8)) request.congestion = 0x80;
    if (random_.one_in(8)) request.congestion |= 0x3f;
    if (random_.one_in(8)) request.pkey = 0x7fff;
    return request;
  }

  // The packets of a SEND or WRITE from the next PSN on.
  std::vector<Request> packets(bool is_send, bool has_immediate) {
    const std::size_t bytes = some_bytes();
    const std::size_t count = packets_of(bytes, mtu_);
    const std::size_t offset = random_.below(region_bytes - bytes);
    std::vector<Request> all;
    for (std::size_t i = 0; i < count; ++i) {
      Request request{.op = Opcode::send_middle, .psn = psn_ + static_cast<int>(i)};
      request.bytes = std::min(mtu_, bytes - i * mtu_);
      request.offset = offset;
      request.length = static_cast<std::uint32_t>(bytes);
      request.word = random_.next32();
      request.op = opcode(is_send, i == 0, i + 1 == count, has_immediate);
      all.push_back(decorated(request));
    }
    return all;
  }

  static Opcode opcode(bool is_send, bool is_first, bool is_last, bool has_immediate) {
    if (is_first && is_last && has_immediate)
      return is_send ? Opcode::send_only_imm : Opcode::write_only_imm;
    if (is_first && is_last) return is_send ? Opcode::send_only : Opcode::write_only;
    if (is_first) return is_send ? Opcode::send_first : Opcode::write_first;
    if (!is_last) return is_send ? Opcode::send_middle : Opcode::write_middle;
    if (has_immediate) return is_send ? Opcode::send_last_imm : Opcode::write_last_imm;
    return is_send ? Opcode::send_last : Opcode::write_last;
  }

  void accept(const std::vector<Request>& requests) {
    psn_ += static_cast<int>(requests.size());
    messages_.insert(messages_.end(), requests.begin(), requests.end());
  }

  void message(bool is_send) {
    const bool has_immediate = random_.one_in(3);
    const std::vector<Request> all = packets(is_send, has_immediate);
    if (is_send || has_immediate) player_.receive(some_room());
    if (random_.one_in(2)) {
      player_.burst(all);
    } else {
      for (const Request& request : all) player_.send(request);
    }
    accept(all);
  }

  std::size_t some_room() { return 1300 + random_.below(100); }

  Request read() {
    const std::size_t bytes = some_bytes();
    return decorated({.op = Opcode::read_request,
                      .psn = psn_,
                      .bytes = bytes,
                      .offset = random_.below(region_bytes - bytes)});
  }

  Request atomic() {
    return decorated({.op = random_.one_in(2) ? Opcode::cmp_swap : Opcode::fetch_add,
                      .psn = psn_,
                      .offset = 8 * random_.below(region_bytes / 8),
                      .swap_or_add = random_.next(),
                      .compare = random_.next()});
  }

  void rd_atomic(const Request& request) {
    player_.send(request);
    psn_ +=
        request.op == Opcode::read_request ? static_cast<int>(packets_of(request.bytes, mtu_)) : 1;
    rd_atomics_.push_back(request);
    // How far an ACK of an earlier duplicate may reach beyond a READ is left open.
    messages_.clear();
  }

  void duplicate_message() {
    if (messages_.empty()) return;
    player_.send(messages_[random_.below(messages_.size())]);
  }

  void duplicate_rd_atomic() {
    if (rd_atomics_.empty()) return;
    const std::size_t known = std::min<std::size_t>(rd_atomics_.size(), retained);
    Request request = rd_atomics_[rd_atomics_.size() - 1 - random_.below(known)];
    request.is_again = true;
    player_.send(request);
  }

  // Packets are lost, and the peer goes back. Nobody knows yet how much it has sent beyond.
  void gap() {
    std::vector<Request> all = packets(false, false);
    const int start = psn_;
    psn_ += static_cast<int>(all.size());
    const std::vector<Request> more = packets(false, false);
    psn_ = start;
    all.insert(all.end(), more.begin(), more.end());
    for (Request& request : all) request.wants_ack = true;
    const std::size_t lost = random_.between(1, all.size() - 1);
    for (std::size_t i = lost; i < all.size(); ++i) {
      Request request = all[i];
      request.is_late = true;
      player_.send(request);
    }
    player_.burst(all);
    accept(all);
  }

  void no_receive() {
    std::vector<Request> all = packets(true, false);
    all[0].is_late = true;
    player_.send(all[0]);
    player_.receive(some_room());
    player_.burst(all);
    accept(all);
  }

  // Each ends the connection.
  void break_a_rule() {
    Request request;
    switch (random_.below(6)) {
      case 0:
        request = {.op = random_.one_in(2) ? Opcode::write_middle : Opcode::send_last,
                   .psn = psn_,
                   .bytes = mtu_};
        break;
      case 1:
        request = read(), request.key = Key::wrong, request.bytes = 8;
        break;
      case 2:
        request = atomic(), request.key = Key::read_only;
        break;
      case 3:
        request = atomic(), request.offset |= 4;
        break;
      case 4:
        request = {.op = Opcode::write_only,
                   .psn = psn_,
                   .bytes = 64,
                   .length = static_cast<std::uint32_t>(random_.between(65, 99))};
        break;
      default:
        request = {.op = Opcode::write_only,
                   .psn = psn_,
                   .bytes = 64,
                   .offset = region_bytes - random_.below(64)};
    }
    player_.send(request);
    player_.send({.op = Opcode::write_only, .psn = psn_ + 1, .bytes = 8});
  }

  Random& random_;
  Player& player_;
  std::size_t mtu_;
  int psn_ = 0;
  std::vector<Request> messages_;    // executed since the last READ or atomic
  std::vector<Request> rd_atomics_;  // all
};

// --- requester
// ------------------------------------------------------------------------------------

struct Outstanding {
  Work work;
  int first;
  int count;
  bool reads;
};

// A responder that answers what the device sends, in some order that is permitted.
class Answerer {
 public:
  Answerer(Random& random, Player& player, std::size_t mtu)
      : random_(random), player_(player), mtu_(mtu) {}

  void play() {
    const std::uint64_t works = random_.between(1, 6);
    for (std::uint64_t i = 0; i < works; ++i) works_.push_back(work());
    player_.post(works_);
    while (!outstanding_.empty() && !is_over_) step();
  }

 private:
  Work work() {
    constexpr ibv_wr_opcode ops[] = {IBV_WR_SEND,
                                     IBV_WR_SEND_WITH_IMM,
                                     IBV_WR_RDMA_WRITE,
                                     IBV_WR_RDMA_WRITE_WITH_IMM,
                                     IBV_WR_RDMA_READ,
                                     IBV_WR_ATOMIC_FETCH_AND_ADD,
                                     IBV_WR_ATOMIC_CMP_AND_SWP};
    constexpr std::uint32_t sizes[] = {0, 1, 8, 100, 255, 256, 257, 512, 700, 1300};
    Work work{ops[random_.below(std::size(ops))], sizes[random_.below(std::size(sizes))]};
    const bool is_atomic =
        work.op == IBV_WR_ATOMIC_FETCH_AND_ADD || work.op == IBV_WR_ATOMIC_CMP_AND_SWP;
    const bool reads = is_atomic || work.op == IBV_WR_RDMA_READ;
    if (reads && ++rd_atomics_ > retained) work.op = IBV_WR_SEND;
    if (is_atomic) work.bytes = 8;
    if (random_.one_in(4)) work.flags |= IBV_SEND_SOLICITED;
    const int count = static_cast<int>(packets_of(work.bytes, mtu_));
    outstanding_.push_back({work, psn_, count, reads && rd_atomics_ <= retained});
    psn_ += count;
    return work;
  }

  void step() {
    if (outstanding_.front().reads) return respond();
    switch (random_.below(8)) {
      case 0:
        return player_.respond(
            {.psn = outstanding_.front().first - 1 - static_cast<int>(random_.below(4))});
      case 1:
        return go_back();
      case 2:
        return not_ready();
      case 3:
        if (random_.one_in(2)) return reject();
        return acknowledge();
      default:
        return acknowledge();
    }
  }

  // One past the last PSN that may be acknowledged without a READ response.
  int end() const {
    for (const Outstanding& one : outstanding_)
      if (one.reads) return one.first;
    return psn_;
  }

  int some_psn() {
    const int first = std::max(acked_, outstanding_.front().first);
    return first + static_cast<int>(random_.below(static_cast<std::uint64_t>(end() - first)));
  }

  void forget_until(int psn) {
    acked_ = std::max(acked_, psn);
    while (!outstanding_.empty() && outstanding_.front().first + outstanding_.front().count <= psn)
      outstanding_.erase(outstanding_.begin());
  }

  void acknowledge() {
    has_gone_back_ = false;
    const int psn = some_psn();
    player_.respond({.psn = psn, .syndrome = static_cast<std::uint8_t>(random_.below(32))});
    forget_until(psn + 1);
  }

  // A second NAK without progress may be a duplicate, see "a sequence NAK twice".
  void go_back() {
    if (has_gone_back_ || ++rewinds_ > 3) return acknowledge();
    has_gone_back_ = true;
    const int psn = some_psn();
    player_.respond({.psn = psn, .syndrome = 0x60, .repeats = true});
    forget_until(psn);
  }

  // A receive is needed for the first packet of a SEND.
  void not_ready() {
    const Outstanding& front = outstanding_.front();
    const bool is_send = front.work.op == IBV_WR_SEND || front.work.op == IBV_WR_SEND_WITH_IMM;
    if (!is_send || acked_ > front.first || has_gone_back_ || ++rewinds_ > 3) return acknowledge();
    player_.respond({.psn = front.first, .syndrome = 0x22, .repeats = true});
  }

  void reject() {
    player_.respond(
        {.psn = some_psn(), .syndrome = static_cast<std::uint8_t>(random_.between(0x61, 0x63))});
    is_over_ = true;
  }

  void respond() {
    const Outstanding one = outstanding_.front();
    if (one.work.op != IBV_WR_RDMA_READ) {
      player_.respond(
          {.op = Opcode::atomic_acknowledge, .psn = one.first, .original = random_.next()});
    } else {
      for (int i = 0; i < one.count; ++i) player_.respond(read_response(one, i));
    }
    forget_until(one.first + one.count);
  }

  Response read_response(const Outstanding& one, int i) const {
    const bool is_first = i == 0;
    const bool is_last = i + 1 == one.count;
    const std::size_t left = one.work.bytes - static_cast<std::size_t>(i) * mtu_;
    Opcode op = Opcode::read_response_middle;
    if (is_first) op = is_last ? Opcode::read_response_only : Opcode::read_response_first;
    if (!is_first && is_last) op = Opcode::read_response_last;
    return {.op = op, .psn = one.first + i, .bytes = std::min(left, mtu_)};
  }

  Random& random_;
  Player& player_;
  std::size_t mtu_;
  int psn_ = 0;
  int acked_ = 0;
  int rd_atomics_ = 0;
  int rewinds_ = 0;
  bool has_gone_back_ = false;
  bool is_over_ = false;
  std::vector<Work> works_;
  std::vector<Outstanding> outstanding_;
};

template <class Actor>
Script random_script(const char* what, std::uint64_t seed) {
  Random random(harness::mix(seed));
  const Setup setup = random_setup(random);
  return {harness::text("random script of a ", what, ", seed ", seed), setup, [=](Player& player) {
            Random choices = random;
            Actor(choices, player, verbs::mtu_bytes(setup.mtu)).play();
          }};
}

}  // namespace

Script random_responder_script(std::uint64_t seed) {
  return random_script<Peer>("responder", seed);
}

Script random_requester_script(std::uint64_t seed) {
  return random_script<Answerer>("requester", seed);
}

}  // namespace packet_script
