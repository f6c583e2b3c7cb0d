// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registering memory regions: checks access flags, pins pages and lists them. memory/ manages keys
 * and access.
 */
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "compat/compat.h"
#include "datapath/device.h"
#include "memory/dmabuf.h"
#include "memory/odp.h"
#include "memory/pmem.h"
#include "memory/region.h"
#include "verbs/verbs.h"

/* IB_ACCESS_OPTIONAL flags are hints (relaxed ordering) and have no effect here. */
#define MANDATORY_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
				 IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL)

/* Only pinned pages are known to be persistent memory. */
#define PINNED_ACCESS		(MANDATORY_ACCESS | \
				 (SROCE_HAS_PMEM ? IB_ACCESS_FLUSH_PERSISTENT : 0))

/* Copies to a memory window do not hold the lock of its region, which an invalidation takes. */
#define ODP_ACCESS		(IB_ACCESS_ON_DEMAND | (MANDATORY_ACCESS & ~IB_ACCESS_MW_BIND))

/* ib_core permits less: no windows, no FLUSH. */
#define DMABUF_ACCESS		(MANDATORY_ACCESS & ~IB_ACCESS_MW_BIND)

/* Sizes of contiguous blocks to look for: from a page to a huge page of 1 GiB. */
#define BLOCK_SIZES		GENMASK(30, PAGE_SHIFT)

/**
 * struct sroce_mr - a memory region as ib_core knows it
 * @ibmr: first
 * @region: the region
 */
struct sroce_mr {
	struct ib_mr ibmr;
	struct sroce_region *region;
};

static struct sroce_mr *to_sroce_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct sroce_mr, ibmr);
}

static struct sroce_memory *memory_of(struct ib_pd *ibpd)
{
	return &to_sroce_device(ibpd->device)->memory;
}

static struct sroce_mr *alloc_region(struct ib_pd *ibpd, enum sroce_region_kind kind)
{
	struct sroce_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	mr->region = sroce_region_create(kind, ibpd);
	if (!mr->region) {
		kfree(mr);
		return NULL;
	}
	return mr;
}

static void free_region(struct ib_pd *ibpd, struct sroce_mr *mr)
{
	sroce_region_destroy(memory_of(ibpd), mr->region);
	kfree(mr);
}

/* The last step, after which the key is valid. Frees @mr on error. */
static struct ib_mr *publish_region(struct ib_pd *ibpd, struct sroce_mr *mr, int err)
{
	if (!err)
		err = sroce_region_publish(memory_of(ibpd), mr->region);
	if (err) {
		free_region(ibpd, mr);
		return ERR_PTR(err);
	}
	mr->ibmr.lkey = mr->region->key;
	mr->ibmr.rkey = mr->region->key;
	return &mr->ibmr;
}

/**
 * sroce_get_dma_mr() - register all kernel memory
 * @ibpd: protection domain
 * @access: IB_ACCESS_*
 *
 * Return: the region or an ERR_PTR().
 */
struct ib_mr *sroce_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct sroce_mr *mr = alloc_region(ibpd, SROCE_REGION_DMA);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->region->range.length = U64_MAX;
	mr->region->range.access = access & MANDATORY_ACCESS;
	return publish_region(ibpd, mr, 0);
}

/* List the addresses of pinned memory, in the largest contiguous blocks. */
static int fill_page_list(struct sroce_page_list *pages, struct ib_umem *umem)
{
	unsigned long block_bytes = ib_umem_find_best_pgsz(umem, BLOCK_SIZES, umem->address);
	struct ib_block_iter block;
	int err;

	if (WARN_ON_ONCE(!block_bytes))
		return -EINVAL;
	err = sroce_page_list_alloc(pages, ib_umem_num_dma_blocks(umem, block_bytes));
	if (err)
		return err;
	/* The DMA addresses of a software device are kernel addresses. */
	rdma_umem_for_each_dma_block(umem, &block, block_bytes) {
		if (WARN_ON_ONCE(pages->count == pages->capacity))
			return -EINVAL;
		pages->blocks[pages->count++] =
			(void *)(uintptr_t)rdma_block_iter_dma_address(&block);
	}
	pages->shift = ilog2(block_bytes);
	pages->first_offset = umem->address & (block_bytes - 1);
	return 0;
}

/* Permit a FLUSH for persistence if @access does. */
static int permit_persistence(struct sroce_region *region, struct ib_device *ibdev,
			      const struct ib_umem *umem, int access)
{
	int err;

	if (!(access & IB_ACCESS_FLUSH_PERSISTENT))
		return 0;
	err = sroce_pmem_init(region, umem);
	if (err)
		ibdev_dbg(ibdev, "mr: the memory is not persistent\n");
	return err;
}

