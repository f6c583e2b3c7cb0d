/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work requests and completions. A send or receive WQE is copied once from a user ring or a
 * kernel caller into memory that only the kernel writes.
 *
 * Numbers equal those of verbs (enum ib_wr_opcode, ib_wc_status, ib_wc_opcode) except for REG_MR,
 * whose number differs between kernels. The check of a WQE is in checks.c.
 */
#ifndef SROCE_TRANSPORT_WQE_H
#define SROCE_TRANSPORT_WQE_H

#include <linux/types.h>
#include <linux/bits.h>

#include "transport/access.h"
#include "transport/psn.h"

/* A message is at most 2^31 bytes (IBTA 9.7.7). */
#define SROCE_MAX_MESSAGE_BYTES	(1u << 31)

enum sroce_wr_opcode {
	SROCE_WR_WRITE		= 0,
	SROCE_WR_WRITE_IMM	= 1,
	SROCE_WR_SEND		= 2,
	SROCE_WR_SEND_IMM	= 3,
	SROCE_WR_READ		= 4,
	SROCE_WR_COMPARE_SWAP	= 5,
	SROCE_WR_FETCH_ADD	= 6,
	SROCE_WR_LOCAL_INV	= 7,
	SROCE_WR_BIND_MW	= 8,
	SROCE_WR_SEND_INV	= 9,
	SROCE_WR_REG_MR		= 0x20,
};

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
	SROCE_WC_REG_MR			= 0x40,	/* the only number of our own */
	SROCE_WC_RECV			= 128,
	SROCE_WC_RECV_WRITE_IMM		= 129,
};

/* enum ib_send_flags */
#define SROCE_SEND_FENCE	BIT(0)
#define SROCE_SEND_SIGNALED	BIT(1)
#define SROCE_SEND_SOLICITED	BIT(2)
#define SROCE_SEND_INLINE	BIT(3)

/* enum ib_wc_flags */
#define SROCE_WC_GRH		BIT(0)
#define SROCE_WC_WITH_IMM	BIT(1)
#define SROCE_WC_WITH_INVALIDATE BIT(2)

/* One scatter/gather element; the same bytes as struct ib_sge. */
struct sroce_sge {
	u64	addr;
	u32	length;
	u32	lkey;
};

/**
 * struct sroce_send_wqe - a send work request in kernel memory
 * @wr_id: handed back in the completion
 * @opcode: enum sroce_wr_opcode
 * @flags: SROCE_SEND_*
 * @status: enum sroce_wc_status; not SUCCESS if the request was invalid when posted, or if the
 *          peer rejected it; it fails when it is the oldest, so that completions stay in order
 * @executed: a local operation has been carried out
 * @num_sge: elements in @sge; 0 when the payload is inline
 * @length: bytes of the whole message
 * @first_psn: PSN of the first packet, set by sroce_requester_post()
 * @psn_count: PSNs consumed; 0 for local operations
 * @imm: immediate data as on the wire
 * @invalidate_rkey: for SEND_INV and LOCAL_INV
 * @rdma: WRITE and READ
 * @atomic: COMPARE_SWAP and FETCH_ADD
 * @ud: datagrams; only the datapath uses @ud.ah
 * @reg_mr: REG_MR; only the datapath uses it. The key alone names the region, which may be gone
 *          when the request is executed
 * @bind_mw: BIND_MW; only the datapath uses it
 * @sge: gather list, or
 * @inline_data: payload itself when SROCE_SEND_INLINE is set
 */
struct sroce_send_wqe {
	u64	wr_id;
	u8	opcode;
	u8	flags;
	u8	status;
	bool	executed;
	u32	num_sge;
	u32	length;
	u32	first_psn;
	u32	psn_count;
	union {
		__be32	imm;
		u32	invalidate_rkey;
	};
	union {
		struct {
			u64	remote_addr;
			u32	rkey;
		} rdma;
		struct {
			u64	remote_addr;
			u32	rkey;
			u64	compare_add;
			u64	swap;
		} atomic;
		struct {
			void	*ah;
			u32	dest_qpn;
			u32	qkey;
		} ud;
		struct {
			u64	iova;
			u32	key;
			u32	access;
		} reg_mr;
		struct sroce_bind_mw bind_mw;
	};
	union {
		DECLARE_FLEX_ARRAY(struct sroce_sge, sge);
		DECLARE_FLEX_ARRAY(u8, inline_data);
	};
};

/**
 * struct sroce_recv_wqe - a receive work request in kernel memory
 * @wr_id: handed back in the completion
 * @status: enum sroce_wc_status; not SUCCESS if the request was invalid when posted, so that the
 *          message which uses it fails
 * @length: bytes the scatter list holds
 * @num_sge: elements in @sge
 * @sge: scatter list
 */
struct sroce_recv_wqe {
	u64	wr_id;
	u8	status;
	u32	length;
	u32	num_sge;
	struct sroce_sge sge[];
};

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

/**
 * struct sroce_wqe_limits - what a QP accepts
 * @service: enum sroce_service of the QP
 * @max_sge: elements a request may have
 * @max_inline_bytes: inline payload a request may have
 * @mtu_bytes: path MTU, the limit of a datagram
 */
struct sroce_wqe_limits {
	u8	service;
	u32	max_sge;
	u32	max_inline_bytes;
	u32	mtu_bytes;
};

enum sroce_wc_status sroce_wqe_check(const struct sroce_send_wqe *wqe,
				     const struct sroce_wqe_limits *limits);

/**
 * sroce_wqe_wc_opcode() - the completion opcode of a work request opcode
 * @wr_opcode: enum sroce_wr_opcode
 *
 * Return: enum sroce_wc_opcode; SROCE_WC_SEND for an unknown opcode, because the opcode of a
 * failed completion means nothing.
 */
static inline enum sroce_wc_opcode sroce_wqe_wc_opcode(u8 wr_opcode)
{
	switch (wr_opcode) {
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
		return SROCE_WC_WRITE;
	case SROCE_WR_READ:
		return SROCE_WC_READ;
	case SROCE_WR_COMPARE_SWAP:
		return SROCE_WC_COMPARE_SWAP;
	case SROCE_WR_FETCH_ADD:
		return SROCE_WC_FETCH_ADD;
	case SROCE_WR_LOCAL_INV:
		return SROCE_WC_LOCAL_INV;
	case SROCE_WR_BIND_MW:
		return SROCE_WC_BIND_MW;
	case SROCE_WR_REG_MR:
		return SROCE_WC_REG_MR;
	default:
		return SROCE_WC_SEND;
	}
}

static inline bool wqe_is_local(u8 opcode)
{
	return opcode == SROCE_WR_LOCAL_INV || opcode == SROCE_WR_BIND_MW ||
	       opcode == SROCE_WR_REG_MR;
}

static inline bool wqe_is_atomic(u8 opcode)
{
	return opcode == SROCE_WR_COMPARE_SWAP || opcode == SROCE_WR_FETCH_ADD;
}

/* READ and atomics: their response has data, and they count against max_rd_atomic. */
static inline bool wqe_is_rd_atomic(u8 opcode)
{
	return opcode == SROCE_WR_READ || wqe_is_atomic(opcode);
}

/* A posted SEND or WRITE, whose packets count against the send window. */
static inline bool wqe_is_data(const struct sroce_send_wqe *wqe)
{
	return wqe->psn_count && !wqe_is_rd_atomic(wqe->opcode);
}

/* One past the last PSN of a posted WQE. */
static inline u32 wqe_end_psn(const struct sroce_send_wqe *wqe)
{
	return psn_add(wqe->first_psn, wqe->psn_count);
}

#endif
