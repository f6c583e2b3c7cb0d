/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Persistent memory: regions that permit a FLUSH for persistence (IBTA annex A19).
 *
 * A FLUSH may name a whole region, for which softirq has no time. So each copy to such a region is
 * written back from the caches at once, by the CPU that copies, because pmem_wmb() waits for the
 * write-backs of its own CPU only. The FLUSH finds everything persistent that peers have written
 * through the region and its windows. It does not cover what the process itself has written.
 */
#ifndef SROCE_MEMORY_PMEM_H
#define SROCE_MEMORY_PMEM_H

#include <linux/kconfig.h>

#include "memory/region.h"

struct ib_umem;

/* Some architectures cannot write back a part of their caches. */
#define SROCE_HAS_PMEM IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API)

int sroce_pmem_init(struct sroce_region *region, const struct ib_umem *umem);
void sroce_pmem_persist(void *at, u32 bytes);

/**
 * sroce_pmem_write_back() - make bytes persistent if their region permits a FLUSH for that
 * @region: the region, open
 * @at: the bytes
 * @bytes: how many
 */
static inline void sroce_pmem_write_back(const struct sroce_region *region, void *at, u32 bytes)
{
	if (unlikely(region->persistent))
		sroce_pmem_persist(at, bytes);
}

#endif
