/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of datapath/qp.c, datapath/qp_table.c and verbs/ucontext.c. */
#include "stand_in/qp.h"

#include "datapath/qp.h"
#include "verbs/verbs.h"

struct stand_in_qp stand_in_qp;

static void step(char letter)
{
	u32 at = strlen(stand_in_qp.steps);

	if (at + 1 < sizeof(stand_in_qp.steps))
		stand_in_qp.steps[at] = letter;
}

int sroce_qp_datapath_init(struct sroce_qp *qp)
{
	step('i');
	if (!stand_in_qp.init_error)
		stand_in_qp.live++;
	return stand_in_qp.init_error;
}

void sroce_qp_stop(struct sroce_qp *qp)
{
	step('s');
}

void sroce_qp_quiesce(struct sroce_qp *qp)
{
	step('q');
	stand_in_qp.live--;
}

int sroce_qp_table_add(struct sroce_qp *qp)
{
	step('a');
	if (!stand_in_qp.add_error)
		stand_in_qp.in_table++;
	return stand_in_qp.add_error;
}

void sroce_qp_table_remove(struct sroce_qp *qp)
{
	step('r');
	stand_in_qp.in_table--;
}

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
	step('u');
	stand_in_qp.mappings--;
	free(entry);
}
