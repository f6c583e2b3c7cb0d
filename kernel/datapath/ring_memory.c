// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocating the memory of rings. Three contexts may add a page to the ring of a CQ: a work item
 * that keeps some ahead of the datapath, the datapath if it is faster, and a process that looks at
 * the page first.
 *
 * In shared memory a process adds the pages of its requests, and may remove them (MADV_REMOVE). A
 * page may migrate until the kernel has a reference, so only the doorbell gets it, which may wait.
 * It stays the kernel's: a process that removes a page loses its own requests.
 */
#include <linux/file.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat/shmem.h"
#include "datapath/ring_memory.h"

/*
 * A ring of at most this many pages (1 MiB) has all from the start. A larger one of a process needs
 * the module as long as it is mapped, see map_growing() in verbs/.
 */
#define COMPLETE_PAGES		((1 << 20) >> PAGE_SHIFT)

static struct sroce_ring_memory *alloc_empty(size_t bytes)
{
	struct sroce_ring_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);

	if (!memory)
		return NULL;
	kref_init(&memory->refs);
	memory->bytes = bytes;
	atomic_set(&memory->missing, sroce_ring_memory_count(memory));
	return memory;
}

static void free_memory(struct kref *refs)
{
	struct sroce_ring_memory *memory = container_of(refs, struct sroce_ring_memory, refs);
	u32 i;

	for (i = 0; memory->pages && i < sroce_ring_memory_count(memory); i++) {
		/* A mapping, or the file, has its own reference to the page. */
		if (memory->pages[i])
			put_page(virt_to_page(memory->pages[i]));
		cond_resched();
	}
	kvfree(memory->pages);
	mem_cgroup_put(memory->memcg);
	if (memory->file)
		fput(memory->file);
	vfree(memory->buf);
	kfree(memory);
}

/**
 * sroce_ring_memory_alloc() - allocate contiguous memory
 * @bytes: whole pages
 *
 * May sleep.
 *
 * Return: zeroed memory with one reference, or NULL.
 */
struct sroce_ring_memory *sroce_ring_memory_alloc(size_t bytes)
{
	struct sroce_ring_memory *memory = alloc_empty(bytes);

	if (!memory)
		return NULL;
	/* Not vmalloc_user(), which cannot charge the process's memory cgroup. */
	memory->buf = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!memory->buf) {
		sroce_ring_memory_put(memory);
		return NULL;
	}
	return memory;
}

/**
 * sroce_ring_memory_alloc_pages() - allocate pages for a completion queue
 * @bytes: whole pages
 * @may_grow: pages may be added later; if one cannot be, the CQ overflows
 *
 * Charges the memory cgroup of the current process. May sleep.
 *
 * Return: memory with one reference, or NULL. If it grows, no page is there yet; else all are.
 */
struct sroce_ring_memory *sroce_ring_memory_alloc_pages(size_t bytes, bool may_grow)
{
	struct sroce_ring_memory *memory = alloc_empty(bytes);
	u32 pages = bytes >> PAGE_SHIFT;

	if (!memory)
		return NULL;
	memory->grows = may_grow && pages > COMPLETE_PAGES;
	memory->memcg = get_mem_cgroup_from_mm(current->mm);
	memory->pages = kvcalloc(pages, sizeof(*memory->pages), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (memory->pages && (memory->grows || !sroce_ring_memory_add(memory, 0, pages)))
		return memory;
	sroce_ring_memory_put(memory);
	return NULL;
}

static struct file *create_shmem(size_t bytes)
{
	struct file *file = compat_shmem_file_setup("[sroce]", bytes);

	if (IS_ERR(file))
		return NULL;
	/* Pages are read by their address. Reclaim need not look at those that the kernel keeps. */
	mapping_set_gfp_mask(file->f_mapping, GFP_KERNEL);
	mapping_set_unevictable(file->f_mapping);
	return file;
}

/**
 * sroce_ring_memory_alloc_shmem() - allocate shared memory, for the send queue of a process
 * @bytes: whole pages
 *
 * The process maps the file, and page faults need no code of this module. Each page is charged to
 * the memory cgroup of the process that first touches it. May sleep.
 *
 * Return: memory with one reference, or NULL. Only the first page, with the indices, is there. It
 * is a huge page if the administrator wants these for all shared memory.
 */
struct sroce_ring_memory *sroce_ring_memory_alloc_shmem(size_t bytes)
{
	struct sroce_ring_memory *memory = alloc_empty(bytes);

	if (!memory)
		return NULL;
	memory->pages = kvcalloc(sroce_ring_memory_count(memory), sizeof(*memory->pages),
				 GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (memory->pages)
		memory->file = create_shmem(bytes);
	if (memory->file && !sroce_ring_memory_add(memory, 0, 1))
		return memory;
	sroce_ring_memory_put(memory);
	return NULL;
}

/**
 * sroce_ring_memory_put() - drop a reference to the memory of a ring
 * @memory: may be freed; may sleep
 */
void sroce_ring_memory_put(struct sroce_ring_memory *memory)
{
	kref_put(&memory->refs, free_memory);
}

/* The first one that adds a page wins, without a lock. The reference to @page is taken over. */
static void *keep_page(struct sroce_ring_memory *memory, u32 index, struct page *page)
{
	void *address = page_address(page), *other;

	/* Also orders the contents before the pointer. */
	other = cmpxchg(&memory->pages[index], NULL, address);
	if (!other) {
		atomic_dec(&memory->missing);
		return address;
	}
	put_page(page);
	return other;
}

static struct page *alloc_cq_page(const struct sroce_ring_memory *memory, gfp_t gfp)
{
	struct mem_cgroup *active = set_active_memcg(memory->memcg);
	void *address = (void *)get_zeroed_page(gfp | __GFP_ACCOUNT | __GFP_NOWARN);

	set_active_memcg(active);
	return address ? virt_to_page(address) : ERR_PTR(-ENOMEM);
}

/**
 * sroce_ring_memory_page() - get a page, which is added if it is not there
 * @memory: not contiguous
 * @index: of the page
 * @gfp: for allocating it; GFP_ATOMIC would exceed the limit of the memory cgroup
 *
 * Any context that @gfp permits; shared memory: may sleep. The contents are zero or what others
 * have written.
 *
 * Return: its address, or NULL if there is no memory.
 */
void *sroce_ring_memory_page(struct sroce_ring_memory *memory, u32 index, gfp_t gfp)
{
	void *address = READ_ONCE(memory->pages[index]);
	struct page *page;

	if (likely(address))
		return address;
	page = memory->file ? shmem_read_mapping_page(memory->file->f_mapping, index) :
			      alloc_cq_page(memory, gfp);
	return IS_ERR(page) ? NULL : keep_page(memory, index, page);
}

/**
 * sroce_ring_memory_add() - make sure that pages are there
 * @memory: not contiguous
 * @first: index of the first page
 * @count: number of pages; after the last one follows that of index 0
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM; then some may have been added.
 */
int sroce_ring_memory_add(struct sroce_ring_memory *memory, u32 first, u32 count)
{
	u32 i, pages = sroce_ring_memory_count(memory);

	for (i = 0; i < count; i++)
		if (!sroce_ring_memory_page(memory, (first + i) % pages, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}
