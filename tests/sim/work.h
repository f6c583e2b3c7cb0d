// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Work requests as the simulator plans them, with their expected outcome.
#ifndef TESTS_SIM_WORK_H
#define TESTS_SIM_WORK_H

#include <set>
#include <vector>

#include "port/engine.h"

namespace sim {

inline constexpr u8 kSuccess = SROCE_WC_SUCCESS;

struct SendWork {
  // Posted by the application.
  u64 wr_id = 0;
  u8 opcode = 0;
  u8 flags = 0;
  u32 length = 0;
  std::vector<sroce_sge> sge;
  std::vector<u8> inline_data;
  u64 remote_addr = 0;
  u32 rkey = 0;
  u64 compare_add = 0;
  u64 swap = 0;
  u32 flush_bytes = 0;
  u8 placement = 0;
  u8 level = 0;
  u32 imm = 0;
  u32 inv_rkey = 0;

  // The expected outcome.
  std::vector<u8> data;        // payload sent, read, or the atomic's original value
  u64 atomic_result = 0;       // value in memory afterwards
  u8 expected = kSuccess;      // completion status if nothing else goes wrong
  bool fails_locally = false;  // the failure is detected before a packet is sent
  u8 local_status = kSuccess;  // the datapath's result of a local operation
  int recv_index = -1;         // receive that it consumes
  int fence_after = -1;        // last READ or atomic before it, if fenced

  // The progress so far.
  u32 first_psn = 0;
  u32 psn_count = 0;
  u32 sent_packets = 0;    // packets sent at least once
  u32 remote_bytes = 0;    // placed by the responder
  u32 responded = 0;       // READ and atomic: responses sent at least once
  u32 msn = 0;             // of its responses, once it has been executed
  u64 responses_due = 0;   // READ: responses requested, including replays
  u64 responses_sent = 0;  // READ: responses sent
  u32 local_bytes = 0;     // placed by the requester
  std::set<u32> placed;    // offsets at which responses were placed
  bool executed = false;   // completely, at the responder (or locally)
  bool begun = false;
  u8 exhausted = 0;           // status, after a NAK that found no retry left, behind an open READ
  bool nak_received = false;  // the requester has received a fatal NAK

  bool is_read() const { return opcode == SROCE_WR_READ; }
  bool is_atomic() const { return wqe_is_atomic(opcode); }
  bool is_rd_atomic() const { return wqe_is_rd_atomic(opcode); }
  bool is_placement() const { return wqe_is_placement(opcode); }
  bool is_atomic_write() const { return opcode == SROCE_WR_ATOMIC_WRITE; }
  bool flushes_range() const { return opcode == SROCE_WR_FLUSH && level == SROCE_FLUSH_RANGE; }
  // Bytes of the peer's memory that it is about.
  u32 range_bytes() const { return flushes_range() ? flush_bytes : length; }
  // Has a READ, atomic or the like all of its response?
  bool is_responded() const { return is_placement() ? !placed.empty() : local_bytes == length; }
  bool is_local() const { return wqe_is_local(opcode); }
  bool is_write() const { return opcode == SROCE_WR_WRITE || opcode == SROCE_WR_WRITE_IMM; }
  bool is_send() const {
    return opcode == SROCE_WR_SEND || opcode == SROCE_WR_SEND_IMM || opcode == SROCE_WR_SEND_INV;
  }
  bool consumes_receive() const { return is_send() || opcode == SROCE_WR_WRITE_IMM; }
};

struct RecvWork {
  u64 wr_id = 0;
  u32 length = 0;
  std::vector<sroce_sge> sge;
  int send_index = -1;  // message that consumes it
  u8 expected = kSuccess;
  u32 placed_bytes = 0;
  bool fetched = false;
};

}  // namespace sim

#endif
