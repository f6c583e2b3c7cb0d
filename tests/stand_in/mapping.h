/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Mappings of a process, files that only these use, and ib_core's mmap entries. */
#ifndef STAND_IN_MAPPING_H
#define STAND_IN_MAPPING_H

#include "stand_in/shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VM_SHARED		1u
#define VM_DONTEXPAND		2u
#define VM_DONTDUMP		4u
#define VM_FAULT_SIGBUS		2u
#ifndef O_RDWR
#define O_RDWR			2
#endif
#define THIS_MODULE		(&stand_in_mapping.module)

typedef unsigned int vm_fault_t;
struct inode;
struct module {
	int	unused;
};

struct file_operations {
	const struct module *owner;
	int	(*release)(struct inode *inode, struct file *file);
};

struct vm_fault;

struct vm_operations_struct {
	vm_fault_t (*fault)(struct vm_fault *fault);
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff;
	unsigned int vm_flags;
	struct file *vm_file;
	const struct vm_operations_struct *vm_ops;
};

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned long pgoff;
	struct page *page;
};

/**
 * struct stand_in_mapping - what a test tells these functions, and what they tell it
 * @module: ours
 * @inserted: pages that have been mapped, each at the place that follows the last
 * @insert_error_at: so many pages later, vm_insert_page() fails; 0 for never
 * @first: the first of them
 * @last: the last of them
 * @end: address behind the last
 * @page_refs: calls of get_page()
 * @file: from anon_inode_getfile()
 * @fops: of it
 * @file_error: from anon_inode_getfile()
 * @entry: the only one that can be found
 * @entry_error: from rdma_user_mmap_entry_insert()
 * @entry_bytes: that it was given
 * @context: that it was given
 */
struct stand_in_mapping {
	struct module module;
	u32	inserted;
	u32	insert_error_at;
	struct page *first;
	struct page *last;
	unsigned long end;
	u32	page_refs;
	struct file file;
	const struct file_operations *fops;
	int	file_error;
	struct rdma_user_mmap_entry *entry;
	int	entry_error;
	size_t	entry_bytes;
	struct ib_ucontext *context;
};

extern struct stand_in_mapping stand_in_mapping;

/* A page is known by its address, with another lowest bit for each kind of memory. */
#define vmalloc_to_page(address)	((struct page *)((char *)(address) + 1))
#define get_page(page)			((void)(page), stand_in_mapping.page_refs++)
#define vm_flags_set(vma, flags)	((vma)->vm_flags |= (flags))
int vm_insert_page(struct vm_area_struct *vma, unsigned long address, struct page *page);
void vma_set_file(struct vm_area_struct *vma, struct file *file);

struct file *anon_inode_getfile(const char *name, const struct file_operations *fops,
				void *private_data, int flags);

#define rdma_udata_to_drv_context(udata, type, member)	\
	((udata) ? container_of((udata)->context, type, member) : NULL)
struct rdma_user_mmap_entry *rdma_user_mmap_entry_get_pgoff(struct ib_ucontext *context,
							    unsigned long pgoff);
void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry);
int rdma_user_mmap_entry_insert(struct ib_ucontext *context, struct rdma_user_mmap_entry *entry,
				size_t bytes);
void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry);
#define rdma_user_mmap_get_offset(entry)	((u64)(entry)->pgoff << PAGE_SHIFT)

#ifdef __cplusplus
}
#endif

#endif
