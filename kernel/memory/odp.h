/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Regions whose pages are not pinned but paged on demand (explicit ODP). See odp.c.
 */
#ifndef SROCE_MEMORY_ODP_H
#define SROCE_MEMORY_ODP_H

#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/types.h>

struct ib_device;
struct sroce_memory;
struct sroce_region;

/* In the address of a block, which is aligned to a page. Without the first a block is not there. */
#define SROCE_BLOCK_PRESENT	1ul
#define SROCE_BLOCK_WRITABLE	2ul
#define SROCE_BLOCK_FLAGS	(SROCE_BLOCK_PRESENT | SROCE_BLOCK_WRITABLE)

/**
 * struct sroce_page_range - bytes of a region whose pages are needed
 * @pd: protection domain
 * @key: of the region
 * @write: they will be written
 * @bytes: how many
 * @va: the first
 */
struct sroce_page_range {
	const void *pd;
	u32	key;
	bool	write;
	u32	bytes;
	u64	va;
};

/**
 * struct sroce_page_wait - what one user of copies waits for
 * @missing: set by a copy that returned SROCE_MEM_NOT_PRESENT
 * @failed: pages that could not be faulted in: copies that miss them fail, until the user clears
 *	@bytes. A copy may be tried more than once before its error is reported
 */
struct sroce_page_wait {
	struct sroce_page_range missing;
	struct sroce_page_range failed;
};

/* How to get pages: see sroce_odp_fault(). */
enum sroce_odp_access {
	SROCE_ODP_PRESENT,	/* list the pages that the process has, and fault in none */
	SROCE_ODP_READ,
	SROCE_ODP_WRITE,
};

int sroce_odp_init(struct sroce_memory *mem, struct sroce_region *region, struct ib_device *ibdev,
		   u64 start, u64 length, int access);
int sroce_odp_fault(struct sroce_region *region, u64 va, u64 bytes, enum sroce_odp_access access);
int sroce_odp_fault_in(struct sroce_memory *mem, const struct sroce_page_range *range);

/* The address of a block, or NULL if its page must be faulted in first. The region is open. */
static inline void *sroce_odp_block(void *const *block, bool write)
{
	uintptr_t value = (uintptr_t)READ_ONCE(*block);
	uintptr_t needed = write ? SROCE_BLOCK_FLAGS : SROCE_BLOCK_PRESENT;

	return (value & needed) == needed ? (void *)(value & ~SROCE_BLOCK_FLAGS) : NULL;
}

#endif
