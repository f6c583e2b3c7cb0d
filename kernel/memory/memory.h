/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions and keys, and the only code that reads or writes the memory
 * of users and kernel consumers.
 *
 * A key is index << 8 | variant; lkey and rkey of a region are equal, and the
 * variant changes from one registration to the next, so that a stale key does
 * not open the region that got the slot after it. Regions are looked up by RCU
 * and pinned by a reference while bytes are moved; deregistration unpublishes
 * the key and waits for those references, never for an RCU grace period.
 *
 * Nothing here sleeps except create and destroy. A protection domain is an
 * opaque pointer, compared and never followed.
 */
#ifndef SROCE_MEMORY_MEMORY_H
#define SROCE_MEMORY_MEMORY_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "crc/crc.h"
#include "transport/access.h"
#include "transport/opcode.h"
#include "transport/wqe.h"

struct ib_umem;

enum sroce_region_kind {
	SROCE_REGION_USER,	/* pinned user pages */
	SROCE_REGION_DMA,	/* all of kernel memory, by virtual address (get_dma_mr) */
	SROCE_REGION_FAST,	/* registered by REG_MR work requests */
};

/**
 * struct sroce_page_list - where the bytes of a region are
 * @pieces: kernel address of each piece of 1 << @shift bytes, aligned to its size
 *          (ib_core lets software devices in only where all memory has one)
 * @count: entries in @pieces
 * @capacity: entries there is room for
 * @shift: a piece is a page, a huge page, or what a consumer's list is made of
 * @first_offset: offset of the region's first byte in the first piece
 */
struct sroce_page_list {
	void	**pieces;
	u32	count;
	u32	capacity;
	u32	shift;
	u32	first_offset;
};

/**
 * struct sroce_region - a memory region
 * @kind: enum sroce_region_kind
 * @valid: FAST: between REG_MR and invalidation; others: always
 * @key: lkey and rkey; FAST: the variant changes with each REG_MR
 * @pd: protection domain
 * @range: iova, length and permissions
 * @pages: where the bytes are; unused for DMA
 * @staged: FAST: the list that the next REG_MR puts into force, see map_mr_sg
 * @staged_length: FAST: bytes of @staged
 * @busy: FAST: read-locked while bytes are moved, so that an invalidation is
 *        over only when nobody touches the memory any more; write-locked to
 *        change @valid, @key, @range and @pages. The others never change.
 * @umem: USER: what is pinned
 * @refs: one for the table, one for each user of the moment
 * @released: completed when the last reference goes
 * @rcu: defers the free
 */
struct sroce_region {
	u8	kind;
	bool	valid;
	u32	key;
	const void *pd;
	struct sroce_access_range range;
	struct sroce_page_list pages;
	struct sroce_page_list staged;
	u64	staged_length;
	rwlock_t busy;
	struct ib_umem *umem;
	refcount_t refs;
	struct completion released;
	struct rcu_head rcu;
};

/**
 * struct sroce_memory - the key table of a device
 * @regions: index -> region
 * @next_index: where the cyclic allocation goes on
 * @variant: variant byte of the next key
 */
struct sroce_memory {
	struct xarray regions;
	u32	next_index;
	atomic_t variant;
};

/**
 * struct sroce_payload - bytes to be written into a region
 * @at: where they are; NULL: they are in a packet,
 * @skb: this one, at
 * @offset: from skb->data
 * @piece_bytes: @at: so many at a time, then there are
 * @skip_bytes: others in between, or wherever @segment_written says
 * @left_bytes: of this piece
 * @writer: sums all pieces but the first one, unless
 * @checked: they were checked before
 * @segment_written: NULL, or called after each piece; returns whether it was right, and prepares
 *		   @writer for the next one, or moves @at there
 * @pieces: how many were right
 */
struct sroce_payload {
	const u8 *at;
	u32	piece_bytes;
	u32	skip_bytes;
	u32	left_bytes;
	const struct sk_buff *skb;
	u32	offset;
	bool	checked;
	struct sroce_crc_writer writer;
	bool	(*segment_written)(struct sroce_payload *from);
	u32	pieces;
};

/**
 * struct sroce_mr_ref - the region last read from, open until another is, or the mr_ref ends
 * @mem: key table
 * @pd: protection domain of the QP
 * @region: the region, or NULL
 *
 * Held for some packets at most, without sleeping: deregistration and invalidation wait for it.
 */
struct sroce_mr_ref {
	struct sroce_memory *mem;
	const void *pd;
	struct sroce_region *region;
};

void sroce_memory_init(struct sroce_memory *mem);
void sroce_memory_fini(struct sroce_memory *mem);

/* region.c */
struct sroce_region *sroce_region_create(enum sroce_region_kind kind, const void *pd);
int sroce_page_list_alloc(struct sroce_page_list *list, u32 capacity);
int sroce_region_publish(struct sroce_memory *mem, struct sroce_region *region);
void sroce_region_destroy(struct sroce_memory *mem, struct sroce_region *region);
struct sroce_region *sroce_region_open(struct sroce_memory *mem, const void *pd, u32 key);
void sroce_region_close(struct sroce_region *region);
enum sroce_mem_status sroce_region_register(struct sroce_memory *mem, const void *pd,
					    struct sroce_region *region, u32 key, u64 iova,
					    u32 access);
enum sroce_mem_status sroce_memory_invalidate(struct sroce_memory *mem, const void *pd, u32 key,
					      bool remote);

/* copy.c */
void sroce_mr_ref_init(struct sroce_mr_ref *mr_ref, struct sroce_memory *mem, const void *pd);
void sroce_mr_ref_put(struct sroce_mr_ref *mr_ref);

/* copy.c: a remote range, named by key and address */
enum sroce_mem_status sroce_memory_check(struct sroce_memory *mem, const void *pd, u32 rkey,
					 u64 va, u32 bytes, u32 access);
enum sroce_mem_status sroce_memory_place(struct sroce_memory *mem, const void *pd, u32 rkey,
					 u64 va, u32 check_bytes, struct sroce_payload *from,
					 u32 bytes);
enum sroce_mem_status sroce_memory_fetch(struct sroce_mr_ref *mr_ref, u32 rkey, u64 va,
					 struct sroce_crc_writer *writer, u32 bytes);
enum sroce_mem_status sroce_memory_atomic(struct sroce_memory *mem, const void *pd, u32 rkey,
					  u64 va, enum sroce_opcode op, u64 compare, u64 swap_add,
					  u64 *original);

/* copy.c: a local scatter/gather list, @offset bytes into it */
enum sroce_mem_status sroce_memory_scatter(struct sroce_memory *mem, const void *pd,
					   const struct sroce_sge *sge, u32 num_sge, u32 offset,
					   struct sroce_payload *from, u32 bytes);
enum sroce_mem_status sroce_memory_gather(struct sroce_mr_ref *mr_ref, const struct sroce_sge *sge,
					  u32 num_sge, u32 offset, struct sroce_crc_writer *writer,
					  u32 bytes);

#endif
