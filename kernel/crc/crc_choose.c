// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which way of computing a CRC-32 is taken.
 *
 * The kernel's crc32_le() always works. On x86 before 6.14 it uses tables and is
 * twenty times slower than a copy, and no kernel has a function that copies and
 * sums in one go. Another method is taken when it gives the right results
 * and is faster: emulators have the instructions, but not the speed.
 */
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/crc32.h>
#include <linux/crc32poly.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "crc/crc.h"
#include "crc/crc_sum.h"

/* The self-test: every length up to the first, then some up to the second. */
#define TEST_ALL_BYTES		330
#define TEST_MAX_BYTES		1500
#define TEST_STEP		61
#define TEST_STEP_HEADED	16
#define GUARD_BYTES		64
#define GUARD			0xa5
#define RACE_BYTES		4096
#define RACE_COPIES		32
#define RACE_RUNS		4

static char *wanted = "auto";
module_param_named(crc, wanted, charp, 0444);
MODULE_PARM_DESC(crc, "compute CRCs by: auto (default), table, avx512, avx2, pclmul, arm64");

static u32 table_fold(u32 crc, const void *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

/*
 * Summed is what was copied: others may write to @from meanwhile. Receiving, they may write to @to
 * instead, who poll it: then a packet seems wrong, and is copied again on its own.
 */
static u32 table_fold_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return crc32_le(crc, to, bytes);
}

const struct sroce_crc_method sroce_crc_table = {
	.name = "table", .unit = 1, .fold = table_fold, .fold_copy = table_fold_copy,
};

const struct sroce_crc_method *sroce_crc_chosen __ro_after_init = &sroce_crc_table;

/* The definition. */
static u32 crc_of_byte(u32 crc, u8 byte)
{
	int i;

	crc ^= byte;
	for (i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? CRC32_POLY_LE : 0);
	return crc;
}

static bool copy_is_right(const u8 *to, const u8 *from, size_t bytes)
{
	return to[-1] == GUARD && to[bytes] == GUARD && !memcmp(to, from, bytes);
}

static bool test_length(const struct sroce_crc_method *method, u8 *to, const u8 *from,
			size_t bytes, u32 seed, u32 expected)
{
	u32 crc, copied;

	memset(to - GUARD_BYTES, GUARD, bytes + 2 * GUARD_BYTES);
	if (method->vector && !sroce_crc_arch_begin())
		return false;
	crc = sroce_crc_sum(method, seed, from, bytes);
	copied = sroce_crc_sum_copy(method, seed, to, from, bytes);
	if (method->vector)
		sroce_crc_arch_end();
	return crc == expected && copied == expected && copy_is_right(to, from, bytes);
}

static bool test_prefixed(const struct sroce_crc_method *method,
			  const struct sroce_crc_prefix *prefix, u8 *to, const u8 *from,
			  size_t bytes, u32 expected)
{
	u32 crc, copied;

	memset(to - GUARD_BYTES, GUARD, bytes + 2 * GUARD_BYTES);
	if (method->vector && !sroce_crc_arch_begin())
		return false;
	crc = sroce_crc_sum_prefixed(method, prefix, from, bytes);
	copied = sroce_crc_sum_prefixed_copy(method, prefix, to, from, bytes);
	if (method->vector)
		sroce_crc_arch_end();
	return crc == expected && copied == expected && copy_is_right(to, from, bytes);
}

