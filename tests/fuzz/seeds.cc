// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// seeds FOLDER: writes the initial corpus of each fuzzer to FOLDER/packet, FOLDER/responder, …
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "port/engine.h"

namespace {

using Bytes = std::vector<u8>;
namespace fs = std::filesystem;

void write(const fs::path& folder, const std::string& name, const Bytes& bytes) {
  fs::create_directories(folder);
  std::ofstream(folder / name, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
}

// One well-formed packet of every opcode, with 5 bytes of payload if it may have any.
void packets(const fs::path& folder) {
  for (int opcode = 0; opcode < 256; opcode++) {
    sroce_packet pkt = {};
    pkt.opcode = static_cast<u8>(opcode);
    pkt.info = sroce_opcode_lookup(pkt.opcode);
    if (!pkt.info) continue;
    pkt.psn = 0x010203;
    pkt.dest_qpn = 17;
    pkt.dma_length = 5;
    const bool carries = pkt.info->flags & SROCE_OPF_PAYLOAD;
    pkt.pad_bytes = carries ? 3 : 0;
    Bytes bytes(1 + SROCE_MAX_HEADER_BYTES);
    bytes[0] = 0xff;
    bytes.resize(1 + sroce_packet_write(&pkt, bytes.data() + 1));
    bytes.resize(bytes.size() + (carries ? 8 : 0) + SROCE_ICRC_BYTES);
    write(folder, "opcode" + std::to_string(opcode), bytes);
  }
}

// The responder's setup: 4 resources, @kind of service and reordering, MTU 1024, all access flags,
// PSN 0xfffffe. Then, for each packet: opcode, bits, [psn], [payload kind], [range kind], [level of
// a FLUSH], whether there is a receive, memory, number of responses and for each its burst and
// result, pause.
Bytes responder_stream(std::initializer_list<Bytes> packets, u8 kind = 0) {
  Bytes stream = {3, kind, 2, 0xff, 12, 0x00, 0xff, 0xff, 0xfe};
  for (const Bytes& pkt : packets) stream.insert(stream.end(), pkt.begin(), pkt.end());
  return stream;
}

void conversations_in(const fs::path& folder) {
  const Bytes send_first = {SROCE_OP_SEND_FIRST, 0, 2, 1, 4 + 8 * 8, 0, 0, 0};
  const Bytes send_last = {SROCE_OP_SEND_LAST, 1, 1, 0, 1, 63, 0, 0};
  const Bytes write_only = {SROCE_OP_WRITE_ONLY, 1, 2, 0, 1, 63, 0, 0};
  const Bytes read = {SROCE_OP_READ_REQUEST, 8, 5 + 8 * 3, 0, 2, 1, 0, 1, 0, 0};
  const Bytes read_again = {SROCE_OP_READ_REQUEST, 12, 29, 5 + 8 * 3, 0, 2, 63, 0, 63, 0, 0};
  const Bytes fetch_add = {SROCE_OP_FETCH_ADD, 0, 0, 1, 63, 0, 0};
  // The bits of the second byte are those of the placement type, too.
  const Bytes atomic_write = {SROCE_OP_ATOMIC_WRITE, 0, 0, 8, 0, 1, 63, 0, 0};
  const Bytes flush = {SROCE_OP_FLUSH, 2, 0, 0, 1, 63, 0, 0};
  const Bytes flush_again = {SROCE_OP_FLUSH, 2 | 4, 31, 0, 0, 63, 0, 0};
  // Out of order: bit 2 means that a PSN follows, 32 + distance; bit 6 offers selective repeat.
  const auto early = [](u8 distance) {
    return Bytes{
        SROCE_OP_WRITE_ONLY, 64 | 4 | 1, static_cast<u8>(32 + distance), 2, 0, 1, 63, 0, 0};
  };
  const Bytes offered = {SROCE_OP_WRITE_ONLY, 64 | 1, 2, 0, 1, 63, 0, 200};
  const Bytes hole = {SROCE_OP_READ_REQUEST, 12, 31, 2, 0, 2, 63, 0, 63, 0, 0};
  write(folder, "send", responder_stream({send_first, send_last}));
  write(folder, "write", responder_stream({write_only, write_only}));
  write(folder, "read", responder_stream({read, read_again}));
  write(folder, "selective",
        responder_stream(
            {early(1), early(3), early(3), offered, early(1), offered, early(0), offered}, 8 | 2));
  write(folder, "gap", responder_stream({early(2), early(1), offered, early(200), offered}, 2));
  write(folder, "hole", responder_stream({read, hole, hole}, 8 | 3));
  write(folder, "mixed", responder_stream({send_first, send_last, write_only, read, fetch_add}));
  write(folder, "placement", responder_stream({write_only, flush, atomic_write, flush_again}));
  write(folder, "uc", responder_stream({send_first, send_last, write_only, early(1)}, 16));
}

// The requester's setup: MTU 1024, window 64, 4 READs, 7 retries, timeout, kind, PSN 0xfffffe.
void conversations_out(const fs::path& folder) {
  const Bytes start = {2, 63, 4, 7, 7, 1, 0, 0x00, 0xff, 0xff, 0xfe};
  const Bytes selective = {2, 63, 4, 7, 7, 1, 3, 0x00, 0xff, 0xff, 0xfe};
  const Bytes post_send = {0, 2, 2, 4 + 8 * 2, 0}, post_read = {0, 4, 2, 5 + 8 * 3, 0};
  const Bytes post_atomic = {0, 6, 2, 0, 0}, send = {2, 63, 0};
  const Bytes ack = {6, 4, 0}, nak = {6, 4, 4}, rnr = {6, 4, 3};
  const Bytes read_first = {6, 0, 0, 2, 0}, read_last = {6, 2, 0, 2, 0}, atomic = {6, 5, 0, 0};
  const Bytes wait = {4, 255};
  // Opcode, bits, [PSN 32 + distance], length, number of chosen bytes, the other bytes, the chosen
  // bytes.
  const Bytes sack = {6, 6, 16, 31, 8, 1, 0, 0x3a},
              far_sack = {6, 6, 16, 33, 255, 2, 0xff, 0x3a, 0xf0};
  const Bytes late_read = {6, 1, 16, 33, 2, 0};
  const auto join = [](const Bytes& first, std::initializer_list<Bytes> steps) {
    Bytes all = first;
    for (const Bytes& step : steps) all.insert(all.end(), step.begin(), step.end());
    return all;
  };
  write(folder, "send", join(start, {post_send, send, ack, ack, ack, ack}));
  write(folder, "loss",
        join(start, {post_send, send, nak, send, wait, send, ack, ack, rnr, wait, send}));
  write(folder, "read",
        join(start, {post_read, send, read_first, wait, send, read_first, read_last}));
  write(folder, "selective",
        join(selective, {post_send, post_send, post_send, send, send, send, sack, send, wait,
                         far_sack, send, nak, send, sack, rnr, wait, send, ack}));
  write(folder, "late_read",
        join(selective, {post_send, send, ack, ack, ack, post_read, post_send, send, send,
                         late_read, sack, send, read_first, wait, send, read_last}));
  const Bytes post_flush = {0, 9, 2, 0, 0}, post_atomic_write = {0, 10, 2, 0, 0};
  const Bytes read_only = {6, 3, 0, 0, 0};
  write(folder, "placement",
        join(start, {post_flush, post_atomic_write, send, send, read_only, wait, send, read_only}));
  write(folder, "atomic", join(start, {post_atomic, post_send, send, send, atomic, ack}));
}

void work_requests(const fs::path& folder) {
  for (u8 opcode = 0; opcode <= SROCE_WR_SEND_INV; opcode++) {
    Bytes bytes = {0, 2, 0, 0, 0, 1, opcode, SROCE_SEND_SIGNALED, 1, 2, 2};
    bytes.resize(19);
    for (u8 length : {4 + 8, 3, 0, 0}) bytes.push_back(length);
    bytes.push_back(1);
    write(folder, "opcode" + std::to_string(opcode), bytes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const fs::path folder = argv[1];
  packets(folder / "packet");
  work_requests(folder / "wqe");
  conversations_in(folder / "responder");
  conversations_out(folder / "completer");
}
