/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of a device, in a per-CPU array so that counting a packet touches no shared cache line.
 * Users see the names in counters.c: first those of rxe, then those of mlx5 that apply, then ours,
 * one for each drop reason.
 */
#ifndef SROCE_NET_COUNTERS_H
#define SROCE_NET_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>

enum sroce_counter {
	/* rxe's names */
	SROCE_CTR_SENT_PKTS,
	SROCE_CTR_RCVD_PKTS,
	SROCE_CTR_DUPLICATE_REQUEST,
	SROCE_CTR_OUT_OF_SEQ_REQUEST,
	SROCE_CTR_RCVD_RNR_ERR,
	SROCE_CTR_SEND_RNR_ERR,
	SROCE_CTR_RCVD_SEQ_ERR,
	SROCE_CTR_ACK_DEFERRED,		/* delayed ACKs, see datapath/ack_delay.c */
	SROCE_CTR_RETRY_EXCEEDED_ERR,
	SROCE_CTR_RETRY_RNR_EXCEEDED_ERR,
	SROCE_CTR_COMPLETER_RETRY_ERR,
	SROCE_CTR_SEND_ERR,
	SROCE_CTR_LINK_DOWNED,
	SROCE_CTR_RDMA_SEND,
	SROCE_CTR_RDMA_RECV,
	SROCE_CTR_SENT_BYTES,
	SROCE_CTR_RCVD_BYTES,
	/* mlx5's names */
	SROCE_CTR_OUT_OF_SEQUENCE,
	SROCE_CTR_PACKET_SEQ_ERR,
	SROCE_CTR_LOCAL_ACK_TIMEOUT_ERR,
	SROCE_CTR_IMPLIED_NAK_SEQ_ERR,
	SROCE_CTR_RNR_NAK_RETRY_ERR,
	SROCE_CTR_RX_WRITE_REQUESTS,
	SROCE_CTR_RX_READ_REQUESTS,
	SROCE_CTR_RX_ATOMIC_REQUESTS,
	SROCE_CTR_RX_ICRC_ENCAPSULATED,
	SROCE_CTR_NP_ECN_MARKED,
	SROCE_CTR_NP_CNP_SENT,
	SROCE_CTR_RP_CNP_HANDLED,
	SROCE_CTR_RP_CNP_IGNORED,
	SROCE_CTR_ROCE_ADP_RETRANS,
	SROCE_CTR_ROCE_ADP_RETRANS_TO,
	SROCE_CTR_REQ_CQE_ERROR,
	SROCE_CTR_RESP_CQE_ERROR,
	SROCE_CTR_REQ_REMOTE_ACCESS_ERRORS,
	SROCE_CTR_RESP_REMOTE_ACCESS_ERRORS,
	/* ours: timer expiries of paced work queues */
	SROCE_CTR_PACING_WAKEUPS,
	/* why packets were dropped */
	SROCE_CTR_DROP_TRUNCATED,
	SROCE_CTR_DROP_VERSION,
	SROCE_CTR_DROP_OPCODE,
	SROCE_CTR_DROP_PAD,
	SROCE_CTR_DROP_PAYLOAD,
	SROCE_CTR_DROP_NO_QP,
	SROCE_CTR_DROP_ADDRESS,
	SROCE_CTR_DROP_PKEY,
	SROCE_CTR_DROP_QKEY,
	SROCE_CTR_DROP_STATE,
	SROCE_CTR_DROP_SERVICE,
	SROCE_CTR_DROP_UNSENT,
	SROCE_CTR_DROP_DUPLICATE,
	SROCE_CTR_DROP_GAP,
	SROCE_CTR_DROP_SYNDROME,
	SROCE_CTR_DROP_LENGTH,
	SROCE_CTR_DROP_NO_WQE,
	SROCE_CTR_DROP_REPLAY,
	SROCE_CTR_DROP_REORDER_FULL,
	SROCE_CTR_DROP_NO_MEMORY,
	SROCE_CTR_DROP_NO_ROUTE,
	SROCE_CTR_COUNT,
};

struct sroce_counters {
	u64	value[SROCE_CTR_COUNT];
};

extern const char *const sroce_counter_names[SROCE_CTR_COUNT];

/* Add to a counter. BH off and not in a hard interrupt, so that nothing else adds on this CPU. */
static inline void sroce_count_add(struct sroce_counters __percpu *counters,
				   enum sroce_counter which, u64 n)
{
	__this_cpu_add(counters->value[which], n);
}

static inline void sroce_count(struct sroce_counters __percpu *counters, enum sroce_counter which)
{
	__this_cpu_inc(counters->value[which]);
}

u64 sroce_counter_sum(struct sroce_counters __percpu *counters, enum sroce_counter which);

#endif
