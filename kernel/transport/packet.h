/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A decoded packet: headers in host order, and the lengths of payload and pad.
 *
 * sroce_packet_parse() fills in a received packet, and checks every length first. The plans
 * (sroce_send_plan_packet(), sroce_response_plan_packet()) fill in a packet to be sent, and
 * sroce_packet_write() writes its headers.
 */
#ifndef SROCE_TRANSPORT_PACKET_H
#define SROCE_TRANSPORT_PACKET_H

#include <linux/types.h>

#include "transport/opcode.h"
#include "transport/wire.h"

/**
 * struct sroce_packet - one packet, decoded
 * @info: row of the opcode table, never NULL after a successful parse
 * @opcode: BTH opcode
 * @solicited: the message asks for a solicited event
 * @migreq: BTH.MigReq, always set in what we send
 * @ack_req: the requester wants an acknowledgement
 * @becn: set in CNPs
 * @selective: request: the sender can handle selective ACKs;
 *             response: the sender queues packets that arrive out of order
 * @was_queued: the packet comes from the reorder queue, as do those coalesced with it, each in an
 *              skb of its own; the ICRCs of all have been checked
 * @has_srq: received XRC request: the QP's domain has a shared receive queue with the number @srqn;
 *           set by the datapath
 * @pkey: partition key
 * @dest_qpn: destination QP number
 * @psn: packet sequence number
 * @srqn: XRCETH number of the shared receive queue
 * @va: RETH or AtomicETH address
 * @rkey: RETH or AtomicETH key
 * @dma_length: RETH length of the whole message
 * @placement: FETH placement type, SROCE_FLUSH_*
 * @level: FETH selectivity level, enum sroce_flush_level
 * @swap_add: AtomicETH swap or addend
 * @compare: AtomicETH compare value
 * @syndrome: AETH syndrome
 * @msn: AETH message sequence number
 * @atomic_original: value before the atomic operation
 * @imm: immediate data, as on the wire
 * @inv_rkey: key to invalidate (IETH)
 * @qkey: DETH queue key
 * @src_qpn: DETH source QP
 * @count: packets coalesced into this one: 1, or more adjacent packets in the middle of a message
 *         (see sroce_responder_can_coalesce(), sroce_reorder_queued_behind())
 * @header_bytes: BTH and extended headers
 * @payload_bytes: payload without pad, of all of them
 * @pad_bytes: zero bytes that follow the payload, 0..3
 * @sack: received selective ACK: its payload in one piece, set by the datapath
 */
struct sroce_packet {
	const struct sroce_opcode_info *info;
	u8	opcode;
	bool	solicited;
	bool	migreq;
	bool	ack_req;
	bool	becn;
	bool	selective;
	bool	was_queued;
	bool	has_srq;
	u16	pkey;
	u32	dest_qpn;
	u32	psn;
	u32	srqn;
	u64	va;
	u32	rkey;
	u32	dma_length;
	u8	placement;
	u8	level;
	u64	swap_add;
	u64	compare;
	u8	syndrome;
	u32	msn;
	u64	atomic_original;
	__be32	imm;
	u32	inv_rkey;
	u32	qkey;
	u32	src_qpn;
	u32	count;
	u32	header_bytes;
	u32	payload_bytes;
	u32	pad_bytes;
	const u8 *sack;
};

/* Is it an acknowledgement, not a NAK? A READ response without AETH is the middle of one. */
static inline bool sroce_aeth_is_ack(const struct sroce_packet *pkt)
{
	return !(pkt->info->flags & SROCE_OPF_AETH) ||
	       (pkt->syndrome & SROCE_AETH_KIND_MASK) == SROCE_AETH_ACK;
}

/*
 * Does packet @i of a planned burst of @count have the headers of the one before, except for the
 * PSN, and as much payload? All packets but the first and the last of a burst do.
 */
static inline bool sroce_packet_repeats(u32 i, u32 count)
{
	return i > 1 && i + 1 < count;
}

/* How many such packets follow packet @i? */
static inline u32 sroce_packet_repetitions(u32 i, u32 count)
{
	return i && i + 2 < count ? count - 2 - i : 0;
}

/* Why a packet could not be parsed; each has a counter. */
enum sroce_parse_status {
	SROCE_PARSE_OK,
	SROCE_PARSE_TRUNCATED,		/* shorter than its headers, pad and ICRC */
	SROCE_PARSE_BAD_VERSION,	/* BTH.TVer is not 0 */
	SROCE_PARSE_BAD_OPCODE,		/* not in the opcode table */
	SROCE_PARSE_BAD_PAD,		/* pad longer than payload, or length not a multiple of 4 */
	SROCE_PARSE_BAD_PAYLOAD,	/* payload where there must be none, or over 4096 bytes */
};

/* Why the requester or the responder did not act on a packet; each has a counter. */
enum sroce_drop_reason {
	SROCE_DROP_NONE,
	SROCE_DROP_STATE,	/* the QP does not receive */
	SROCE_DROP_OPCODE,	/* not for this kind of QP */
	SROCE_DROP_DUPLICATE,	/* already acknowledged, or already placed; UC: late */
	SROCE_DROP_UNSENT,	/* acknowledges a packet that was never sent */
	SROCE_DROP_SEQUENCE,	/* behind a gap that was reported already */
	SROCE_DROP_GAP,		/* too far beyond what is missing; UC: its message is incomplete */
	SROCE_DROP_SYNDROME,	/* reserved AETH syndrome */
	SROCE_DROP_LENGTH,	/* longer than the receive; UD: or than the MTU */
	SROCE_DROP_QKEY,	/* Q_Key violation */
	SROCE_DROP_NO_WQE,	/* UC, UD: no receive WQE */
	SROCE_DROP_INVALID,	/* UC: RC would send a NAK, invalid request or remote access */
	SROCE_DROP_REPLAY,	/* duplicate READ or atomic without a stored resource */
};

enum sroce_parse_status sroce_packet_parse(const u8 *header, u32 readable_bytes, u32 total_bytes,
					   struct sroce_packet *pkt);
u32 sroce_packet_write(const struct sroce_packet *pkt, u8 *header);

#endif
