// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Allocating memory windows. Work requests bind and invalidate them: memory/window.c. */
#include "datapath/device.h"
#include "memory/region.h"
#include "verbs/verbs.h"

static struct sroce_mw *to_sroce_mw(struct ib_mw *ibmw)
{
	return container_of(ibmw, struct sroce_mw, ibmw);
}

static struct sroce_memory *keys_of(struct ib_mw *ibmw)
{
	return &to_sroce_device(ibmw->device)->memory;
}

/**
 * sroce_alloc_mw() - allocate a memory window
 * @ibmw: window, with its type and protection domain
 * @udata: unused
 *
 * Its key is useless until it is bound.
 *
 * Return: 0, -EINVAL for an unknown type, -ENOMEM, or -EBUSY if all keys are in use.
 */
int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct sroce_mw *mw = to_sroce_mw(ibmw);
	int err;

	if (ibmw->type != IB_MW_TYPE_1 && ibmw->type != IB_MW_TYPE_2) {
		ibdev_dbg(ibmw->device, "mw: type %d\n", ibmw->type);
		return -EINVAL;
	}
	mw->region = sroce_region_create(ibmw->type == IB_MW_TYPE_1 ? SROCE_REGION_WINDOW_1 :
								      SROCE_REGION_WINDOW_2,
					 ibmw->pd);
	if (!mw->region)
		return -ENOMEM;
	err = sroce_region_publish(keys_of(ibmw), mw->region);
	if (err) {
		sroce_region_destroy(keys_of(ibmw), mw->region);
		return err;
	}
	ibmw->rkey = mw->region->key;
	return 0;
}

/**
 * sroce_dealloc_mw() - free a memory window, bound or not
 * @ibmw: window
 *
 * Sleeps until the copies under way are done.
 *
 * Return: 0.
 */
int sroce_dealloc_mw(struct ib_mw *ibmw)
{
	sroce_region_destroy(keys_of(ibmw), to_sroce_mw(ibmw)->region);
	return 0;
}
