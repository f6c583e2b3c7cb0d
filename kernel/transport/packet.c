// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bytes of the wire to struct sroce_packet and back; and the table of opcode.h.
 *
 * The parser is the first code that reads a packet of an unknown sender. It reads no byte that it
 * has not checked to be there. When it returns SROCE_PARSE_OK, header_bytes + payload_bytes +
 * pad_bytes + ICRC is exactly the length of the datagram.
 */
#include <linux/compiler.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "transport/packet.h"

#define L_BTH	((u32)sizeof(struct sroce_bth))
#define L_XRC	(L_BTH + (u32)sizeof(struct sroce_xrceth))
#define L_RETH	((u32)sizeof(struct sroce_reth))
#define L_FETH	((u32)sizeof(struct sroce_feth))
#define L_AETH	((u32)sizeof(struct sroce_aeth))
#define L_DETH	((u32)sizeof(struct sroce_deth))

#define F_REQUEST	SROCE_OPF_REQUEST
#define F_RESPONSE	SROCE_OPF_RESPONSE
#define F_FIRST		SROCE_OPF_FIRST
#define F_LAST		SROCE_OPF_LAST
#define F_ONLY		(F_FIRST | F_LAST)
#define F_SEND		(F_REQUEST | SROCE_OPF_SEND | SROCE_OPF_PAYLOAD)
#define F_WRITE		(F_REQUEST | SROCE_OPF_WRITE | SROCE_OPF_PAYLOAD)
#define F_RDRESP	(F_RESPONSE | SROCE_OPF_READ | SROCE_OPF_PAYLOAD)
#define F_XRC_SEND	(F_SEND | SROCE_OPF_XRCETH)
#define F_XRC_WRITE	(F_WRITE | SROCE_OPF_XRCETH)
#define F_ATOMIC	(F_REQUEST | SROCE_OPF_ATOMIC | F_ONLY | SROCE_OPF_ATOMIC_ETH)

/* The headers are not known, so everything behind the BTH counts as payload. */
#define F_UNSUPPORTED	(F_REQUEST | SROCE_OPF_PAYLOAD | SROCE_OPF_UNSUPPORTED)

/* The number of an opcode of XRC. */
#define XRC(name)	(SROCE_SERVICE_XRC | SROCE_OP_##name)

/*
 * IBTA table 38 without UC; annexes A14 (XRC), A17 (CNP) and A19 (FLUSH, ATOMIC WRITE). An opcode
 * that is not listed has no flags.
 */
