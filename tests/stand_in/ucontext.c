/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of verbs/ucontext.c. */
#include "stand_in/qp.h"

#include "datapath/qp.h"
#include "verbs/verbs.h"

bool sroce_is_native(struct ib_udata *udata)
{
	return udata && udata->is_native;
}

struct sroce_mmap_entry *sroce_mmap_insert(struct ib_udata *udata, const struct sroce_ring *ring,
					   struct mminfo *info)
{
	struct sroce_mmap_entry *entry;

	if (stand_in_qp.mmap_error)
		return ERR_PTR(stand_in_qp.mmap_error);
	entry = stand_in_alloc(sizeof(*entry));
	if (!entry)
		return ERR_PTR(-ENOMEM);
	stand_in_qp.inserts++;
	stand_in_qp.mappings++;
	info->offset = stand_in_qp.inserts * PAGE_SIZE;
	info->size = ring->memory->bytes;
	return entry;
}

void sroce_mmap_remove(struct sroce_mmap_entry *entry)
{
	if (!entry)
		return;
	stand_in_qp_step('u');
	stand_in_qp.mappings--;
	free(entry);
}
