// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions and their keys: how they come into the table, how they are found,
 * how they go.
 *
 *   create -> (fill in) -> publish -> open/close ... -> destroy
 *                             FAST:  register <-> invalidate
 *
 * A region that is not FAST never changes between publish and destroy, so a
 * reference is all that a reader needs. A FAST region changes under the feet of
 * remote peers, and its consumer may reuse the memory the moment an
 * invalidation completes. Invalidation runs where nothing may sleep, so it
 * cannot wait for RCU: readers hold @busy for the packets of one skb at most,
 * and the writer waits for that.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "memory/memory.h"
#include "transport/responder.h"

#define VARIANT_BITS	8
/* Index 0 is left out, so that no key is ever 0. */
#define INDEX_LIMIT	XA_LIMIT(1, 0xffffff)

#define REMOTE_ACCESS	(SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ | \
			 SROCE_ACCESS_REMOTE_ATOMIC)

/**
 * sroce_memory_init() - an empty key table
 * @mem: the table
 */
void sroce_memory_init(struct sroce_memory *mem)
{
	xa_init_flags(&mem->regions, XA_FLAGS_ALLOC1);
	mem->next_index = 0;
	atomic_set(&mem->variant, 0);
}

/**
 * sroce_memory_fini() - end of a key table, which must be empty
 * @mem: the table
 */
void sroce_memory_fini(struct sroce_memory *mem)
{
	WARN_ON_ONCE(!xa_empty(&mem->regions));
	xa_destroy(&mem->regions);
}

/**
 * sroce_page_list_alloc() - room for a page list
 * @list: the list, zeroed
 * @capacity: pieces it must hold
 *
 * May sleep. Freed with the region.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_page_list_alloc(struct sroce_page_list *list, u32 capacity)
{
	if (!capacity)
		return 0;
	list->pieces = kvmalloc_array(capacity, sizeof(*list->pieces), GFP_KERNEL_ACCOUNT);
	if (!list->pieces)
		return -ENOMEM;
	list->capacity = capacity;
	return 0;
}

/**
 * sroce_region_create() - a region that nobody can find yet
 * @kind: enum sroce_region_kind
 * @pd: protection domain
 *
 * The caller fills in range, page lists and umem, then publishes the region;
 * sroce_region_destroy() is right at any stage and releases all of it.
 *
 * Return: the region or NULL. May sleep.
 */
struct sroce_region *sroce_region_create(enum sroce_region_kind kind, const void *pd)
{
	struct sroce_region *region = kzalloc(sizeof(*region), GFP_KERNEL);

	if (!region)
		return NULL;
	region->kind = kind;
	region->valid = kind != SROCE_REGION_FAST;
	region->pd = pd;
	rwlock_init(&region->busy);
	refcount_set(&region->refs, 1);
	init_completion(&region->released);
	return region;
}

/**
 * sroce_region_publish() - give a finished region its key
 * @mem: key table
 * @region: the region; @region->key is set
 *
 * The index is reserved first and filled last: whoever finds the region finds
 * it with its key. Indices are dealt out in turn, so that one is used again as
 * late as possible. May sleep.
 *
 * Return: 0, -ENOMEM, or -EBUSY when all keys are in use.
 */
int sroce_region_publish(struct sroce_memory *mem, struct sroce_region *region)
{
	u32 index;
	int err;

	err = xa_alloc_cyclic(&mem->regions, &index, NULL, INDEX_LIMIT, &mem->next_index,
			      GFP_KERNEL);
	if (err < 0)
		return err;
	region->key = index << VARIANT_BITS | (u8)atomic_inc_return(&mem->variant);
	err = xa_err(xa_store(&mem->regions, index, region, GFP_KERNEL));
	if (err) {
		xa_erase(&mem->regions, index);
		region->key = 0;
	}
	return err;
}

static void put_region(struct sroce_region *region)
{
	if (refcount_dec_and_test(&region->refs))
		complete(&region->released);
}

/**
 * sroce_region_destroy() - end of a region
 * @mem: key table
 * @region: published or not; freed
 *
 * Once this returns, nobody reads or writes the memory any more. Sleeps until
 * the copies under way are done.
 */
void sroce_region_destroy(struct sroce_memory *mem, struct sroce_region *region)
{
	if (region->key)
		xa_erase(&mem->regions, region->key >> VARIANT_BITS);
	put_region(region);
	wait_for_completion(&region->released);

	ib_umem_release(region->umem);
	kvfree(region->pages.pieces);
	kvfree(region->staged.pieces);
	kfree_rcu(region, rcu);
}

static struct sroce_region *get_region(struct sroce_memory *mem, u32 key)
{
	struct sroce_region *region;

