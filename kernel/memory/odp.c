// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions whose pages are not pinned but paged on demand.
 *
 *   a copy misses a page  ->  sroce_odp_fault_in(), in process context  ->  the copy is repeated
 *   the process unmaps, moves, shares (fork) or reclaims pages  ->  invalidate_pages()
 *
 * A block has the address of its page while the page may be accessed. Copies have BH off and hold
 * @busy of the region; so a page leaves the process only when no copy is under way. They
 * cannot fault pages in, and return SROCE_MEM_NOT_PRESENT.
 *
 * Lock order: fault_mutex -> mmap_lock -> umem_mutex -> busy. The notifier may be called by
 * anything that takes the mmap_lock, or by reclaim.
 */
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/odp.h"
#include "memory/odp.h"
#include "memory/region.h"

#ifdef SROCE_HAVE_ODP

/* A process that changes its mappings all the time may keep a long fault from ending. */
#define PIECE_BYTES	(128u * 1024)
/* Pages behind the ones that a copy missed are needed soon, and a fault costs more than a page. */
#define AHEAD_BYTES	(128u * 1024)
/* How many blocks are dropped under one lock, with BH off. */
#define DROP_BLOCKS	512ul

/* Returns NULL if the kernel has no access to the page: memfd_secret() unmaps its pages here. */
static void *make_block(struct page *page, bool writable)
{
	void *address = page_address(page);
	u8 byte;

	if (copy_from_kernel_nofault(&byte, address, sizeof(byte)))
		return NULL;
	return (void *)((uintptr_t)address | SROCE_BLOCK_PRESENT |
			(writable ? SROCE_BLOCK_WRITABLE : 0));
}

/* Pages that a copy may have written are dirty: the entry in the page table does not say so. */
static void mark_dirty(const void *block)
{
	uintptr_t value = (uintptr_t)block;

	if (value & SROCE_BLOCK_WRITABLE)
		set_page_dirty(compound_head(virt_to_page((void *)(value & ~SROCE_BLOCK_FLAGS))));
}

static void drop_piece(struct sroce_region *region, unsigned long first, unsigned long end)
{
	void **blocks = region->pages.blocks;
	unsigned long i;

	write_lock_bh(&region->busy);
	for (i = first; i < end; i++)
		blocks[i] = (void *)((uintptr_t)blocks[i] & ~SROCE_BLOCK_PRESENT);
	write_unlock_bh(&region->busy);
	/* Only the holder of umem_mutex writes to the list, and this may sleep. */
	for (i = first; i < end; i++) {
		region->listed -= !!blocks[i];
		mark_dirty(blocks[i]);
		WRITE_ONCE(blocks[i], NULL);
	}
}

/*
 * With umem_mutex, so none is listed meanwhile. No copy to or from these pages is under way
 * afterwards. In pieces, because copies spin for the lock.
 */
static void drop_blocks(struct sroce_region *region, unsigned long first, unsigned long end)
{
	unsigned long next;

	for (; first < end && region->listed; first = next) {
		next = min(end, first + DROP_BLOCKS);
		drop_piece(region, first, next);
		cond_resched();
	}
}

static unsigned long block_at(const struct ib_umem_odp *odp, u64 address)
{
	return (address - odp->notifier.interval_tree.start) >> PAGE_SHIFT;
}

/* Returns false if this would have to sleep and must not; then the caller leaves the pages. */
static bool invalidate_pages(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range, unsigned long seq)
{
	struct ib_umem_odp *odp = container_of(notifier, struct ib_umem_odp, notifier);
	u64 start, end;

	if (!mmu_notifier_range_blockable(range))
		return false;

	mutex_lock(&odp->umem_mutex);
	mmu_interval_set_seq(notifier, seq);
	start = max_t(u64, ib_umem_start(odp), range->start);
	end = min_t(u64, ib_umem_end(odp), range->end);
	/* Until the region has been set up it has no pages. */
	if (odp->private)
		drop_blocks(odp->private, block_at(odp, start),
			    block_at(odp, end + PAGE_SIZE - 1));
	ib_umem_odp_unmap_dma_pages(odp, start, end);
	mutex_unlock(&odp->umem_mutex);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate_pages,
};

