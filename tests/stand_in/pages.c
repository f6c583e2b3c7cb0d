/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/pages.h"

struct stand_in_pages stand_in_pages;
struct work_struct *stand_in_delayed;
bool stand_in_on_cpu1;

struct page *stand_in_alloc_page(gfp_t gfp, u32 order)
{
	void *memory;

	stand_in_pages.allocations++;
	stand_in_pages.order = order;
	stand_in_pages.gfp = gfp;
	memory = stand_in_fragment(PAGE_SIZE << order, PAGE_SIZE);
	if (!memory)
		return NULL;
	stand_in_pages.live++;
	virt_to_head_page(memory)->refs = 1;
	return virt_to_head_page(memory);
}

int page_ref_count(const struct page *page)
{
	void (*counting)(void) = stand_in_pages.counting;

	stand_in_pages.counting = NULL;
	if (counting)
		counting();
	return page->refs;
}

/* The store that other CPUs do not see yet. */
static struct page **stored_slot;
static struct page *stored_page;

void stand_in_store_page(struct page **slot, struct page *page)
{
	stand_in_see_stores();
	stored_slot = slot;
	stored_page = page;
	if (!stand_in_pages.delays_stores)
		stand_in_see_stores();
}

void stand_in_see_stores(void)
{
	if (stored_slot)
		*stored_slot = stored_page;
	stored_slot = NULL;
}

bool stand_in_is_pending(const struct work_struct *work)
{
	bool queued = work->queued;
	void (*looked)(void) = stand_in_pages.looked;

	stand_in_pages.looked = NULL;
	if (looked)
		looked();
	return queued;
}

void get_page(struct page *page)
{
	WARN_ON(!page->refs++);
}

void put_page(struct page *page)
{
	WARN_ON(page->refs <= 0);
	if (--page->refs)
		return;
	stand_in_pages.live--;
	skb_free_frag(page->address);
}
