// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts and the mapping of rings into processes.
 *
 * The pages of a ring belong to a QP or CQ and have at most one mmap entry, by which a process maps
 * them. Mapped pages outlive both, because the VMA has a reference to each page. The kernel does
 * not trust their contents, so a mapping may stay when the device goes.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "verbs/verbs.h"

static struct sroce_mmap_entry *to_mmap_entry(struct rdma_user_mmap_entry *rdma_entry)
{
	return container_of(rdma_entry, struct sroce_mmap_entry, rdma_entry);
}

/**
 * sroce_alloc_ucontext() - set up the context of a process that opens the device
 * @ibuc: zeroed
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	return 0;
}

/**
 * sroce_dealloc_ucontext() - free the context of a process that has closed the device
 * @ibuc: user context
 */
void sroce_dealloc_ucontext(struct ib_ucontext *ibuc)
{
}

/**
 * sroce_disassociate_ucontext() - the device is removed while a process has it open
 * @ibuc: user context
 *
 * There is nothing to do: ib_core has destroyed the objects of the process, and rings that are
 * still mapped are ordinary memory. But only with this function can a device be removed without
 * waiting for processes.
 */
void sroce_disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

/* Like remap_vmalloc_range(), which requires vmalloc_user(). */
static int map_pages(struct vm_area_struct *vma, const struct sroce_ring_memory *memory)
{
	size_t offset;
	int err = 0;

	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	for (offset = 0; offset < memory->bytes && !err; offset += PAGE_SIZE)
		err = vm_insert_page(vma, vma->vm_start + offset,
				     vmalloc_to_page(memory->buf + offset));
	return err;
}

/**
 * sroce_mmap() - map a ring
 * @ibuc: user context
 * @vma: at an offset from sroce_mmap_insert(), as large as the ring
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int sroce_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma_entry = rdma_user_mmap_entry_get(ibuc, vma);
	int err;

	if (!rdma_entry) {
		ibdev_dbg(ibuc->device, "mmap: no ring of %lu bytes at offset %#lx\n",
			  vma->vm_end - vma->vm_start, vma->vm_pgoff << PAGE_SHIFT);
		return -EINVAL;
	}
	err = map_pages(vma, to_mmap_entry(rdma_entry)->memory);
	rdma_user_mmap_entry_put(rdma_entry);
	return err;
}

/**
 * sroce_mmap_free() - free an entry, which cannot be used to map any more
 * @rdma_entry: embedded in a struct sroce_mmap_entry
 */
void sroce_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct sroce_mmap_entry *entry = to_mmap_entry(rdma_entry);

	sroce_ring_memory_put(entry->memory);
	kfree(entry);
}

/**
 * sroce_mmap_insert() - make a ring mappable
 * @udata: of the system call that creates the ring
 * @ring: the ring; the entry takes a reference to its pages
 * @info: set to the arguments for mmap()
 *
 * May sleep.
 *
 * Return: the entry, for sroce_mmap_remove(), or an ERR_PTR().
 */
struct sroce_mmap_entry *sroce_mmap_insert(struct ib_udata *udata, const struct sroce_ring *ring,
					   struct mminfo *info)
{
	struct sroce_ucontext *uc =
		rdma_udata_to_drv_context(udata, struct sroce_ucontext, ibuc);
	struct sroce_mmap_entry *entry = kzalloc(sizeof(*entry), GFP_KERNEL_ACCOUNT);
	int err;

	if (!entry)
		return ERR_PTR(-ENOMEM);
	/* sroce_mmap_free() releases this reference, also on error. */
	kref_get(&ring->memory->refs);
	entry->memory = ring->memory;
	err = rdma_user_mmap_entry_insert(&uc->ibuc, &entry->rdma_entry, ring->memory->bytes);
	if (err) {
		sroce_mmap_free(&entry->rdma_entry);
		return ERR_PTR(err);
	}
	info->offset = rdma_user_mmap_get_offset(&entry->rdma_entry);
	info->size = ring->memory->bytes;
	info->pad = 0;
	return entry;
}

/**
 * sroce_mmap_remove() - make a ring unmappable
 * @entry: from sroce_mmap_insert(), or NULL
 */
void sroce_mmap_remove(struct sroce_mmap_entry *entry)
{
	if (entry)
		rdma_user_mmap_entry_remove(&entry->rdma_entry);
}
