// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compound pages of 64 KiB for GSO batches.
 *
 * A batch in one page is contiguous for the sender and for a receiver on this host. Because the
 * allocator is slow for such pages and may fail, each CPU keeps some. A page is free again when the
 * cache has the only reference. The first free page is used, so that few pages circulate and stay
 * in the CPU's data cache.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/percpu.h>

#include "net/page_cache.h"

/* A busy QP has four batches of 64 KiB in flight. Without a free page, sending is slower. */
#define CACHED_PAGES	8

/* Time to the next allocation after one that failed or replaced a page. */
#define RETRY_JIFFIES	(HZ / 10)

/**
 * struct page_cache - the pages of a CPU
 * @lock: serialises takers
 * @pages: filled from the first on; each has a reference of the cache
 * @oldest: index of the page that is replaced next if all are in use
 * @paused_at: jiffies when an allocation last failed or replaced a page
 */
struct page_cache {
	local_lock_t lock;
	struct page *pages[CACHED_PAGES];
	u32 oldest;
	unsigned long paused_at;
};

static DEFINE_PER_CPU(struct page_cache, page_caches) = {
	.lock = INIT_LOCAL_LOCK(lock),
	.paused_at = INITIAL_JIFFIES - RETRY_JIFFIES,
};

/* Does not reclaim memory, because a batch can do without the page. */
static struct page *alloc_cached_page(void)
{
	return alloc_pages(__GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			   get_order(SROCE_CACHED_PAGE_BYTES));
}

/* Allocates a page for an empty slot, or replaces one that may stay in use for ever; or NULL. */
static struct page *refill_slot(struct page_cache *cache, struct page **slot)
{
	struct page *page;

	if (jiffies - cache->paused_at < RETRY_JIFFIES)
		return NULL;
	page = alloc_cached_page();
	if (!page || *slot)
		cache->paused_at = jiffies;
	if (!page)
		return NULL;
	if (*slot) {
		put_page(*slot);
		cache->oldest = (cache->oldest + 1) % CACHED_PAGES;
	}
	*slot = page;
	return page;
}

/* Returns an unused page or NULL. */
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
 * sroce_page_cache_get() - take a page from the cache of this CPU
 *
 * Softirq or process context, BH disabled.
 *
 * Return: SROCE_CACHED_PAGE_BYTES, to be freed by skb_free_frag() or as a fragment of an skb; NULL
 * if all pages are in use or memory is short.
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
 * sroce_page_cache_fini() - release all pages; no more are taken
 *
 * Pages in use are freed with their last reference.
 */
void sroce_page_cache_fini(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < CACHED_PAGES; i++)
			if (per_cpu(page_caches, cpu).pages[i])
				put_page(per_cpu(page_caches, cpu).pages[i]);
}
