/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/mapping.h"

#include "verbs/verbs.h"

struct stand_in_mapping stand_in_mapping;

int vm_insert_page(struct vm_area_struct *vma, unsigned long address, struct page *page)
{
	if (stand_in_mapping.insert_error_at && !--stand_in_mapping.insert_error_at)
		return -ENOMEM;
	WARN_ON(address != vma->vm_start + stand_in_mapping.inserted * PAGE_SIZE);
	WARN_ON(address >= vma->vm_end);
	if (!stand_in_mapping.inserted++)
		stand_in_mapping.first = page;
	stand_in_mapping.last = page;
	stand_in_mapping.end = address + PAGE_SIZE;
	return 0;
}

static void release_anon(struct file *file)
{
	stand_in_mapping.fops->release(NULL, file);
}

struct file *anon_inode_getfile(const char *name, const struct file_operations *fops,
				void *private_data, int flags)
{
	if (stand_in_mapping.file_error)
		return ERR_PTR(stand_in_mapping.file_error);
	WARN_ON(flags != O_RDWR || stand_in_mapping.file.refs);
	stand_in_mapping.file = (struct file) {
		.private_data = private_data, .refs = 1, .release = release_anon,
	};
	stand_in_mapping.fops = fops;
	return &stand_in_mapping.file;
}

/* The mapping has a reference to its file. */
void vma_set_file(struct vm_area_struct *vma, struct file *file)
{
	file->refs++;
	fput(vma->vm_file);
	vma->vm_file = file;
}

struct rdma_user_mmap_entry *rdma_user_mmap_entry_get_pgoff(struct ib_ucontext *context,
							    unsigned long pgoff)
{
	struct rdma_user_mmap_entry *entry = stand_in_mapping.entry;

	if (!entry || entry->removed || entry->pgoff != pgoff ||
	    context != stand_in_mapping.context)
		return NULL;
	entry->refs++;
	return entry;
}

void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry)
{
	WARN_ON(entry->refs <= 0);
	if (--entry->refs)
		return;
	stand_in_mapping.entry = NULL;
	sroce_mmap_free(entry);
}

int rdma_user_mmap_entry_insert(struct ib_ucontext *context, struct rdma_user_mmap_entry *entry,
				size_t bytes)
{
	if (stand_in_mapping.entry_error)
		return stand_in_mapping.entry_error;
	entry->refs = 1;
	entry->pgoff = 5;
	stand_in_mapping.entry = entry;
	stand_in_mapping.entry_bytes = bytes;
	stand_in_mapping.context = context;
	return 0;
}

void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry)
{
	WARN_ON(entry->removed);
	entry->removed = true;
	rdma_user_mmap_entry_put(entry);
}
