// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 of data, of copied data, and with a prefix, by the method chosen at load.
 *
 * The kernel's crc32_le() always works. On x86 before 6.14 it uses tables and is twenty times
 * slower than a copy, and no kernel has a function that copies and sums in one pass. Another
 * method is used if it passes a self-test and is faster. The speed is measured because emulators
 * have the instructions but run them slowly.
 *
 * A method may need the vector registers. A section (sroce_crc_vector_begin()) takes them once for
 * several CRCs. Where they are not available, the table is used.
 */
#undef pr_fmt
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

/* Within a section, the table is faster for fewer bytes. */
#define VECTOR_MIN_BYTES	16

/* The self-test: every length up to TEST_ALL_BYTES, then some up to TEST_MAX_BYTES. */
#define TEST_ALL_BYTES		330
#define TEST_MAX_BYTES		1500
#define TEST_STEP		61
#define TEST_STEP_PREFIXED	16
#define GUARD_BYTES		64
#define GUARD			0xa5
#define SPEED_BYTES		4096
#define SPEED_COPIES		32
#define SPEED_RUNS		4

static char *wanted = "auto";
module_param_named(crc, wanted, charp, 0444);
MODULE_PARM_DESC(crc, "compute CRCs by: auto (default), table, avx512, avx2, pclmul, arm64");

static u32 table_fold(u32 crc, const void *data, size_t bytes)
{
	return crc32_le(crc, data, bytes);
}

/*
 * Sums the copy, because others may write to @from meanwhile. On receive, @to is mapped by a
 * process, which may write to it. The packet then seems corrupt and is copied again on its own.
 */
static u32 table_fold_copy(u32 crc, void *to, const void *from, size_t bytes)
{
	memcpy(to, from, bytes);
	return crc32_le(crc, to, bytes);
}

static const struct sroce_crc_method table = {
	.name = "table", .unit = 1, .fold = table_fold, .fold_copy = table_fold_copy,
};

static const struct sroce_crc_method *chosen __ro_after_init = &table;

/* This CPU is in a section. An interrupt of the section sees it set, too. */
static DEFINE_PER_CPU(bool, in_section);

/* The table sums the first bytes, so that a multiple of the method's unit is left. */
static inline u32 sum_bytes(const struct sroce_crc_method *method, u32 crc, const u8 *data,
			    size_t bytes)
{
	size_t head = bytes & (method->unit - 1);

	if (head)
		crc = table.fold(crc, data, head);
	return bytes > head ? method->fold(crc, data + head, bytes - head) : crc;
}

static inline u32 sum_copy(const struct sroce_crc_method *method, u32 crc, u8 *to,
			   const u8 *from, size_t bytes)
{
	size_t head = bytes & (method->unit - 1);

	if (head)
		crc = table.fold_copy(crc, to, from, head);
	return bytes > head ? method->fold_copy(crc, to + head, from + head, bytes - head) : crc;
}

static inline u32 sum_prefix(const struct sroce_crc_method *method,
			     const struct sroce_crc_prefix *prefix)
{
	u32 block[SROCE_CRC_BLOCK_BYTES / sizeof(u32)], bth_words[2];
	const u64 *shared = prefix->block;
	size_t skip;

	if (method->prefixed)
		return method->prefixed(prefix, NULL, 0);
	memcpy(block, shared, sizeof(block));
	memcpy(bth_words, &prefix->bth_words, sizeof(bth_words));
	block[28 / sizeof(u32)] ^= prefix->ip_id_word;
	block[52 / sizeof(u32)] ^= bth_words[0];
	block[56 / sizeof(u32)] ^= bth_words[1];
	block[60 / sizeof(u32)] ^= prefix->tail_word;
	/* Zeros do not change a register of 0. A block with an IPv4 header begins with 20. */
	skip = shared[0] | shared[1] ? 0 : 2 * sizeof(u64);
	return sum_bytes(method, 0, (const u8 *)block + skip, sizeof(block) - skip);
}

static inline u32 sum_prefixed(const struct sroce_crc_method *method,
			       const struct sroce_crc_prefix *prefix, const u8 *data,
			       size_t bytes)
{
	if (method->prefixed && !(bytes % SROCE_CRC_PREFIXED_UNIT))
		return method->prefixed(prefix, data, bytes);
	return sum_bytes(method, sum_prefix(method, prefix), data, bytes);
}