static const struct sroce_opcode_info opcode_table[256] = {
	[SROCE_OP_SEND_FIRST] = { F_SEND | F_FIRST, L_BTH },
	[SROCE_OP_SEND_MIDDLE] = { F_SEND, L_BTH },
	[SROCE_OP_SEND_LAST] = { F_SEND | F_LAST, L_BTH },
	[SROCE_OP_SEND_LAST_IMM] = { F_SEND | F_LAST | SROCE_OPF_IMM, L_BTH + SROCE_IMM_BYTES },
	[SROCE_OP_SEND_ONLY] = { F_SEND | F_ONLY, L_BTH },
	[SROCE_OP_SEND_ONLY_IMM] = { F_SEND | F_ONLY | SROCE_OPF_IMM, L_BTH + SROCE_IMM_BYTES },
	[SROCE_OP_SEND_LAST_INV] = { F_SEND | F_LAST | SROCE_OPF_IETH, L_BTH + SROCE_IETH_BYTES },
	[SROCE_OP_SEND_ONLY_INV] = { F_SEND | F_ONLY | SROCE_OPF_IETH, L_BTH + SROCE_IETH_BYTES },

	[SROCE_OP_WRITE_FIRST] = { F_WRITE | F_FIRST | SROCE_OPF_RETH, L_BTH + L_RETH },
	[SROCE_OP_WRITE_MIDDLE] = { F_WRITE, L_BTH },
	[SROCE_OP_WRITE_LAST] = { F_WRITE | F_LAST, L_BTH },
	[SROCE_OP_WRITE_LAST_IMM] = { F_WRITE | F_LAST | SROCE_OPF_IMM, L_BTH + SROCE_IMM_BYTES },
	[SROCE_OP_WRITE_ONLY] = { F_WRITE | F_ONLY | SROCE_OPF_RETH, L_BTH + L_RETH },
	[SROCE_OP_WRITE_ONLY_IMM] = { F_WRITE | F_ONLY | SROCE_OPF_RETH | SROCE_OPF_IMM,
				      L_BTH + L_RETH + SROCE_IMM_BYTES },

	[SROCE_OP_READ_REQUEST] = { F_REQUEST | SROCE_OPF_READ | F_ONLY | SROCE_OPF_RETH,
				   L_BTH + L_RETH },
	[SROCE_OP_READ_RESPONSE_FIRST] = { F_RDRESP | F_FIRST | SROCE_OPF_AETH, L_BTH + L_AETH },
	[SROCE_OP_READ_RESPONSE_MIDDLE] = { F_RDRESP, L_BTH },
	[SROCE_OP_READ_RESPONSE_LAST] = { F_RDRESP | F_LAST | SROCE_OPF_AETH, L_BTH + L_AETH },
	[SROCE_OP_READ_RESPONSE_ONLY] = { F_RDRESP | F_ONLY | SROCE_OPF_AETH, L_BTH + L_AETH },

	[SROCE_OP_ACK] = { F_RESPONSE | SROCE_OPF_AETH, L_BTH + L_AETH },
	[SROCE_OP_ATOMIC_ACK] = { F_RESPONSE | SROCE_OPF_ATOMIC | SROCE_OPF_AETH |
				  SROCE_OPF_ATOMIC_ACK,
				  L_BTH + L_AETH + (u32)sizeof(struct sroce_atomic_ack_eth) },
	[SROCE_OP_COMPARE_SWAP] = { F_ATOMIC, L_BTH + (u32)sizeof(struct sroce_atomic_eth) },
	[SROCE_OP_FETCH_ADD] = { F_ATOMIC, L_BTH + (u32)sizeof(struct sroce_atomic_eth) },

	[SROCE_OP_FLUSH] = { F_REQUEST | F_ONLY | SROCE_OPF_FLUSH | SROCE_OPF_RETH,
			    L_BTH + L_FETH + L_RETH },
	[SROCE_OP_ATOMIC_WRITE] = { F_REQUEST | F_ONLY | SROCE_OPF_ATOMIC_WRITE | SROCE_OPF_RETH |
				    SROCE_OPF_PAYLOAD, L_BTH + L_RETH },

	/* The rest of RC is reserved. */
	[0x15] = { F_UNSUPPORTED, L_BTH },
	[0x18 ... 0x1b] = { F_UNSUPPORTED, L_BTH },
	[0x1e ... 0x1f] = { F_UNSUPPORTED, L_BTH },

	[SROCE_OP_UD_SEND_ONLY] = { F_SEND | F_ONLY | SROCE_OPF_DETH, L_BTH + L_DETH },
	[SROCE_OP_UD_SEND_ONLY_IMM] = { F_SEND | F_ONLY | SROCE_OPF_DETH | SROCE_OPF_IMM,
					L_BTH + L_DETH + SROCE_IMM_BYTES },

	[SROCE_OP_SACK] = { F_RESPONSE | SROCE_OPF_AETH | SROCE_OPF_SACK | SROCE_OPF_PAYLOAD,
			    L_BTH + L_AETH },

	/* XRC: the responses are RC's, see sroce_opcode_lookup(). */
	[XRC(SEND_FIRST)] = { F_XRC_SEND | F_FIRST, L_XRC },
	[XRC(SEND_MIDDLE)] = { F_XRC_SEND, L_XRC },
	[XRC(SEND_LAST)] = { F_XRC_SEND | F_LAST, L_XRC },
	[XRC(SEND_LAST_IMM)] = { F_XRC_SEND | F_LAST | SROCE_OPF_IMM, L_XRC + SROCE_IMM_BYTES },
	[XRC(SEND_ONLY)] = { F_XRC_SEND | F_ONLY, L_XRC },
	[XRC(SEND_ONLY_IMM)] = { F_XRC_SEND | F_ONLY | SROCE_OPF_IMM, L_XRC + SROCE_IMM_BYTES },
	[XRC(SEND_LAST_INV)] = { F_XRC_SEND | F_LAST | SROCE_OPF_IETH, L_XRC + SROCE_IETH_BYTES },
	[XRC(SEND_ONLY_INV)] = { F_XRC_SEND | F_ONLY | SROCE_OPF_IETH, L_XRC + SROCE_IETH_BYTES },
	[XRC(WRITE_FIRST)] = { F_XRC_WRITE | F_FIRST | SROCE_OPF_RETH, L_XRC + L_RETH },
	[XRC(WRITE_MIDDLE)] = { F_XRC_WRITE, L_XRC },
	[XRC(WRITE_LAST)] = { F_XRC_WRITE | F_LAST, L_XRC },
	[XRC(WRITE_LAST_IMM)] = { F_XRC_WRITE | F_LAST | SROCE_OPF_IMM, L_XRC + SROCE_IMM_BYTES },
	[XRC(WRITE_ONLY)] = { F_XRC_WRITE | F_ONLY | SROCE_OPF_RETH, L_XRC + L_RETH },
	[XRC(WRITE_ONLY_IMM)] = { F_XRC_WRITE | F_ONLY | SROCE_OPF_RETH | SROCE_OPF_IMM,
				  L_XRC + L_RETH + SROCE_IMM_BYTES },
	[XRC(READ_REQUEST)] = { F_REQUEST | SROCE_OPF_READ | F_ONLY | SROCE_OPF_RETH |
				SROCE_OPF_XRCETH, L_XRC + L_RETH },
	[XRC(COMPARE_SWAP)] = { F_ATOMIC | SROCE_OPF_XRCETH,
				L_XRC + (u32)sizeof(struct sroce_atomic_eth) },
	[XRC(FETCH_ADD)] = { F_ATOMIC | SROCE_OPF_XRCETH,
			     L_XRC + (u32)sizeof(struct sroce_atomic_eth) },
	[XRC(FLUSH)] = { F_REQUEST | F_ONLY | SROCE_OPF_FLUSH | SROCE_OPF_RETH | SROCE_OPF_XRCETH,
			 L_XRC + L_FETH + L_RETH },
	[XRC(ATOMIC_WRITE)] = { F_REQUEST | F_ONLY | SROCE_OPF_ATOMIC_WRITE | SROCE_OPF_RETH |
				SROCE_OPF_PAYLOAD | SROCE_OPF_XRCETH, L_XRC + L_RETH },
	[0xb5] = { F_UNSUPPORTED, L_BTH },
	[0xb8 ... 0xbb] = { F_UNSUPPORTED, L_BTH },
	[0xbe ... 0xbf] = { F_UNSUPPORTED, L_BTH },

	/* A CNP carries 16 reserved bytes, which count as payload here. */
	[SROCE_OP_CNP] = { SROCE_OPF_CNP | SROCE_OPF_PAYLOAD, L_BTH },
};

