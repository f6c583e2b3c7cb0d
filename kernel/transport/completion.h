/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completions. Numbers equal those of verbs (enum ib_wc_status, ib_wc_opcode) except for REG_MR.
 */
#ifndef SROCE_TRANSPORT_COMPLETION_H
#define SROCE_TRANSPORT_COMPLETION_H

#include <linux/bits.h>
#include <linux/types.h>

enum sroce_wc_status {
	SROCE_WC_SUCCESS		= 0,
	SROCE_WC_LOC_LEN_ERR		= 1,
	SROCE_WC_LOC_QP_OP_ERR		= 2,
	SROCE_WC_LOC_PROT_ERR		= 4,
	SROCE_WC_WR_FLUSH_ERR		= 5,
	SROCE_WC_MW_BIND_ERR		= 6,	/* IBTA's "memory management operation error" */
	SROCE_WC_BAD_RESP_ERR		= 7,
	SROCE_WC_REM_INV_REQ_ERR	= 9,
	SROCE_WC_REM_ACCESS_ERR		= 10,
	SROCE_WC_REM_OP_ERR		= 11,
	SROCE_WC_RETRY_EXC_ERR		= 12,
	SROCE_WC_RNR_RETRY_EXC_ERR	= 13,
	SROCE_WC_GENERAL_ERR		= 21,
};

enum sroce_wc_opcode {
	SROCE_WC_SEND			= 0,
	SROCE_WC_WRITE			= 1,
	SROCE_WC_READ			= 2,
	SROCE_WC_COMPARE_SWAP		= 3,
	SROCE_WC_FETCH_ADD		= 4,
	SROCE_WC_BIND_MW		= 5,
	SROCE_WC_LOCAL_INV		= 6,
	SROCE_WC_FLUSH			= 8,
	SROCE_WC_ATOMIC_WRITE		= 9,
	SROCE_WC_REG_MR			= 0x40,	/* the only number of our own */
	SROCE_WC_RECV			= 128,
	SROCE_WC_RECV_WRITE_IMM		= 129,
};

/* enum ib_wc_flags */
#define SROCE_WC_GRH		BIT(0)
#define SROCE_WC_WITH_IMM	BIT(1)
#define SROCE_WC_WITH_INVALIDATE BIT(2)

/**
 * struct sroce_completion - what a CQ entry says
 * @wr_id: of the work request
 * @status: enum sroce_wc_status
 * @opcode: enum sroce_wc_opcode
 * @flags: SROCE_WC_*
 * @byte_len: bytes received, read or exchanged
 * @imm: immediate data as on the wire, or
 * @invalidate_rkey: the key that the peer invalidated
 * @src_qpn: sender of a datagram
 * @solicited: wakes a consumer that armed the CQ for solicited completions
 */
struct sroce_completion {
	u64	wr_id;
	u8	status;
	u8	opcode;
	u8	flags;
	bool	solicited;
	u32	byte_len;
	union {
		__be32	imm;
		u32	invalidate_rkey;
	};
	u32	src_qpn;
};

#endif