static int pin_pages(struct sroce_region *region, struct ib_device *ibdev, u64 start, u64 length,
		     int access)
{
	struct ib_umem *umem;

	/* An empty region permits accesses of 0 bytes only. */
	if (!length)
		return 0;
	umem = ib_umem_get_va(ibdev, start, length, access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	region->umem = umem;
	return permit_persistence(region, ibdev, umem, access) ?:
	       fill_page_list(&region->pages, umem);
}

/* @permitted: IB_ACCESS_*, besides hints. */
static int check_user_mr(struct ib_device *ibdev, u64 length, u64 va, int access, int permitted)
{
	u64 last;

	if (access & ~(permitted | IB_ACCESS_OPTIONAL)) {
		ibdev_dbg(ibdev, "mr: access %#x\n", access);
		return -EOPNOTSUPP;
	}
	if (length && check_add_overflow(va, length - 1, &last)) {
		ibdev_dbg(ibdev, "mr: %llu bytes from %#llx\n", length, va);
		return -EINVAL;
	}
	return 0;
}

static void set_range(struct sroce_region *region, u64 length, u64 va, int access)
{
	region->range.iova = va;
	region->range.length = length;
	region->range.access = access & PINNED_ACCESS;
}

static int get_pages(struct sroce_region *region, struct ib_pd *ibpd, u64 start, u64 length,
		     int access)
{
	if (region->kind == SROCE_REGION_ODP)
		return sroce_odp_init(memory_of(ibpd), region, ibpd->device, start, length,
				      access);
	return pin_pages(region, ibpd->device, start, length, access);
}

/**
 * sroce_reg_user_mr() - register memory of a process
 * @ibpd: protection domain
 * @start: address in the process
 * @length: bytes, may be 0
 * @va: address of the first byte in requests
 * @access: IB_ACCESS_*; ib_core has checked their consistency
 * @dmah: must be NULL
 * @udata: unused
 *
 * Pins the pages until the region is deregistered, unless they are paged on demand
 * (IB_ACCESS_ON_DEMAND).
 *
 * Return: the region or an ERR_PTR(), such as -EINVAL if @access permits a FLUSH for persistence
 * and the memory is not persistent.
 */
struct ib_mr *sroce_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 va, int access,
				struct ib_dmah *dmah, struct ib_udata *udata)
{
	bool on_demand = access & IB_ACCESS_ON_DEMAND;
	int err = check_user_mr(ibpd->device, length, va, access,
				on_demand ? ODP_ACCESS : PINNED_ACCESS);
	struct sroce_mr *mr;

