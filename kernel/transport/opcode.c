// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The opcode table (IBTA table 38, annex A17 for CNP).
 */
#include "transport/opcode.h"
#include "transport/wire.h"

#define L_BTH	((u32)sizeof(struct sroce_bth))
#define L_RETH	((u32)sizeof(struct sroce_reth))
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
#define F_ATOMIC	(F_REQUEST | SROCE_OPF_ATOMIC | F_ONLY | SROCE_OPF_ATOMIC_ETH)

/* The headers are not known, so everything behind the BTH counts as payload. */
#define F_UNSUPPORTED	(F_REQUEST | SROCE_OPF_PAYLOAD | SROCE_OPF_UNSUPPORTED)

/* An opcode that is not listed has no flags. */
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

	/* The rest of RC: reserved, or from later releases (FLUSH, ATOMIC WRITE). */
	[0x15] = { F_UNSUPPORTED, L_BTH },
	[0x18 ... 0x1f] = { F_UNSUPPORTED, L_BTH },

	[SROCE_OP_UD_SEND_ONLY] = { F_SEND | F_ONLY | SROCE_OPF_DETH, L_BTH + L_DETH },
	[SROCE_OP_UD_SEND_ONLY_IMM] = { F_SEND | F_ONLY | SROCE_OPF_DETH | SROCE_OPF_IMM,
					L_BTH + L_DETH + SROCE_IMM_BYTES },

	[SROCE_OP_SACK] = { F_RESPONSE | SROCE_OPF_AETH | SROCE_OPF_SACK | SROCE_OPF_PAYLOAD,
			    L_BTH + L_AETH },

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
	const struct sroce_opcode_info *info = &opcode_table[opcode];

	return info->flags ? info : NULL;
}
