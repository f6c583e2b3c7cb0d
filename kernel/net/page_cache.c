// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Blocks of pages for the packets of long runs.
 *
 * A run in one block is written, and read by a receiver on this host, without a seam; but
 * the allocator gives that much in one piece slowly, if at all. So each processor keeps some
 * that it has had. A block is free again as soon as nobody else refers to it. The first free
 * one is taken: the fewer go round, the more of them stays in the cache.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/percpu.h>

#include "net/page_cache.h"

/* A busy QP has four runs of 64 KiB under way. Who finds none is a little slower. */
#define CACHED_PAGES	8

/* For how long memory that was short, or blocks that all were in use, are left in peace. */
#define RETRY_JIFFIES	(HZ / 10)

/**
 * struct page_cache - those of a processor
 * @lock: whoever takes one is not interrupted by others who do
 * @pages: each holds one reference; filled from the first on
 * @oldest: which is replaced next, if all are in use
 * @retry_after: in jiffies, when the allocator was last asked in vain or for a replacement
 */
struct page_cache {
	local_lock_t lock;
	struct page *pages[CACHED_PAGES];
	u32 oldest;
	unsigned long retry_after;
};

static DEFINE_PER_CPU(struct page_cache, page_caches) = {
	.lock = INIT_LOCAL_LOCK(lock),
	.retry_after = INITIAL_JIFFIES - RETRY_JIFFIES,
};

/* No memory is reclaimed for what can be done without. */
static struct page *alloc_cached_page(void)
{
	return alloc_pages(__GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			   get_order(SROCE_CACHED_PAGE_BYTES));
}

/* Fills an empty place, or takes that of one that may be in use for ever; or returns NULL. */
static struct page *refill_slot(struct page_cache *cache, struct page **place)
{
	struct page *page;

	if (jiffies - cache->retry_after < RETRY_JIFFIES)
		return NULL;
	page = alloc_cached_page();
	if (!page || *place)
		cache->retry_after = jiffies;
	if (!page)
		return NULL;
	if (*place) {
		put_page(*place);
		cache->oldest = (cache->oldest + 1) % CACHED_PAGES;
	}
	*place = page;
	return page;
}

/* One that nobody has, or NULL. */
static struct page *find_free_page(struct page_cache *cache)
{
	u32 i;

	for (i = 0; i < CACHED_PAGES; i++) {
		if (!cache->pages[i])
			return refill_slot(cache, &cache->pages[i]);
		if (page_ref_count(cache->pages[i]) == 1)
			return cache->pages[i];
	}
	return refill_slot(cache, &cache->pages[cache->oldest]);
}

/**
 * sroce_page_cache_get() - a block, if there is one
 *
 * Softirq or process context, bottom halves disabled.
 *
 * Return: SROCE_CACHED_PAGE_BYTES, given back by skb_free_frag() or with an skb of which they are a
 * fragment; NULL: all are in use, or memory is short.
 */
void *sroce_page_cache_get(void)
{
	struct page *page;

	local_lock(&page_caches.lock);
	page = find_free_page(this_cpu_ptr(&page_caches));
	if (page)
		get_page(page);
	local_unlock(&page_caches.lock);
	return page ? page_address(page) : NULL;
}

/**
 * sroce_page_cache_fini() - give up all blocks; nobody asks for one any more
 *
 * Those still in use are freed with their last user.
 */
void sroce_page_cache_fini(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < CACHED_PAGES; i++)
			if (per_cpu(page_caches, cpu).pages[i])
				put_page(per_cpu(page_caches, cpu).pages[i]);
}
