// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/counter_meanings.h"

namespace sroce {
namespace {

constexpr CounterMeaning meanings[] = {
    {"sent_pkts", "packets sent"},
    {"rcvd_pkts", "packets received, also if dropped then"},
    {"duplicate_request", "requests received again"},
    {"out_of_seq_request", "requests received beyond a gap"},
    {"rcvd_rnr_err", "RNR NAKs received: no receive posted at the peer"},
    {"send_rnr_err", "RNR NAKs sent: no receive posted here"},
    {"rcvd_seq_err", "NAKs received that report lost packets"},
    {"ack_deferred", "ACKs delayed to join the program's reply"},
    {"retry_exceeded_err", "requests failed: the peer did not respond"},
    {"retry_rnr_exceeded_err", "requests failed: the peer posted no receive"},
    {"completer_retry_err", "packets sent again after a NAK or timeout"},
    {"send_err", "packets that the network stack did not take"},
    {"link_downed", "times that the port went down"},
    {"rdma_sends", "SEND requests completed"},
    {"rdma_recvs", "receives completed"},
    {"sent_bytes", "bytes sent, from the UDP header on"},
    {"rcvd_bytes", "bytes received, from the UDP header on"},
    {"out_of_sequence", "as out_of_seq_request, under the name of mlx5"},
    {"packet_seq_err", "as rcvd_seq_err, under the name of mlx5"},
    {"local_ack_timeout_err", "ACK timeouts"},
    {"implied_nak_seq_err", "gaps in responses to READ or atomic requests"},
    {"rnr_nak_retry_err", "as rcvd_rnr_err, under the name of mlx5"},
    {"rx_write_requests", "WRITE requests received"},
    {"rx_read_requests", "READ requests received"},
    {"rx_atomic_requests", "atomic requests received"},
    {"rx_icrc_encapsulated", "dropped: wrong ICRC (damage, or a NAT)"},
    {"np_ecn_marked_roce_packets", "packets received with a congestion mark (CE)"},
    {"np_cnp_sent", "congestion notifications (CNPs) sent"},
    {"rp_cnp_handled", "CNPs received that congestion control handled"},
    {"rp_cnp_ignored", "CNPs received that it has ignored"},
    {"roce_adp_retrans", "packets sent again alone (selective repeat)"},
    {"roce_adp_retrans_to", "probes for the loss of a tail"},
    {"req_cqe_error", "completions of send queues with an error"},
    {"resp_cqe_error", "completions of receive queues with an error"},
    {"req_remote_access_errors", "the peer rejected a key, a range or rights"},
    {"resp_remote_access_errors", "a key, a range or rights were rejected here"},
    {"selective_offered", "connections that offered selective repeat"},
    {"selective_accepted", "connections whose peer accepted it"},
    {"selective_withdrawn", "connections that withdrew it"},
    {"reorder_bytes", "memory of packets received out of order, now"},
    {"page_faults", "page faults started by on-demand paging"},
    {"page_fault_errors", "page faults that failed"},
    {"pacing_wakeups", "timer expiries of queue pairs of a limited rate"},
    {"drop_truncated", "dropped: shorter than its headers"},
    {"drop_version", "dropped: unknown version of the transport header"},
    {"drop_opcode", "dropped: unknown opcode"},
    {"drop_pad", "dropped: wrong padding"},
    {"drop_payload", "dropped: wrong length of the payload"},
    {"drop_no_qp", "dropped: no such queue pair or multicast group"},
    {"drop_address", "dropped: addresses do not match the queue pair"},
    {"drop_pkey", "dropped: wrong P_Key"},
    {"drop_qkey", "dropped: wrong Q_Key"},
    {"drop_state", "dropped: the queue pair does not receive now"},
    {"drop_service", "dropped: opcode of another type of queue pair"},
    {"drop_unsent", "dropped: acknowledges what was not sent"},
    {"drop_duplicate", "dropped: already acknowledged or placed"},
    {"drop_gap", "dropped: behind a reported gap, or too far beyond"},
    {"drop_syndrome", "dropped: acknowledgement with a reserved syndrome"},
    {"drop_length", "dropped: longer than the receive or the MTU"},
    {"drop_no_wqe", "dropped: no receive was posted (UC, UD)"},
    {"drop_replay", "dropped: repeated READ or atomic, result gone"},
    {"drop_invalid", "dropped: an invalid request of UC"},
    {"drop_reorder_full", "dropped: no memory to queue it behind a gap"},
    {"drop_not_present", "dropped: the memory for it is paged out"},
    {"drop_no_memory", "not sent: no memory"},
    {"drop_no_route", "not sent: no route or neighbour"},
};

}  // namespace

std::span<const CounterMeaning> counter_meanings() { return meanings; }

std::string meaning_of(const std::string& counter) {
  for (const auto& [name, meaning] : meanings) {
    if (counter == name) return meaning;
  }
  return {};
}

bool is_gauge(const std::string& counter) { return counter == "reorder_bytes"; }

}  // namespace sroce
