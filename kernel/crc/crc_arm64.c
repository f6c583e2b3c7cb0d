// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ARM64 has instructions for this polynomial on general registers. crc32_le() uses them. This adds
 * a function that copies and sums in one pass.
 */
#if defined(CONFIG_ARM64) && !defined(CONFIG_CPU_BIG_ENDIAN)

#include <linux/cpufeature.h>
#include <linux/crc32.h>
#include <linux/types.h>

#include "crc/crc_method.h"

static u32 arm64_fold(u32 crc, const void *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

static u32 arm64_fold_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	u64 a, b;

	for (; bytes; bytes -= 16)
		asm volatile(".arch_extension crc\n\t"
			     "ldp %0, %1, [%3], #16\n\t"
			     "stp %0, %1, [%4], #16\n\t"
			     "crc32x %w2, %w2, %0\n\t"
			     "crc32x %w2, %w2, %1"
			     : "=&r" (a), "=&r" (b), "+r" (crc), "+r" (from), "+r" (to)
			     : : "memory");
	return crc;
}

static const struct sroce_crc_method method = {
	.name = "arm64", .unit = 16, .fold = arm64_fold, .fold_copy = arm64_fold_copy,
};

/**
 * sroce_crc_arch_method() - the methods of this CPU, fastest first
 * @index: 0 for the first
 *
 * Return: a method, or NULL after the last.
 */
const struct sroce_crc_method *sroce_crc_arch_method(u32 index)
{
	return !index && cpu_have_named_feature(CRC32) ? &method : NULL;
}

#endif