static int alloc_blocks(struct sroce_page_list *pages, u64 start, u64 length)
{
	u64 count = (offset_in_page(start) + length + PAGE_SIZE - 1) >> PAGE_SHIFT;
	int err;

	if (count > U32_MAX)
		return -EINVAL;
	err = sroce_page_list_alloc(pages, (u32)count);
	if (err)
		return err;
	pages->count = (u32)count;
	pages->shift = PAGE_SHIFT;
	pages->first_offset = offset_in_page(start);
	return 0;
}

/* Nobody can open the region any more. May sleep. */
static void release_memory(struct sroce_region *region)
{
	struct ib_umem_odp *odp = to_ib_umem_odp(region->umem);

	mutex_lock(&odp->umem_mutex);
	drop_blocks(region, 0, region->pages.count);
	odp->private = NULL;
	mutex_unlock(&odp->umem_mutex);
	ib_umem_odp_release(odp);
	region->umem = NULL;
}

/**
 * sroce_odp_init() - give memory of the current process to an ODP region
 * @mem: key table
 * @region: of kind SROCE_REGION_ODP, not published
 * @ibdev: device
 * @start: address in the process
 * @length: bytes, not 0
 * @access: IB_ACCESS_*
 *
 * No page is faulted in. May sleep.
 *
 * Return: 0 or a negative errno; sroce_region_destroy() undoes it in either case.
 */
int sroce_odp_init(struct sroce_memory *mem, struct sroce_region *region, struct ib_device *ibdev,
		   u64 start, u64 length, int access)
{
	struct ib_umem_odp *odp;
	u64 end;
	int err;

	/* sroce_region_destroy() takes it back. */
	atomic_inc(&mem->odp_regions);
	if (check_add_overflow(start, length, &end) || end > U64_MAX - PAGE_SIZE)
		return -EINVAL;
	err = alloc_blocks(&region->pages, start, length);
	if (err)
		return err;
	odp = ib_umem_odp_get(ibdev, start, length, access, &notifier_ops);
	if (IS_ERR(odp))
		return PTR_ERR(odp);
	mutex_lock(&odp->umem_mutex);
	odp->private = region;
	mutex_unlock(&odp->umem_mutex);
	region->umem = &odp->umem;
	region->release = release_memory;
	return 0;
}

/*
 * The next block of a page. Before 6.16 ib_core replaces the permissions that it keeps by those of
 * the last fault. A page stays writable until it is invalidated.
 */
static void *renew_block(const void *old, struct page *page, bool writable)
{
	if ((uintptr_t)old & SROCE_BLOCK_WRITABLE)
		writable = true;
	return page ? make_block(page, writable) : NULL;
}

/* With umem_mutex. Returns whether all pages are there that were asked for. */
static bool fill_blocks(struct sroce_region *region, const struct ib_umem_odp *odp,
			unsigned long first, unsigned long end, bool write)
{
	void **blocks = region->pages.blocks;
	bool complete = true, writable;
	unsigned long i;

	write_lock_bh(&region->busy);
	for (i = first; i < end; i++) {
		struct page *page = compat_odp_page(odp, i, &writable);
		void *block = renew_block(blocks[i], page, writable);

		region->listed += block && !blocks[i];
		if (block)
			blocks[i] = block;
		if (!sroce_odp_block(&block, write))
			complete = false;
	}
	write_unlock_bh(&region->busy);
	return complete;
}

static int fault_piece(struct sroce_region *region, u64 address, u64 bytes,
		       enum sroce_odp_access access)
{
	struct ib_umem_odp *odp = to_ib_umem_odp(region->umem);
	bool write = access == SROCE_ODP_WRITE, complete;
	int pages;

	mutex_lock(&region->fault_mutex);
	pages = ib_umem_odp_map_dma_and_lock(odp, address, bytes, compat_odp_access(write),
					     access != SROCE_ODP_PRESENT);
	if (pages >= 0) {
		complete = fill_blocks(region, odp, block_at(odp, address),
				       block_at(odp, address + bytes - 1) + 1, write);
		mutex_unlock(&odp->umem_mutex);
	}
	mutex_unlock(&region->fault_mutex);
	if (pages < 0)
		return pages;
	return complete || access == SROCE_ODP_PRESENT ? 0 : -EFAULT;
}

