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

#include "net/block.h"

/* A busy QP has four runs of 64 KiB under way. Who finds none is a little slower. */
#define BLOCKS	8

/* For how long memory that was short, or blocks that all were in use, are left in peace. */
#define PEACE	(HZ / 10)

/**
 * struct blocks - those of a processor
 * @lock: whoever takes one is not interrupted by others who do
 * @pages: each holds one reference; filled from the first on
 * @oldest: which is replaced next, if all are in use
 * @peace_since: in jiffies, when the allocator was last asked in vain or for a replacement
 */
struct blocks {
	local_lock_t lock;
	struct page *pages[BLOCKS];
	u32 oldest;
	unsigned long peace_since;
};

static DEFINE_PER_CPU(struct blocks, all_blocks) = {
	.lock = INIT_LOCAL_LOCK(lock),
	.peace_since = INITIAL_JIFFIES - PEACE,
};

/* No memory is reclaimed for what can be done without. */
static struct page *alloc_block(void)
{
	return alloc_pages(__GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			   get_order(SROCE_BLOCK_BYTES));
}

/* Fills an empty place, or takes that of one that may be in use for ever; or returns NULL. */
static struct page *renew(struct blocks *blocks, struct page **place)
{
	struct page *page;

	if (jiffies - blocks->peace_since < PEACE)
		return NULL;
	page = alloc_block();
	if (!page || *place)
		blocks->peace_since = jiffies;
	if (!page)
		return NULL;
	if (*place) {
		put_page(*place);
		blocks->oldest = (blocks->oldest + 1) % BLOCKS;
	}
	*place = page;
	return page;
}

/* One that nobody has, or NULL. */
static struct page *find(struct blocks *blocks)
{
	u32 i;

	for (i = 0; i < BLOCKS; i++) {
		if (!blocks->pages[i])
			return renew(blocks, &blocks->pages[i]);
		if (page_ref_count(blocks->pages[i]) == 1)
			return blocks->pages[i];
	}
	return renew(blocks, &blocks->pages[blocks->oldest]);
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
	page = find(this_cpu_ptr(&all_blocks));
	if (page)
		get_page(page);
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
