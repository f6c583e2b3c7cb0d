// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Blocks of pages for the packets of long runs.
 *
 * A run in one block is written, and read by a receiver on this host, without a seam; but
 * the allocator gives that much in one piece slowly, if at all. So each processor keeps some
 * that it has had. A block is free again as soon as nobody else refers to it. The first free
 * one is taken: what has been used last is still in the cache.
 */
#include <linux/gfp.h>
#include <linux/local_lock.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/percpu.h>

#include "net/block.h"

/* Both halves of a QP have that much under way, see transmit.c. */
#define BLOCKS	8

/**
 * struct blocks - those of a processor
 * @lock: whoever takes one is not interrupted by others who do
 * @pages: each holds one reference; filled from the first on
 */
struct blocks {
	local_lock_t lock;
	struct page *pages[BLOCKS];
};

static DEFINE_PER_CPU(struct blocks, all_blocks) = {
	.lock = INIT_LOCAL_LOCK(lock),
};

static struct page *alloc_block(void)
{
	return alloc_pages(GFP_NOWAIT | __GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			   get_order(SROCE_BLOCK_BYTES));
}

/* One that nobody has, with a reference for the caller; or NULL. */
static struct page *take(struct page **pages)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		if (!pages[i])
			pages[i] = alloc_block();
		else if (page_ref_count(pages[i]) > 1)
			continue;
		if (pages[i])
			get_page(pages[i]);
		return pages[i];
	}
	return NULL;
}

/**
 * sroce_block_get() - a block, if there is one
 *
 * Softirq or process context, bottom halves disabled.
 *
 * Return: SROCE_BLOCK_BYTES, given back by skb_free_frag() or with an skb of which they are a
 * fragment; NULL: all are in use, or memory is short.
 */
void *sroce_block_get(void)
{
	struct page *page;

	local_lock(&all_blocks.lock);
	page = take(this_cpu_ptr(all_blocks.pages));
	local_unlock(&all_blocks.lock);
	return page ? page_address(page) : NULL;
}

/**
 * sroce_blocks_fini() - give up all blocks; nobody asks for one any more
 *
 * Those still in use are freed with their last user.
 */
void sroce_blocks_fini(void)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < BLOCKS; i++)
			if (per_cpu(all_blocks, cpu).pages[i])
				put_page(per_cpu(all_blocks, cpu).pages[i]);
}
