/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What an architecture offers to crc.c. One that is not named here offers nothing.
 */
#ifndef SROCE_CRC_METHOD_H
#define SROCE_CRC_METHOD_H

#include <linux/types.h>

#include "crc/crc.h"

/**
 * struct sroce_crc_method - a way of computing a CRC-32
 * @name: for the log and the module parameter
 * @unit: power of two; @fold and @fold_copy take multiples of so many bytes, but not 0
 * @vector: they use vector registers, which the caller owns then
 * @fold: continue a CRC
 * @fold_copy: copy, and continue the CRC over what was copied; each byte is read once
 * @prefixed_unit: power of two; @prefixed and @prefixed_copy take multiples of so many bytes, or 0;
 *	there may be none of them
 * @prefixed: the CRC of a head and what comes after it
 * @prefixed_copy: the same, and copy that
 */
struct sroce_crc_method {
	const char	*name;
	u32	unit;
	bool	vector;
	u32	(*fold)(u32 crc, const void *data, size_t bytes);
	u32	(*fold_copy)(u32 crc, void *to, const void *from, size_t bytes);
	u32	prefixed_unit;
	u32	(*prefixed)(const struct sroce_crc_prefix *prefix, const void *data, size_t bytes);
	u32	(*prefixed_copy)(const struct sroce_crc_prefix *prefix, void *to, const void *from,
				 size_t bytes);
};

/* The kernel's own, and the one to take. */
extern const struct sroce_crc_method sroce_crc_table;
extern const struct sroce_crc_method *sroce_crc_chosen;

#if defined(CONFIG_X86_64) || (defined(CONFIG_ARM64) && !defined(CONFIG_CPU_BIG_ENDIAN))
const struct sroce_crc_method *sroce_crc_arch_method(u32 index);
#else
static inline const struct sroce_crc_method *sroce_crc_arch_method(u32 index)
{
	return NULL;
}
#endif

#ifdef CONFIG_X86_64
bool sroce_crc_arch_begin(void);
void sroce_crc_arch_end(void);
#else
static inline bool sroce_crc_arch_begin(void)
{
	return false;
}

static inline void sroce_crc_arch_end(void)
{
}
#endif

#endif