/* The head is in @buf, and what differs of it is given beside. */
static bool passes_prefixed_test(const struct sroce_crc_method *method, u8 *buf)
{
	const u8 *from = buf + SROCE_CRC_BLOCK_BYTES;
	u8 *to = buf + TEST_MAX_BYTES + 4 * GUARD_BYTES;
	struct sroce_crc_prefix prefix = { .block = buf };
	u8 *const fields[] = { (u8 *)&prefix.ip_id_word, (u8 *)&prefix.bth_words,
			       (u8 *)&prefix.tail_word };
	size_t bytes, i;
	u32 crc = 0;

	for (i = 0; i < SROCE_CRC_BLOCK_BYTES; i++) {
		u8 *field = i < 52 ? fields[0] + i - 28 : i < 60 ? fields[1] + i - 52 :
								   fields[2] + i - 60;
		u8 value = i * 59 + 1;

		if ((i < 28 || i >= 32) && i < 52)
			value = 0;
		else
			*field = value;
		crc = crc_of_byte(crc, buf[i] ^ value);
	}
	for (bytes = 0; bytes <= TEST_MAX_BYTES - SROCE_CRC_BLOCK_BYTES; bytes++) {
		if ((bytes <= TEST_ALL_BYTES || !(bytes % TEST_STEP_HEADED)) &&
		    !test_prefixed(method, &prefix, to, from, bytes, crc))
			return false;
		crc = crc_of_byte(crc, from[bytes]);
	}
	return true;
}

/* @buf has room for two times the longest data with all around it. */
static bool passes_test(const struct sroce_crc_method *method, u8 *buf)
{
	static const u8 offsets[][2] = { { 0, 0 }, { 16, 4 }, { 12, 48 }, { 37, 33 } };
	u8 *from, *to;
	size_t i, bytes, next;
	u32 crc, seed;

	for (i = 0; i < ARRAY_SIZE(offsets); i++) {
		from = buf + GUARD_BYTES + offsets[i][0];
		to = buf + TEST_MAX_BYTES + 4 * GUARD_BYTES + offsets[i][1];
		seed = 0xdebb20e3u << i;
		crc = seed;
		for (bytes = 0, next = 0; bytes <= TEST_MAX_BYTES; bytes++) {
			if (bytes == next) {
				if (!test_length(method, to, from, bytes, seed, crc))
					return false;
				next += bytes < TEST_ALL_BYTES ? 1 : TEST_STEP;
			}
			crc = crc_of_byte(crc, from[bytes]);
		}
	}
	return true;
}

/* Nanoseconds of a few copies; the least of several runs, as the rest is interrupts. */
static u64 time_of(const struct sroce_crc_method *method, u8 *buf)
{
	u64 best = U64_MAX, start;
	int run, i;

	for (run = 0; run < RACE_RUNS; run++) {
		if (method->vector && !sroce_crc_arch_begin())
			continue;
		start = ktime_get_ns();
		for (i = 0; i < RACE_COPIES; i++)
			sroce_crc_sum_copy(method, 0, buf, buf + RACE_BYTES, RACE_BYTES);
		best = min(best, ktime_get_ns() - start);
		if (method->vector)
			sroce_crc_arch_end();
	}
	return best;
}

static bool worth_taking(const struct sroce_crc_method *method, u8 *buf)
{
	bool any = !strcmp(wanted, "auto");

	if (!any && strcmp(wanted, method->name))
		return false;
	if (!passes_test(method, buf) || !passes_prefixed_test(method, buf)) {
		pr_warn("CRC-32 by %s gives wrong results, it is not used\n", method->name);
		return false;
	}
	return !any || time_of(method, buf) < time_of(&sroce_crc_table, buf);
}

/**
 * sroce_crc_init() - choose a method; before anything else here
 */
void __init sroce_crc_init(void)
{
	const struct sroce_crc_method *method;
	u8 *buf = kmalloc(2 * RACE_BYTES, GFP_KERNEL);
	u32 i;

	if (!buf)
		return;
	for (i = 0; i < 2 * RACE_BYTES; i++)
		buf[i] = i * 167 >> 3;
	for (i = 0; (method = sroce_crc_arch_method(i)); i++) {
		if (worth_taking(method, buf)) {
			sroce_crc_chosen = method;
			break;
		}
	}
	kfree(buf);
	pr_info("CRC-32 by %s\n", sroce_crc_chosen->name);
}
