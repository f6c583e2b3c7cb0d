// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a requester makes of responses.
#include "packet_script/scripts.h"

namespace packet_script {
namespace {

constexpr std::uint8_t nak_sequence = 0x60;
constexpr std::uint8_t rnr_nak = 0x20;
constexpr std::size_t mtu = 256;

const Work send100{IBV_WR_SEND, 100};
const Work write100{IBV_WR_RDMA_WRITE, 100};
const Work read600{IBV_WR_RDMA_READ, 600};
const Work read100{IBV_WR_RDMA_READ, 100};
const Work fetch_add{IBV_WR_ATOMIC_FETCH_AND_ADD, 8};

Response ack(int psn) { return {.psn = psn}; }
Response nak(int psn, std::uint8_t code) {
  return {.psn = psn, .syndrome = static_cast<std::uint8_t>(0x60 | code)};
}
Response go_back(int psn, std::uint8_t syndrome) {
  return {.psn = psn, .syndrome = syndrome, .repeats = true};
}
Response data(Opcode op, int psn, std::size_t bytes) {
  return {.op = op, .psn = psn, .bytes = bytes};
}
Response atomic(int psn, std::uint64_t original = 77) {
  return {.op = Opcode::atomic_acknowledge, .psn = psn, .original = original};
}
const auto first = Opcode::read_response_first;
const auto middle = Opcode::read_response_middle;
const auto last = Opcode::read_response_last;
const auto only = Opcode::read_response_only;

void add_packets(std::vector<Script>& scripts) {
  const std::tuple<const char*, ibv_wr_opcode> ops[] = {
      {"SEND", IBV_WR_SEND},
      {"SEND with immediate", IBV_WR_SEND_WITH_IMM},
      {"WRITE", IBV_WR_RDMA_WRITE},
      {"WRITE with immediate", IBV_WR_RDMA_WRITE_WITH_IMM}};
  for (const auto& [name, op] : ops)
    for (const std::uint32_t bytes : {0U, 3U, 256U, 257U, 700U})
      scripts.push_back({"post " + std::string(name) + " of " + std::to_string(bytes) + " bytes",
                         {},
                         [=](Player& player) {
                           player.post({{op, bytes, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED}});
                           player.respond(ack(bytes > 2 * mtu ? 2 : bytes > mtu ? 1 : 0));
                         }});
  Setup wrap;
  wrap.psn = 0xffffff;
  scripts.push_back({"post across the wrap of the PSN", wrap, [](Player& player) {
                       player.post({send100, {IBV_WR_RDMA_WRITE, 700}, read600});
                       player.respond(ack(3));
                       player.respond(data(first, 4, mtu));
                       player.respond(data(middle, 5, mtu));
                       player.respond(data(last, 6, 600 - 2 * mtu));
                     }});
  scripts.push_back({"MigReq in a request", {.shows_migration = true}, [](Player& player) {
                       player.post({send100});
                       player.respond(ack(0));
                     }});
  scripts.push_back({"a fence waits for a READ", {}, [](Player& player) {
                       player.post({read100, {IBV_WR_SEND, 9, IBV_SEND_SIGNALED | IBV_SEND_FENCE}});
                       player.respond(data(only, 0, 100));
                       player.respond(ack(1));
                     }});
  scripts.push_back({"more READs than max_rd_atomic", {.rd_atomic = 1}, [](Player& player) {
                       player.post({read100, read100, send100});
                       player.respond(data(only, 0, 100));
                       player.respond(data(only, 1, 100));
                       player.respond(ack(2));
                     }});
  scripts.push_back({"requests without signals", {}, [](Player& player) {
                       player.post({{IBV_WR_SEND, 8, 0}, {IBV_WR_RDMA_WRITE, 8, 0}, send100});
                       player.respond(ack(1));
                       player.respond(ack(2));
                     }});
  scripts.push_back({"ERR flushes", {}, [](Player& player) {
                       player.post({send100, read100, write100});
                       player.move_to(IBV_QPS_ERR);
                     }});
  scripts.push_back({"an unsignalled request is flushed", {}, [](Player& player) {
                       player.post({{IBV_WR_SEND, 8, 0}, write100});
                       player.move_to(IBV_QPS_ERR);
                     }});
  scripts.push_back({"an ACK after ERR", {}, [](Player& player) {
                       player.post({send100});
                       player.move_to(IBV_QPS_ERR);
                       player.respond(ack(0));
                     }});
}

void add_acks(std::vector<Script>& scripts) {
  scripts.push_back({"ACKs one by one", {}, [](Player& player) {
                       player.post({send100, write100, send100});
                       for (int psn = 0; psn < 3; ++psn) player.respond(ack(psn));
                     }});
  scripts.push_back({"a coalesced ACK", {}, [](Player& player) {
                       player.post({send100, write100, send100});
                       player.respond(ack(2));
                     }});
  scripts.push_back({"an ACK in the middle of a message", {}, [](Player& player) {
                       player.post({{IBV_WR_RDMA_WRITE, 700}, send100});
                       player.respond(ack(0));
                       player.respond(ack(1));
                       player.respond(ack(3));
                     }});
  scripts.push_back({"a duplicate ACK", {}, [](Player& player) {
                       player.post({send100, send100});
                       player.respond(ack(0));
                       player.respond(ack(0));
                       player.respond(ack(1));
                     }});
  scripts.push_back({"an ACK from before the first PSN", {}, [](Player& player) {
                       player.post({send100});
                       player.respond(ack(-1));
                       player.respond(ack(-5000));
                       player.respond(ack(0));
                     }});
  scripts.push_back({"an ACK beyond what was sent", {}, [](Player& player) {
                       player.post({send100});
                       player.respond(ack(1));
                       player.respond(ack(1000));
                       player.respond(ack(0));
                     }});
  scripts.push_back({"an ACK when nothing was sent", {}, [](Player& player) {
                       player.respond(ack(0));
                       player.post({send100});
                       player.respond(ack(0));
                     }});
  scripts.push_back({"an ACK with credits", {}, [](Player& player) {
                       player.post({send100, send100, send100});
                       player.respond({.psn = 0, .syndrome = 0, .msn = 1});
                       player.respond({.psn = 1, .syndrome = 10, .msn = 2});
                       player.respond({.psn = 2, .syndrome = 30, .msn = 3});
                     }});
  scripts.push_back({"a READ is no acknowledgement by an ACK", {}, [](Player& player) {
                       player.post({read100});
                       player.respond(ack(0));
                       player.respond(data(only, 0, 100));
                     }});
  scripts.push_back({"a READ response acknowledges what was before", {}, [](Player& player) {
                       player.post({send100, read100});
                       player.respond(data(only, 1, 100));
                     }});
}

void add_naks(std::vector<Script>& scripts) {
  const std::pair<const char*, std::uint8_t> codes[] = {
      {"invalid request", 1}, {"remote access error", 2}, {"remote operational error", 3}};
  for (const auto& [name, code] : codes) {
    for (const Work& work : {send100, write100, read100, fetch_add})
      scripts.push_back({"NAK " + std::string(name) + " of opcode " + std::to_string(work.op),
                         {},
                         [=](Player& player) {
                           player.post({work, send100});
                           player.respond(nak(0, code));
                         }});
    scripts.push_back(
        {"NAK " + std::string(name) + " of the second request", {}, [=](Player& player) {
           player.post({send100, write100, send100});
           player.respond(nak(1, code));
         }});
    scripts.push_back(
        {"NAK " + std::string(name) + " in the middle of a WRITE", {}, [=](Player& player) {
           player.post({{IBV_WR_RDMA_WRITE, 700}, send100});
           player.respond(nak(1, code));
         }});
    scripts.push_back({"NAK " + std::string(name) + " from the past", {}, [=](Player& player) {
                         player.post({send100, send100});
                         player.respond(ack(0));
                         player.respond(nak(0, code));
                         player.respond(ack(1));
                       }});
  }
  scripts.push_back({"a NAK with a reserved code", {}, [](Player& player) {
                       player.post({send100});
                       player.respond(nak(0, 9));
                       player.respond(ack(0));
                     }});
}

void add_rewinds(std::vector<Script>& scripts) {
  scripts.push_back({"a sequence NAK", {}, [](Player& player) {
                       player.post({send100, write100, send100});
                       player.respond(go_back(0, nak_sequence));
                       player.respond(ack(2));
                     }});
  scripts.push_back({"a sequence NAK twice", {}, [](Player& player) {
                       player.post({send100, write100, send100});
                       player.respond(go_back(0, nak_sequence));
                       player.respond(go_back(0, nak_sequence));
                       player.respond(ack(2));
                     }});
  scripts.push_back({"a sequence NAK acknowledges what was before", {}, [](Player& player) {
                       player.post({send100, write100, send100});
                       player.respond(go_back(1, nak_sequence));
                       player.respond(ack(2));
                     }});
  scripts.push_back({"a sequence NAK in the middle of a WRITE", {}, [](Player& player) {
                       player.post({{IBV_WR_RDMA_WRITE, 700}, send100});
                       player.respond(go_back(1, nak_sequence));
                       player.respond(ack(3));
                     }});
  scripts.push_back({"a sequence NAK, retries exhausted", {.retry_cnt = 0}, [](Player& player) {
                       player.post({send100, send100});
                       player.respond(go_back(0, nak_sequence));
                     }});
  for (const int timer : {1, 2, 10})
    scripts.push_back({"RNR NAK with timer " + std::to_string(timer), {}, [=](Player& player) {
                         player.post({send100, write100});
                         player.respond({.psn = 0,
                                         .syndrome = static_cast<std::uint8_t>(rnr_nak | timer),
                                         .repeats = true});
                         player.respond(ack(1));
                       }});
  scripts.push_back({"RNR NAK of the second request", {}, [](Player& player) {
                       player.post({write100, send100});
                       player.respond({.psn = 1, .syndrome = rnr_nak | 2, .repeats = true});
                       player.respond(ack(1));
                     }});
  scripts.push_back({"RNR NAK, retries exhausted", {.rnr_retry = 0}, [](Player& player) {
                       player.post({send100, send100});
                       player.respond({.psn = 0, .syndrome = rnr_nak | 1});
                     }});
  scripts.push_back(
      {"RNR NAK, the second exhausts the retries", {.rnr_retry = 1}, [](Player& player) {
         player.post({send100, send100});
         player.respond({.psn = 0, .syndrome = rnr_nak | 1, .repeats = true});
         player.respond({.psn = 0, .syndrome = rnr_nak | 1});
       }});
}

void add_silence(std::vector<Script>& scripts) {
  for (const Work& work : {send100, write100, read100, fetch_add})
    scripts.push_back({"silence after opcode " + std::to_string(work.op),
                       {.timeout = 10, .retry_cnt = 1},
                       [=](Player& player) {
                         player.post({work, send100});
                         player.stay_silent(2);
                       }});
  scripts.push_back({"NAKs with reserved codes, then silence", {.timeout = 12}, [](Player& player) {
                       player.post({send100, send100});
                       player.respond(nak(0, 9));
                       player.respond(nak(0, 31));
                       player.stay_silent(2);
                     }});
  scripts.push_back({"silence, then an ACK", {.timeout = 12}, [](Player& player) {
                       player.post({send100, send100});
                       player.await_repeat();
                       player.respond(ack(1));
                     }});
}

// Left out: responses that do not fit the request, except for READ responses, and reserved kinds of
// AETH.
void add_reads(std::vector<Script>& scripts) {
  scripts.push_back({"a READ of three packets", {}, [](Player& player) {
                       player.post({read600});
                       player.respond(data(first, 0, mtu));
                       player.respond(data(middle, 1, mtu));
                       player.respond(data(last, 2, 600 - 2 * mtu));
                     }});
  scripts.push_back({"a READ of no bytes", {}, [](Player& player) {
                       player.post({{IBV_WR_RDMA_READ, 0}});
                       player.respond(data(only, 0, 0));
                     }});
  scripts.push_back({"a duplicate READ response", {}, [](Player& player) {
                       player.post({read600, read100});
                       player.respond(data(first, 0, mtu));
                       player.respond(data(first, 0, mtu));
                       player.respond(data(middle, 1, mtu));
                       player.respond(data(last, 2, 600 - 2 * mtu));
                       player.respond(data(last, 2, 600 - 2 * mtu));
                       player.respond(data(only, 3, 100));
                     }});
  scripts.push_back({"a READ response too short", {}, [](Player& player) {
                       player.post({read100, send100});
                       player.respond(data(only, 0, 96));
                     }});
  scripts.push_back({"a READ response too long", {}, [](Player& player) {
                       player.post({read100, send100});
                       player.respond(data(only, 0, 104));
                     }});
  scripts.push_back({"a READ response FIRST too short", {}, [](Player& player) {
                       player.post({read600, send100});
                       player.respond(data(first, 0, mtu - 4));
                     }});
  scripts.push_back({"a READ response LAST too early", {}, [](Player& player) {
                       player.post({read600, send100});
                       player.respond(data(first, 0, mtu));
                       player.respond(data(last, 1, mtu));
                     }});
  scripts.push_back({"a READ response to a SEND", {}, [](Player& player) {
                       player.post({send100, send100});
                       player.respond(data(only, 0, 100));
                     }});
  scripts.push_back({"a READ response to an atomic", {}, [](Player& player) {
                       player.post({fetch_add, send100});
                       player.respond(data(only, 0, 8));
                     }});
  scripts.push_back({"a READ response when nothing was sent", {}, [](Player& player) {
                       player.respond(data(only, 0, 100));
                       player.post({send100});
                       player.respond(ack(0));
                     }});
  scripts.push_back({"atomics", {}, [](Player& player) {
                       player.post({fetch_add, {IBV_WR_ATOMIC_CMP_AND_SWP, 8}});
                       player.respond(atomic(0));
                       player.respond(atomic(0));
                       player.respond(atomic(1, ~0ULL));
                     }});
  scripts.push_back({"a NAK in the middle of a READ", {}, [](Player& player) {
                       player.post({read600, send100});
                       player.respond(data(first, 0, mtu));
                       player.respond(nak(1, 3));
                     }});
  scripts.push_back({"a sequence NAK of a READ", {}, [](Player& player) {
                       player.post({send100, read600});
                       player.respond(go_back(1, nak_sequence));
                       player.respond(data(first, 1, mtu));
                       player.respond(data(middle, 2, mtu));
                       player.respond(data(last, 3, 600 - 2 * mtu));
                     }});
}

// A response is lost or late, so that the next one comes first.
void add_gaps(std::vector<Script>& scripts) {
  scripts.push_back({"READ responses out of order, and again", {}, [](Player& player) {
                       player.post({read600});
                       player.respond_all({data(first, 0, mtu), data(last, 2, 600 - 2 * mtu),
                                           data(middle, 1, mtu), data(last, 2, 600 - 2 * mtu)});
                     }});
  scripts.push_back({"the response of the first READ is lost", {}, [](Player& player) {
                       player.post({read100, read100});
                       player.respond(data(only, 1, 100));
                       player.respond_all({data(only, 0, 100), data(only, 1, 100)});
                     }});
  scripts.push_back({"an ACK beyond a READ without a response", {}, [](Player& player) {
                       player.post({read100, send100});
                       player.respond({.psn = 1, .repeats = true});
                       player.respond(data(only, 0, 100));
                       player.respond(ack(1));
                     }});
  scripts.push_back({"an ACK beyond an atomic without a response", {}, [](Player& player) {
                       player.post({fetch_add, send100});
                       player.respond({.psn = 1, .repeats = true});
                       player.respond(atomic(0));
                       player.respond(ack(1));
                     }});
}

}  // namespace

std::vector<Script> requester_scripts() {
  std::vector<Script> scripts;
  add_packets(scripts);
  add_acks(scripts);
  add_naks(scripts);
  add_rewinds(scripts);
  add_silence(scripts);
  add_reads(scripts);
  add_gaps(scripts);
  return scripts;
}

}  // namespace packet_script
