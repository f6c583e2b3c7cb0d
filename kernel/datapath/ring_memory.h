/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory of rings. That of work queues is contiguous and complete from the start. That of a
 * completion queue is a list of pages. If it is large, pages are added when they are needed, so
 * that memory grows by use: a CQ may have millions of entries, and most have never been written.
 */
#ifndef SROCE_DATAPATH_RING_MEMORY_H
#define SROCE_DATAPATH_RING_MEMORY_H

#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/types.h>

struct mem_cgroup;

/**
 * struct sroce_ring_memory - the memory of one ring, or of two
 * @refs: the rings, the mmap entry if there is one, and each mapping that grows
 * @buf: of work queues: vmalloc() memory, in single pages
 * @pages: of a CQ: kernel addresses of its pages; NULL if not needed yet; never removed
 * @bytes: its size, whole pages
 * @grows: pages are added when they are needed
 * @memcg: of a CQ: what pages are charged to
 */
struct sroce_ring_memory {
	struct kref refs;
	void	*buf;
	void	**pages;
	size_t	bytes;
	bool	grows;
	struct mem_cgroup *memcg;
};

struct sroce_ring_memory *sroce_ring_memory_alloc(size_t bytes);
struct sroce_ring_memory *sroce_ring_memory_alloc_pages(size_t bytes, bool may_grow);
void sroce_ring_memory_put(struct sroce_ring_memory *memory);
void *sroce_ring_memory_page(struct sroce_ring_memory *memory, u32 index, gfp_t gfp);
int sroce_ring_memory_add(struct sroce_ring_memory *memory, u32 first, u32 count);

/* The number of pages. */
static inline u32 sroce_ring_memory_count(const struct sroce_ring_memory *memory)
{
	return memory->bytes >> PAGE_SHIFT;
}

#endif
