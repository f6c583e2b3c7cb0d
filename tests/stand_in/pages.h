/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Pages with reference counts, and what belongs to one of two CPUs. */
#ifndef STAND_IN_PAGES_H
#define STAND_IN_PAGES_H

#include "stand_in/skb.h"
#include "stand_in/two_cpus.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct stand_in_pages - what a test tells these functions, and what they tell it
 * @live: pages that have a reference
 * @allocations: calls of alloc_pages(), with those that failed
 * @order: of the last of them
 * @gfp: of the last of them
 * @counting: called by the next page_ref_count() only, before it reads the count
 * @looked: called by the next delayed_work_pending() only, after it has read the bit
 * @delays_stores: other CPUs see a page that is stored in a slot only behind the next store or
 *                 barrier, or stand_in_see_stores()
 * @delay: of the last call of schedule_delayed_work()
 */
struct stand_in_pages {
	int	live;
	u32	allocations;
	u32	order;
	gfp_t	gfp;
	void	(*counting)(void);
	void	(*looked)(void);
	bool	delays_stores;
	unsigned long delay;
};

extern struct stand_in_pages stand_in_pages;

struct page *stand_in_alloc_page(gfp_t gfp, u32 order);
int page_ref_count(const struct page *page);
void get_page(struct page *page);
void put_page(struct page *page);
#define alloc_pages(gfp, order)		stand_in_alloc_page(gfp, order)

void stand_in_store_page(struct page **slot, struct page *page);
void stand_in_see_stores(void);
bool stand_in_is_pending(const struct work_struct *work);
#undef smp_store_release
#undef smp_mb
#define smp_store_release(slot, page)	stand_in_store_page(slot, page)
#define smp_mb()			stand_in_see_stores()

typedef rwlock_t local_lock_t;
#define INIT_LOCAL_LOCK(name)		{ }
#define local_lock(lock)		stand_in_lock(lock)
#define local_unlock(lock)		stand_in_unlock(lock)

#define DECLARE_DELAYED_WORK(name, fn)	struct delayed_work name = { .work = { .function = (fn) } }
#define delayed_work_pending(delayed)	stand_in_is_pending(&(delayed)->work)
#define schedule_delayed_work(delayed, n)	\
	(stand_in_pages.delay = (n), stand_in_delayed = &(delayed)->work, schedule_work(stand_in_delayed))
#define cancel_delayed_work_sync(delayed)	cancel_work_sync(&(delayed)->work)

struct delayed_work {
	struct work_struct work;
};

/* The one that was scheduled last. */
extern struct work_struct *stand_in_delayed;

#ifdef __cplusplus
}
#endif

#endif
