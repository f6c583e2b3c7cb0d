// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What a responder remembers: PSNs, duplicates, READs and atomics, receives, states.
#include "packet_script/scripts.h"

namespace packet_script {
namespace {

constexpr std::size_t mtu = 256;

// A requester that has gone back sends all that follows, too. Both devices then are at the same
// PSN, although one queues what the other drops.
const Request write0{.op = Opcode::write_only, .psn = 0, .bytes = 32, .offset = 1000};
const Request write1{.op = Opcode::write_only, .psn = 1, .bytes = 32, .offset = 2000};
const Request write2{.op = Opcode::write_only, .psn = 2, .bytes = 32, .offset = 3000};
const Request write3{.op = Opcode::write_only, .psn = 3, .bytes = 32, .offset = 4000};

Request late(Request request) {
  request.is_late = true;
  return request;
}

Request again(Request request) {
  request.is_again = true;
  return request;
}

Request read_at(int psn, std::size_t bytes, std::size_t offset = 512) {
  return {.op = Opcode::read_request, .psn = psn, .bytes = bytes, .offset = offset};
}

Request add_at(int psn, std::size_t offset = 64) {
  return {.op = Opcode::fetch_add, .psn = psn, .offset = offset, .swap_or_add = 3};
}

// The steps of a script that only sends.
Script sends(const std::string& name, const std::vector<Request>& requests,
             const Setup& setup = {}) {
  return {name, setup, [=](Player& player) {
            player.receive(1024);
            player.receive(1024);
            for (const Request& request : requests) player.send(request);
          }};
}

void add_order(std::vector<Script>& scripts) {
  const Request send0{.op = Opcode::send_only, .psn = 0, .bytes = 32};
  scripts.push_back(sends("a duplicate SEND", {send0, send0, write1}));
  scripts.push_back(
      sends("a duplicate SEND without AckReq",
            {send0, {.op = Opcode::send_only, .psn = 0, .bytes = 32, .wants_ack = false}, write1}));
  scripts.push_back(sends("a duplicate WRITE", {write0, write1, write0, write2}));
  scripts.push_back(sends("a duplicate from before the first PSN",
                          {{.op = Opcode::write_only, .psn = -1, .bytes = 8}, write0}));
  scripts.push_back(sends("a duplicate from 8 million PSNs ago",
                          {{.op = Opcode::write_only, .psn = -8000000, .bytes = 8}, write0}));
  scripts.push_back(sends("a duplicate of the middle of a message",
                          {{.op = Opcode::send_first, .psn = 0, .bytes = mtu},
                           {.op = Opcode::send_middle, .psn = 1, .bytes = mtu},
                           {.op = Opcode::send_middle, .psn = 1, .bytes = mtu},
                           {.op = Opcode::send_last, .psn = 2, .bytes = 10}}));
  scripts.push_back(sends(
      "a duplicate WRITE with a wrong key",
      {write0, {.op = Opcode::write_only, .psn = 0, .bytes = 32, .key = Key::wrong}, write1}));
  Setup wrap;
  wrap.psn = 0xfffffe;
  scripts.push_back(
      sends("the PSN wraps", {write0, write1, write2, write3, write1, read_at(4, 700)}, wrap));
  scripts.push_back({"a gap gets one NAK", {}, [](Player& player) {
                       player.send(write0);
                       player.send(late(write2));
                       player.send(late(write3));
                       player.burst({write1, write2, write3});
                     }});
  scripts.push_back({"a second gap gets a NAK of its own", {}, [](Player& player) {
                       player.send(late(write1));
                       player.burst({write0, write1});
                       player.send(late(write3));
                       player.burst({write2, write3});
                     }});
  scripts.push_back({"a gap of 8 million PSNs", {}, [](Player& player) {
                       player.send(late({.op = Opcode::write_only, .psn = 8000000, .bytes = 8}));
                       player.send(write0);
                     }});
  scripts.push_back({"two packets far beyond a gap get one NAK", {}, [](Player& player) {
                       player.send(late({.op = Opcode::write_only, .psn = 8000000, .bytes = 8}));
                       player.send(late({.op = Opcode::write_only, .psn = 8000001, .bytes = 8}));
                       player.send(write0);
                     }});
  scripts.push_back({"the retransmission is lost, too", {}, [](Player& player) {
                       player.send(late(write1));
                       player.send(late(write1));
                       player.burst({write0, write1});
                     }});
  scripts.push_back({"a gap before a READ", {}, [](Player& player) {
                       player.send(late(read_at(1, 16)));
                       player.send(late(write2));
                     }});
  scripts.push_back({"a duplicate during a gap", {}, [](Player& player) {
                       player.send(write0);
                       player.send(late(write2));
                       player.send(write0);
                     }});
  scripts.push_back({"a lost FIRST", {}, [](Player& player) {
                       player.receive(1024);
                       const Request first{.op = Opcode::send_first, .psn = 0, .bytes = mtu};
                       const Request last{.op = Opcode::send_last, .psn = 1, .bytes = 5};
                       player.send(late(last));
                       player.burst({first, last});
                     }});
}

void add_reads(std::vector<Script>& scripts) {
  for (const std::size_t bytes : {0, 1, 8, 256, 257, 512, 1000})
    scripts.push_back(sends("READ of " + std::to_string(bytes) + " bytes",
                            {read_at(0, bytes),
                             {.op = Opcode::write_only,
                              .psn = bytes > mtu ? static_cast<int>((bytes + mtu - 1) / mtu) : 1,
                              .bytes = 8}}));
  scripts.push_back(
      sends("READs in a row", {read_at(0, 300), read_at(2, 20), read_at(3, 256), add_at(4)}));
  scripts.push_back(sends("a duplicate READ", {read_at(0, 600), write3, again(read_at(0, 600))}));
  scripts.push_back(
      sends("the MSN of a duplicate READ", {read_at(0, 600), write3, read_at(0, 600)}));
  scripts.push_back(
      sends("a duplicate READ of one packet", {read_at(0, 60), read_at(0, 60), write1}));
  scripts.push_back(sends("a duplicate READ from the second packet on",
                          {read_at(0, 600), read_at(1, 600 - mtu, 512 + mtu), write3}));
  scripts.push_back(sends("a duplicate READ of the last packet",
                          {read_at(0, 600), read_at(2, 600 - 2 * mtu, 512 + 2 * mtu), write3}));
  scripts.push_back(
      sends("a duplicate READ that is shorter", {read_at(0, 600), read_at(0, 100), write3}));
  scripts.push_back(
      sends("a duplicate READ that is longer", {read_at(0, 600), read_at(0, 700), write3}));
  scripts.push_back(
      sends("a duplicate READ of other bytes", {read_at(0, 600), read_at(0, 600, 8192), write3}));
  scripts.push_back(sends(
      "a duplicate READ with another key",
      {read_at(0, 600),
       {.op = Opcode::read_request, .psn = 0, .bytes = 600, .offset = 512, .key = Key::read_only},
       write3}));
  scripts.push_back(
      sends("a duplicate READ with a wrong key",
            {read_at(0, 600),
             {.op = Opcode::read_request, .psn = 0, .bytes = 600, .offset = 512, .key = Key::wrong},
             write3}));
  scripts.push_back(sends("a duplicate READ that is forgotten",
                          {read_at(0, 8), read_at(1, 8), read_at(2, 8), read_at(3, 8),
                           read_at(4, 8), again(read_at(0, 8)), again(read_at(1, 8))}));
  scripts.push_back(sends("a duplicate READ that never was", {write0, read_at(0, 8), write1}));
  scripts.push_back(
      sends("a READ, then a duplicate SEND before it", {write0, read_at(1, 300), write0, write3}));
  scripts.push_back(
      {"more READs at once than max_dest_rd_atomic", {.dest_rd_atomic = 2}, [](Player& player) {
         player.burst({read_at(0, 8), read_at(1, 8), read_at(2, 8), read_at(3, 8), read_at(4, 8)});
       }});
  scripts.push_back(
      sends("a READ with max_dest_rd_atomic 0", {read_at(0, 8)}, {.dest_rd_atomic = 0}));
  scripts.push_back(
      sends("an atomic with max_dest_rd_atomic 0", {add_at(0)}, {.dest_rd_atomic = 0}));
}

void add_atomics(std::vector<Script>& scripts) {
  scripts.push_back(sends("FETCH_ADD", {add_at(0), add_at(1), read_at(2, 8, 64)}));
  scripts.push_back(
      sends("CMP_SWAP that does not match",
            {{.op = Opcode::cmp_swap, .psn = 0, .offset = 64, .swap_or_add = 9, .compare = 12345},
             read_at(1, 8, 64)}));
  scripts.push_back(
      sends("CMP_SWAP that matches",
            {{.op = Opcode::write_only, .psn = 0, .bytes = 8, .offset = 64},
             {.op = Opcode::cmp_swap, .psn = 1, .offset = 64, .swap_or_add = 9, .compare = 0},
             read_at(2, 8, 64)}));
  scripts.push_back(
      sends("a duplicate atomic", {add_at(0), add_at(0), add_at(1), again(add_at(0))}));
  scripts.push_back(sends("a duplicate atomic at another address",
                          {add_at(0), add_at(0, 128), read_at(1, 8, 128)}));
  scripts.push_back(sends("a duplicate atomic that is forgotten",
                          {add_at(0), add_at(1), add_at(2), add_at(3), add_at(4), add_at(0)}));
  scripts.push_back(sends("a duplicate atomic that never was", {write0, add_at(0), write1}));
  scripts.push_back(sends("CMP_SWAP as the duplicate of a FETCH_ADD",
                          {add_at(0), {.op = Opcode::cmp_swap, .psn = 0, .offset = 64}, write1}));
}

void add_receives(std::vector<Script>& scripts) {
  const Request send0{.op = Opcode::send_only, .psn = 0, .bytes = 32, .is_late = true};
  const Request send1{.op = Opcode::send_only, .psn = 1, .bytes = 32, .is_late = true};
  scripts.push_back({"SEND without a receive", {}, [=](Player& player) {
                       player.send(send0);
                       player.receive(64);
                       player.send(send0);
                     }});
  scripts.push_back({"RNR NAK twice", {.min_rnr_timer = 2}, [=](Player& player) {
                       player.send(send0);
                       player.send(send0);
                       player.receive(64);
                       player.send(send0);
                       player.send(send1);
                     }});
  scripts.push_back({"RNR NAK, then packets behind it", {}, [=](Player& player) {
                       player.send(send0);
                       player.send(late(write1));
                       player.receive(64);
                       player.burst({send0, write1});
                     }});
  scripts.push_back({"WRITE with immediate without a receive", {}, [](Player& player) {
                       const Request write{
                           .op = Opcode::write_only_imm, .psn = 0, .bytes = 32, .is_late = true};
                       player.send(write);
                       player.receive(0);
                       player.send(write);
                     }});
  scripts.push_back(
      {"WRITE LAST with immediate without a receive", {}, [](Player& player) {
         const Request last{.op = Opcode::write_last_imm, .psn = 1, .bytes = 44, .is_late = true};
         player.send({.op = Opcode::write_first, .psn = 0, .bytes = mtu, .length = 300});
         player.send(last);
         player.receive(0);
         player.send(last);
       }});
  scripts.push_back(
      {"a WRITE with immediate that fails takes no receive", {}, [](Player& player) {
         player.receive(64);
         player.receive(64);
         player.send({.op = Opcode::write_only_imm, .psn = 0, .bytes = 32, .key = Key::wrong});
       }});
}

void add_states(std::vector<Script>& scripts) {
  const Request send0{.op = Opcode::send_only, .psn = 0, .bytes = 32};
  const std::pair<const char*, ibv_qp_state> states[] = {
      {"RESET", IBV_QPS_RESET}, {"INIT", IBV_QPS_INIT}, {"RTR", IBV_QPS_RTR}, {"ERR", IBV_QPS_ERR}};
  for (const auto& [name, state] : states)
    scripts.push_back({std::string("requests in ") + name, {.state = state}, [=](Player& player) {
                         if (state != IBV_QPS_RESET) player.receive(64);
                         player.send(send0);
                         player.send(write1);
                         player.send(read_at(2, 300));
                       }});
  scripts.push_back({"requests after a move to ERR", {}, [=](Player& player) {
                       player.receive(64);
                       player.receive(64);
                       player.send(send0);
                       player.move_to(IBV_QPS_ERR);
                       player.send(write1);
                       player.send(send0);
                     }});
  scripts.push_back({"requests after a move to RESET", {}, [=](Player& player) {
                       player.receive(64);
                       player.send(send0);
                       player.move_to(IBV_QPS_RESET);
                       player.send(write1);
                     }});
  scripts.push_back({"a move to ERR in the middle of a message", {}, [=](Player& player) {
                       player.receive(1024);
                       player.send({.op = Opcode::send_first, .psn = 0, .bytes = mtu});
                       player.move_to(IBV_QPS_ERR);
                     }});
  scripts.push_back({"requests after a fatal NAK", {}, [=](Player& player) {
                       player.receive(64);
                       player.send({.op = Opcode::send_last, .psn = 0, .bytes = 8});
                       player.send(write0);
                       player.send(write1);
                     }});
}

}  // namespace

std::vector<Script> responder_scripts() {
  std::vector<Script> scripts;
  add_order(scripts);
  add_reads(scripts);
  add_atomics(scripts);
  add_receives(scripts);
  add_states(scripts);
  return scripts;
}

}  // namespace packet_script