static inline u32 sum_prefixed_copy(const struct sroce_crc_method *method,
				    const struct sroce_crc_prefix *prefix, u8 *to,
				    const u8 *from, size_t bytes)
{
	if (method->prefixed && !(bytes % SROCE_CRC_PREFIXED_UNIT))
		return method->prefixed_copy(prefix, to, from, bytes);
	return sum_copy(method, sum_prefix(method, prefix), to, from, bytes);
}

static bool enter_vector(size_t bytes)
{
	if (!chosen->vector || bytes < SROCE_CRC_SECTION_BYTES || this_cpu_read(in_section) ||
	    !sroce_crc_arch_begin())
		return false;
	this_cpu_write(in_section, true);
	return true;
}

/**
 * sroce_crc_vector_begin() - begin a section of several CRCs
 * @bytes: total length, roughly; a round of a work queue at most, because preemption and softirqs
 *	are off
 *
 * Optional: a call outside a section takes the vector registers itself if the data is long enough.
 * A section saves that cost and makes short data fast. Sections may be nested. Code in a section
 * must not sleep, nor call consumers, because they may use kernel_fpu_begin(). On PREEMPT_RT there
 * are no sections.
 *
 * Return: the argument for sroce_crc_vector_end().
 */
bool sroce_crc_vector_begin(size_t bytes)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && enter_vector(bytes);
}

/**
 * sroce_crc_vector_end() - end a section
 * @begun: from sroce_crc_vector_begin()
 */
void sroce_crc_vector_end(bool begun)
{
	if (begun) {
		this_cpu_write(in_section, false);
		sroce_crc_arch_end();
	}
}

/* The method for @bytes. Sets @begun if it opened a section, which the caller must end. */
static const struct sroce_crc_method *method_for(size_t bytes, bool *begun)
{
	const struct sroce_crc_method *method = chosen;

	*begun = false;
	if (!method->vector)
		return method;
	if (this_cpu_read(in_section))
		return bytes < VECTOR_MIN_BYTES || in_hardirq() ? &table : method;
	*begun = enter_vector(bytes);
	return *begun ? method : &table;
}

/**
 * sroce_crc32() - continue a CRC-32
 * @crc: CRC register
 * @data: data to sum
 * @bytes: how many
 *
 * Any context but NMI. Uses the table while interrupts are disabled.
 *
 * Return: the new register, like crc32_le().
 */
u32 sroce_crc32(u32 crc, const void *data, size_t bytes)
{
	bool begun;

	crc = sum_bytes(method_for(bytes, &begun), crc, data, bytes);
	sroce_crc_vector_end(begun);
	return crc;
}

/**
 * sroce_crc32_prefixed() - CRC-32 of a prefix and data
 * @prefix: the prefix
 * @data: data that follows it
 * @bytes: how many; may be 0
 *
 * Context as for sroce_crc32().
 *
 * Return: the CRC register; it starts at 0.
 */
u32 sroce_crc32_prefixed(const struct sroce_crc_prefix *prefix, const void *data, size_t bytes)
{
	const struct sroce_crc_method *method;
	bool begun;
	u32 crc;

	method = method_for(SROCE_CRC_BLOCK_BYTES + bytes, &begun);
	crc = sum_prefixed(method, prefix, data, bytes);
	sroce_crc_vector_end(begun);
	return crc;
}

static void write_bytes(struct sroce_crc_writer *writer, const u8 *from, size_t bytes)
{
	const struct sroce_crc_method *method;
	bool begun;

	method = method_for((writer->prefix ? SROCE_CRC_BLOCK_BYTES : 0) + bytes, &begun);
	if (writer->prefix)
		writer->crc = sum_prefixed_copy(method, writer->prefix, writer->to, from, bytes);
	else
		writer->crc = sum_copy(method, writer->crc, writer->to, from, bytes);
	sroce_crc_vector_end(begun);
	writer->prefix = NULL;
	writer->to += bytes;
}

/**
 * sroce_crc_write() - copy and sum the next bytes
 * @writer: the writer
 * @from: the bytes
 * @bytes: how many
 *
 * Sums the bytes written, even if @from changes meanwhile. Context as for sroce_crc32().
 */
void sroce_crc_write(struct sroce_crc_writer *writer, const void *from, size_t bytes)
{
	if (!writer->next_segment) {
		write_bytes(writer, from, bytes);
		return;
	}
	while (bytes) {
		size_t count = min_t(size_t, bytes, writer->left);

		write_bytes(writer, from, count);
		from += count;
		bytes -= count;
		writer->left -= count;
		if (!writer->left)
			writer->next_segment(writer);
	}
}

