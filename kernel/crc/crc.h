/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 as the ICRC needs it: the polynomial 0x04c11db7, least significant bit
 * first, nothing inverted; the register goes in and comes out, as with
 * crc32_le(). Chosen at load among what this processor can do.
 */
#ifndef SROCE_CRC_H
#define SROCE_CRC_H

#include <linux/types.h>

/* A lone call, or a section, of fewer bytes is not worth taking the vector registers. */
#define SROCE_CRC_SECTION_BYTES	128

/* What comes before the data of a packet, with zeros in front. */
#define SROCE_CRC_BLOCK_BYTES	64

/**
 * struct sroce_crc_head - a block before the data: what many have in common, and what differs
 * @block: SROCE_CRC_BLOCK_BYTES, the same for many; not written to just before, or reading it waits
 * @at_28: added (exclusive or) to these bytes of it, as they lie in memory: where a packet has
 *	   its IPv4 identification,
 * @at_52: and its BTH,
 * @at_60: to the end
 */
struct sroce_crc_head {
	const void *block;
	u32	at_28;
	u32	at_60;
	u64	at_52;
};

/**
 * struct sroce_crc_sink - where data is put, and summed on the way
 * @to: where the next byte goes
 * @head: comes before the first byte; NULL: it has been summed
 * @crc: the register, if @head is NULL
 * @full: NULL: there is no end; or called after every @left bytes: where to go on, and with what
 * @left: bytes to be put before that
 */
struct sroce_crc_sink {
	u8	*to;
	const struct sroce_crc_head *head;
	u32	crc;
	u32	left;
	void	(*full)(struct sroce_crc_sink *sink);
};

void sroce_crc_init(void);
u32 sroce_crc32(u32 crc, const void *data, size_t bytes);
u32 sroce_crc32_headed(const struct sroce_crc_head *head, const void *data, size_t bytes);
void sroce_sink_put(struct sroce_crc_sink *sink, const void *from, size_t bytes);
void sroce_sink_pass(struct sroce_crc_sink *sink, size_t bytes);
u32 sroce_sink_end(struct sroce_crc_sink *sink);
bool sroce_crc_begin(size_t bytes);
void sroce_crc_end(bool begun);

#endif
