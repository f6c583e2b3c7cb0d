/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies between packets and regions. No other code reads or writes the memory of processes and
 * kernel consumers, except inline data of the latter (datapath/post.c). The functions do not sleep.
 * They must not be called from hard interrupts. Of a region that is paged on demand, a page may be
 * missing: they return SROCE_MEM_NOT_PRESENT, and may have written what is before it.
 */
#ifndef SROCE_MEMORY_COPY_H
#define SROCE_MEMORY_COPY_H

#include <linux/skbuff.h>

#include "crc/crc.h"
#include "memory/odp.h"
#include "memory/region.h"
#include "transport/opcode.h"
#include "transport/wqe.h"

/**
 * struct sroce_mr_range - bytes of a region, as a peer names them
 * @mem: key table
 * @pd: protection domain of the QP
 * @qp_serial: of the QP
 * @key: R_Key
 * @va: address of the first byte
 * @bytes: how many
 * @access: SROCE_ACCESS_* needed
 * @wait: where to note pages that are not present; NULL: they are an error
 */
struct sroce_mr_range {
	struct sroce_memory *mem;
	const void *pd;
	u64	qp_serial;
	u32	key;
	u32	bytes;
	u64	va;
	u32	access;
	struct sroce_page_wait *wait;
};

/**
 * struct sroce_payload - bytes to be written into a region
 * @at: the bytes, in pieces of equal size; NULL if they are in @skb
 * @skb: packet with the bytes
 * @offset: of the bytes, from skb->data
 * @piece_bytes: size of each piece at @at
 * @left_bytes: bytes left of the current piece
 * @writer: sums each piece while it is copied, except the first
 * @checked: the ICRCs were checked before: do not sum
 * @segment_written: NULL, or called after each piece. Returns whether the piece was correct, and
 *	sets @at, and @writer if it sums, for the next one.
 * @pieces: number of correct pieces so far
 * @fault: what was wrong with the scatter list, see struct sroce_mr_ref
 * @wait: as in struct sroce_mr_range
 */
struct sroce_payload {
	const u8 *at;
	u32	piece_bytes;
	u32	left_bytes;
	const struct sk_buff *skb;
	u32	offset;
	bool	checked;
	struct sroce_crc_writer writer;
	bool	(*segment_written)(struct sroce_payload *from);
	u32	pieces;
	u8	fault;
	struct sroce_page_wait *wait;
};

/**
 * struct sroce_mr_ref - the region used last, kept open across packets
 * @mem: key table
 * @pd: protection domain of the QP
 * @qp_serial: of the QP if its peer names the keys, 0 for L_Keys
 * @region: the open region, or NULL
 * @fault: after SROCE_MEM_BAD_LOCAL: what was wrong with an element, or SROCE_MEM_BAD_LOCAL if the
 *	list was too short
 * @wait: as in struct sroce_mr_range
 *
 * Deregistration waits for it, so keep it for a round of a work queue at most and do not sleep.
 * Invalidation spins for it, so call sroce_mr_ref_end_plan() after each plan.
 */
struct sroce_mr_ref {
	struct sroce_memory *mem;
	const void *pd;
	u64	qp_serial;
	struct sroce_region *region;
	u8	fault;
	struct sroce_page_wait *wait;
};

void sroce_mr_ref_init(struct sroce_mr_ref *mr_ref, struct sroce_memory *mem, const void *pd,
		       u64 qp_serial);
void sroce_mr_ref_put(struct sroce_mr_ref *mr_ref);
void sroce_mr_ref_end_plan(struct sroce_mr_ref *mr_ref);

/* Remote memory, named by key and address. */
enum sroce_mem_status sroce_memory_place(const struct sroce_mr_range *range,
					 struct sroce_payload *from, u32 bytes);
enum sroce_mem_status sroce_memory_atomic(const struct sroce_mr_range *range,
					  enum sroce_opcode op, u64 compare, u64 swap_add,
					  u64 *original);
enum sroce_mem_status sroce_memory_flush(const struct sroce_mr_range *range);
enum sroce_mem_status sroce_memory_fetch(struct sroce_mr_ref *mr_ref, u32 rkey, u64 va,
					 struct sroce_crc_writer *writer, u32 bytes);

/* Local memory, named by a scatter/gather list. */
enum sroce_mem_status sroce_memory_scatter(struct sroce_memory *mem, const void *pd,
					   const struct sroce_sge *sge, u32 num_sge, u32 offset,
					   struct sroce_payload *from, u32 bytes);
enum sroce_mem_status sroce_memory_gather(struct sroce_mr_ref *mr_ref, const struct sroce_sge *sge,
					  u32 num_sge, u32 offset, struct sroce_crc_writer *writer,
					  u32 bytes);
enum sroce_mem_status sroce_memory_check_sges(struct sroce_mr_ref *mr_ref,
					      const struct sroce_sge *sge, u32 num_sge,
					      u32 offset, u32 bytes);

#endif
