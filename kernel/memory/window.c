// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows. A window gives a peer access to a part of a region, by an R_Key with permissions
 * of its own. The access can be taken back without deregistration (IBTA 10.6.7).
 *
 * A bound window is a region whose blocks are some of its parent's. So copies need not know of
 * windows. The parent counts its windows and cannot be deregistered while there are any.
 *
 * A type 1 window serves the QPs of its PD and is bound again as often as one likes. A type 2B
 * window serves the QP it was bound with and must be invalidated before it is bound again.
 */
#include <linux/string.h>

#include "memory/region.h"
#include "transport/access.h"

/* The variant, which the consumer chooses. */
#define VARIANT_MASK	0xffu

/* Take the part of the parent that begins @offset bytes after its first. */
static void share_blocks(struct sroce_page_list *to, const struct sroce_page_list *from,
			 u64 offset)
{
	u64 first;

	offset += from->first_offset;
	first = offset >> from->shift;
	to->blocks = from->blocks + first;
	to->count = from->count - (u32)first;
	to->shift = from->shift;
	to->first_offset = offset & (BIT_ULL(from->shift) - 1);
}

/**
 * sroce_mw_unbind() - take the access back
 * @window: a window, its lock write-held; for a region of another kind there is nothing to do
 *
 * No copy through the window is under way afterwards.
 */
void sroce_mw_unbind(struct sroce_region *window)
{
	struct sroce_region *parent = window->parent;

	lockdep_assert_held_write(&window->busy);
	if (!parent)
		return;
	window->valid = false;
	window->parent = NULL;
	memset(&window->pages, 0, sizeof(window->pages));
	/* Afterwards the parent may be deregistered at any time. */
	write_lock(&parent->busy);
	parent->windows--;
	write_unlock(&parent->busy);
}

/* Count one more window of the parent, which cannot be deregistered from then on. */
static enum sroce_mem_status add_window(struct sroce_region *parent,
					const struct sroce_region *window,
					const struct sroce_bind_mw *bind)
{
	enum sroce_mem_status status;

	if (parent->kind != SROCE_REGION_USER || parent->key != bind->lkey ||
	    parent->pd != window->pd)
		return SROCE_MEM_BAD_KEY;
	status = sroce_bind_check(bind, &parent->range, window->kind == SROCE_REGION_WINDOW_2);
	if (status != SROCE_MEM_OK)
		return status;

	write_lock(&parent->busy);
	if (parent->retired)
		status = SROCE_MEM_BAD_KEY;
	else
		parent->windows++;
	write_unlock(&parent->busy);
	return status;
}

/* With the window's lock. On an error nothing has changed. */
static enum sroce_mem_status bind_window(struct sroce_region *window, struct sroce_region *parent,
					 u64 qp_serial, const struct sroce_bind_mw *bind)
{
	bool is_zero_based = bind->access & SROCE_ACCESS_ZERO_BASED;
	enum sroce_mem_status status;

	if ((window->key ^ bind->new_rkey) & ~VARIANT_MASK)
		return SROCE_MEM_BAD_KEY;
	/*
	 * The consumer of a type 2 window need not remember the key of the last binding: providers
	 * do not write it to struct ibv_mw.
	 */
	if (window->kind == SROCE_REGION_WINDOW_2 ? window->valid : window->key != bind->rkey)
		return SROCE_MEM_BAD_KEY;
	if (window->kind == SROCE_REGION_WINDOW_1 && !bind->length) {
		sroce_mw_unbind(window);
		window->key = bind->new_rkey;
		return SROCE_MEM_OK;
	}
	if (!parent)
		return SROCE_MEM_BAD_KEY;
	status = add_window(parent, window, bind);
	if (status != SROCE_MEM_OK)
		return status;

	sroce_mw_unbind(window);
	window->parent = parent;
	share_blocks(&window->pages, &parent->pages, bind->addr - parent->range.iova);
	window->persistent = parent->persistent;
	window->range.iova = is_zero_based ? 0 : bind->addr;
	window->range.length = bind->length;
	window->range.access = bind->access & SROCE_ACCESS_REMOTE;
	window->qp_serial = qp_serial;
	window->key = bind->new_rkey;
	window->valid = true;
	return SROCE_MEM_OK;
}

/**
 * sroce_mw_bind() - execute a BIND_MW work request
 * @mem: key table
 * @pd: protection domain of the QP
 * @qp_serial: of the QP
 * @bind: the request
 *
 * A type 1 window is taken away from what it was bound to; no copy there is under way afterwards.
 * Any context but hard interrupts.
 *
 * Return: SROCE_MEM_OK; SROCE_MEM_BAD_KEY if a key names nothing of this PD, or the window is of
 * type 2 and still bound; SROCE_MEM_BAD_RANGE or SROCE_MEM_BAD_ACCESS from sroce_bind_check().
 */
enum sroce_mem_status sroce_mw_bind(struct sroce_memory *mem, const void *pd, u64 qp_serial,
				    const struct sroce_bind_mw *bind)
{
	struct sroce_region *window = sroce_region_get(mem, bind->rkey);
	struct sroce_region *parent = sroce_region_get(mem, bind->lkey);
	enum sroce_mem_status status = SROCE_MEM_BAD_KEY;

	if (window && sroce_region_is_window(window) && window->pd == pd) {
		write_lock_bh(&window->busy);
		status = bind_window(window, parent, qp_serial, bind);
		write_unlock_bh(&window->busy);
	}
	if (parent)
		sroce_region_put(parent);
	if (window)
		sroce_region_put(window);
	return status;
}
