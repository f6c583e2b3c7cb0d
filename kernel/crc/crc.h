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
 * struct sroce_crc_prefix - a block before the data: what many have in common, and what differs
 * @block: SROCE_CRC_BLOCK_BYTES, the same for many; not written to just before, or reading it waits
 * @ip_id_word: added (exclusive or) to these bytes of it, as they lie in memory: where a packet has
 *	   its IPv4 identification,
 * @bth_words: and its BTH,
 * @tail_word: to the end
 */
struct sroce_crc_prefix {
	const void *block;
	u32	ip_id_word;
	u32	tail_word;
	u64	bth_words;
};

/**
 * struct sroce_crc_writer - where data is put, and summed on the way
 * @to: where the next byte goes
 * @prefix: comes before the first byte; NULL: it has been summed
 * @crc: the register, if @prefix is NULL
 * @next_segment: NULL: there is no end; or called after every @left bytes: where to go on, and with
 * what
 * @left: bytes to be put before that
 */
struct sroce_crc_writer {
	u8	*to;
	const struct sroce_crc_prefix *prefix;
	u32	crc;
	u32	left;
	void	(*next_segment)(struct sroce_crc_writer *writer);
};

void sroce_crc_init(void);
u32 sroce_crc32(u32 crc, const void *data, size_t bytes);
u32 sroce_crc32_prefixed(const struct sroce_crc_prefix *prefix, const void *data, size_t bytes);
void sroce_crc_write(struct sroce_crc_writer *writer, const void *from, size_t bytes);
void sroce_crc_advance(struct sroce_crc_writer *writer, size_t bytes);
u32 sroce_crc_finish(struct sroce_crc_writer *writer);
bool sroce_crc_vector_begin(size_t bytes);
void sroce_crc_vector_end(bool begun);

#endif