/**
 * sroce_odp_fault() - make pages present
 * @region: of kind SROCE_REGION_ODP, with a reference; it has memory
 * @va: first byte, as an address of the region
 * @bytes: how many, within the region
 * @access: what for
 *
 * They may be gone again at once. Sleeps; takes the mmap_lock of the process. One fault of a region
 * at a time: the list of pages that ib_core keeps is written without a lock.
 *
 * Return: 0; -EPERM if the region may not be written; -EBUSY or -EAGAIN if the process changes its
 * mappings all the time; -EINTR if the caller is being killed; -EFAULT and the like if the process
 * has no such memory, or no longer lives.
 */
int sroce_odp_fault(struct sroce_region *region, u64 va, u64 bytes, enum sroce_odp_access access)
{
	u64 address = region->umem->address + (va - region->range.iova), piece;
	int err = 0;

	if (access == SROCE_ODP_WRITE && !region->umem->writable)
		return -EPERM;
	for (; !err && bytes; bytes -= piece, address += piece) {
		if (fatal_signal_pending(current))
			return -EINTR;
		piece = min_t(u64, bytes, PIECE_BYTES);
		err = fault_piece(region, address, piece, access);
		cond_resched();
	}
	return err;
}

/*
 * Pages behind @range: those that a READ needs next, and those that are written one after another.
 * For another write none is allocated or copied, only those that the process has are listed.
 */
static void fault_ahead(struct sroce_region *region, const struct sroce_page_range *range)
{
	u64 offset = range->va - region->range.iova + region->pages.first_offset;
	u64 end = round_up(offset + range->bytes, PAGE_SIZE);
	u64 total = region->pages.first_offset + region->range.length, ahead;
	enum sroce_odp_access access = SROCE_ODP_READ;

	if (range->write)
		access = offset == region->next_write ? SROCE_ODP_WRITE : SROCE_ODP_PRESENT;
	ahead = end < total ? min_t(u64, total - end, AHEAD_BYTES) : 0;
	/* Behind a hole, or if there is no memory for them, none of them is needed. */
	if (sroce_odp_fault(region, range->va + (end - offset), ahead, access))
		sroce_odp_fault(region, range->va + (end - offset), ahead, SROCE_ODP_PRESENT);
	if (range->write)
		region->next_write = access == SROCE_ODP_WRITE ? end + ahead : end;
}

static int fault_range(struct sroce_region *region, const struct sroce_page_range *range)
{
	int err = sroce_odp_fault(region, range->va, range->bytes,
				  range->write ? SROCE_ODP_WRITE : SROCE_ODP_READ);

	if (!err)
		fault_ahead(region, range);
	return err;
}

/**
 * sroce_odp_fault_in() - make the pages present that a copy has missed
 * @mem: key table
 * @range: from the copy
 *
 * Sleeps.
 *
 * Return: 0, or a negative errno if a copy cannot succeed.
 */
int sroce_odp_fault_in(struct sroce_memory *mem, const struct sroce_page_range *range)
{
	struct sroce_region *region = sroce_region_get(mem, range->key);
	int err = -EINVAL;

	if (!region)
		return -EINVAL;
	if (region->kind == SROCE_REGION_ODP && region->umem && region->key == range->key &&
	    region->pd == range->pd &&
	    sroce_access_check(&region->range, range->va, range->bytes, 0) == SROCE_MEM_OK)
		err = fault_range(region, range);
	sroce_region_put(region);
	return err;
}

#else

int sroce_odp_init(struct sroce_memory *mem, struct sroce_region *region, struct ib_device *ibdev,
		   u64 start, u64 length, int access)
{
	atomic_inc(&mem->odp_regions);
	return -EOPNOTSUPP;
}

int sroce_odp_fault(struct sroce_region *region, u64 va, u64 bytes, enum sroce_odp_access access)
{
	return -EOPNOTSUPP;
}

int sroce_odp_fault_in(struct sroce_memory *mem, const struct sroce_page_range *range)
{
	return -EOPNOTSUPP;
}

#endif
