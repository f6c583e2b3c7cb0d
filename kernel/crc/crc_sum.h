/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a method leaves to the table, and what it does not know. */
#ifndef SROCE_CRC_SUM_H
#define SROCE_CRC_SUM_H

#include <linux/string.h>

#include "crc/crc_method.h"

/* What is too short for a method is done by the table first. */
static inline u32 sroce_crc_sum(const struct sroce_crc_method *method, u32 crc, const u8 *data,
				size_t bytes)
{
	size_t head = bytes & (method->unit - 1);

	if (head)
		crc = sroce_crc_table.fold(crc, data, head);
	return bytes > head ? method->fold(crc, data + head, bytes - head) : crc;
}

static inline u32 sroce_crc_sum_copy(const struct sroce_crc_method *method, u32 crc, u8 *to,
				     const u8 *from, size_t bytes)
{
	size_t head = bytes & (method->unit - 1);

	if (head)
		crc = sroce_crc_table.fold_copy(crc, to, from, head);
	return bytes > head ? method->fold_copy(crc, to + head, from + head, bytes - head) : crc;
}

/* The block as it is, in two steps then. */
static inline u32 sroce_crc_sum_prefix(const struct sroce_crc_method *method,
				       const struct sroce_crc_prefix *prefix)
{
	u32 block[SROCE_CRC_BLOCK_BYTES / sizeof(u32)], bth_words[2];

	memcpy(block, prefix->block, sizeof(block));
	memcpy(bth_words, &prefix->bth_words, sizeof(bth_words));
	block[28 / sizeof(u32)] ^= prefix->ip_id_word;
	block[52 / sizeof(u32)] ^= bth_words[0];
	block[56 / sizeof(u32)] ^= bth_words[1];
	block[60 / sizeof(u32)] ^= prefix->tail_word;
	return sroce_crc_sum(method, 0, (const u8 *)block, sizeof(block));
}

static inline u32 sroce_crc_sum_prefixed(const struct sroce_crc_method *method,
					 const struct sroce_crc_prefix *prefix, const u8 *data,
					 size_t bytes)
{
	if (method->prefixed && !(bytes & (method->prefixed_unit - 1)))
		return method->prefixed(prefix, data, bytes);
	return sroce_crc_sum(method, sroce_crc_sum_prefix(method, prefix), data, bytes);
}

static inline u32 sroce_crc_sum_prefixed_copy(const struct sroce_crc_method *method,
					      const struct sroce_crc_prefix *prefix, u8 *to,
					      const u8 *from, size_t bytes)
{
	if (method->prefixed && !(bytes & (method->prefixed_unit - 1)))
		return method->prefixed_copy(prefix, to, from, bytes);
	return sroce_crc_sum_copy(method, sroce_crc_sum_prefix(method, prefix), to, from, bytes);
}

#endif
