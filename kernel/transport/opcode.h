/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One table of all BTH opcodes: the service, the place in a message, and the extended headers of
 * each opcode that the engine supports; and opcodes that it must NAK, because their requester
 * waits for a response. The table is in packet.c.
 */
#ifndef SROCE_TRANSPORT_OPCODE_H
#define SROCE_TRANSPORT_OPCODE_H

#include <linux/types.h>
#include <linux/bits.h>

enum sroce_service {
	SROCE_SERVICE_RC = 0x00,
	SROCE_SERVICE_UC = 0x20,
	SROCE_SERVICE_UD = 0x60,
	SROCE_SERVICE_XRC = 0xa0,	/* as RC; each request names a shared receive queue */
};

#define SROCE_SERVICE_MASK	0xe0

/* A QP with one peer, whose packets carry consecutive PSNs: all but UD. */
static inline bool sroce_service_is_connected(u8 service)
{
	return service != SROCE_SERVICE_UD;
}

/* A service whose requests are acknowledged, and retransmitted when they are lost: RC and XRC. */
static inline bool sroce_service_is_acked(u8 service)
{
	return service == SROCE_SERVICE_RC || service == SROCE_SERVICE_XRC;
}

/* A SEND or WRITE of UC is SROCE_SERVICE_UC | that of RC; each of XRC, SROCE_SERVICE_XRC | RC's. */
enum sroce_opcode {
	SROCE_OP_SEND_FIRST		= 0x00,
	SROCE_OP_SEND_MIDDLE		= 0x01,
	SROCE_OP_SEND_LAST		= 0x02,
	SROCE_OP_SEND_LAST_IMM		= 0x03,
	SROCE_OP_SEND_ONLY		= 0x04,
	SROCE_OP_SEND_ONLY_IMM		= 0x05,
	SROCE_OP_WRITE_FIRST		= 0x06,
	SROCE_OP_WRITE_MIDDLE		= 0x07,
	SROCE_OP_WRITE_LAST		= 0x08,
	SROCE_OP_WRITE_LAST_IMM		= 0x09,
	SROCE_OP_WRITE_ONLY		= 0x0a,
	SROCE_OP_WRITE_ONLY_IMM		= 0x0b,
	SROCE_OP_READ_REQUEST		= 0x0c,
	SROCE_OP_READ_RESPONSE_FIRST	= 0x0d,
	SROCE_OP_READ_RESPONSE_MIDDLE	= 0x0e,
	SROCE_OP_READ_RESPONSE_LAST	= 0x0f,
	SROCE_OP_READ_RESPONSE_ONLY	= 0x10,
	SROCE_OP_ACK			= 0x11,
	SROCE_OP_ATOMIC_ACK		= 0x12,
	SROCE_OP_COMPARE_SWAP		= 0x13,
	SROCE_OP_FETCH_ADD		= 0x14,
	SROCE_OP_SEND_LAST_INV		= 0x16,
	SROCE_OP_SEND_ONLY_INV		= 0x17,
	SROCE_OP_FLUSH			= 0x1c,
	SROCE_OP_ATOMIC_WRITE		= 0x1d,
	SROCE_OP_UD_SEND_ONLY		= 0x64,
	SROCE_OP_UD_SEND_ONLY_IMM	= 0x65,
	SROCE_OP_CNP			= 0x81,
	/* From the manufacturers' space: an ACK with a bitmap, sent to sroce peers only. */
	SROCE_OP_SACK			= 0xd1,
};

/* The kind of a packet. */
#define SROCE_OPF_REQUEST	BIT(0)	/* consumed by the responder */
#define SROCE_OPF_RESPONSE	BIT(1)	/* consumed by the requester */
#define SROCE_OPF_SEND		BIT(2)
#define SROCE_OPF_WRITE		BIT(3)
#define SROCE_OPF_READ		BIT(4)
#define SROCE_OPF_ATOMIC	BIT(5)
#define SROCE_OPF_FIRST		BIT(6)	/* starts a message */
#define SROCE_OPF_LAST		BIT(7)	/* ends a message */
#define SROCE_OPF_PAYLOAD	BIT(8)	/* may carry payload */
/* Which headers follow the BTH. */
#define SROCE_OPF_RETH		BIT(9)
#define SROCE_OPF_AETH		BIT(10)
#define SROCE_OPF_ATOMIC_ETH	BIT(11)
#define SROCE_OPF_ATOMIC_ACK	BIT(12)
#define SROCE_OPF_IMM		BIT(13)
#define SROCE_OPF_IETH		BIT(14)
#define SROCE_OPF_DETH		BIT(15)
#define SROCE_OPF_CNP		BIT(16)
#define SROCE_OPF_SACK		BIT(17)	/* selective ACK: the payload is a bitmap */
#define SROCE_OPF_UNSUPPORTED	BIT(18)	/* a request that gets a NAK */
#define SROCE_OPF_FLUSH		BIT(19)	/* has a FETH */
#define SROCE_OPF_ATOMIC_WRITE	BIT(20)
#define SROCE_OPF_XRCETH	BIT(21)	/* names a shared receive queue */

/* Requests that get a response of their own. They count against max_rd_atomic. */
#define SROCE_OPF_RD_ATOMIC	(SROCE_OPF_READ | SROCE_OPF_ATOMIC | SROCE_OPF_FLUSH | \
				 SROCE_OPF_ATOMIC_WRITE)

/**
 * struct sroce_opcode_info - what an opcode means
 * @flags: SROCE_OPF_*; zero for an opcode that is not in the table
 * @header_bytes: BTH and extended headers together
 */
struct sroce_opcode_info {
	u32	flags;
	u32	header_bytes;
};

const struct sroce_opcode_info *sroce_opcode_lookup(u8 opcode);

/* The service whose queue pairs a packet is for; a selective ACK is for XRC, too. */
static inline enum sroce_service sroce_opcode_service(u8 opcode)
{
	return opcode == SROCE_OP_SACK ? SROCE_SERVICE_RC :
					 (enum sroce_service)(opcode & SROCE_SERVICE_MASK);
}

#endif