/**
 * sroce_crc_advance() - sum bytes that are at the destination already
 * @writer: the writer
 * @bytes: how many
 *
 * Context as for sroce_crc32().
 */
void sroce_crc_advance(struct sroce_crc_writer *writer, size_t bytes)
{
	if (writer->prefix)
		writer->crc = sroce_crc32_prefixed(writer->prefix, writer->to, bytes);
	else
		writer->crc = sroce_crc32(writer->crc, writer->to, bytes);
	writer->prefix = NULL;
	writer->to += bytes;
}

/**
 * sroce_crc_finish() - get the result
 * @writer: the writer; all bytes are written
 *
 * Return: the CRC register.
 */
u32 sroce_crc_finish(struct sroce_crc_writer *writer)
{
	if (writer->prefix)
		sroce_crc_advance(writer, 0);
	return writer->crc;
}

/* By definition, bit by bit. */
static u32 crc_of_byte(u32 crc, u8 byte)
{
	int i;

	crc ^= byte;
	for (i = 0; i < 8; i++)
		crc = crc >> 1 ^ (crc & 1 ? CRC32_POLY_LE : 0);
	return crc;
}

/* @prefix is NULL to continue from @seed. */
static bool test_length(const struct sroce_crc_method *method,
			const struct sroce_crc_prefix *prefix, u32 seed, u8 *to, const u8 *from,
			size_t bytes, u32 expected)
{
	u32 crc, copied;

	memset(to - GUARD_BYTES, GUARD, bytes + 2 * GUARD_BYTES);
	if (method->vector && !sroce_crc_arch_begin())
		return false;
	if (prefix) {
		crc = sum_prefixed(method, prefix, from, bytes);
		copied = sum_prefixed_copy(method, prefix, to, from, bytes);
	} else {
		crc = sum_bytes(method, seed, from, bytes);
		copied = sum_copy(method, seed, to, from, bytes);
	}
	if (method->vector)
		sroce_crc_arch_end();
	return crc == expected && copied == expected && to[-1] == GUARD && to[bytes] == GUARD &&
	       !memcmp(to, from, bytes);
}

/* The prefix's block is @buf, the data follows. */
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
		if ((bytes <= TEST_ALL_BYTES || !(bytes % TEST_STEP_PREFIXED)) &&
		    !test_length(method, &prefix, 0, to, from, bytes, crc))
			return false;
		crc = crc_of_byte(crc, from[bytes]);
	}
	return true;
}

/* @buf has space for the longest data and its copy, with guards. */
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
				if (!test_length(method, NULL, seed, to, from, bytes, crc))
					return false;
				next += bytes < TEST_ALL_BYTES ? 1 : TEST_STEP;
			}
			crc = crc_of_byte(crc, from[bytes]);
		}
	}
	return true;
}

/* Nanoseconds for some copies. Takes the fastest run, because interrupts slow down the others. */
static u64 time_of(const struct sroce_crc_method *method, u8 *buf)
{
	u64 best = U64_MAX, start;
	int run, i;

	for (run = 0; run < SPEED_RUNS; run++) {
		if (method->vector && !sroce_crc_arch_begin())
			continue;
		start = ktime_get_ns();
		for (i = 0; i < SPEED_COPIES; i++)
			sum_copy(method, 0, buf, buf + SPEED_BYTES, SPEED_BYTES);
		best = min(best, ktime_get_ns() - start);
		if (method->vector)
			sroce_crc_arch_end();
	}
	return best;
}

static bool is_usable(const struct sroce_crc_method *method, u8 *buf)
{
	bool is_auto = !strcmp(wanted, "auto");

	if (!is_auto && strcmp(wanted, method->name))
		return false;
	if (!passes_test(method, buf) || !passes_prefixed_test(method, buf)) {
		pr_warn("CRC-32 by %s gives wrong results and is not used\n", method->name);
		return false;
	}
	return !is_auto || time_of(method, buf) < time_of(&table, buf);
}

/**
 * sroce_crc_init() - choose a method; to be called first
 */
void __init sroce_crc_init(void)
{
	const struct sroce_crc_method *method;
	u8 *buf = kmalloc(2 * SPEED_BYTES, GFP_KERNEL);
	u32 i;

	if (!buf)
		return;
	for (i = 0; i < 2 * SPEED_BYTES; i++)
		buf[i] = i * 167 >> 3;
	for (i = 0; (method = sroce_crc_arch_method(i)); i++) {
		if (is_usable(method, buf)) {
			chosen = method;
			break;
		}
	}
	kfree(buf);
	pr_info("CRC-32 by %s\n", chosen->name);
}
