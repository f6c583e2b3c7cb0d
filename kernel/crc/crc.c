// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which way of computing a CRC-32 is taken, and when.
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
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "crc/crc.h"
#include "crc/crc_method.h"

/* Within a section, fewer bytes than this are left to the table. */
#define VECTOR_MIN_BYTES	16

/* The self-test: every length up to the first, then some up to the second. */
#define TEST_ALL_BYTES		330
#define TEST_MAX_BYTES		1500
#define TEST_STEP		61
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

/* Summed is what was copied: others may write to @from meanwhile. */
static u32 table_fold_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return crc32_le(crc, to, bytes);
}

static const struct sroce_crc_method table = {
	.name = "table", .unit = 1, .fold = table_fold, .fold_copy = table_fold_copy,
};

static const struct sroce_crc_method *chosen __ro_after_init = &table;

/* The vector registers are taken. Whoever finds it set is in the section, or has interrupted it. */
static DEFINE_PER_CPU(bool, in_section);

/**
 * sroce_crc_begin() - begin a section of several CRCs
 * @bytes: how many they are to be over, roughly; 64 KiB at most, as preemption and
 *	   softirqs are off meanwhile
 *
 * Never needed: a call outside of a section makes one for itself when it is worth it.
 * In a section that is saved, and short data is fast too. Sections may be nested; nothing
 * in one may sleep or enable softirqs.
 *
 * Return: what sroce_crc_end() must be told.
 */
bool sroce_crc_begin(size_t bytes)
{
	if (!chosen->vector || bytes < SROCE_CRC_SECTION_BYTES || this_cpu_read(in_section) ||
	    !sroce_crc_arch_begin())
		return false;
	this_cpu_write(in_section, true);
	return true;
}

/**
 * sroce_crc_end() - end a section
 * @begun: what sroce_crc_begin() said
 */
void sroce_crc_end(bool begun)
{
	if (begun) {
		this_cpu_write(in_section, false);
		sroce_crc_arch_end();
	}
}

/* What to do with so many bytes; @begun when that is the whole section. */
static const struct sroce_crc_method *method_for(size_t bytes, bool *begun)
{
	const struct sroce_crc_method *method = chosen;

	*begun = false;
	if (!method->vector)
		return method;
	if (this_cpu_read(in_section))
		return bytes < VECTOR_MIN_BYTES || in_hardirq() ? &table : method;
	*begun = sroce_crc_begin(bytes);
	return *begun ? method : &table;
}

/* What is too short for a method is done by the table first. */
static u32 sum(const struct sroce_crc_method *method, u32 crc, const u8 *data, size_t bytes)
{
	size_t head = bytes & (method->unit - 1);

	if (head)
		crc = table_fold(crc, data, head);
	return bytes > head ? method->fold(crc, data + head, bytes - head) : crc;
}

static u32 sum_copy(const struct sroce_crc_method *method, u32 crc, u8 *to, const u8 *from,
		    size_t bytes)
{
	size_t head = bytes & (method->unit - 1);

	if (head)
		crc = table_fold_copy(crc, to, from, head);
	return bytes > head ? method->fold_copy(crc, to + head, from + head, bytes - head) : crc;
}

/**
 * sroce_crc32() - continue a CRC-32
 * @crc: the register
 * @data: what to sum
 * @bytes: how many
 *
 * Any context but NMI; where interrupts are disabled, by the table.
 *
 * Return: the register afterwards, as crc32_le() has it.
 */
u32 sroce_crc32(u32 crc, const void *data, size_t bytes)
{
	bool begun;

	crc = sum(method_for(bytes, &begun), crc, data, bytes);
	sroce_crc_end(begun);
	return crc;
}

/**
 * sroce_crc32_copy() - copy, and continue a CRC-32 over what was copied
 * @crc: the register
 * @to: where to; fastest at a multiple of 16
 * @from: where from; must not overlap @to
 * @bytes: how many
 *
 * The CRC is that of the bytes at @to even if others write to @from meanwhile.
 * Context as for sroce_crc32().
 *
 * Return: the register afterwards.
 */
u32 sroce_crc32_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	bool begun;

	crc = sum_copy(method_for(bytes, &begun), crc, to, from, bytes);
	sroce_crc_end(begun);
	return crc;
}

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
	crc = sum(method, seed, from, bytes);
	copied = sum_copy(method, seed, to, from, bytes);
	if (method->vector)
		sroce_crc_arch_end();
	return crc == expected && copied == expected && copy_is_right(to, from, bytes);
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
			sum_copy(method, 0, buf, buf + RACE_BYTES, RACE_BYTES);
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
	if (!passes_test(method, buf)) {
		pr_warn("CRC-32 by %s gives wrong results, it is not used\n", method->name);
		return false;
	}
	return !any || time_of(method, buf) < time_of(&table, buf);
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
			chosen = method;
			break;
		}
	}
	kfree(buf);
	pr_info("CRC-32 by %s\n", chosen->name);
}
