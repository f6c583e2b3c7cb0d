/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of rings, in one of three forms. Most work queues are contiguous and complete from the
 * start. A completion queue is a list of pages. If it is large, pages are added when they are
 * needed, so that memory grows by use: a CQ may have millions of entries, and most have never been
 * written. A large send queue of librxe is shared memory (shmem), to which the process adds a page
 * when it first touches it: such a queue may have twice the slots that the process asks for, of 256
 * bytes or more, and a QP that waits uses few of them. A receive queue is not: nobody tells the
 * kernel of a posted receive, so it could not get the page in a context that may wait.
 */
#ifndef SROCE_DATAPATH_RING_MEMORY_H
#define SROCE_DATAPATH_RING_MEMORY_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/types.h>

struct file;
struct mem_cgroup;

/**
 * struct sroce_ring_memory - the memory of one ring, or of two
 * @refs: the rings, the mmap entry if there is one, and each mapping that grows
 * @buf: contiguous: vmalloc() memory, in single pages; else NULL
 * @pages: kernel addresses of its pages; NULL if not needed or, in shared memory, not got yet;
 *         never removed; NULL if it is contiguous
 * @file: shared memory; else NULL
 * @bytes: its size, whole pages
 * @missing: how many of @pages are NULL
 * @grows: of a CQ: pages are added when they are needed
 * @memcg: of a CQ: what pages are charged to
 */
struct sroce_ring_memory {
	struct kref refs;
	void	*buf;
	void	**pages;
	struct file *file;
	size_t	bytes;
	atomic_t missing;
	bool	grows;
	struct mem_cgroup *memcg;
};

struct sroce_ring_memory *sroce_ring_memory_alloc(size_t bytes);
struct sroce_ring_memory *sroce_ring_memory_alloc_pages(size_t bytes, bool may_grow);
struct sroce_ring_memory *sroce_ring_memory_alloc_shmem(size_t bytes);
void sroce_ring_memory_put(struct sroce_ring_memory *memory);
void *sroce_ring_memory_page(struct sroce_ring_memory *memory, u32 index, gfp_t gfp);
int sroce_ring_memory_add(struct sroce_ring_memory *memory, u32 first, u32 count);

/* The number of pages. */
static inline u32 sroce_ring_memory_count(const struct sroce_ring_memory *memory)
{
	return memory->bytes >> PAGE_SHIFT;
}

#endif
