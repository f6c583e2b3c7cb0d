/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work requests. A send or receive WQE is copied once from a user ring or a kernel caller into
 * memory that only the kernel writes.
 *
 * Numbers equal those of verbs (enum ib_wr_opcode) except for REG_MR, whose number differs between
 * kernels. The check of a WQE is in checks.c.
 */
#ifndef SROCE_TRANSPORT_WQE_H
#define SROCE_TRANSPORT_WQE_H

#include <linux/types.h>
#include <linux/bits.h>

#include "transport/access.h"
#include "transport/completion.h"
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
	SROCE_WR_FLUSH		= 14,
	SROCE_WR_ATOMIC_WRITE	= 15,
	SROCE_WR_REG_MR		= 0x20,
};

/* Type of a FLUSH: enum ib_placement_type, the bits of the FETH. */
#define SROCE_FLUSH_GLOBAL	BIT(0)	/* global visibility */
#define SROCE_FLUSH_PERSISTENT	BIT(1)	/* persistence */

/* Memory that a FLUSH is about: enum ib_selectivity_level, the bits of the FETH. */
enum sroce_flush_level {
	SROCE_FLUSH_RANGE	= 0,	/* the range that the RETH names */
	SROCE_FLUSH_MR		= 1,	/* the whole region */
};

/* enum ib_send_flags */
#define SROCE_SEND_FENCE	BIT(0)
#define SROCE_SEND_SIGNALED	BIT(1)
#define SROCE_SEND_SOLICITED	BIT(2)
#define SROCE_SEND_INLINE	BIT(3)

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
 * @srqn: XRC: number of the peer's shared receive queue
 * @imm: immediate data as on the wire
 * @invalidate_rkey: for SEND_INV and LOCAL_INV
 * @rdma: WRITE, READ and ATOMIC WRITE
 * @flush: FLUSH, whose message has no bytes; begins like @rdma
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
	u32	srqn;
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
			u32	length;
			u8	placement;
			u8	level;
		} flush;
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
 * @srqn: number of the shared queue that it comes from, 0 for none
 * @sge: scatter list
 */
struct sroce_recv_wqe {
	u64	wr_id;
	u8	status;
	u32	length;
	u32	num_sge;
	u32	srqn;
	struct sroce_sge sge[];
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
	case SROCE_WR_FLUSH:
		return SROCE_WC_FLUSH;
	case SROCE_WR_ATOMIC_WRITE:
		return SROCE_WC_ATOMIC_WRITE;
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

/* Does a FLUSH ask only for what is defined? The rest must not be acknowledged. */
static inline bool sroce_flush_is_valid(u8 placement, u8 level)
{
	return placement && !(placement & ~(SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT)) &&
	       level <= SROCE_FLUSH_MR;
}

/* A range is as long as a message at most. The length of a whole region means nothing. */
static inline bool sroce_flush_length_is_valid(u8 level, u32 length)
{
	return level != SROCE_FLUSH_RANGE || length <= SROCE_MAX_MESSAGE_BYTES;
}

/* Their response says only that they have been executed: a READ response without data. */
static inline bool wqe_is_placement(u8 opcode)
{
	return opcode == SROCE_WR_FLUSH || opcode == SROCE_WR_ATOMIC_WRITE;
}

/* READs, atomics and the like: they get a response each, and count against max_rd_atomic. */
static inline bool wqe_is_rd_atomic(u8 opcode)
{
	return opcode == SROCE_WR_READ || wqe_is_atomic(opcode) || wqe_is_placement(opcode);
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
