/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The bytes of RoCEv2 after the UDP header: BTH, extended headers, ICRC.
 *
 * Layouts and constants only; packet.c converts them to struct sroce_packet and back. Every field
 * is big endian. The structs are packed because a header may start at any 4-byte boundary.
 */
#ifndef SROCE_TRANSPORT_WIRE_H
#define SROCE_TRANSPORT_WIRE_H

#include <linux/types.h>
#include <linux/build_bug.h>

#define SROCE_UDP_PORT		4791
#define SROCE_ICRC_BYTES	4
#define SROCE_GRH_BYTES		40
#define SROCE_PKEY_DEFAULT	0xffff
#define SROCE_QPN_MASK		0xffffffu
#define SROCE_SRQN_MASK		0xffffffu
#define SROCE_QPN_GSI		1u
#define SROCE_QPN_MULTICAST	0xffffffu
#define SROCE_GSI_QKEY		0x80010000u

/* BTH byte 1: solicited event, migration state, pad count, header version. */
#define SROCE_BTH_SOLICITED	0x80
#define SROCE_BTH_MIGREQ	0x40
#define SROCE_BTH_PAD_SHIFT	4
#define SROCE_BTH_PAD_MASK	0x30
#define SROCE_BTH_TVER_MASK	0x0f
/* BTH byte 4: congestion bits, outside the ICRC. */
#define SROCE_BTH_BECN		0x40
/*
 * BTH byte 8. Seven bits are reserved: OFFER in a request offers selective repeat, ACCEPT in a
 * response accepts it (scoreboard.c). They differ, so that a peer that copies the bits of a request
 * into its response does not accept. Another version of selective repeat needs other values.
 */
#define SROCE_BTH_ACK_REQ	0x80
#define SROCE_BTH_RESERVED_MASK	0x7f
#define SROCE_BTH_OFFER		0x54
#define SROCE_BTH_ACCEPT	0x24

struct sroce_bth {
	u8	opcode;
	u8	flags;
	__be16	pkey;
	u8	congestion;
	u8	dest_qpn[3];
	u8	ack_req;
	u8	psn[3];
} __packed;
static_assert(sizeof(struct sroce_bth) == 12);

struct sroce_deth {
	__be32	qkey;
	u8	reserved;
	u8	src_qpn[3];
} __packed;
static_assert(sizeof(struct sroce_deth) == 8);

/* The first header behind the BTH of an XRC request (IBTA annex A14). */
struct sroce_xrceth {
	u8	reserved;
	u8	srqn[3];
} __packed;
static_assert(sizeof(struct sroce_xrceth) == 4);

struct sroce_reth {
	__be64	va;
	__be32	rkey;
	__be32	dma_length;
} __packed;
static_assert(sizeof(struct sroce_reth) == 16);

struct sroce_feth {
	u8	reserved[3];
	u8	bits;
} __packed;
static_assert(sizeof(struct sroce_feth) == 4);

/* FETH: four bits of placement type, and two of selectivity level (IBTA annex A19). */
#define SROCE_FETH_PLACEMENT_MASK	0x0f
#define SROCE_FETH_LEVEL_SHIFT		4
#define SROCE_FETH_LEVEL_MASK		0x30

struct sroce_atomic_eth {
	__be64	va;
	__be32	rkey;
	__be64	swap_add;
	__be64	compare;
} __packed;
static_assert(sizeof(struct sroce_atomic_eth) == 28);

struct sroce_aeth {
	u8	syndrome;
	u8	msn[3];
} __packed;
static_assert(sizeof(struct sroce_aeth) == 4);

struct sroce_atomic_ack_eth {
	__be64	original;
} __packed;
static_assert(sizeof(struct sroce_atomic_ack_eth) == 8);

/* Immediate data and the R_Key of SEND with invalidate are one __be32 each. */
#define SROCE_IMM_BYTES		4
#define SROCE_IETH_BYTES	4

/* After the BTH of a CNP. */
#define SROCE_CNP_RESERVED_BYTES	16
/* A selective ACK: a bit for each PSN that a responder may queue; see reorder.c. */
#define SROCE_SACK_MAX_BYTES	256

/* BTH + XRCETH + AtomicETH, the longest combination. */
#define SROCE_MAX_HEADER_BYTES	44

/* AETH syndrome: three bits of kind, five bits of value. */
#define SROCE_AETH_KIND_MASK	0xe0
#define SROCE_AETH_VALUE_MASK	0x1f
#define SROCE_AETH_ACK		0x00
#define SROCE_AETH_RNR_NAK	0x20
#define SROCE_AETH_NAK		0x60
/* "No credit information": end-to-end flow control is not used. */
#define SROCE_AETH_CREDITS_INVALID	0x1f

enum sroce_nak_code {
	SROCE_NAK_PSN_SEQUENCE		= 0x60,
	SROCE_NAK_INVALID_REQUEST	= 0x61,
	SROCE_NAK_REMOTE_ACCESS		= 0x62,
	SROCE_NAK_REMOTE_OPERATION	= 0x63,
};

#endif
