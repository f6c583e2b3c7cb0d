// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of a region and its key:
 *
 *   create -> (fill in) -> publish -> open/close ... -> retire -> destroy
 *                             FAST:   register <-> invalidate
 *                             window: bind <-> invalidate
 *                             USER:   replace by another, which gets the key
 *
 * A USER or DMA region never changes between publish and retire, so a reader needs only a
 * reference. A FAST region or a window changes while remote peers use it, and its consumer may
 * reuse the memory as soon as an invalidation completes. Invalidation runs in atomic context and
 * cannot wait for RCU. It takes @busy for writing instead; readers hold @busy for one plan or one
 * received skb at most. Changes of an ODP region's pages write-lock it, too.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "memory/region.h"
#include "transport/access.h"

/*
 * A key is a number of 24 bits and a variant. The first number is random and not 0. Indices count
 * from there, which keeps the XArray shallow.
 */
#define VARIANT_BITS	8
#define MAX_INDEX	(BIT(23) - 1)

/* Above MAX_INDEX if no key has this number. */
static u32 index_of_key(const struct sroce_memory *mem, u32 key)
{
	return (key >> VARIANT_BITS) - mem->first_number;
}

/**
 * sroce_memory_init() - set up an empty key table
 * @mem: the table
 */
void sroce_memory_init(struct sroce_memory *mem)
{
	xa_init_flags(&mem->regions, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	mem->next_index = 0;
	mem->first_number = 1 + (get_random_u32() & MAX_INDEX);
	atomic_set(&mem->odp_regions, 0);
}

/**
 * sroce_memory_fini() - free a key table
 * @mem: the table, which must be empty
 */
void sroce_memory_fini(struct sroce_memory *mem)
{
	WARN_ON_ONCE(!xa_empty(&mem->regions));
	xa_destroy(&mem->regions);
}

/**
 * sroce_page_list_alloc() - allocate the entries of a page list, zeroed
 * @list: the list, zeroed
 * @capacity: blocks it must hold
 *
 * May sleep. Freed with the region.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_page_list_alloc(struct sroce_page_list *list, u32 capacity)
{
	if (!capacity)
		return 0;
	list->blocks = kvcalloc(capacity, sizeof(*list->blocks),
				GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!list->blocks)
		return -ENOMEM;
	list->capacity = capacity;
	return 0;
}

/* The lock of a window is taken before that of its region. */
static struct lock_class_key window_busy_key;

/**
 * sroce_region_create() - allocate a region, without a key
 * @kind: enum sroce_region_kind
 * @pd: protection domain
 *
 * The caller fills in range, page lists and umem, then publishes the region.
 * sroce_region_destroy() works at any stage and frees all of it.
 *
 * Return: the region or NULL. May sleep.
 */
struct sroce_region *sroce_region_create(enum sroce_region_kind kind, const void *pd)
{
	struct sroce_region *region = kzalloc(sizeof(*region), GFP_KERNEL_ACCOUNT);

	if (!region)
		return NULL;
	region->kind = kind;
	region->valid = kind == SROCE_REGION_USER || kind == SROCE_REGION_DMA ||
			kind == SROCE_REGION_ODP;
	region->pd = pd;
	mutex_init(&region->fault_mutex);
	rwlock_init(&region->busy);
	if (sroce_region_is_window(region))
		lockdep_set_class(&region->busy, &window_busy_key);
	refcount_set(&region->refs, 1);
	init_completion(&region->released);
	return region;
}

/**
 * sroce_region_publish() - give a complete region its key
 * @mem: key table
 * @region: the region; sets @region->key
 *
 * Reserves the index first and stores the region last, so that a lookup never sees a region
 * without its key. Indices are allocated cyclically, so that one is reused as late as possible.
 * May sleep.
 *
 * Return: 0, -ENOMEM, or -EBUSY if all keys are in use.
 */
int sroce_region_publish(struct sroce_memory *mem, struct sroce_region *region)
{
	static const struct xa_limit limit = XA_LIMIT(0, MAX_INDEX);
	u32 index;
	int err;

	err = xa_alloc_cyclic(&mem->regions, &index, NULL, limit, &mem->next_index, GFP_KERNEL);
	if (err < 0)
		return err;
	region->key = (mem->first_number + index) << VARIANT_BITS | (u8)get_random_u32();
	err = xa_err(xa_store(&mem->regions, index, region, GFP_KERNEL));
	if (err) {
		xa_erase(&mem->regions, index);
		region->key = 0;
	}
	return err;
}

/**
 * sroce_region_retire() - begin the deregistration of a region, unless a window is bound to it
 * @region: the region
 *
 * No window can be bound to it any more.
 *
 * Return: 0, or -EBUSY and nothing has changed.
 */
int sroce_region_retire(struct sroce_region *region)
{
	int err = 0;

	write_lock_bh(&region->busy);
	if (region->windows)
		err = -EBUSY;
	else
		region->retired = true;
	write_unlock_bh(&region->busy);
	return err;
}

/**
 * sroce_region_put() - drop a reference
 * @region: from sroce_region_get()
 */
void sroce_region_put(struct sroce_region *region)
{
	if (refcount_dec_and_test(&region->refs))
		complete(&region->released);
}

/* Nobody finds the region any more; wait until nobody uses it. */
static void drain_region(struct sroce_region *region)
{
	sroce_region_put(region);
	wait_for_completion(&region->released);
}

static void dispose_region(struct sroce_region *region)
{
	if (region->release)
		region->release(region);
	else
		ib_umem_release(region->umem);
	kvfree(region->pages.blocks);
	kvfree(region->staged.blocks);
	kfree_rcu(region, rcu);
}

/**
 * sroce_region_destroy() - remove the key of a region and free it
 * @mem: key table
 * @region: a window, or retired, or not published
 *
 * A window is unbound first. Sleeps until the copies under way are done. Nothing accesses the
 * memory afterwards.
 */
void sroce_region_destroy(struct sroce_memory *mem, struct sroce_region *region)
{
	if (region->key)
		xa_erase(&mem->regions, index_of_key(mem, region->key));
	drain_region(region);
	write_lock_bh(&region->busy);
	sroce_mw_unbind(region);
	write_unlock_bh(&region->busy);
	if (region->kind == SROCE_REGION_ODP)
		atomic_dec(&mem->odp_regions);
	dispose_region(region);
}

/**
 * sroce_region_replace() - give the key of a USER region to another
 * @mem: key table
 * @old: retired; freed
 * @region: complete, but without a key
 * @same_memory: @region has no memory, and takes that of @old
 *
 * A copy finds either region. Sleeps until the copies to and from @old are done. Cannot fail.
 */
void sroce_region_replace(struct sroce_memory *mem, struct sroce_region *old,
			  struct sroce_region *region, bool same_memory)
{
	if (same_memory) {
		region->umem = old->umem;
		region->pages = old->pages;
	}
	region->key = old->key;
	/* The index is in use, so this allocates nothing. */
	xa_store(&mem->regions, index_of_key(mem, old->key), region, GFP_KERNEL);
	drain_region(old);
	if (same_memory) {
		old->umem = NULL;
		old->pages.blocks = NULL;
	}
	dispose_region(old);
}

/**
 * sroce_region_get() - find a region, whatever the variant of its present key
 * @mem: key table
 * @key: a key
 *
 * Return: the region with a reference, or NULL.
 */
struct sroce_region *sroce_region_get(struct sroce_memory *mem, u32 key)
{
	struct sroce_region *region;

	rcu_read_lock();
	region = xa_load(&mem->regions, index_of_key(mem, key));
	/* Its last reference has gone; by now another region, or none, has its place. */
	while (region && !refcount_inc_not_zero(&region->refs))
		region = xa_load(&mem->regions, index_of_key(mem, key));
	rcu_read_unlock();
	return region;
}

/**
 * sroce_region_get_info() - read what tools show of a region
 * @mem: key table
 * @key: a key, whatever its variant
 * @info: filled in
 *
 * Return: false if there is no such region.
 */
bool sroce_region_get_info(struct sroce_memory *mem, u32 key, struct sroce_region_info *info)
{
	struct sroce_region *region = sroce_region_get(mem, key);

	if (!region)
		return false;
	read_lock_bh(&region->busy);
	*info = (struct sroce_region_info){
		.valid = region->valid,
		.windows = region->windows,
	};
	read_unlock_bh(&region->busy);
	sroce_region_put(region);
	return true;
}

/* Sparse cannot track a conditional lock, so the annotations cancel it. */
static void lock_volatile_region(struct sroce_region *region)
{
	if (sroce_region_is_volatile(region)) {
		read_lock_bh(&region->busy);
		__release(&region->busy);
	}
}

static void unlock_volatile_region(struct sroce_region *region)
{
	if (sroce_region_is_volatile(region)) {
		__acquire(&region->busy);
		read_unlock_bh(&region->busy);
	}
}

/* A window has no L_Key, and one of type 2 is for one QP. */
static bool region_serves_qp(const struct sroce_region *region, u64 qp_serial)
{
	if (!sroce_region_is_window(region))
		return true;
	return qp_serial && (region->kind == SROCE_REGION_WINDOW_1 ||
			     region->qp_serial == qp_serial);
}

/**
 * sroce_region_open() - find a region and hold it open
 * @mem: key table
 * @pd: protection domain of the QP
 * @qp_serial: of the QP whose peer names the key; 0 if @key is an L_Key
 * @key: L_Key or R_Key
 *
 * Any context but hard interrupts. The caller does not sleep before sroce_region_close(), and calls
 * that soon, because destruction waits, and invalidation of a region that is volatile spins.
 *
 * Return: the region, or NULL if no region has this key, it is invalidated, or it belongs to
 * another protection domain or QP.
 */
struct sroce_region *sroce_region_open(struct sroce_memory *mem, const void *pd, u64 qp_serial,
				       u32 key)
{
	struct sroce_region *region = sroce_region_get(mem, key);

	if (!region)
		return NULL;
	lock_volatile_region(region);
	if (region->valid && region->key == key && region->pd == pd &&
	    region_serves_qp(region, qp_serial))
		return region;
	sroce_region_close(region);
	return NULL;
}

/**
 * sroce_region_close() - release an open region
 * @region: from sroce_region_open()
 */
void sroce_region_close(struct sroce_region *region)
{
	unlock_volatile_region(region);
	sroce_region_put(region);
}

/* If map_mr_sg was not called again, the previous list stays. */
static void apply_staged(struct sroce_region *region)
{
	if (!region->staged.count)
		return;
	swap(region->pages, region->staged);
	region->range.length = region->staged_length;
	region->staged.count = 0;
}

static struct sroce_region *get_region_of_pd(struct sroce_memory *mem, const void *pd, u32 key)
{
	struct sroce_region *region = sroce_region_get(mem, key);

	if (!region || region->pd == pd)
		return region;
	sroce_region_put(region);
	return NULL;
}

/**
 * sroce_region_register() - execute a REG_MR work request
 * @mem: key table
 * @pd: protection domain of the QP
 * @key: new key; its index names the region
 * @iova: new address of the first byte
 * @access: new SROCE_ACCESS_*
 *
 * Installs the page list staged by map_mr_sg. Any context but hard interrupts.
 *
 * Return: SROCE_MEM_OK, or SROCE_MEM_BAD_KEY if the region has been deregistered since the request
 * was posted, belongs to another protection domain, or is still registered.
 */
enum sroce_mem_status sroce_region_register(struct sroce_memory *mem, const void *pd, u32 key,
					    u64 iova, u32 access)
{
	enum sroce_mem_status status = SROCE_MEM_BAD_KEY;
	struct sroce_region *region = get_region_of_pd(mem, pd, key);

	if (!region)
		return SROCE_MEM_BAD_KEY;

	write_lock_bh(&region->busy);
	if (region->kind == SROCE_REGION_FAST && !region->valid) {
		apply_staged(region);
		region->range.iova = iova;
		region->range.access = access;
		region->key = key;
		region->valid = true;
		status = SROCE_MEM_OK;
	}
	write_unlock_bh(&region->busy);
	sroce_region_put(region);
	return status;
}

/* A window of type 2 that was never bound has no QP. */
static bool may_invalidate(const struct sroce_region *region, u64 qp_serial)
{
	return region->kind == SROCE_REGION_FAST ||
	       (region->kind == SROCE_REGION_WINDOW_2 && region->qp_serial == qp_serial);
}

/**
 * sroce_memory_invalidate() - invalidate the key of a FAST region or a type 2 window
 * @mem: key table
 * @pd: protection domain of the QP
 * @qp_serial: of the QP
 * @key: the key
 * @remote: requested by the peer (SEND with invalidate), which may invalidate only what it may
 *	access
 *
 * No copy to or from the region is under way afterwards. To invalidate twice is no error, because
 * peer and owner may both do it. Any context but hard interrupts.
 *
 * Return: SROCE_MEM_OK, SROCE_MEM_BAD_KEY or SROCE_MEM_BAD_ACCESS.
 */
enum sroce_mem_status sroce_memory_invalidate(struct sroce_memory *mem, const void *pd,
					      u64 qp_serial, u32 key, bool remote)
{
	enum sroce_mem_status status = SROCE_MEM_OK;
	struct sroce_region *region = get_region_of_pd(mem, pd, key);

	if (!region)
		return SROCE_MEM_BAD_KEY;

	write_lock_bh(&region->busy);
	if (region->key != key || !may_invalidate(region, qp_serial))
		status = SROCE_MEM_BAD_KEY;
	else if (remote && !(region->range.access & SROCE_ACCESS_REMOTE))
		status = SROCE_MEM_BAD_ACCESS;
	else if (region->kind == SROCE_REGION_FAST)
		region->valid = false;
	else
		sroce_mw_unbind(region);
	write_unlock_bh(&region->busy);
	sroce_region_put(region);
	return status;
}
