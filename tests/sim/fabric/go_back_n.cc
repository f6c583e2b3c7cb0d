// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/fabric/go_back_n.h"

#include <algorithm>

namespace fabric {
namespace {

constexpr u64 kMaxReads = 16;

}  // namespace

GoBackN::GoBackN(const Scenario& scenario)
    : scenario_(scenario),
      per_message_(scenario.message_packets()),
      retries_left_(scenario.retry_cnt) {}

void GoBackN::start(Ns now_ns) {
  while (posted_ns_.size() < scenario_.messages_posted()) {
    posted_ns_.push_back(now_ns);
    posted_ += per_message_;
  }
}

bool GoBackN::may_send() const {
  if (failed_ || next_ == posted_) return false;
  if (reads()) return next_ / per_message_ - unacked_ / per_message_ < kMaxReads;
  return next_ - unacked_ < scenario_.window();
}

u8 GoBackN::opcode(u32 number) const {
  const bool first = number == 0;
  const bool last = number == per_message_ - 1;
  if (reads()) return SROCE_OP_READ_REQUEST;
  if (scenario_.operation == Operation::send) {
    if (last) return first ? SROCE_OP_SEND_ONLY : SROCE_OP_SEND_LAST;
    return first ? SROCE_OP_SEND_FIRST : SROCE_OP_SEND_MIDDLE;
  }
  if (last) return first ? SROCE_OP_WRITE_ONLY : SROCE_OP_WRITE_LAST;
  return first ? SROCE_OP_WRITE_FIRST : SROCE_OP_WRITE_MIDDLE;
}

void GoBackN::fill_packet(sroce_packet& pkt) {
  const u32 number = static_cast<u32>(next_ % per_message_);
  const u32 offset = number * scenario_.mtu_bytes;
  const u32 left = scenario_.message_bytes - offset;
  pkt = {};
  pkt.count = 1;
  pkt.opcode = opcode(number);
  pkt.info = sroce_opcode_lookup(pkt.opcode);
  pkt.header_bytes = pkt.info->header_bytes;
  pkt.migreq = true;
  pkt.pkey = SROCE_PKEY_DEFAULT;
  pkt.psn = static_cast<u32>(next_) & SROCE_PSN_MASK;
  if (reads()) {
    pkt.va = offset;
    pkt.dma_length = left;
    next_ += per_message_ - number;
    return;
  }
  pkt.dma_length = scenario_.message_bytes;
  pkt.payload_bytes = std::min(left, scenario_.mtu_bytes);
  pkt.pad_bytes = -pkt.payload_bytes & 3;
  next_++;
  pkt.ack_req = number == per_message_ - 1 || next_ - unacked_ == scenario_.window() ||
                ++since_ack_req_ >= scenario_.window() / 4;
  if (pkt.ack_req) since_ack_req_ = 0;
}

void GoBackN::send(Ns now_ns, u32 max_packets, std::vector<sroce_packet>& out) {
  for (; max_packets && may_send(); max_packets--) fill_packet(out.emplace_back());
  sent_ = std::max(sent_, next_);
  if (deadline_ns_ == kNever && next_ != unacked_) arm(now_ns);
}

void GoBackN::arm(Ns now_ns) {
  deadline_ns_ =
      next_ == unacked_ ? kNever : now_ns + sroce_ack_timeout_ns(scenario_.timeout_exponent);
}

// Every packet before @end has been acknowledged.
void GoBackN::acknowledge(u64 end, Ns now_ns) {
  if (end <= unacked_) return;
  for (u64 done = end / per_message_ - unacked_ / per_message_; done; done--) {
    completion_times_.push_back(now_ns - posted_ns_.front());
    posted_ns_.pop_front();
  }
  unacked_ = end;
  next_ = std::max(next_, end);
  retries_left_ = scenario_.retry_cnt;
  start(now_ns);
  arm(now_ns);
}

void GoBackN::retry(Ns now_ns) {
  failed_ = failed_ || !retries_left_;
  if (failed_) {
    deadline_ns_ = kNever;
    return;
  }
  retries_left_--;
  next_ = unacked_;
  since_ack_req_ = 0;
  arm(now_ns);
}

void GoBackN::timeout(Ns now_ns) {
  if (now_ns < deadline_ns_) return;
  timeouts_++;
  retried_hole_ = ~0ull;
  retry(now_ns);
}

// Goes back once per hole, not for every response behind it.
void GoBackN::receive_response(u64 packet, Ns now_ns) {
  if (packet == unacked_) {
    acknowledge(packet + 1, now_ns);
  } else if (retried_hole_ != unacked_ && next_ != unacked_) {
    retried_hole_ = unacked_;
    retry(now_ns);
  }
}

void GoBackN::receive(const Packet& packet, Ns now_ns) {
  const sroce_packet& pkt = packet.header;
  const u32 forward = (pkt.psn - static_cast<u32>(unacked_)) & SROCE_PSN_MASK;
  if (failed_ || !(pkt.info->flags & SROCE_OPF_RESPONSE) || forward >= sent_ - unacked_) return;
  const u64 number = unacked_ + forward;
  if (pkt.info->flags & SROCE_OPF_READ) {
    receive_response(number, now_ns);
  } else if (pkt.syndrome == SROCE_NAK_PSN_SEQUENCE) {
    if (!reads()) acknowledge(number, now_ns);
    if (next_ != unacked_) retry(now_ns);
  } else if ((pkt.syndrome & SROCE_AETH_KIND_MASK) == SROCE_AETH_ACK && !reads()) {
    acknowledge(number + 1, now_ns);
  }
}

}  // namespace fabric
