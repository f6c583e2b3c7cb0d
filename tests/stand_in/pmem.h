/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Persistent memory: the map of physical memory, and caches. */
#ifndef STAND_IN_PMEM_H
#define STAND_IN_PMEM_H

#include "stand_in/umem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef u64 phys_addr_t;

#define IORESOURCE_MEM	0x200ul
enum { IORES_DESC_NONE, IORES_DESC_PERSISTENT_MEMORY = 4, IORES_DESC_PERSISTENT_MEMORY_LEGACY };
enum { REGION_INTERSECTS, REGION_DISJOINT, REGION_MIXED };

/**
 * struct stand_in_pmem - one range of persistent memory, and what was written back
 * @start: its first byte
 * @bytes: its size
 * @desc: IORES_DESC_PERSISTENT_MEMORY or _LEGACY
 * @written_back: called by arch_wb_cache_pmem()
 * @pending: by arch_wb_cache_pmem(), until pmem_wmb()
 * @waits: calls of pmem_wmb() after one of arch_wb_cache_pmem()
 */
struct stand_in_pmem {
	u64	start;
	u64	bytes;
	unsigned long desc;
	void	(*written_back)(void *at, size_t bytes);
	bool	pending;
	u32	waits;
};

extern struct stand_in_pmem stand_in_pmem;

int region_intersects(phys_addr_t start, size_t bytes, unsigned long flags, unsigned long desc);
void arch_wb_cache_pmem(void *at, size_t bytes);
void pmem_wmb(void);

#define sg_phys(sg)	((sg)->address)
#define sg_page(sg)	(sg)
#define is_zone_device_page(sg) (!(sg)->is_ram)
#define for_each_sgtable_sg(table, sg, i)					\
	for (i = 0, sg = (table)->sgl; i < (int)(table)->nents; i++, sg++)

#ifdef __cplusplus
}
#endif

#endif