/**
 * sroce_opcode_lookup() - what an opcode means
 * @opcode: from a BTH
 *
 * Return: its row, or NULL if it is not in the table.
 */
const struct sroce_opcode_info *sroce_opcode_lookup(u8 opcode)
{
	const struct sroce_opcode_info *info;

	/* UC has RC's SENDs and WRITEs. */
	if (opcode >= (SROCE_SERVICE_UC | SROCE_OP_SEND_FIRST) &&
	    opcode <= (SROCE_SERVICE_UC | SROCE_OP_WRITE_ONLY_IMM))
		opcode &= ~SROCE_SERVICE_MASK;
	/* XRC has RC's responses. */
	if (opcode >= (SROCE_SERVICE_XRC | SROCE_OP_READ_RESPONSE_FIRST) &&
	    opcode <= (SROCE_SERVICE_XRC | SROCE_OP_ATOMIC_ACK))
		opcode &= ~SROCE_SERVICE_MASK;
	info = &opcode_table[opcode];
	return info->flags ? info : NULL;
}

static u32 get_be24(const u8 *p)
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

static void put_be24(u8 *p, u32 value)
{
	p[0] = (u8)(value >> 16);
	p[1] = (u8)(value >> 8);
	p[2] = (u8)value;
}

/* The reserved bits that say that the sender of such a packet speaks selective repeat. */
static u8 selective_bits(const struct sroce_opcode_info *info)
{
	return info->flags & SROCE_OPF_RESPONSE ? SROCE_BTH_ACCEPT : SROCE_BTH_OFFER;
}

