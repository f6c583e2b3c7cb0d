/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Allocation of memory, included by kernel.h. */
#ifndef STAND_IN_ALLOC_H
#define STAND_IN_ALLOC_H

typedef unsigned int gfp_t;
#define GFP_KERNEL		0u
#define GFP_KERNEL_ACCOUNT	__GFP_ACCOUNT
#define GFP_ATOMIC		0u
#define GFP_NOWAIT		0u
#define __GFP_COMP		0u
#define __GFP_NOMEMALLOC	0u
#define __GFP_ACCOUNT		1u
#define __GFP_NOWARN		0u
#define __GFP_ZERO		0u

static inline void *stand_in_kmalloc(size_t bytes, gfp_t gfp)
{
	if (!(gfp & __GFP_ACCOUNT))
		stand_in.uncharged += bytes;
	return stand_in_alloc(bytes);
}

#define kmalloc(bytes, gfp)		stand_in_kmalloc(bytes, gfp)
#define kzalloc(bytes, gfp)		stand_in_kmalloc(bytes, gfp)
#define kcalloc(n, bytes, gfp)		stand_in_kmalloc((size_t)(n) * (bytes), gfp)
#define kvcalloc(n, bytes, gfp)		stand_in_kmalloc((size_t)(n) * (bytes), gfp)
#define kvmalloc_array(n, bytes, gfp)	stand_in_kmalloc((size_t)(n) * (bytes), gfp)
#define __vmalloc(bytes, gfp)		stand_in_kmalloc(bytes, gfp)
#define kfree(pointer)			free((void *)(pointer))
#define kvfree(pointer)			free(pointer)
#define vfree(pointer)			free(pointer)
#define kfree_rcu(pointer, member)	free(pointer)

#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define PAGE_ALIGN(bytes)	ALIGN(bytes, PAGE_SIZE)
#define offset_in_page(address)	((unsigned long)(address) & (PAGE_SIZE - 1))

static inline u32 get_order(u64 bytes)
{
	return bytes > PAGE_SIZE ? order_base_2((bytes + PAGE_SIZE - 1) >> PAGE_SHIFT) : 0;
}

static inline bool virt_addr_valid(const void *address)
{
	unsigned long page = (unsigned long)address & ~(PAGE_SIZE - 1);

	return !stand_in.no_memory_at || page != (unsigned long)stand_in.no_memory_at;
}

/* Pages. */
static inline unsigned long get_zeroed_page(gfp_t gfp)
{
	return (unsigned long)stand_in_kmalloc(PAGE_SIZE, gfp);
}

#define free_page(address)	free((void *)(address))

#endif
