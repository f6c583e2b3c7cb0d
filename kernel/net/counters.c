// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Names and sums of the counters.
 */
#include <linux/cpumask.h>

#include "net/counters.h"

const char *const sroce_counter_names[SROCE_CTR_COUNT] = {
	[SROCE_CTR_SENT_PKTS]			= "sent_pkts",
	[SROCE_CTR_RCVD_PKTS]			= "rcvd_pkts",
	[SROCE_CTR_DUPLICATE_REQUEST]		= "duplicate_request",
	[SROCE_CTR_OUT_OF_SEQ_REQUEST]		= "out_of_seq_request",
	[SROCE_CTR_RCVD_RNR_ERR]		= "rcvd_rnr_err",
	[SROCE_CTR_SEND_RNR_ERR]		= "send_rnr_err",
	[SROCE_CTR_RCVD_SEQ_ERR]		= "rcvd_seq_err",
	[SROCE_CTR_ACK_DEFERRED]		= "ack_deferred",
	[SROCE_CTR_RETRY_EXCEEDED_ERR]		= "retry_exceeded_err",
	[SROCE_CTR_RETRY_RNR_EXCEEDED_ERR]	= "retry_rnr_exceeded_err",
	[SROCE_CTR_COMPLETER_RETRY_ERR]		= "completer_retry_err",
	[SROCE_CTR_SEND_ERR]			= "send_err",
	[SROCE_CTR_LINK_DOWNED]			= "link_downed",
	[SROCE_CTR_RDMA_SEND]			= "rdma_sends",
	[SROCE_CTR_RDMA_RECV]			= "rdma_recvs",
	[SROCE_CTR_SENT_BYTES]			= "sent_bytes",
	[SROCE_CTR_RCVD_BYTES]			= "rcvd_bytes",

	[SROCE_CTR_OUT_OF_SEQUENCE]		= "out_of_sequence",
	[SROCE_CTR_PACKET_SEQ_ERR]		= "packet_seq_err",
	[SROCE_CTR_LOCAL_ACK_TIMEOUT_ERR]	= "local_ack_timeout_err",
	[SROCE_CTR_IMPLIED_NAK_SEQ_ERR]		= "implied_nak_seq_err",
	[SROCE_CTR_RNR_NAK_RETRY_ERR]		= "rnr_nak_retry_err",
	[SROCE_CTR_RX_WRITE_REQUESTS]		= "rx_write_requests",
	[SROCE_CTR_RX_READ_REQUESTS]		= "rx_read_requests",
	[SROCE_CTR_RX_ATOMIC_REQUESTS]		= "rx_atomic_requests",
	[SROCE_CTR_RX_ICRC_ENCAPSULATED]	= "rx_icrc_encapsulated",
	[SROCE_CTR_NP_ECN_MARKED]		= "np_ecn_marked_roce_packets",
	[SROCE_CTR_NP_CNP_SENT]			= "np_cnp_sent",
	[SROCE_CTR_RP_CNP_HANDLED]		= "rp_cnp_handled",
	[SROCE_CTR_ROCE_ADP_RETRANS]		= "roce_adp_retrans",
	[SROCE_CTR_ROCE_ADP_RETRANS_TO]		= "roce_adp_retrans_to",
	[SROCE_CTR_RP_CNP_IGNORED]		= "rp_cnp_ignored",
	[SROCE_CTR_REQ_CQE_ERROR]		= "req_cqe_error",
	[SROCE_CTR_RESP_CQE_ERROR]		= "resp_cqe_error",
	[SROCE_CTR_REQ_REMOTE_ACCESS_ERRORS]	= "req_remote_access_errors",
	[SROCE_CTR_RESP_REMOTE_ACCESS_ERRORS]	= "resp_remote_access_errors",

	[SROCE_CTR_PACING_WAKEUPS]		= "pacing_wakeups",

	[SROCE_CTR_DROP_TRUNCATED]		= "drop_truncated",
	[SROCE_CTR_DROP_VERSION]		= "drop_version",
	[SROCE_CTR_DROP_OPCODE]			= "drop_opcode",
	[SROCE_CTR_DROP_PAD]			= "drop_pad",
	[SROCE_CTR_DROP_PAYLOAD]		= "drop_payload",
	[SROCE_CTR_DROP_NO_QP]			= "drop_no_qp",
	[SROCE_CTR_DROP_ADDRESS]		= "drop_address",
	[SROCE_CTR_DROP_PKEY]			= "drop_pkey",
	[SROCE_CTR_DROP_QKEY]			= "drop_qkey",
	[SROCE_CTR_DROP_STATE]			= "drop_state",
	[SROCE_CTR_DROP_SERVICE]		= "drop_service",
	[SROCE_CTR_DROP_UNSENT]			= "drop_unsent",
	[SROCE_CTR_DROP_DUPLICATE]		= "drop_duplicate",
	[SROCE_CTR_DROP_GAP]			= "drop_gap",
	[SROCE_CTR_DROP_SYNDROME]		= "drop_syndrome",
	[SROCE_CTR_DROP_LENGTH]			= "drop_length",
	[SROCE_CTR_DROP_NO_WQE]			= "drop_no_wqe",
	[SROCE_CTR_DROP_REPLAY]			= "drop_replay",
	[SROCE_CTR_DROP_REORDER_FULL]		= "drop_reorder_full",
	[SROCE_CTR_DROP_NO_MEMORY]		= "drop_no_memory",
	[SROCE_CTR_DROP_NO_ROUTE]		= "drop_no_route",
};

/**
 * sroce_counter_sum() - sum a counter over all CPUs
 * @counters: counters of a device
 * @which: the counter
 *
 * Any context. CPUs may count meanwhile.
 *
 * Return: the sum.
 */
u64 sroce_counter_sum(struct sroce_counters __percpu *counters, enum sroce_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->value[which]);
	return sum;
}
