/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How kernels differ in on-demand paging, as compat.h does for the rest. */
#ifndef SROCE_COMPAT_ODP_H
#define SROCE_COMPAT_ODP_H

#include "compat/compat.h"

/*
 * On-demand paging is an option of the kernel. 6.16: the list of pages is one of HMM; before, one
 * of DMA addresses, which are kernel addresses for a software device.
 */
#ifdef SROCE_HAVE_ODP
#include <linux/hmm.h>
#include <rdma/ib_umem_odp.h>

/* Page @i of the list, or NULL; with umem_mutex. */
static inline struct page *compat_odp_page(const struct ib_umem_odp *odp, unsigned long i,
					   bool *writable)
{
#ifdef SROCE_HAVE_ODP_HMM
	unsigned long pfn = odp->map.pfn_list[i];

	*writable = pfn & HMM_PFN_WRITE;
	return pfn & HMM_PFN_VALID ? hmm_pfn_to_page(pfn) : NULL;
#else
	dma_addr_t dma = odp->dma_list[i];

	*writable = dma & ODP_WRITE_ALLOWED_BIT;
	return dma ? virt_to_page((void *)(uintptr_t)(dma & ODP_DMA_ADDR_MASK)) : NULL;
#endif
}

static inline u64 compat_odp_access(bool write)
{
#ifdef SROCE_HAVE_ODP_HMM
	return write ? HMM_PFN_WRITE : 0;
#else
	return ODP_READ_ALLOWED_BIT | (write ? ODP_WRITE_ALLOWED_BIT : 0);
#endif
}

/* IB_ODP_SUPPORT_FLUSH and _ATOMIC_WRITE, which 6.12 does not name; ib_core hands all bits on. */
#ifdef SROCE_HAVE_FLUSH
#define COMPAT_ODP_SUPPORT_PLACEMENT	(BIT(6) | BIT(7))
#else
#define COMPAT_ODP_SUPPORT_PLACEMENT	0
#endif
#endif

#endif
