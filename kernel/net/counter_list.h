/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The counters of a device, in the order in which users see them: first those of rxe, then those of
 * mlx5 that apply, then ours, one for each drop reason. A line has the number, without SROCE_CTR_,
 * and the name. Define SROCE_COUNTER() before each inclusion.
 */
/* rxe's names */
SROCE_COUNTER(SENT_PKTS, sent_pkts)
SROCE_COUNTER(RCVD_PKTS, rcvd_pkts)
SROCE_COUNTER(DUPLICATE_REQUEST, duplicate_request)
SROCE_COUNTER(OUT_OF_SEQ_REQUEST, out_of_seq_request)
SROCE_COUNTER(RCVD_RNR_ERR, rcvd_rnr_err)
SROCE_COUNTER(SEND_RNR_ERR, send_rnr_err)
SROCE_COUNTER(RCVD_SEQ_ERR, rcvd_seq_err)
SROCE_COUNTER(ACK_DEFERRED, ack_deferred) /* datapath/ack_delay.c */
SROCE_COUNTER(RETRY_EXCEEDED_ERR, retry_exceeded_err)
SROCE_COUNTER(RETRY_RNR_EXCEEDED_ERR, retry_rnr_exceeded_err)
SROCE_COUNTER(COMPLETER_RETRY_ERR, completer_retry_err)
SROCE_COUNTER(SEND_ERR, send_err)
SROCE_COUNTER(LINK_DOWNED, link_downed)
SROCE_COUNTER(RDMA_SEND, rdma_sends)
SROCE_COUNTER(RDMA_RECV, rdma_recvs)
SROCE_COUNTER(SENT_BYTES, sent_bytes)
SROCE_COUNTER(RCVD_BYTES, rcvd_bytes)

/* mlx5's names */
SROCE_COUNTER(OUT_OF_SEQUENCE, out_of_sequence)
SROCE_COUNTER(PACKET_SEQ_ERR, packet_seq_err)
SROCE_COUNTER(LOCAL_ACK_TIMEOUT_ERR, local_ack_timeout_err)
SROCE_COUNTER(IMPLIED_NAK_SEQ_ERR, implied_nak_seq_err)
SROCE_COUNTER(RNR_NAK_RETRY_ERR, rnr_nak_retry_err)
SROCE_COUNTER(RX_WRITE_REQUESTS, rx_write_requests)
SROCE_COUNTER(RX_READ_REQUESTS, rx_read_requests)
SROCE_COUNTER(RX_ATOMIC_REQUESTS, rx_atomic_requests)
SROCE_COUNTER(RX_ICRC_ENCAPSULATED, rx_icrc_encapsulated)
SROCE_COUNTER(NP_ECN_MARKED, np_ecn_marked_roce_packets)
SROCE_COUNTER(NP_CNP_SENT, np_cnp_sent)
SROCE_COUNTER(RP_CNP_HANDLED, rp_cnp_handled)
SROCE_COUNTER(RP_CNP_IGNORED, rp_cnp_ignored)
SROCE_COUNTER(ROCE_ADP_RETRANS, roce_adp_retrans)
SROCE_COUNTER(ROCE_ADP_RETRANS_TO, roce_adp_retrans_to)
SROCE_COUNTER(REQ_CQE_ERROR, req_cqe_error)
SROCE_COUNTER(RESP_CQE_ERROR, resp_cqe_error)
SROCE_COUNTER(REQ_REMOTE_ACCESS_ERRORS, req_remote_access_errors)
SROCE_COUNTER(RESP_REMOTE_ACCESS_ERRORS, resp_remote_access_errors)

/* ours: connections that offered selective repeat, whose peer accepted it, that withdrew it */
SROCE_COUNTER(SELECTIVE_OFFERED, selective_offered)
SROCE_COUNTER(SELECTIVE_ACCEPTED, selective_accepted)
SROCE_COUNTER(SELECTIVE_WITHDRAWN, selective_withdrawn)
/* memory of the reorder queues now: not counted, see control/stats.c */
SROCE_COUNTER(REORDER_BYTES, reorder_bytes)
/* faults started for copies that missed pages, see datapath/paging.c; those that failed */
SROCE_COUNTER(PAGE_FAULTS, page_faults)
SROCE_COUNTER(PAGE_FAULT_ERRORS, page_fault_errors)
/* timer expiries of paced work queues */
SROCE_COUNTER(PACING_WAKEUPS, pacing_wakeups)

/* why packets were dropped */
SROCE_COUNTER(DROP_TRUNCATED, drop_truncated)
SROCE_COUNTER(DROP_VERSION, drop_version)
SROCE_COUNTER(DROP_OPCODE, drop_opcode)
SROCE_COUNTER(DROP_PAD, drop_pad)
SROCE_COUNTER(DROP_PAYLOAD, drop_payload)
SROCE_COUNTER(DROP_NO_QP, drop_no_qp)
SROCE_COUNTER(DROP_ADDRESS, drop_address)
SROCE_COUNTER(DROP_PKEY, drop_pkey)
SROCE_COUNTER(DROP_QKEY, drop_qkey)
SROCE_COUNTER(DROP_STATE, drop_state)
SROCE_COUNTER(DROP_SERVICE, drop_service)
SROCE_COUNTER(DROP_UNSENT, drop_unsent)
SROCE_COUNTER(DROP_DUPLICATE, drop_duplicate)
SROCE_COUNTER(DROP_GAP, drop_gap)
SROCE_COUNTER(DROP_SYNDROME, drop_syndrome)
SROCE_COUNTER(DROP_LENGTH, drop_length)
SROCE_COUNTER(DROP_NO_WQE, drop_no_wqe)
SROCE_COUNTER(DROP_REPLAY, drop_replay)
SROCE_COUNTER(DROP_INVALID, drop_invalid)
SROCE_COUNTER(DROP_REORDER_FULL, drop_reorder_full)
SROCE_COUNTER(DROP_NOT_PRESENT, drop_not_present)
SROCE_COUNTER(DROP_NO_MEMORY, drop_no_memory)
SROCE_COUNTER(DROP_NO_ROUTE, drop_no_route)

#undef SROCE_COUNTER
