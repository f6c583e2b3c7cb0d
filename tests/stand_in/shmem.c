/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/shmem.h"

struct stand_in_shmem stand_in_shmem;

struct shmem_file {
	struct file file;
	struct address_space mapping;
	struct shmem_file *next;
};

static struct shmem_file *all;

static void release_shmem(struct file *file)
{
	struct shmem_file *shmem = container_of(file, struct shmem_file, file), **at = &all;
	u32 i;

	while (*at != shmem)
		at = &(*at)->next;
	*at = shmem->next;
	for (i = 0; i < STAND_IN_SHMEM_PAGES; i++) {
		WARN_ON(shmem->mapping.refs[i]);
		free(shmem->mapping.pages[i]);
	}
	free(shmem);
	stand_in_shmem.files--;
}

struct file *compat_shmem_file_setup(const char *name, s64 bytes)
{
	struct shmem_file *shmem;

	if (bytes > STAND_IN_SHMEM_PAGES * PAGE_SIZE)
		return ERR_PTR(-ENOMEM);
	shmem = stand_in_alloc(sizeof(*shmem));
	if (!shmem)
		return ERR_PTR(-ENFILE);
	*shmem = (struct shmem_file) {
		.file = { .refs = 1, .f_mapping = &shmem->mapping, .release = release_shmem },
		.mapping = { .gfp = ~GFP_KERNEL },
		.next = all,
	};
	all = shmem;
	stand_in_shmem.files++;
	stand_in_shmem.bytes = bytes;
	return &shmem->file;
}

void fput(struct file *file)
{
	if (!file->release)
		return;
	WARN_ON(file->refs <= 0);
	if (!--file->refs)
		file->release(file);
}

struct page *shmem_read_mapping_page(struct address_space *mapping, unsigned long index)
{
	if (stand_in_shmem.reading)
		stand_in_shmem.reading();
	if (!mapping->pages[index])
		mapping->pages[index] = stand_in_alloc(PAGE_SIZE);
	if (!mapping->pages[index])
		return ERR_PTR(-ENOMEM);
	mapping->refs[index]++;
	return mapping->pages[index];
}

/* Finds a page of any file. Returns its index, or STAND_IN_SHMEM_PAGES. */
static u32 find_page(const struct page *page, struct shmem_file **shmem)
{
	u32 i;

	for (*shmem = all; *shmem; *shmem = (*shmem)->next)
		for (i = 0; i < STAND_IN_SHMEM_PAGES; i++)
			if ((*shmem)->mapping.pages[i] == page)
				return i;
	return STAND_IN_SHMEM_PAGES;
}

/* A page of no file has one reference only. */
void stand_in_put_page(struct page *page)
{
	struct shmem_file *shmem;
	u32 index = find_page(page, &shmem);

	if (!shmem) {
		free(page);
		return;
	}
	WARN_ON(!shmem->mapping.refs[index]);
	shmem->mapping.refs[index]--;
}

int vfs_mmap(struct file *file, struct vm_area_struct *vma)
{
	stand_in_shmem.mapped = file;
	return stand_in_shmem.map_error;
}

void *stand_in_write_page(struct file *file, u32 index)
{
	struct page **page = &file->f_mapping->pages[index];

	if (!*page)
		*page = stand_in_alloc(PAGE_SIZE);
	return *page;
}

void stand_in_remove_page(struct file *file, u32 index)
{
	struct address_space *mapping = file->f_mapping;

	if (!mapping->refs[index])
		free(mapping->pages[index]);
	mapping->refs[index] = 0;
	mapping->pages[index] = NULL;
}
