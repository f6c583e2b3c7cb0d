// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which memory survives a power failure. */
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <rdma/ib_umem.h>

#include "memory/pmem.h"

static bool lies_in(phys_addr_t start, size_t bytes, unsigned long desc)
{
	return region_intersects(start, bytes, IORESOURCE_MEM, desc) == REGION_INTERSECTS;
}

/*
 * The second kind is that of firmware without NFIT, and of the kernel's parameter memmap. Pages of
 * persistent memory that the kernel uses as RAM (dax/kmem) belong to no device.
 */
static bool is_persistent(struct scatterlist *sg)
{
	return is_zone_device_page(sg_page(sg)) &&
	       (lies_in(sg_phys(sg), sg->length, IORES_DESC_PERSISTENT_MEMORY) ||
		lies_in(sg_phys(sg), sg->length, IORES_DESC_PERSISTENT_MEMORY_LEGACY));
}

/**
 * sroce_pmem_init() - let a region permit a FLUSH for persistence
 * @region: USER region, not published
 * @umem: its memory
 *
 * May sleep.
 *
 * Return: 0, or -EINVAL if a part of the memory is not persistent.
 */
int sroce_pmem_init(struct sroce_region *region, const struct ib_umem *umem)
{
	struct scatterlist *sg;
	int i;

	for_each_sgtable_sg(&umem->sgt_append.sgt, sg, i) {
		if (!is_persistent(sg))
			return -EINVAL;
	}
	region->persistent = true;
	return 0;
}

/**
 * sroce_pmem_persist() - write bytes back from the caches, and wait until they are persistent
 * @at: the bytes, which this CPU has written
 * @bytes: how many
 */
void sroce_pmem_persist(void *at, u32 bytes)
{
	arch_wb_cache_pmem(at, bytes);
	pmem_wmb();
}
