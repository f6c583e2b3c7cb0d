/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Methods to compute a CRC-32, and the functions that an architecture provides for crc.c. Other
 * architectures have stubs.
 */
#ifndef SROCE_CRC_METHOD_H
#define SROCE_CRC_METHOD_H

#include <linux/types.h>

#include "crc/crc.h"

#define SROCE_CRC_PREFIXED_UNIT	16

/**
 * struct sroce_crc_method - a way to compute a CRC-32
 * @name: for the log and the module parameter
 * @unit: power of two; @fold and @fold_copy take multiples of it, but not 0
 * @vector: the functions use vector registers, which the caller must own
 * @fold: continue a CRC
 * @fold_copy: copy, and continue the CRC over the copied bytes; reads each byte once
 * @prefixed: CRC of a prefix and the data that follows it, a multiple of SROCE_CRC_PREFIXED_UNIT
 *	or 0; NULL if there is no such function
 * @prefixed_copy: the same, and copy the data
 */
struct sroce_crc_method {
	const char	*name;
	u32	unit;
	bool	vector;
	u32	(*fold)(u32 crc, const void *data, size_t bytes);
	u32	(*fold_copy)(u32 crc, void *to, const void *from, size_t bytes);
	u32	(*prefixed)(const struct sroce_crc_prefix *prefix, const void *data, size_t bytes);
	u32	(*prefixed_copy)(const struct sroce_crc_prefix *prefix, void *to, const void *from,
				 size_t bytes);
};

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
