// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory that is paged on demand: capabilities, and advice from its process. */
#include "compat/odp.h"
#include "datapath/device.h"
#include "memory/odp.h"
#include "memory/region.h"
#include "verbs/verbs.h"

/**
 * sroce_odp_set_caps() - say where on-demand paging works
 * @attr: filled in, if this kernel has it
 */
void sroce_odp_set_caps(struct ib_device_attr *attr)
{
#ifdef SROCE_HAVE_ODP
	struct ib_odp_caps *caps = &attr->odp_caps;

	attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
	caps->general_caps = IB_ODP_SUPPORT;
	caps->per_transport_caps.ud_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV;
	caps->per_transport_caps.uc_odp_caps =
		caps->per_transport_caps.ud_odp_caps | IB_ODP_SUPPORT_WRITE;
	caps->per_transport_caps.rc_odp_caps =
		caps->per_transport_caps.uc_odp_caps | IB_ODP_SUPPORT_READ |
		IB_ODP_SUPPORT_ATOMIC | COMPAT_ODP_SUPPORT_PLACEMENT;
	caps->per_transport_caps.xrc_odp_caps = caps->per_transport_caps.rc_odp_caps;
#endif
}

/* Returns the region with a reference, or an ERR_PTR(). */
static struct sroce_region *get_advised_region(struct ib_pd *pd, const struct ib_sge *sge,
					       bool write)
{
	struct sroce_memory *mem = &to_sroce_device(pd->device)->memory;
	struct sroce_region *region = sroce_region_get(mem, sge->lkey);
	int err;

	if (!region)
		return ERR_PTR(-EINVAL);
	if (region->kind != SROCE_REGION_ODP || region->key != sge->lkey || region->pd != pd)
		err = -EINVAL;
	else if (write && !(region->range.access & SROCE_ACCESS_LOCAL_WRITE))
		err = -EPERM;
	else if (sroce_access_check(&region->range, sge->addr, sge->length, 0) != SROCE_MEM_OK)
		err = -EFAULT;
	else
		return region;
	sroce_region_put(region);
	return ERR_PTR(err);
}

/* Without @flush a prefetch may fail silently, but not for a wrong key or range. */
static int prefetch_sge(struct ib_pd *pd, const struct ib_sge *sge, enum sroce_odp_access access,
			bool flush)
{
	struct sroce_region *region = get_advised_region(pd, sge, access == SROCE_ODP_WRITE);
	int err;

	if (IS_ERR(region)) {
		ibdev_dbg(pd->device, "mr: advice for key %#x, %u bytes from %#llx: %ld\n",
			  sge->lkey, sge->length, sge->addr, PTR_ERR(region));
		return PTR_ERR(region);
	}
	err = sroce_odp_fault(region, sge->addr, sge->length, access);
	sroce_region_put(region);
	if (err)
		ibdev_dbg(pd->device, "mr: prefetch for key %#x: %d\n", sge->lkey, err);
	return flush ? err : 0;
}

/**
 * sroce_advise_mr() - fault pages in before they are needed
 * @pd: protection domain
 * @advice: what for, see enum ib_uverbs_advise_mr_advice
 * @flags: IB_UVERBS_ADVISE_MR_FLAG_FLUSH or 0. The work is done on return in either case.
 * @sges: ranges of regions that are paged on demand
 * @count: how many
 * @attrs: unused
 *
 * Return: 0; -EOPNOTSUPP for unknown advice; -EINVAL for a key that names no such region of @pd;
 * -EPERM if it may not be written; -EFAULT for a range that is not in it; with FLUSH also if it has
 * no memory.
 */
int sroce_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		    struct ib_sge *sges, u32 count, struct uverbs_attr_bundle *attrs)
{
	enum sroce_odp_access access;
	int err = 0;
	u32 i;

	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		access = SROCE_ODP_READ;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		access = SROCE_ODP_WRITE;
		break;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		access = SROCE_ODP_PRESENT;
		break;
	default:
		ibdev_dbg(pd->device, "mr: advice %d\n", advice);
		return -EOPNOTSUPP;
	}
	for (i = 0; !err && i < count; i++)
		err = prefetch_sge(pd, &sges[i], access,
				   flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH);
	return err;
}
