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
