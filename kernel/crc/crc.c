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

static bool enter(size_t bytes)
{
	if (!sroce_crc_chosen->vector || bytes < SROCE_CRC_SECTION_BYTES ||
	    this_cpu_read(in_section) || !sroce_crc_arch_begin())
		return false;
	this_cpu_write(in_section, true);
	return true;
}

/**
 * sroce_crc_begin() - begin a section of several CRCs
 * @bytes: how many they are to be over, roughly; some packets at most, as preemption and
 *	   softirqs are off meanwhile
 *
 * Never needed: a call outside of a section makes one for itself when it is worth it.
 * In a section that is saved, and short data is fast too. Sections may be nested; nothing
 * in one may sleep, or call consumers, who may use vector registers without asking. There are
 * none where spinlocks sleep.
 *
 * Return: what sroce_crc_end() must be told.
 */
bool sroce_crc_begin(size_t bytes)
{
	return !IS_ENABLED(CONFIG_PREEMPT_RT) && enter(bytes);
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
	const struct sroce_crc_method *method = sroce_crc_chosen;

	*begun = false;
	if (!method->vector)
		return method;
	if (this_cpu_read(in_section))
		return bytes < VECTOR_MIN_BYTES || in_hardirq() ? &sroce_crc_table : method;
	*begun = enter(bytes);
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
	sroce_crc_end(begun);
	return crc;
}

/**
 * sroce_crc32_headed() - the CRC-32 of a head and of data
 * @head: the head
 * @data: what comes after it
 * @bytes: how many; may be 0
 *
 * Context as for sroce_crc32().
 *
 * Return: the register afterwards, which was 0.
 */
u32 sroce_crc32_headed(const struct sroce_crc_head *head, const void *data, size_t bytes)
{
	const struct sroce_crc_method *method;
	bool begun;
	u32 crc;

	method = method_for(SROCE_CRC_BLOCK_BYTES + bytes, &begun);
	crc = sroce_crc_sum_headed(method, head, data, bytes);
	sroce_crc_end(begun);
	return crc;
}

static void put(struct sroce_crc_sink *sink, const u8 *from, size_t bytes)
{
	const struct sroce_crc_method *method;
	bool begun;

	method = method_for((sink->head ? SROCE_CRC_BLOCK_BYTES : 0) + bytes, &begun);
	if (sink->head)
		sink->crc = sroce_crc_sum_headed_copy(method, sink->head, sink->to, from, bytes);
	else
		sink->crc = sroce_crc_sum_copy(method, sink->crc, sink->to, from, bytes);
	sroce_crc_end(begun);
	sink->head = NULL;
	sink->to += bytes;
}

/**
 * sroce_sink_put() - copy the next bytes to a sink
 * @sink: the sink
 * @from: where from
 * @bytes: how many
 *
 * What is summed is what was copied. Context as for sroce_crc32().
 */
void sroce_sink_put(struct sroce_crc_sink *sink, const void *from, size_t bytes)
{
	if (!sink->full) {
		put(sink, from, bytes);
		return;
	}
	while (bytes) {
		size_t run = min_t(size_t, bytes, sink->left);

		put(sink, from, run);
		from += run;
		bytes -= run;
		sink->left -= run;
		if (!sink->left)
			sink->full(sink);
	}
}

/**
 * sroce_sink_pass() - the next bytes of a sink are there already
 * @sink: the sink
 * @bytes: how many
 *
 * Context as for sroce_crc32().
 */
void sroce_sink_pass(struct sroce_crc_sink *sink, size_t bytes)
{
	if (sink->head)
		sink->crc = sroce_crc32_headed(sink->head, sink->to, bytes);
	else
		sink->crc = sroce_crc32(sink->crc, sink->to, bytes);
	sink->head = NULL;
	sink->to += bytes;
}

/**
 * sroce_sink_end() - no bytes come any more
 * @sink: the sink
 *
 * Return: the CRC register.
 */
u32 sroce_sink_end(struct sroce_crc_sink *sink)
{
	if (sink->head)
		sroce_sink_pass(sink, 0);
	return sink->crc;
}
