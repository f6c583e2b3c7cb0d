// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts and the mapping of rings into processes.
 *
 * The pages of a ring belong to a QP, SRQ or CQ and have at most one mmap entry, by which a process
 * maps them. Mapped pages outlive both, because the mapping has references: to each page, to the
 * file of shared memory, or if a CQ grows, by a file of its own to the memory of the ring. The
 * kernel does not trust their contents, so a mapping may stay when the device goes, and unless a CQ
 * grows, also when the module goes.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "compat/shmem.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"

static struct sroce_mmap_entry *to_mmap_entry(struct rdma_user_mmap_entry *rdma_entry)
{
	return container_of(rdma_entry, struct sroce_mmap_entry, rdma_entry);
}

static bool wants_native(struct ib_device *ibdev, struct ib_udata *udata)
{
	struct sroce_alloc_ucontext_cmd cmd;

	if (udata->inlen < sizeof(cmd) ||
	    udata->outlen < sizeof(struct sroce_alloc_ucontext_resp) ||
	    ib_copy_from_udata(&cmd, udata, sizeof(cmd)))
		return false;
	if (cmd.abi_version == SROCE_ABI_VERSION && !cmd.reserved)
		return true;
	ibdev_dbg(ibdev, "ucontext: native ABI %u (reserved %u), but this module has %u\n",
		  cmd.abi_version, cmd.reserved, SROCE_ABI_VERSION);
	return false;
}

/**
 * sroce_alloc_ucontext() - set up the context of a process that opens the device
 * @ibuc: zeroed
 * @udata: struct sroce_alloc_ucontext_cmd and its response; empty or anything else in rxe mode
 *
 * The process sees by the response that it is in native mode. An error would not tell it more, and
 * ib_core, up to 7.2, does not clean up after one.
 *
 * Return: 0.
 */
int sroce_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct sroce_alloc_ucontext_resp resp = { .abi_version = SROCE_ABI_VERSION };

	container_of(ibuc, struct sroce_ucontext, ibuc)->is_native =
		wants_native(ibuc->device, udata) &&
		!ib_copy_to_udata(udata, &resp, sizeof(resp));
	return 0;
}

/**
 * sroce_is_native() - does a process know our own ABI?
 * @udata: of a command that creates or changes an object; NULL for kernel consumers
 *
 * Return: whether it is in native mode; false for kernel consumers.
 */
bool sroce_is_native(struct ib_udata *udata)
{
	const struct sroce_ucontext *context =
		rdma_udata_to_drv_context(udata, struct sroce_ucontext, ibuc);

	return context && context->is_native;
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

static struct page *page_of_ring(const struct sroce_ring_memory *memory, u32 index)
{
	return memory->pages ? virt_to_page(memory->pages[index]) :
			       vmalloc_to_page(memory->buf + (size_t)index * PAGE_SIZE);
}

/* Maps all pages, so that the mapping does not need the module. */
static int map_pages(struct vm_area_struct *vma, const struct sroce_ring_memory *memory)
{
	int err = 0;
	u32 i;

	for (i = 0; i < sroce_ring_memory_count(memory) && !err; i++)
		err = vm_insert_page(vma, vma->vm_start + (size_t)i * PAGE_SIZE,
				     page_of_ring(memory, i));
	return err;
}

/* The file of the shared memory replaces that of the device, and page faults are shmem's. */
static int map_shmem(struct vm_area_struct *vma, struct file *file)
{
	vma_set_file(vma, file);
	vma->vm_pgoff = 0;
	return vfs_mmap(file, vma);
}

/* A process looks at a page of a ring that grows, perhaps before the datapath needs it. */
static vm_fault_t fault_page(struct vm_fault *vmf)
{
	struct sroce_ring_memory *memory = vmf->vma->vm_file->private_data;
	void *page;

	if (vmf->pgoff >= sroce_ring_memory_count(memory))
		return VM_FAULT_SIGBUS;
	page = sroce_ring_memory_page(memory, vmf->pgoff, GFP_KERNEL);
	if (!page)
		return VM_FAULT_SIGBUS;	/* VM_FAULT_OOM might be retried for ever */
	vmf->page = virt_to_page(page);
	get_page(vmf->page);
	return 0;
}

static const struct vm_operations_struct growing_vm_ops = {
	.fault = fault_page,
};

static int release_file(struct inode *inode, struct file *file)
{
	sroce_ring_memory_put(file->private_data);
	return 0;
}

static const struct file_operations growing_fops = {
	.owner = THIS_MODULE,
	.release = release_file,
};

/*
 * Map a ring that grows by page faults. A file that only the mapping uses replaces that of the
 * device. It has references to the memory and, until the last mapping has gone, to the module.
 */
static int map_growing(struct vm_area_struct *vma, struct sroce_ring_memory *memory)
{
	struct file *file;

	kref_get(&memory->refs);
	file = anon_inode_getfile("[sroce]", &growing_fops, memory, O_RDWR);
	if (IS_ERR(file)) {
		sroce_ring_memory_put(memory);
		return PTR_ERR(file);
	}
	vma_set_file(vma, file);
	fput(file);
	vma->vm_pgoff = 0;
	vma->vm_ops = &growing_vm_ops;
	return 0;
}

static int map_ring(struct vm_area_struct *vma, struct sroce_ring_memory *memory)
{
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_end - vma->vm_start != memory->bytes)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	if (memory->file)
		return map_shmem(vma, memory->file);
	return memory->grows ? map_growing(vma, memory) : map_pages(vma, memory);
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
	struct rdma_user_mmap_entry *rdma_entry =
		rdma_user_mmap_entry_get_pgoff(ibuc, vma->vm_pgoff);
	unsigned long bytes = vma->vm_end - vma->vm_start;
	int err = -EINVAL;

	if (rdma_entry) {
		err = map_ring(vma, to_mmap_entry(rdma_entry)->memory);
		rdma_user_mmap_entry_put(rdma_entry);
	}
	if (err == -EINVAL)
		ibdev_dbg(ibuc->device, "mmap: no ring of %lu bytes at this offset\n", bytes);
	else if (err)
		ibdev_dbg(ibuc->device, "mmap: error %d for a ring of %lu bytes\n", err, bytes);
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
	/* ib_core allocates a slot for each page of an entry; an offset needs only one. */
	err = rdma_user_mmap_entry_insert(&uc->ibuc, &entry->rdma_entry, PAGE_SIZE);
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
