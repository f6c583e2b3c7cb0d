/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/pmem.h"

struct stand_in_pmem stand_in_pmem;

int region_intersects(phys_addr_t start, size_t bytes, unsigned long flags, unsigned long desc)
{
	u64 first = max(start, stand_in_pmem.start);
	u64 end = min(start + bytes, stand_in_pmem.start + stand_in_pmem.bytes);

	if (flags != IORESOURCE_MEM || desc != stand_in_pmem.desc || first >= end)
		return REGION_DISJOINT;
	return end - first == bytes ? REGION_INTERSECTS : REGION_MIXED;
}

void arch_wb_cache_pmem(void *at, size_t bytes)
{
	stand_in_pmem.pending = true;
	if (stand_in_pmem.written_back)
		stand_in_pmem.written_back(at, bytes);
}

void pmem_wmb(void)
{
	stand_in_pmem.waits += stand_in_pmem.pending;
	stand_in_pmem.pending = false;
}
