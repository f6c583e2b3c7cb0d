/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory regions and windows, and the table that finds them by key.
 *
 * A key is number << 8 | variant. A region has the same L_Key and R_Key. A memory window is a
 * region without an L_Key, whose memory is a part of another region's (see window.c).
 *
 * The first number of a device (23 bits) and each variant (8 bits) are random. A peer that knows
 * one key can guess another in a few hundred tries. But the PD of the QP and the access flags of QP
 * and region limit what a key may do, and each wrong guess ends the connection.
 *
 * Lookup is under RCU; a reference pins the region while bytes are copied. Deregistration removes
 * the key and waits for those references, never for an RCU grace period. So does reregistration,
 * which puts another region in the place of the first.
 *
 * Only create, publish, replace and destroy sleep. A protection domain is an opaque pointer that is
 * compared and never dereferenced.
 */
#ifndef SROCE_MEMORY_REGION_H
#define SROCE_MEMORY_REGION_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "transport/access.h"
#include "transport/wqe.h"

struct ib_umem;
struct sroce_dmabuf;

enum sroce_region_kind {
	SROCE_REGION_USER,	/* pinned user pages, or a DMA-BUF: dmabuf.c */
	SROCE_REGION_DMA,	/* all kernel memory, by virtual address (get_dma_mr) */
	SROCE_REGION_FAST,	/* registered by REG_MR work requests */
	SROCE_REGION_WINDOW_1,	/* memory window of type 1: for all QPs of a PD */
	SROCE_REGION_WINDOW_2,	/* memory window of type 2B: for the QP that it was bound with */
	SROCE_REGION_ODP,	/* user pages, paged on demand: odp.c */
};

/**
 * struct sroce_page_list - the memory of a region, in blocks of equal size
 * @blocks: kernel address of each block, aligned to its size. All memory has a kernel address,
 *	or ib_core would not accept a software device. ODP: with SROCE_BLOCK_* of odp.h, or NULL.
 *	DMA-BUF: one, of any alignment
 * @count: entries in @blocks
 * @capacity: entries allocated in @blocks
 * @shift: log2 of the block size: a page, a huge page, or the page size of a fast registration.
 *	DMA-BUF: of at least the length
 * @first_offset: offset of the region's first byte in the first block
 */
struct sroce_page_list {
	void	**blocks;
	u32	count;
	u32	capacity;
	u32	shift;
	u32	first_offset;
};

/**
 * struct sroce_region - a memory region or window
 * @kind: enum sroce_region_kind
 * @valid: FAST: between REG_MR and invalidation; window: while it is bound; others: always
 * @retired: USER: deregistration has begun, so no window may be bound to it
 * @persistent: USER and its windows: copies to it are written back, see pmem.h
 * @key: L_Key and R_Key; each REG_MR or BIND_MW changes the variant
 * @pd: protection domain
 * @range: iova, length and permissions
 * @pages: the memory; unused for DMA; the blocks of a window are those of @parent
 * @refs: one for the table, one for each copy or (in)validation under way
 * @busy: FAST and windows: read-locked while bytes are copied, so that an invalidation completes
 *	only when no copy is under way; write-locked to change @valid, @key, @range and @pages.
 *	USER: write-locked for @retired and @windows, after that of a window. ODP: read-locked while
 *	bytes are copied, write-locked for the list of @pages
 * @staged: FAST: the list that the next REG_MR will use, see map_mr_sg
 * @staged_length: FAST: bytes of @staged
 * @parent: window: the region that it is bound to, while it is
 * @qp_serial: window of type 2: of the QP that it is bound with
 * @windows: USER: how many windows are bound to it
 * @umem: USER, ODP: the memory; NULL if it has no bytes
 * @dmabuf: USER: the memory is a DMA-BUF, and @umem is NULL
 * @release: gives @umem or @dmabuf back; NULL: it is pinned memory
 * @fault_mutex: ODP: one fault at a time
 * @listed: ODP: how many blocks are not NULL, with the umem_mutex
 * @next_write: ODP: where the last fault to write has ended, from the start of the first page on;
 *	without a lock, because it is only a hint
 * @released: completed with the last reference
 * @rcu: defers the free
 *
 * A copy uses the members up to @busy, which share two cache lines, and @qp_serial of a window.
 */
struct sroce_region {
	u8	kind;
	bool	valid;
	bool	retired;
	bool	persistent;
	u32	key;
	const void *pd;
	struct sroce_access_range range;
	struct sroce_page_list pages;
	refcount_t refs;
	rwlock_t busy;
	struct sroce_page_list staged;
	u64	staged_length;
	struct sroce_region *parent;
	u64	qp_serial;
	u32	windows;
	struct ib_umem *umem;
	struct sroce_dmabuf *dmabuf;
	void (*release)(struct sroce_region *region);
	struct mutex fault_mutex;
	unsigned long listed;
	u64	next_write;
	struct completion released;
	struct rcu_head rcu;
};

/**
 * struct sroce_memory - the key table of a device
 * @regions: index -> region
 * @next_index: where the cyclic allocation continues
 * @first_number: the number in the key of index 0
 * @odp_regions: how many of the regions are paged on demand
 */
struct sroce_memory {
	struct xarray regions;
	u32	next_index;
	u32	first_number;
	atomic_t odp_regions;
};

/**
 * struct sroce_region_info - what tools show of a region
 * @valid: see struct sroce_region
 * @windows: how many windows are bound to it
 */
struct sroce_region_info {
	bool	valid;
	u32	windows;
};

void sroce_memory_init(struct sroce_memory *mem);
void sroce_memory_fini(struct sroce_memory *mem);
struct sroce_region *sroce_region_create(enum sroce_region_kind kind, const void *pd);
int sroce_page_list_alloc(struct sroce_page_list *list, u32 capacity);
int sroce_region_publish(struct sroce_memory *mem, struct sroce_region *region);
int sroce_region_retire(struct sroce_region *region);
void sroce_region_replace(struct sroce_memory *mem, struct sroce_region *old,
			  struct sroce_region *region, bool same_memory);
void sroce_region_destroy(struct sroce_memory *mem, struct sroce_region *region);
struct sroce_region *sroce_region_get(struct sroce_memory *mem, u32 key);
void sroce_region_put(struct sroce_region *region);
bool sroce_region_get_info(struct sroce_memory *mem, u32 key, struct sroce_region_info *info);
struct sroce_region *sroce_region_open(struct sroce_memory *mem, const void *pd, u64 qp_serial,
				       u32 key);
void sroce_region_close(struct sroce_region *region);
enum sroce_mem_status sroce_region_register(struct sroce_memory *mem, const void *pd, u32 key,
					    u64 iova, u32 access);
enum sroce_mem_status sroce_memory_invalidate(struct sroce_memory *mem, const void *pd,
					      u64 qp_serial, u32 key, bool remote);

/* Memory windows: window.c. */
enum sroce_mem_status sroce_mw_bind(struct sroce_memory *mem, const void *pd, u64 qp_serial,
				    const struct sroce_bind_mw *bind);
void sroce_mw_unbind(struct sroce_region *window);

static inline bool sroce_region_is_window(const struct sroce_region *region)
{
	return region->kind == SROCE_REGION_WINDOW_1 || region->kind == SROCE_REGION_WINDOW_2;
}

/* Can it, or a page of it, be invalidated, so that its lock must be held for each copy? */
static inline bool sroce_region_is_volatile(const struct sroce_region *region)
{
	return region->kind >= SROCE_REGION_FAST;
}

#endif