static void read_bth(const u8 *header, struct sroce_packet *pkt)
{
	struct sroce_bth bth;

	memcpy(&bth, header, sizeof(bth));
	/* A sender on this host may write to the bytes meanwhile, if it has spliced its pages. */
	pkt->opcode = READ_ONCE(((const struct sroce_bth *)header)->opcode);
	pkt->solicited = bth.flags & SROCE_BTH_SOLICITED;
	pkt->migreq = bth.flags & SROCE_BTH_MIGREQ;
	pkt->pad_bytes = (bth.flags & SROCE_BTH_PAD_MASK) >> SROCE_BTH_PAD_SHIFT;
	pkt->pkey = be16_to_cpu(bth.pkey);
	pkt->becn = bth.congestion & SROCE_BTH_BECN;
	pkt->dest_qpn = get_be24(bth.dest_qpn);
	pkt->ack_req = bth.ack_req & SROCE_BTH_ACK_REQ;
	pkt->psn = get_be24(bth.psn);
	pkt->info = sroce_opcode_lookup(pkt->opcode);
	pkt->selective = pkt->info &&
			 (bth.ack_req & SROCE_BTH_RESERVED_MASK) == selective_bits(pkt->info);
}

/* Extended headers follow the BTH in this order (IBTA 5.2). */
static void read_extended(const u8 *p, struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_XRCETH) {
		pkt->srqn = get_be24(p + offsetof(struct sroce_xrceth, srqn));
		p += sizeof(struct sroce_xrceth);
	}
	if (flags & SROCE_OPF_DETH) {
		struct sroce_deth deth;

		memcpy(&deth, p, sizeof(deth));
		pkt->qkey = be32_to_cpu(deth.qkey);
		pkt->src_qpn = get_be24(deth.src_qpn);
		p += sizeof(deth);
	}
	if (flags & SROCE_OPF_FLUSH) {
		struct sroce_feth feth;

		memcpy(&feth, p, sizeof(feth));
		pkt->placement = feth.bits & SROCE_FETH_PLACEMENT_MASK;
		pkt->level = (feth.bits & SROCE_FETH_LEVEL_MASK) >> SROCE_FETH_LEVEL_SHIFT;
		p += sizeof(feth);
	}
	if (flags & SROCE_OPF_RETH) {
		struct sroce_reth reth;

		memcpy(&reth, p, sizeof(reth));
		pkt->va = be64_to_cpu(reth.va);
		pkt->rkey = be32_to_cpu(reth.rkey);
		pkt->dma_length = be32_to_cpu(reth.dma_length);
		p += sizeof(reth);
	}
	if (flags & SROCE_OPF_ATOMIC_ETH) {
		struct sroce_atomic_eth atomic;

		memcpy(&atomic, p, sizeof(atomic));
		pkt->va = be64_to_cpu(atomic.va);
		pkt->rkey = be32_to_cpu(atomic.rkey);
		pkt->swap_add = be64_to_cpu(atomic.swap_add);
		pkt->compare = be64_to_cpu(atomic.compare);
		p += sizeof(atomic);
	}
	if (flags & SROCE_OPF_AETH) {
		struct sroce_aeth aeth;

		memcpy(&aeth, p, sizeof(aeth));
		pkt->syndrome = aeth.syndrome;
		pkt->msn = get_be24(aeth.msn);
		p += sizeof(aeth);
	}
	if (flags & SROCE_OPF_ATOMIC_ACK) {
		struct sroce_atomic_ack_eth ack;

		memcpy(&ack, p, sizeof(ack));
		pkt->atomic_original = be64_to_cpu(ack.original);
		p += sizeof(ack);
	}
	if (flags & SROCE_OPF_IMM)
		memcpy(&pkt->imm, p, sizeof(pkt->imm));
	if (flags & SROCE_OPF_IETH) {
		__be32 key;

		memcpy(&key, p, sizeof(key));
		pkt->inv_rkey = be32_to_cpu(key);
	}
}

