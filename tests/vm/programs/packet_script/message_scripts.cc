// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What one request says: its opcode and those before it, its length, its key, its header bits.
#include "packet_script/scripts.h"

namespace packet_script {
namespace {

using Requests = std::vector<Request>;

constexpr std::size_t mtu = 256;

// Sends the requests one by one, with two receives posted, then a WRITE that shows whether the QP
// still works and what it expects.
Script one_by_one(const std::string& name, const Requests& requests, int next_psn,
                  const Setup& setup = {}) {
  return {name, setup, [=](Player& player) {
            player.receive(1024);
            player.receive(1024);
            for (const Request& request : requests) player.send(request);
            player.send({.op = Opcode::write_only, .psn = next_psn, .bytes = 16, .offset = 20000});
          }};
}

void add_sequences(std::vector<Script>& scripts) {
  struct Kind {
    const char* name;
    Opcode first, middle, last, last_imm, only, only_imm;
  };
  constexpr Kind kinds[] = {{"SEND", Opcode::send_first, Opcode::send_middle, Opcode::send_last,
                             Opcode::send_last_imm, Opcode::send_only, Opcode::send_only_imm},
                            {"WRITE", Opcode::write_first, Opcode::write_middle, Opcode::write_last,
                             Opcode::write_last_imm, Opcode::write_only, Opcode::write_only_imm}};
  for (const Kind& kind : kinds) {
    const std::string op = kind.name;
    const Request first{.op = kind.first, .psn = 0, .bytes = mtu, .length = 600};
    const Request middle{.op = kind.middle, .psn = 1, .bytes = mtu};
    const Request only{.op = kind.only, .psn = 0, .bytes = 99};
    const auto at = [](Request request, int psn) { return request.psn = psn, request; };
    scripts.push_back(one_by_one(op + " of three packets",
                                 {first, middle, {.op = kind.last, .psn = 2, .bytes = 88}}, 3));
    scripts.push_back(one_by_one(op + " of three packets with immediate",
                                 {first, middle, {.op = kind.last_imm, .psn = 2, .bytes = 88}}, 3));
    scripts.push_back(one_by_one(op + " ONLY, twice", {only, at(only, 1)}, 2));
    scripts.push_back(
        one_by_one(op + " ONLY with immediate",
                   {{.op = kind.only_imm, .psn = 0, .bytes = 64, .is_solicited = true}}, 1));
    scripts.push_back(one_by_one(op + " of no bytes", {{.op = kind.only, .psn = 0}}, 1));
    scripts.push_back(
        one_by_one(op + " of no bytes with immediate", {{.op = kind.only_imm, .psn = 0}}, 1));
    scripts.push_back(
        one_by_one(op + " FIRST with AckReq only at the end",
                   {{.op = kind.first, .psn = 0, .bytes = mtu, .length = 300, .wants_ack = false},
                    {.op = kind.last, .psn = 1, .bytes = 44}},
                   2));
    scripts.push_back(one_by_one(op + " MIDDLE without a FIRST", {at(middle, 0)}, 1));
    scripts.push_back(
        one_by_one(op + " LAST without a FIRST", {{.op = kind.last, .psn = 0, .bytes = 9}}, 1));
    scripts.push_back(one_by_one(op + " FIRST twice", {first, at(first, 1)}, 2));
    scripts.push_back(one_by_one(op + " ONLY after a FIRST", {first, at(only, 1)}, 2));
    scripts.push_back(one_by_one(op + " FIRST, then a READ",
                                 {first, {.op = Opcode::read_request, .psn = 1, .bytes = 8}}, 2));
    scripts.push_back(
        one_by_one(op + " FIRST, then an atomic", {first, {.op = Opcode::fetch_add, .psn = 1}}, 2));
    scripts.push_back(one_by_one(op + " FIRST shorter than the MTU",
                                 {{.op = kind.first, .psn = 0, .bytes = mtu - 4, .length = 600}},
                                 1));
    scripts.push_back(one_by_one(op + " FIRST longer than the MTU",
                                 {{.op = kind.first, .psn = 0, .bytes = mtu + 4, .length = 600}},
                                 1));
    scripts.push_back(one_by_one(op + " MIDDLE shorter than the MTU",
                                 {first, {.op = kind.middle, .psn = 1, .bytes = mtu - 4}}, 2));
    scripts.push_back(
        one_by_one(op + " LAST of no bytes", {first, {.op = kind.last, .psn = 1}}, 2));
    scripts.push_back(one_by_one(op + " ONLY longer than the MTU",
                                 {{.op = kind.only, .psn = 0, .bytes = mtu + 4}}, 1));
    scripts.push_back(
        one_by_one(op + " ONLY of the MTU", {{.op = kind.only, .psn = 0, .bytes = mtu}}, 1));
    scripts.push_back(one_by_one(op + " that is no multiple of four bytes",
                                 {{.op = kind.only, .psn = 0, .bytes = 64, .pad = 1}}, 1));
  }
  scripts.push_back(one_by_one("WRITE MIDDLE after SEND FIRST",
                               {{.op = Opcode::send_first, .psn = 0, .bytes = mtu},
                                {.op = Opcode::write_middle, .psn = 1, .bytes = mtu}},
                               2));
  scripts.push_back(one_by_one("SEND LAST after WRITE FIRST",
                               {{.op = Opcode::write_first, .psn = 0, .bytes = mtu, .length = 300},
                                {.op = Opcode::send_last, .psn = 1, .bytes = 44}},
                               2));
}

// Left out: a payload behind a RETH length of 0.
void add_lengths(std::vector<Script>& scripts) {
  const Request first{.op = Opcode::write_first, .psn = 0, .bytes = mtu, .length = 300};
  const auto only = [](std::size_t bytes, std::uint32_t length) {
    return Request{.op = Opcode::write_only, .psn = 0, .bytes = bytes, .length = length};
  };
  scripts.push_back(one_by_one("WRITE ONLY with a RETH length too long", {only(64, 68)}, 1));
  scripts.push_back(one_by_one("WRITE ONLY with a RETH length too short", {only(64, 60)}, 1));
  scripts.push_back(
      one_by_one("WRITE ONLY with a RETH length of many packets", {only(64, 600)}, 1));
  scripts.push_back(one_by_one("WRITE ONLY with a RETH length beyond 2^31", {only(64, ~0U)}, 1));
  scripts.push_back(one_by_one("WRITE FIRST with a RETH length of one packet",
                               {{.op = Opcode::write_first, .psn = 0, .bytes = mtu, .length = mtu}},
                               1));
  scripts.push_back(one_by_one("WRITE LAST longer than the RETH says",
                               {first, {.op = Opcode::write_last, .psn = 1, .bytes = 48}}, 2));
  scripts.push_back(one_by_one("WRITE LAST shorter than the RETH says",
                               {first, {.op = Opcode::write_last, .psn = 1, .bytes = 40}}, 2));
  scripts.push_back(one_by_one("WRITE MIDDLE longer than the RETH says",
                               {first, {.op = Opcode::write_middle, .psn = 1, .bytes = mtu}}, 2));
  scripts.push_back(one_by_one("READ longer than 2^31",
                               {{.op = Opcode::read_request, .psn = 0, .length = 0x80000001U}}, 1));
  scripts.push_back({"SEND longer than the receive", {}, [](Player& player) {
                       player.receive(63);
                       player.receive(63);
                       player.send({.op = Opcode::send_only, .psn = 0, .bytes = 64});
                     }});
  scripts.push_back({"SEND of two packets longer than the receive", {}, [](Player& player) {
                       player.receive(299);
                       player.send({.op = Opcode::send_first, .psn = 0, .bytes = mtu});
                       player.send({.op = Opcode::send_last, .psn = 1, .bytes = 44});
                     }});
  scripts.push_back({"SEND as long as the receive", {}, [](Player& player) {
                       player.receive(300);
                       player.send({.op = Opcode::send_first, .psn = 0, .bytes = mtu});
                       player.send({.op = Opcode::send_last, .psn = 1, .bytes = 44});
                     }});
  scripts.push_back({"WRITE with immediate needs no room in the receive", {}, [](Player& player) {
                       player.receive(1);
                       player.send({.op = Opcode::write_only_imm, .psn = 0, .bytes = 64});
                     }});
  scripts.push_back({"SEND to a receive whose key permits no local write", {}, [](Player& player) {
                       player.receive(64, Key::wrong);
                       player.send({.op = Opcode::send_only, .psn = 0, .bytes = 64});
                     }});
}

// The four operations with each key and range.
void add_access(std::vector<Script>& scripts) {
  struct Op {
    const char* name;
    Request request;
  };
  const Op ops[] = {
      {"WRITE", {.op = Opcode::write_only, .psn = 0, .bytes = 8}},
      {"WRITE FIRST", {.op = Opcode::write_first, .psn = 0, .bytes = mtu, .length = 600}},
      {"READ", {.op = Opcode::read_request, .psn = 0, .bytes = 8}},
      {"FETCH_ADD", {.op = Opcode::fetch_add, .psn = 0}},
      {"CMP_SWAP", {.op = Opcode::cmp_swap, .psn = 0}}};
  const std::pair<const char*, Key> keys[] = {{"a wrong key", Key::wrong},
                                              {"a key for READ only", Key::read_only},
                                              {"a key for WRITE only", Key::write_only},
                                              {"a key for local use", Key::local_only},
                                              {"a key of another PD", Key::other_pd}};
  for (const Op& op : ops) {
    const std::string name = op.name;
    for (const auto& [what, key] : keys) {
      Request request = op.request;
      request.key = key;
      scripts.push_back(one_by_one(name + " with " + what, {request}, 1));
    }
    Request beyond = op.request;
    beyond.offset = region_bytes;
    scripts.push_back(one_by_one(name + " beyond the end", {beyond}, 1));
    // An atomic there would also be misaligned, and either error may be found first.
    beyond.offset = region_bytes - (op.request.bytes ? 4 : 8);
    scripts.push_back(one_by_one(name + " across the end", {beyond}, 1));
    beyond.offset = ~std::size_t{7};
    scripts.push_back(one_by_one(name + " before the start", {beyond}, 1));
    Setup setup;
    setup.access = IBV_ACCESS_LOCAL_WRITE;
    scripts.push_back(one_by_one(name + " to a QP without the right", {op.request}, 1, setup));
  }
  const Op with_immediate{"WRITE with immediate",
                          {.op = Opcode::write_only_imm, .psn = 0, .bytes = 8}};
  for (const Op& op : {ops[0], with_immediate, ops[2]}) {
    Request empty = op.request;
    empty.bytes = 0;
    empty.key = Key::wrong;
    scripts.push_back(
        one_by_one(std::string(op.name) + " of no bytes with a wrong key", {empty}, 1));
  }
  for (const Op& op : {with_immediate, ops[2]}) {
    Request wrong = op.request;
    wrong.key = Key::wrong;
    scripts.push_back(one_by_one(std::string("the events of ") + op.name + " with a wrong key",
                                 {wrong}, 1, {.shows_events = true}));
  }
  scripts.push_back(one_by_one("the events of an invalid request",
                               {{.op = Opcode::write_last, .psn = 0, .bytes = 9}}, 1,
                               {.shows_events = true}));
  scripts.push_back(one_by_one("an atomic that is not aligned",
                               {{.op = Opcode::fetch_add, .psn = 0, .offset = 4}}, 1));
  scripts.push_back(
      one_by_one("SEND with an invalidation of a wrong key",
                 {{.op = Opcode::send_only_inv, .psn = 0, .bytes = 8, .word = 0x12345678}}, 1));
}

void add_bits(std::vector<Script>& scripts) {
  const Request send{.op = Opcode::send_only, .psn = 0, .bytes = 32};
  const auto with = [&](const std::string& name, const std::function<void(Request&)>& change,
                        int next_psn = 1) {
    Request request = send;
    change(request);
    scripts.push_back(one_by_one("SEND with " + name, {request}, next_psn));
  };
  with("the solicited event bit", [](Request& request) { request.is_solicited = true; });
  with("no AckReq", [](Request& request) { request.wants_ack = false; });
  with("MigReq 0", [](Request& request) { request.is_migrated = false; });
  scripts.push_back(one_by_one("MigReq in an ACK", {send}, 1, {.shows_migration = true}));
  with("FECN", [](Request& request) { request.congestion = 0x80; });
  with("BECN", [](Request& request) { request.congestion = 0x40; });
  with("reserved bits", [](Request& request) { request.congestion = 0x3f; });
  with("the limited P_Key", [](Request& request) { request.pkey = 0x7fff; });
  with(
      "another P_Key", [](Request& request) { request.pkey = 0x1234; }, 0);
  with(
      "P_Key 0", [](Request& request) { request.pkey = 0; }, 0);
  with(
      "another version", [](Request& request) { request.version = 1; }, 0);
  with("ECT(0)", [](Request& request) { request.tos = 2; });
  scripts.push_back(one_by_one("an opcode that is reserved",
                               {{.op = static_cast<Opcode>(0x18), .psn = 0, .bytes = 8}}, 0));
  scripts.push_back(
      one_by_one("an opcode of UC", {{.op = static_cast<Opcode>(0x24), .psn = 0}}, 0));
}

void add_ud(std::vector<Script>& scripts) {
  Setup ud;
  ud.type = IBV_QPT_UD;
  const Request good{.op = Opcode::ud_send_only, .psn = 0, .bytes = 50};
  const auto ud_script = [&](const std::string& name, std::size_t room, const Request& request) {
    scripts.push_back({"UD: " + name, ud, [=](Player& player) {
                         if (room) player.receive(room);
                         player.receive(1024);
                         player.send(request);
                         player.send(good);
                       }});
  };
  Request request = good;
  ud_script("two datagrams", 1024, request);
  request.qkey = 1;
  ud_script("a wrong Q_Key", 1024, request);
  request = good, request.pkey = 0x1234;
  ud_script("another P_Key", 1024, request);
  request = good, request.psn = 5;
  ud_script("a gap", 1024, request);
  ud_script("a receive as long as the datagram", 90, good);
  request = good, request.bytes = 0;
  ud_script("no bytes", 1024, request);
  request = good, request.op = static_cast<Opcode>(0x65), request.bytes = 8;
  ud_script("immediate", 1024, request);
  request = good, request.is_solicited = true;
  ud_script("the solicited event bit", 0, request);
  request = good, request.op = Opcode::send_only;
  ud_script("an opcode of RC", 0, request);
  scripts.push_back({"UD: no receive", ud, [=](Player& player) {
                       player.send(good);
                       player.receive(1024);
                       player.send(good);
                     }});
}

}  // namespace

std::vector<Script> message_scripts() {
  std::vector<Script> scripts;
  add_sequences(scripts);
  add_lengths(scripts);
  add_access(scripts);
  add_bits(scripts);
  add_ud(scripts);
  return scripts;
}

}  // namespace packet_script
