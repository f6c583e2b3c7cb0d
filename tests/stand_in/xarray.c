/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/xarray.h"

struct stand_in_entry {
	struct stand_in_entry *next;
	unsigned long index;
	void	*value;
};

/* The link to the entry of an index, or to the end. */
static struct stand_in_entry **find_entry(struct xarray *array, unsigned long index)
{
	struct stand_in_entry **link = &array->entries;

	while (*link && (*link)->index != index)
		link = &(*link)->next;
	return link;
}

void xa_destroy(struct xarray *array)
{
	while (array->entries)
		xa_erase(array, array->entries->index);
}

void *xa_load(struct xarray *array, unsigned long index)
{
	struct stand_in_entry *entry = *find_entry(array, index);
	void (*loaded)(void *argument) = stand_in.loaded;
	void *value = entry ? entry->value : NULL;

	stand_in.loaded = NULL;
	if (loaded)
		loaded(stand_in.argument);
	return value;
}

void *xa_store(struct xarray *array, unsigned long index, void *value, gfp_t gfp)
{
	struct stand_in_entry **link = find_entry(array, index), *entry = *link;
	void (*stored)(void *argument) = stand_in.stored;
	void *old;

	if (!entry) {
		entry = stand_in_kmalloc(sizeof(*entry),
					 array->xa_flags & XA_FLAGS_ACCOUNT ? __GFP_ACCOUNT : 0);
		if (!entry)
			return ERR_PTR(-ENOMEM);
		*link = entry;
	}
	old = entry->value;
	entry->index = index;
	entry->value = value;
	stand_in.stored = NULL;
	if (stored)
		stored(stand_in.argument);
	return old;
}

void *xa_erase(struct xarray *array, unsigned long index)
{
	struct stand_in_entry **link = find_entry(array, index), *entry = *link;
	void *old = entry ? entry->value : NULL;

	if (entry) {
		*link = entry->next;
		free(entry);
	}
	return old;
}

void *xa_find_after(struct xarray *array, unsigned long *index, unsigned long max, int filter)
{
	const struct stand_in_entry *entry, *found = NULL;

	for (entry = array->entries; entry; entry = entry->next)
		if (entry->index > *index && entry->index <= max &&
		    (!found || entry->index < found->index))
			found = entry;
	if (!found)
		return NULL;
	*index = found->index;
	return found->value;
}

int xa_alloc_cyclic(struct xarray *array, u32 *index, void *value, struct xa_limit limit,
		    u32 *next, gfp_t gfp)
{
	u32 first = max(*next, limit.min), i = first;
	void *error;

	do {
		if (i > limit.max)
			i = limit.min;
		if (!*find_entry(array, i)) {
			error = xa_store(array, i, value, gfp);
			if (IS_ERR(error))
				return PTR_ERR(error);
			*index = i;
			*next = i + 1;
			return i < first;
		}
	} while (++i != first);
	return -EBUSY;
}
