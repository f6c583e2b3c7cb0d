/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * CRC-32 by carry-less multiplication on x86-64. Except for sroce_fold_init(), the caller must own
 * the vector registers.
 */
#ifndef SROCE_CRC_FOLD_H
#define SROCE_CRC_FOLD_H

#include <linux/types.h>

#include "crc/crc.h"

/* @bytes is a multiple of this, and not 0. */
#define SROCE_FOLD_PCLMUL_BYTES	16
#define SROCE_FOLD_AVX2_BYTES	32
#define SROCE_FOLD_AVX512_BYTES	4

void sroce_fold_init(void);
u32 sroce_fold_pclmul(u32 crc, const void *from, size_t bytes);
u32 sroce_fold_pclmul_copy(u32 crc, void *to, const void *from, size_t bytes);
u32 sroce_fold_pclmul_prefixed(const struct sroce_crc_prefix *prefix, const void *from,
			       size_t bytes);
u32 sroce_fold_pclmul_prefixed_copy(const struct sroce_crc_prefix *prefix, void *to,
				    const void *from, size_t bytes);
u32 sroce_fold_avx2(u32 crc, const void *from, size_t bytes);
u32 sroce_fold_avx2_copy(u32 crc, void *to, const void *from, size_t bytes);
u32 sroce_fold_avx2_prefixed(const struct sroce_crc_prefix *prefix, const void *from,
			     size_t bytes);
u32 sroce_fold_avx2_prefixed_copy(const struct sroce_crc_prefix *prefix, void *to,
				  const void *from, size_t bytes);
u32 sroce_fold_avx512(u32 crc, const void *from, size_t bytes);
u32 sroce_fold_avx512_copy(u32 crc, void *to, const void *from, size_t bytes);
u32 sroce_fold_avx512_prefixed(const struct sroce_crc_prefix *prefix, const void *from,
			       size_t bytes);
u32 sroce_fold_avx512_prefixed_copy(const struct sroce_crc_prefix *prefix, void *to,
				    const void *from, size_t bytes);

#endif