	rcu_read_lock();
	region = xa_load(&mem->regions, key >> VARIANT_BITS);
	if (region && !refcount_inc_not_zero(&region->refs))
		region = NULL;
	rcu_read_unlock();
	return region;
}

/* sparse cannot follow a lock that only some objects have: it is told that nothing happened. */
static void lock_fast_region(struct sroce_region *region)
{
	if (region->kind == SROCE_REGION_FAST) {
		read_lock_bh(&region->busy);
		__release(&region->busy);
	}
}

static void unlock_fast_region(struct sroce_region *region)
{
	if (region->kind == SROCE_REGION_FAST) {
		__acquire(&region->busy);
		read_unlock_bh(&region->busy);
	}
}

/**
 * sroce_region_open() - find a region to read or write its memory now
 * @mem: key table
 * @pd: protection domain of the QP
 * @key: lkey or rkey
 *
 * Any context but hard interrupts. Must be followed by sroce_region_close()
 * soon and without sleeping: invalidation spins for it, destruction waits.
 *
 * Return: the region, or NULL when there is none with this very key, it is
 * invalidated, or it belongs to another protection domain.
 */
struct sroce_region *sroce_region_open(struct sroce_memory *mem, const void *pd, u32 key)
{
	struct sroce_region *region = get_region(mem, key);

	if (!region)
		return NULL;
	lock_fast_region(region);
	if (region->valid && region->key == key && region->pd == pd)
		return region;
	sroce_region_close(region);
	return NULL;
}

/**
 * sroce_region_close() - done with the memory of a region
 * @region: from sroce_region_open()
 */
void sroce_region_close(struct sroce_region *region)
{
	unlock_fast_region(region);
	put_region(region);
}

/* Without a new map_mr_sg the list of the registration before is registered again. */
static void put_staged_into_force(struct sroce_region *region)
{
	if (!region->staged.count)
		return;
	swap(region->pages, region->staged);
	region->range.length = region->staged_length;
	region->staged.count = 0;
}

/**
 * sroce_region_register() - carry out a REG_MR work request
 * @mem: key table
 * @pd: protection domain of the QP
 * @region: FAST region
 * @key: key from now on; only its variant may differ from the one before
 * @iova: address of the first byte from now on
 * @access: SROCE_ACCESS_* from now on
 *
 * Puts into force the page list staged by map_mr_sg. Any context but hard
 * interrupts.
 *
 * Return: SROCE_MEM_OK, or SROCE_MEM_BAD_KEY when the region is not the
 * caller's, is still registered, or the key is not one of its own.
 */
enum sroce_mem_status sroce_region_register(struct sroce_memory *mem, const void *pd,
					    struct sroce_region *region, u32 key, u64 iova,
					    u32 access)
{
	enum sroce_mem_status status = SROCE_MEM_BAD_KEY;

	if (region->kind != SROCE_REGION_FAST || region->pd != pd)
		return SROCE_MEM_BAD_KEY;

	write_lock_bh(&region->busy);
	if (!region->valid && !((region->key ^ key) >> VARIANT_BITS)) {
		put_staged_into_force(region);
		region->range.iova = iova;
		region->range.access = access;
		region->key = key;
		region->valid = true;
		status = SROCE_MEM_OK;
	}
	write_unlock_bh(&region->busy);
	return status;
}

/**
 * sroce_memory_invalidate() - take a FAST region's key out of force
 * @mem: key table
 * @pd: protection domain of the QP
 * @key: the key
 * @remote: asked for by the peer (SEND with invalidate), who may only
 *          invalidate what it may access
 *
 * When this returns, no copy to or from the region is under way. Invalidating
 * what is invalid already is no error: peer and owner may both do it. Any
 * context but hard interrupts.
 *
 * Return: SROCE_MEM_OK, SROCE_MEM_BAD_KEY or SROCE_MEM_BAD_ACCESS.
 */
enum sroce_mem_status sroce_memory_invalidate(struct sroce_memory *mem, const void *pd, u32 key,
					      bool remote)
{
	enum sroce_mem_status status = SROCE_MEM_OK;
	struct sroce_region *region = get_region(mem, key);

	if (!region)
		return SROCE_MEM_BAD_KEY;
	if (region->kind != SROCE_REGION_FAST || region->pd != pd) {
		put_region(region);
		return SROCE_MEM_BAD_KEY;
	}

	write_lock_bh(&region->busy);
	if (region->key != key)
		status = SROCE_MEM_BAD_KEY;
	else if (remote && !(region->range.access & REMOTE_ACCESS))
		status = SROCE_MEM_BAD_ACCESS;
	else
		region->valid = false;
	write_unlock_bh(&region->busy);
	put_region(region);
	return status;
}
