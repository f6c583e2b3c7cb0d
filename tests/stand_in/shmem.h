/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared memory: files whose pages a process adds by writing there. */
#ifndef STAND_IN_SHMEM_H
#define STAND_IN_SHMEM_H

#include "stand_in/dmabuf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STAND_IN_SHMEM_PAGES	64

/* A page is known by its address. */
#undef page_address
#define virt_to_page(address)	((struct page *)(address))
#define page_address(page)	((void *)(page))

/**
 * struct address_space - the pages of a file
 * @pages: that there are
 * @refs: that the kernel has to each
 * @gfp: where pages may be
 * @unevictable: may pages not be swapped out?
 */
struct address_space {
	struct page *pages[STAND_IN_SHMEM_PAGES];
	u32	refs[STAND_IN_SHMEM_PAGES];
	gfp_t	gfp;
	bool	unevictable;
};

/**
 * struct stand_in_shmem - what a test tells these functions, and what they tell it
 * @files: that there are
 * @reading: called by shmem_read_mapping_page()
 * @bytes: of the last file
 * @mapped: file that has been mapped last
 * @map_error: from vfs_mmap()
 */
struct stand_in_shmem {
	int	files;
	void	(*reading)(void);
	s64	bytes;
	struct file *mapped;
	int	map_error;
};

extern struct stand_in_shmem stand_in_shmem;

struct vm_area_struct;
struct file *compat_shmem_file_setup(const char *name, s64 bytes);
struct page *shmem_read_mapping_page(struct address_space *mapping, unsigned long index);
void stand_in_put_page(struct page *page);
#define put_page(page)		stand_in_put_page(page)
#define mapping_set_gfp_mask(mapping, mask)	((mapping)->gfp = (mask))
#define mapping_set_unevictable(mapping)	((mapping)->unevictable = true)
int vfs_mmap(struct file *file, struct vm_area_struct *vma);
void fput(struct file *file);

/* A process writes to a page. Returns its address. */
void *stand_in_write_page(struct file *file, u32 index);
/* It removes a page from the file. */
void stand_in_remove_page(struct file *file, u32 index);

#ifdef __cplusplus
}
#endif

#endif
