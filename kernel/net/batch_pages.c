// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compound pages of 64 KiB for GSO batches.
 *
 * A batch in one page is contiguous for the sender and for a receiver on this host. Because the
 * allocator is slow for such pages and may fail, each CPU keeps some. A page is free again when the
 * cache has the only reference. The first free page is used, so that few pages circulate and stay
 * in the CPU's data cache.
 *
 * While pages are taken, all caches are emptied every ten seconds. So idle CPUs keep no page, nor
 * busy ones a page that stays in use for ever. xchg() decides which gets a slot's page: its
 * CPU or the one that empties it.
 */
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "net/batch_pages.h"

/* A busy QP has four batches of 64 KiB in flight. Without a free page, sending is slower. */
#define CACHED_PAGES	8

/* Time to the next allocation after one that failed. */
#define RETRY_JIFFIES	(HZ / 10)

/* Time from the first use until all caches are emptied. */
#define KEEP_JIFFIES	(10 * HZ)

/**
 * struct batch_pages - the pages of a CPU
 * @lock: serialises takers
 * @pages: each has a reference of the cache
 * @paused_at: jiffies when an allocation last failed
 */
struct batch_pages {
	local_lock_t lock;
	struct page *pages[CACHED_PAGES];
	unsigned long paused_at;
};

static DEFINE_PER_CPU(struct batch_pages, batch_pages_of_cpu) = {
	.lock = INIT_LOCAL_LOCK(lock),
	.paused_at = INITIAL_JIFFIES - RETRY_JIFFIES,
};

static void empty_caches(struct work_struct *work)
{
	struct page *page;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		for (i = 0; i < CACHED_PAGES; i++) {
			page = xchg(&per_cpu(batch_pages_of_cpu, cpu).pages[i], NULL);
			if (page)
				put_page(page);
		}
	}
}

static DECLARE_DELAYED_WORK(empty_work, empty_caches);

/* Does not reclaim memory, because a batch can do without the page. */
static struct page *alloc_cached_page(void)
{
	return alloc_pages(__GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			   get_order(SROCE_CACHED_PAGE_BYTES));
}

/* Returns a page for an empty slot, with another reference, or NULL. */
static struct page *refill_slot(struct batch_pages *cache, u32 slot)
{
	struct page *page;

	if (jiffies - cache->paused_at < RETRY_JIFFIES)
		return NULL;
	page = alloc_cached_page();
	if (!page) {
		cache->paused_at = jiffies;
		return NULL;
	}
	get_page(page);
	/* Pairs with xchg() in empty_caches(). */
	smp_store_release(&cache->pages[slot], page);
	return page;
}

/* Returns an unused page, with another reference, or NULL. */
static struct page *find_free_page(struct batch_pages *cache)
{
	struct page *page;
	bool is_free;
	u32 i;

	for (i = 0; i < CACHED_PAGES; i++) {
		page = xchg(&cache->pages[i], NULL);
		if (!page)
			return refill_slot(cache, i);
		is_free = page_ref_count(page) == 1;
		if (is_free)
			get_page(page);
		/* Pairs with xchg() in empty_caches(). */
		smp_store_release(&cache->pages[i], page);
		if (is_free)
			return page;
	}
	return NULL;
}

/*
 * A page that is out of its slot is missed by empty_caches(). Putting it back therefore schedules
 * the work again, unless it is still pending.
 */
static void schedule_emptying(void)
{
	/* Pairs with the barrier between the clearing of the bit and the run of the work. */
	smp_mb();
	if (!delayed_work_pending(&empty_work))
		schedule_delayed_work(&empty_work, KEEP_JIFFIES);
}

/**
 * sroce_batch_page_get() - take a page from the cache of this CPU
 *
 * Softirq or process context, BH disabled.
 *
 * Return: SROCE_CACHED_PAGE_BYTES, to be freed by skb_free_frag() or as a fragment of an skb; NULL
 * if all pages are in use or memory is short.
 */
void *sroce_batch_page_get(void)
{
	struct page *page;

	local_lock(&batch_pages_of_cpu.lock);
	page = find_free_page(this_cpu_ptr(&batch_pages_of_cpu));
	local_unlock(&batch_pages_of_cpu.lock);
	schedule_emptying();
	return page ? page_address(page) : NULL;
}

/**
 * sroce_batch_pages_fini() - release all pages; no more are taken
 *
 * Pages in use are freed with their last reference.
 */
void sroce_batch_pages_fini(void)
{
	cancel_delayed_work_sync(&empty_work);
	empty_caches(NULL);
}