	if (err)
		return ERR_PTR(err);
	if (on_demand && length == U64_MAX) {
		ibdev_dbg(ibpd->device, "mr: implicit on-demand paging\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (dmah) {
		ibdev_dbg(ibpd->device, "mr: DMA handle\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	mr = alloc_region(ibpd, on_demand && length ? SROCE_REGION_ODP : SROCE_REGION_USER);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	set_range(mr->region, length, va, access);
	err = get_pages(mr->region, ibpd, start, length, access);
	return publish_region(ibpd, mr, err);
}

/**
 * sroce_reg_user_mr_dmabuf() - register a part of a DMA-BUF
 * @ibpd: protection domain
 * @offset: of the first byte in the buffer
 * @length: bytes, may be 0
 * @va: address of the first byte in requests
 * @fd: file of the buffer
 * @access: IB_ACCESS_*; ib_core has checked their consistency
 * @dmah: must be NULL
 *
 * The buffer stays, and stays where it is, until the region is deregistered.
 *
 * Return: the region or an ERR_PTR(), see sroce_dmabuf_init().
 */
struct ib_mr *sroce_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 va, int fd,
				       int access, struct ib_dmah *dmah)
{
	int err = check_user_mr(ibpd->device, length, va, access, DMABUF_ACCESS);
	struct sroce_mr *mr;

	if (err)
		return ERR_PTR(err);
	if (dmah) {
		ibdev_dbg(ibpd->device, "mr: DMA handle\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	mr = alloc_region(ibpd, SROCE_REGION_USER);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	set_range(mr->region, length, va, access);
	/* For the list of resources. Of other regions ib_core sets it. */
	mr->ibmr.iova = va;
	mr->ibmr.length = length;
	err = sroce_dmabuf_init(mr->region, ibpd->device, fd, offset, access);
	return publish_region(ibpd, mr, err);
}

/* The last step that may fail. */
static int retire_region(struct sroce_mr *mr)
{
	int err = sroce_region_retire(mr->region);

	if (err)
		ibdev_dbg(mr->ibmr.device, "mr: a memory window is bound to it\n");
	return err;
}

/*
 * Memory that was registered without permission to write must be pinned again if that is added.
 * Its address means something only to the process that registered it. If that process has mapped
 * other memory there, the region gets that memory.
 */
static int pin_for_writing(struct sroce_region *region, const struct ib_umem *umem, int access)
{
	if (umem->owning_mm != current->mm) {
		ibdev_dbg(umem->ibdev, "mr: registered by another process\n");
		return -EINVAL;
	}
	return pin_pages(region, umem->ibdev, umem->address, region->range.length, access);
}

/**
 * sroce_rereg_user_mr() - change a region of a process
 * @ibmr: region
 * @flags: what to change: IB_MR_REREG_TRANS, _PD, _ACCESS
 * @start: TRANS: as in sroce_reg_user_mr()
 * @length: TRANS: as @start
 * @va: TRANS: as @start
 * @access: ACCESS: as @start
 * @ibpd: protection domain; the present one, unless _PD is set
 * @udata: unused
 *
 * Keeps the key. A packet accesses either the old region or the new one. Copies to and from the
 * old one are done on return. For a moment the memory of both may be pinned. A BIND_MW that is
 * executed meanwhile may fail.
 *
 * Return: NULL, or an ERR_PTR(), such as -EBUSY if a memory window is bound to it, or -EOPNOTSUPP
 * if it is paged on demand, or would be, or is a DMA-BUF, or if @access adds a FLUSH for
 * persistence; then nothing has changed.
 */
struct ib_mr *sroce_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 va,
				  int access, struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct sroce_mr *mr = to_sroce_mr(ibmr);
	struct sroce_region *old = mr->region, *region;
	bool same_memory = false;
	int err;

	if (!(flags & IB_MR_REREG_ACCESS))
		access = old->range.access;
	if (!(flags & IB_MR_REREG_TRANS)) {
		length = old->range.length;
		va = old->range.iova;
	}
	err = check_user_mr(ibmr->device, length, va, access, PINNED_ACCESS);
	if (!err && (old->kind == SROCE_REGION_ODP || old->dmabuf)) {
		ibdev_dbg(ibmr->device, "mr: rereg of on-demand paging or a dma-buf\n");
		err = -EOPNOTSUPP;
	}
	/* Bytes of peers may still be in the caches. One rule: new memory is refused, too. */
	if (!err && (access & ~old->range.access & IB_ACCESS_FLUSH_PERSISTENT)) {
		ibdev_dbg(ibmr->device, "mr: rereg adds a FLUSH for persistence\n");
		err = -EOPNOTSUPP;
	}
	if (err)
		return ERR_PTR(err);
	region = sroce_region_create(SROCE_REGION_USER, ibpd);
	if (!region)
		return ERR_PTR(-ENOMEM);
	set_range(region, length, va, access);
	if (flags & IB_MR_REREG_TRANS) {
		err = pin_pages(region, ibmr->device, start, length, access);
	} else if (old->umem && !old->umem->writable && ib_access_writable(access)) {
		err = pin_for_writing(region, old->umem, access);
	} else {
		same_memory = true;
		region->persistent = old->persistent;
	}
	err = err ?: retire_region(mr);
	if (err) {
		sroce_region_destroy(memory_of(ibpd), region);
		return ERR_PTR(err);
	}
	sroce_region_replace(memory_of(ibpd), old, region, same_memory);
	mr->region = region;
	return NULL;
}

/**
 * sroce_alloc_mr() - create a region for fast registration
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG
 * @max_num_sg: maximum number of pages
 *
 * Return: the region or an ERR_PTR().
 */
struct ib_mr *sroce_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct sroce_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (max_num_sg > SROCE_MAX_FAST_REG_PAGES) {
		ibdev_dbg(ibpd->device, "mr: %u pages\n", max_num_sg);
		return ERR_PTR(-EINVAL);
	}
	mr = alloc_region(ibpd, SROCE_REGION_FAST);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = sroce_page_list_alloc(&mr->region->pages, max_num_sg) ?:
	      sroce_page_list_alloc(&mr->region->staged, max_num_sg);
	return publish_region(ibpd, mr, err);
}

static int stage_page(struct ib_mr *ibmr, u64 addr)
{
	struct sroce_page_list *staged = &to_sroce_mr(ibmr)->region->staged;

	if (staged->count == staged->capacity)
		return -ENOMEM;
	staged->blocks[staged->count++] = (void *)(uintptr_t)addr;
	return 0;
}

/**
 * sroce_map_mr_sg() - set the memory of the next REG_MR
 * @ibmr: FAST region
 * @sg: DMA-mapped list
 * @sg_nents: entries in it
 * @sg_offset: offset into the first entry; may be NULL
 *
 * Writes to a separate list, because consumers prepare the next registration while the current one
 * is still valid and its invalidation is queued.
 *
 * Return: entries mapped, or a negative errno.
 */
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset)
{
	struct sroce_region *region = to_sroce_mr(ibmr)->region;
	struct sroce_page_list *staged = &region->staged;
	int mapped;

	if (!is_power_of_2(ibmr->page_size) || ibmr->page_size < SROCE_MIN_FAST_REG_PAGE)
		return -EINVAL;
	staged->count = 0;
	mapped = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, stage_page);
	staged->shift = ilog2(ibmr->page_size);
	staged->first_offset = ibmr->iova & (ibmr->page_size - 1);
	region->staged_length = mapped > 0 ? ibmr->length : 0;
	return mapped;
}

/**
 * sroce_dereg_mr() - deregister and free a region
 * @ibmr: region
 * @udata: unused
 *
 * Sleeps until the copies under way are done. Later packets do not find the key.
 *
 * Return: 0, or -EBUSY if a memory window is bound to it.
 */
int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	int err = retire_region(to_sroce_mr(ibmr));

	if (err)
		return err;
	free_region(ibmr->pd, to_sroce_mr(ibmr));
	return 0;
}
