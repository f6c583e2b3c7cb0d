/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of a process that is paged on demand. The test says which pages the process has. */
#ifndef STAND_IN_ODP_H
#define STAND_IN_ODP_H

#include "stand_in/skb.h"
#include "stand_in/sync.h"
#include "stand_in/umem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SROCE_HAVE_ODP		1
#define STAND_IN_ODP_PAGES	64

struct mmu_interval_notifier;

struct mmu_notifier_range {
	unsigned long start, end;
	bool	blockable;
};

struct mmu_interval_notifier_ops {
	bool (*invalidate)(struct mmu_interval_notifier *notifier,
			   const struct mmu_notifier_range *range, unsigned long seq);
};

struct mmu_interval_notifier {
	const struct mmu_interval_notifier_ops *ops;
	struct {
		unsigned long start, last;
	} interval_tree;
	unsigned long seq;
};

struct ib_umem_odp {
	struct ib_umem umem;
	struct mmu_interval_notifier notifier;
	struct mutex umem_mutex;
#ifdef __cplusplus
	void	*private_;
#else
	void	*private;
#endif
};

/**
 * struct stand_in_odp - one such memory, and what happened to it
 * @pages: of the process; those without an address are not mapped
 * @secret: page that the kernel has no access to
 * @read_only: the mapping is
 * @error: from ib_umem_odp_get()
 * @fault_error: of the next fault, once
 * @during_fault: called by the next fault, once
 * @present: pages that were faulted in
 * @writable: those that may be written
 * @umem: the memory, while it is registered
 * @faults: calls that faulted pages in
 * @most_pages: of one call
 * @dirty: pages that were marked dirty
 */
struct stand_in_odp {
	struct page pages[STAND_IN_ODP_PAGES];
	const void *secret;
	bool	read_only;
	int	error;
	int	fault_error;
	void	(*during_fault)(void);
	bool	present[STAND_IN_ODP_PAGES];
	bool	writable[STAND_IN_ODP_PAGES];
	struct ib_umem_odp *umem;
	u32	faults;
	u32	most_pages;
	u32	dirty;
};

extern struct stand_in_odp stand_in_odp;

struct ib_umem_odp *ib_umem_odp_get(struct ib_device *device, unsigned long address, size_t size,
				    int access, const struct mmu_interval_notifier_ops *ops);
void ib_umem_odp_release(struct ib_umem_odp *odp);
int ib_umem_odp_map_dma_and_lock(struct ib_umem_odp *odp, u64 address, u64 bytes, u64 access,
				 bool fault);
void ib_umem_odp_unmap_dma_pages(struct ib_umem_odp *odp, u64 start, u64 end);
struct page *virt_to_page(const void *address);

#define to_ib_umem_odp(from)	((struct ib_umem_odp *)(from))
#define ib_umem_start(odp)	((odp)->notifier.interval_tree.start)
#define ib_umem_end(odp)	((odp)->notifier.interval_tree.last + 1)
#define mmu_notifier_range_blockable(range)	((range)->blockable)
#define mmu_interval_set_seq(notifier, to)	((notifier)->seq = (to))
#define set_page_dirty(page)	((void)(page), stand_in_odp.dirty++)
#define compound_head(page)	(page)
#define copy_from_kernel_nofault(to, from, bytes)	({			\
	bool _secret = stand_in_odp.secret == (from);				\
										\
	if (!_secret)								\
		memcpy(to, from, bytes);					\
	_secret ? -EFAULT : 0; })
#define compat_odp_access(write)	(write)

#define COMPAT_ODP_SUPPORT_PLACEMENT	0xc0

static inline struct page *compat_odp_page(const struct ib_umem_odp *odp, unsigned long i,
					   bool *writable)
{
	*writable = stand_in_odp.writable[i];
	return stand_in_odp.present[i] ? &stand_in_odp.pages[i] : NULL;
}

/* A process has no memory at address 0. */
#define u64_to_user_ptr(address)	((void *)(unsigned long)(address))
static inline unsigned long copy_to_user(void *to, const void *from, unsigned long bytes)
{
	if (!to)
		return bytes;
	memcpy(to, from, bytes);
	return 0;
}

#ifdef __cplusplus
}
#endif

#endif
