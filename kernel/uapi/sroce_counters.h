/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * The counters of a device, in the order in which users see them: first those of rxe, then those of
 * mlx5 that apply, then ours, one for each drop reason. A line has the number, without SROCE_CTR_,
 * the name, and the meaning for users, of at most 52 characters. Define SROCE_COUNTER() before each
 * inclusion.
 */
/* rxe's names */
SROCE_COUNTER(SENT_PKTS, sent_pkts, "packets sent")
SROCE_COUNTER(RCVD_PKTS, rcvd_pkts, "packets received, including those dropped later")
SROCE_COUNTER(DUPLICATE_REQUEST, duplicate_request, "requests received again")
SROCE_COUNTER(OUT_OF_SEQ_REQUEST, out_of_seq_request, "requests received beyond a gap")
SROCE_COUNTER(RCVD_RNR_ERR, rcvd_rnr_err, "RNR NAKs received: no receive posted at the peer")
SROCE_COUNTER(SEND_RNR_ERR, send_rnr_err, "RNR NAKs sent: no receive posted here")
SROCE_COUNTER(RCVD_SEQ_ERR, rcvd_seq_err, "NAKs received that report lost packets")
SROCE_COUNTER(ACK_DEFERRED, ack_deferred, "ACKs delayed to join the program's reply")
SROCE_COUNTER(RETRY_EXCEEDED_ERR, retry_exceeded_err, "requests failed: the peer did not respond")
SROCE_COUNTER(RETRY_RNR_EXCEEDED_ERR, retry_rnr_exceeded_err, "failed: no receive at the peer")
SROCE_COUNTER(COMPLETER_RETRY_ERR, completer_retry_err, "packets sent again after a NAK or timeout")
SROCE_COUNTER(SEND_ERR, send_err, "packets that the network stack did not take")
SROCE_COUNTER(LINK_DOWNED, link_downed, "times that the port went down")
SROCE_COUNTER(RDMA_SEND, rdma_sends, "SEND requests completed")
SROCE_COUNTER(RDMA_RECV, rdma_recvs, "receives completed")
SROCE_COUNTER(SENT_BYTES, sent_bytes, "bytes sent, from the UDP header on")
SROCE_COUNTER(RCVD_BYTES, rcvd_bytes, "bytes received, from the UDP header on")

/* mlx5's names */
SROCE_COUNTER(OUT_OF_SEQUENCE, out_of_sequence, "as out_of_seq_request, under the name of mlx5")
SROCE_COUNTER(PACKET_SEQ_ERR, packet_seq_err, "as rcvd_seq_err, less the last retry's")
SROCE_COUNTER(LOCAL_ACK_TIMEOUT_ERR, local_ack_timeout_err, "ACK timeouts")
SROCE_COUNTER(IMPLIED_NAK_SEQ_ERR, implied_nak_seq_err, "gaps in READ or atomic responses")
SROCE_COUNTER(RNR_NAK_RETRY_ERR, rnr_nak_retry_err, "RNR NAKs received, less the last retry's")
SROCE_COUNTER(RX_WRITE_REQUESTS, rx_write_requests, "WRITE requests received")
SROCE_COUNTER(RX_READ_REQUESTS, rx_read_requests, "READ requests received")
SROCE_COUNTER(RX_ATOMIC_REQUESTS, rx_atomic_requests, "atomic requests received")
SROCE_COUNTER(RX_ICRC_ENCAPSULATED, rx_icrc_encapsulated, "dropped: wrong ICRC (damage, or a NAT)")
SROCE_COUNTER(NP_ECN_MARKED, np_ecn_marked_roce_packets, "packets received with a congestion mark")
SROCE_COUNTER(NP_CNP_SENT, np_cnp_sent, "congestion notifications (CNPs) sent")
SROCE_COUNTER(RP_CNP_HANDLED, rp_cnp_handled, "CNPs received that congestion control handled")
SROCE_COUNTER(RP_CNP_IGNORED, rp_cnp_ignored, "CNPs received that congestion control ignored")
SROCE_COUNTER(ROCE_ADP_RETRANS, roce_adp_retrans, "packets sent again alone (selective repeat)")
SROCE_COUNTER(ROCE_ADP_RETRANS_TO, roce_adp_retrans_to, "probes for the loss of a tail")
SROCE_COUNTER(REQ_CQE_ERROR, req_cqe_error, "completions of send queues with an error")
SROCE_COUNTER(RESP_CQE_ERROR, resp_cqe_error, "completions of receive queues with an error")
SROCE_COUNTER(REQ_REMOTE_ACCESS_ERRORS, req_remote_access_errors, "the peer rejected an access")
SROCE_COUNTER(RESP_REMOTE_ACCESS_ERRORS, resp_remote_access_errors, "an access was rejected here")

