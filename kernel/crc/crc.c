// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 of data, of what is copied, and with a head in front, by the method that was chosen at
 * load, where vector registers may be used; see crc_choose.c.
 */
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "crc/crc.h"
#include "crc/crc_sum.h"

/* Within a section, fewer bytes than this are left to the table. */
#define VECTOR_MIN_BYTES	16

/* The vector registers are taken. Whoever finds it set is in the section, or has interrupted it. */
static DEFINE_PER_CPU(bool, in_section);

static bool enter_vector(size_t bytes)
{
	if (!sroce_crc_chosen->vector || bytes < SROCE_CRC_SECTION_BYTES ||
	    this_cpu_read(in_section) || !sroce_crc_arch_begin())
		return false;
	this_cpu_write(in_section, true);
	return true;
}

/**
 * sroce_crc_vector_begin() - begin a section of several CRCs
 * @bytes: how many they are to be over, roughly; some packets at most, as preemption and
 *	   softirqs are off meanwhile
 *
 * Never needed: a call outside of a section makes one for itself when it is worth it.
 * In a section that is saved, and short data is fast too. Sections may be nested; nothing
 * in one may sleep, or call consumers, who may use vector registers without asking. There are
 * none where spinlocks sleep.
 *
 * Return: what sroce_crc_vector_end() must be told.
 */
bool sroce_crc_vector_begin(size_t bytes)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && enter_vector(bytes);
}

/**
 * sroce_crc_vector_end() - end a section
 * @begun: what sroce_crc_vector_begin() said
 */
void sroce_crc_vector_end(bool begun)
{
	if (begun) {
		this_cpu_write(in_section, false);
		sroce_crc_arch_end();
	}
}

/* What to do with so many bytes; @begun when that is the whole section. */
static const struct sroce_crc_method *method_for(size_t bytes, bool *begun)
{
	const struct sroce_crc_method *method = sroce_crc_chosen;

	*begun = false;
	if (!method->vector)
		return method;
	if (this_cpu_read(in_section))
		return bytes < VECTOR_MIN_BYTES || in_hardirq() ? &sroce_crc_table : method;
	*begun = enter_vector(bytes);
	return *begun ? method : &sroce_crc_table;
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

	crc = sroce_crc_sum(method_for(bytes, &begun), crc, data, bytes);
	sroce_crc_vector_end(begun);
	return crc;
}

/**
 * sroce_crc32_prefixed() - the CRC-32 of a head and of data
 * @prefix: the head
 * @data: what comes after it
 * @bytes: how many; may be 0
 *
 * Context as for sroce_crc32().
 *
 * Return: the register afterwards, which was 0.
 */
u32 sroce_crc32_prefixed(const struct sroce_crc_prefix *prefix, const void *data, size_t bytes)
{
	const struct sroce_crc_method *method;
	bool begun;
	u32 crc;

	method = method_for(SROCE_CRC_BLOCK_BYTES + bytes, &begun);
	crc = sroce_crc_sum_prefixed(method, prefix, data, bytes);
	sroce_crc_vector_end(begun);
	return crc;
}

static void put_bytes(struct sroce_crc_writer *writer, const u8 *from, size_t bytes)
{
	const struct sroce_crc_method *method;
	bool begun;

	method = method_for((writer->prefix ? SROCE_CRC_BLOCK_BYTES : 0) + bytes, &begun);
	if (writer->prefix)
		writer->crc = sroce_crc_sum_prefixed_copy(method, writer->prefix, writer->to, from,
							  bytes);
	else
		writer->crc = sroce_crc_sum_copy(method, writer->crc, writer->to, from, bytes);
	sroce_crc_vector_end(begun);
	writer->prefix = NULL;
	writer->to += bytes;
}

/**
 * sroce_crc_write() - copy the next bytes to a sink
 * @writer: the sink
 * @from: where from
 * @bytes: how many
 *
 * What is summed is what was copied. Context as for sroce_crc32().
 */
void sroce_crc_write(struct sroce_crc_writer *writer, const void *from, size_t bytes)
{
	if (!writer->next_segment) {
		put_bytes(writer, from, bytes);
		return;
	}
	while (bytes) {
		size_t run = min_t(size_t, bytes, writer->left);

		put_bytes(writer, from, run);
		from += run;
		bytes -= run;
		writer->left -= run;
		if (!writer->left)
			writer->next_segment(writer);
	}
}

/**
 * sroce_crc_advance() - the next bytes of a sink are there already
 * @writer: the sink
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
 * sroce_crc_finish() - no bytes come any more
 * @writer: the sink
 *
 * Return: the CRC register.
 */
u32 sroce_crc_finish(struct sroce_crc_writer *writer)
{
	if (writer->prefix)
		sroce_crc_advance(writer, 0);
	return writer->crc;
}
