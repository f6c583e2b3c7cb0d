/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 for the ICRC: polynomial 0x04c11db7, least significant bit first, no inversion. Functions
 * take and return the CRC register, like crc32_le(). The fastest method of the CPU is chosen at
 * load.
 */
#ifndef SROCE_CRC_H
#define SROCE_CRC_H

#include <linux/types.h>

/* For fewer bytes, in a call or a section, taking the vector registers costs more than it gains. */
#define SROCE_CRC_SECTION_BYTES	128

/* The headers of a packet that the ICRC covers, padded with zeros in front. */
#define SROCE_CRC_BLOCK_BYTES	64

/**
 * struct sroce_crc_prefix - the headers summed before the data of a packet
 * @block: SROCE_CRC_BLOCK_BYTES that many packets share, aligned to 8 bytes. Not written shortly
 *	before, or the load stalls.
 * @ip_id_word: exclusive-ored into the block, in memory order, at the IPv4 identification
 * @bth_words: the same, at the first two words of the BTH
 * @tail_word: the same, at the last word of the block
 */
struct sroce_crc_prefix {
	const void *block;
	u32	ip_id_word;
	u32	tail_word;
	u64	bth_words;
};

/**
 * struct sroce_crc_writer - copies data and sums it on the way
 * @to: destination of the next byte
 * @prefix: to be summed before the first byte; NULL once it has been
 * @crc: the register, if @prefix is NULL
 * @next_segment: NULL if there is one segment; else called after @left bytes to set up the next
 * @left: bytes left of this segment
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