/* ours: connections that offered selective repeat, whose peer accepted it, that withdrew it */
SROCE_COUNTER(SELECTIVE_OFFERED, selective_offered, "connections that offered selective repeat")
SROCE_COUNTER(SELECTIVE_ACCEPTED, selective_accepted, "connections whose peer accepted the offer")
SROCE_COUNTER(SELECTIVE_WITHDRAWN, selective_withdrawn, "connections that withdrew the offer")
/* memory of the reorder queues now: not counted, see control/stats.c */
SROCE_COUNTER(REORDER_BYTES, reorder_bytes, "memory for packets received out of order, now")
/* faults started for copies that missed pages, see datapath/odp_wait.c; those that failed */
SROCE_COUNTER(PAGE_FAULTS, page_faults, "page faults started by on-demand paging")
SROCE_COUNTER(PAGE_FAULT_ERRORS, page_fault_errors, "page faults that failed")
/* timer expiries of paced work queues */
SROCE_COUNTER(PACING_WAKEUPS, pacing_wakeups, "timer expiries of queue pairs of a limited rate")

/* why packets were dropped */
SROCE_COUNTER(DROP_TRUNCATED, drop_truncated, "dropped: shorter than its headers")
SROCE_COUNTER(DROP_VERSION, drop_version, "dropped: unknown version of the transport header")
SROCE_COUNTER(DROP_OPCODE, drop_opcode, "dropped: unknown opcode")
SROCE_COUNTER(DROP_PAD, drop_pad, "dropped: wrong padding")
SROCE_COUNTER(DROP_PAYLOAD, drop_payload, "dropped: wrong length of the payload")
SROCE_COUNTER(DROP_NO_QP, drop_no_qp, "dropped: no such queue pair or multicast group")
SROCE_COUNTER(DROP_ADDRESS, drop_address, "dropped: addresses do not match the queue pair")
SROCE_COUNTER(DROP_PKEY, drop_pkey, "dropped: wrong P_Key")
SROCE_COUNTER(DROP_QKEY, drop_qkey, "dropped: wrong Q_Key")
SROCE_COUNTER(DROP_STATE, drop_state, "dropped: the queue pair does not receive now")
SROCE_COUNTER(DROP_SERVICE, drop_service, "dropped: opcode of another type of queue pair")
SROCE_COUNTER(DROP_UNSENT, drop_unsent, "dropped: acknowledges what was not sent")
SROCE_COUNTER(DROP_DUPLICATE, drop_duplicate, "dropped: already acknowledged or placed")
SROCE_COUNTER(DROP_GAP, drop_gap, "dropped: behind a reported gap, or too far beyond")
SROCE_COUNTER(DROP_SYNDROME, drop_syndrome, "dropped: acknowledgement with a reserved syndrome")
SROCE_COUNTER(DROP_LENGTH, drop_length, "dropped: longer than the receive or the MTU")
SROCE_COUNTER(DROP_NO_WQE, drop_no_wqe, "dropped: no receive was posted (UC, UD)")
SROCE_COUNTER(DROP_REPLAY, drop_replay, "dropped: repeated READ or atomic, result gone")
SROCE_COUNTER(DROP_INVALID, drop_invalid, "dropped: an invalid request of UC")
SROCE_COUNTER(DROP_REORDER_FULL, drop_reorder_full, "dropped: no memory to queue it behind a gap")
SROCE_COUNTER(DROP_NOT_PRESENT, drop_not_present, "dropped: the memory for it is paged out")
SROCE_COUNTER(DROP_NO_MEMORY, drop_no_memory, "not sent: no memory")
SROCE_COUNTER(DROP_NO_ROUTE, drop_no_route, "not sent: no route, or the interface is down")

#undef SROCE_COUNTER