/**
 * sroce_packet_parse() - decode the headers of a datagram
 * @header: first byte of the BTH
 * @readable_bytes: how many bytes of @header may be read; SROCE_MAX_HEADER_BYTES
 *                  is always enough, fewer only for shorter packets
 * @total_bytes: length of the datagram from the BTH to the ICRC, inclusive
 * @pkt: filled in when SROCE_PARSE_OK is returned; else only count, and dest_qpn or 0
 *
 * Return: SROCE_PARSE_OK, or why the packet must be dropped.
 */
enum sroce_parse_status sroce_packet_parse(const u8 *header, u32 readable_bytes, u32 total_bytes,
					   struct sroce_packet *pkt)
{
	u32 body_bytes;

	memset(pkt, 0, sizeof(*pkt));
	pkt->count = 1;
	if (total_bytes < sizeof(struct sroce_bth) + SROCE_ICRC_BYTES ||
	    readable_bytes < sizeof(struct sroce_bth))
		return SROCE_PARSE_TRUNCATED;
	if (header[1] & SROCE_BTH_TVER_MASK)
		return SROCE_PARSE_BAD_VERSION;

	read_bth(header, pkt);
	if (!pkt->info)
		return SROCE_PARSE_BAD_OPCODE;
	pkt->header_bytes = pkt->info->header_bytes;
	if (total_bytes < pkt->header_bytes + SROCE_ICRC_BYTES ||
	    readable_bytes < pkt->header_bytes)
		return SROCE_PARSE_TRUNCATED;

	body_bytes = total_bytes - pkt->header_bytes - SROCE_ICRC_BYTES;
	if (pkt->pad_bytes > body_bytes || body_bytes % 4)
		return SROCE_PARSE_BAD_PAD;
	pkt->payload_bytes = body_bytes - pkt->pad_bytes;
	if (pkt->payload_bytes > 4096 ||
	    (body_bytes && !(pkt->info->flags & SROCE_OPF_PAYLOAD)) ||
	    (pkt->info->flags & SROCE_OPF_SACK && pkt->payload_bytes > SROCE_SACK_MAX_BYTES))
		return SROCE_PARSE_BAD_PAYLOAD;

	read_extended(header + sizeof(struct sroce_bth), pkt);
	return SROCE_PARSE_OK;
}

