/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/odp.h"

struct stand_in_odp stand_in_odp;

struct ib_umem_odp *ib_umem_odp_get(struct ib_device *device, unsigned long address, size_t size,
				    int access, const struct mmu_interval_notifier_ops *ops)
{
	struct ib_umem_odp *odp;

	WARN_ON(!(access & IB_ACCESS_ON_DEMAND));
	if (stand_in_odp.error)
		return ERR_PTR(stand_in_odp.error);
	odp = stand_in_alloc(sizeof(*odp));
	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->umem.address = address;
	odp->umem.length = size;
	odp->umem.writable = access & ~IB_ACCESS_ON_DEMAND & 0x1b;
	odp->notifier.ops = ops;
	odp->notifier.interval_tree.start = address & ~(PAGE_SIZE - 1);
	odp->notifier.interval_tree.last = PAGE_ALIGN(address + size) - 1;
	stand_in_odp.umem = odp;
	return odp;
}

void ib_umem_odp_release(struct ib_umem_odp *odp)
{
	stand_in_odp.umem = NULL;
	free(odp);
}

static u64 page_at(const struct ib_umem_odp *odp, u64 address)
{
	return (address - ib_umem_start(odp)) >> PAGE_SHIFT;
}

int ib_umem_odp_map_dma_and_lock(struct ib_umem_odp *odp, u64 address, u64 bytes, u64 access,
				 bool fault)
{
	u64 first = page_at(odp, address), last = page_at(odp, address + bytes - 1), i;

	void (*during_fault)(void) = stand_in_odp.during_fault;
	int err = stand_in_odp.fault_error;

	stand_in_odp.during_fault = NULL;
	if (during_fault)
		during_fault();
	WARN_ON(last >= STAND_IN_ODP_PAGES || address + bytes > ib_umem_end(odp));
	stand_in_odp.fault_error = 0;
	if (err)
		return err;
	stand_in_odp.most_pages = max_t(u32, stand_in_odp.most_pages, last - first + 1);
	for (i = first; fault && i <= last; i++)
		if (!stand_in_odp.pages[i].address || (access && stand_in_odp.read_only))
			return -EFAULT;
	for (i = first; fault && i <= last; i++) {
		stand_in_odp.present[i] = true;
		/* As before Linux 6.16. */
		stand_in_odp.writable[i] = access;
	}
	stand_in_odp.faults += fault;
	mutex_lock(&odp->umem_mutex);
	return (int)(last - first + 1);
}

void ib_umem_odp_unmap_dma_pages(struct ib_umem_odp *odp, u64 start, u64 end)
{
	u64 i;

	for (i = page_at(odp, start); i < page_at(odp, end); i++)
		stand_in_odp.present[i] = stand_in_odp.writable[i] = false;
}

struct page *virt_to_page(const void *address)
{
	u32 i;

	for (i = 0; i < STAND_IN_ODP_PAGES; i++)
		if (stand_in_odp.pages[i].address == address)
			return &stand_in_odp.pages[i];
	WARN_ON(1);
	return NULL;
}