static void write_bth(const struct sroce_packet *pkt, u8 *header)
{
	u8 flags = (u8)((pkt->solicited ? SROCE_BTH_SOLICITED : 0) |
			(pkt->migreq ? SROCE_BTH_MIGREQ : 0) |
			pkt->pad_bytes << SROCE_BTH_PAD_SHIFT);
	u8 ack_req = (u8)((pkt->ack_req ? SROCE_BTH_ACK_REQ : 0) |
			  (pkt->selective ? selective_bits(pkt->info) : 0));
	u64 congestion = pkt->becn ? SROCE_BTH_BECN : 0;
	/* In two stores instead of bytes, so that they forward to the word loads of the ICRC. */
	__be64 begin = cpu_to_be64((u64)pkt->opcode << 56 | (u64)flags << 48 |
				   (u64)(u16)pkt->pkey << 32 | congestion << 24 |
				   (pkt->dest_qpn & 0xffffff));
	__be32 end = cpu_to_be32((u32)ack_req << 24 | (pkt->psn & 0xffffff));

	memcpy(header, &begin, sizeof(begin));
	memcpy(header + sizeof(begin), &end, sizeof(end));
}

static void write_extended(const struct sroce_packet *pkt, u8 *p)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_XRCETH) {
		struct sroce_xrceth xrceth = { };

		put_be24(xrceth.srqn, pkt->srqn);
		memcpy(p, &xrceth, sizeof(xrceth));
		p += sizeof(xrceth);
	}
	if (flags & SROCE_OPF_DETH) {
		struct sroce_deth deth = { .qkey = cpu_to_be32(pkt->qkey) };

		put_be24(deth.src_qpn, pkt->src_qpn);
		memcpy(p, &deth, sizeof(deth));
		p += sizeof(deth);
	}
	if (flags & SROCE_OPF_FLUSH) {
		struct sroce_feth feth = {
			.bits = (u8)(pkt->level << SROCE_FETH_LEVEL_SHIFT | pkt->placement),
		};

		memcpy(p, &feth, sizeof(feth));
		p += sizeof(feth);
	}
	if (flags & SROCE_OPF_RETH) {
		struct sroce_reth reth = {
			.va = cpu_to_be64(pkt->va),
			.rkey = cpu_to_be32(pkt->rkey),
			.dma_length = cpu_to_be32(pkt->dma_length),
		};

		memcpy(p, &reth, sizeof(reth));
		p += sizeof(reth);
	}
	if (flags & SROCE_OPF_ATOMIC_ETH) {
		struct sroce_atomic_eth atomic = {
			.va = cpu_to_be64(pkt->va),
			.rkey = cpu_to_be32(pkt->rkey),
			.swap_add = cpu_to_be64(pkt->swap_add),
			.compare = cpu_to_be64(pkt->compare),
		};

		memcpy(p, &atomic, sizeof(atomic));
		p += sizeof(atomic);
	}
	if (flags & SROCE_OPF_AETH) {
		struct sroce_aeth aeth = { .syndrome = pkt->syndrome };

		put_be24(aeth.msn, pkt->msn);
		memcpy(p, &aeth, sizeof(aeth));
		p += sizeof(aeth);
	}
	if (flags & SROCE_OPF_ATOMIC_ACK) {
		struct sroce_atomic_ack_eth ack = { .original = cpu_to_be64(pkt->atomic_original) };

		memcpy(p, &ack, sizeof(ack));
		p += sizeof(ack);
	}
	if (flags & SROCE_OPF_IMM)
		memcpy(p, &pkt->imm, sizeof(pkt->imm));
	if (flags & SROCE_OPF_IETH) {
		__be32 key = cpu_to_be32(pkt->inv_rkey);

		memcpy(p, &key, sizeof(key));
	}
}

/**
 * sroce_packet_write() - encode the headers of a packet
 * @pkt: what to write; @pkt->info and @pkt->pad_bytes must be set
 * @header: room for SROCE_MAX_HEADER_BYTES
 *
 * Return: bytes written, equal to @pkt->info->header_bytes.
 */
u32 sroce_packet_write(const struct sroce_packet *pkt, u8 *header)
{
	write_bth(pkt, header);
	write_extended(pkt, header + sizeof(struct sroce_bth));
	return pkt->info->header_bytes;
}
