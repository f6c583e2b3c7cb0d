// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ports and address handles, which only consumers in the kernel can modify. */
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "ulp.h"

static int has_capabilities(struct ib_device *device, u32 capabilities)
{
	struct ib_port_attr port;
	int ret = ib_query_port(device, 1, &port);

	return ret ?: (port.port_cap_flags & IB_PORT_DEVICE_MGMT_SUP) == capabilities ? 0 : -EIO;
}

/* As ib_srpt announces that it manages devices. */
static int modify_port(struct ib_device *device)
{
	struct ib_port_modify announce = { .set_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP };
	struct ib_port_modify withdraw = { .clr_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP };

	if (ib_modify_port(device, 1, IB_PORT_SHUTDOWN, &announce) != -EOPNOTSUPP)
		return -EINVAL;
	return has_capabilities(device, 0) ?: ib_modify_port(device, 1, 0, &announce) ?:
	       has_capabilities(device, IB_PORT_DEVICE_MGMT_SUP) ?:
	       ib_modify_port(device, 1, IB_PORT_RESET_QKEY_CNTR, &withdraw) ?:
	       has_capabilities(device, 0);
}

static void lead_to(struct rdma_ah_attr *attr, const struct ulp_end *from,
		    const struct ulp_end *to)
{
	*attr = (struct rdma_ah_attr) { .type = RDMA_AH_ATTR_TYPE_ROCE };
	rdma_ah_set_port_num(attr, 1);
	rdma_ah_set_grh(attr, NULL, 0, from->gid_index, 64, 0);
	rdma_ah_set_dgid_raw(attr, (void *)to->gid.raw);
	memcpy(attr->roce.dmac, to->mac, ETH_ALEN);
}

static int leads_to(struct ib_ah *ah, const struct ulp_end *to)
{
	struct rdma_ah_attr attr;
	int ret = rdma_query_ah(ah, &attr);

	return ret ?: memcmp(rdma_ah_read_grh(&attr)->dgid.raw, to->gid.raw, 16) ? -EIO : 0;
}

static int modify_ah(struct ulp_end *ends, struct ib_pd *pd)
{
	struct rdma_ah_attr attr;
	struct ib_ah *ah;
	int ret;

	lead_to(&attr, &ends[0], &ends[1]);
	ah = rdma_create_ah(pd, &attr, 0);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	ret = leads_to(ah, &ends[1]);
	lead_to(&attr, &ends[0], &ends[0]);
	ret = ret ?: rdma_modify_ah(ah, &attr) ?: leads_to(ah, &ends[0]);
	rdma_destroy_ah(ah, 0);
	return ret;
}

static int modify_once(struct ulp_end *ends)
{
	struct ib_pd *pd = ib_alloc_pd(ends[0].device, 0);
	int ret;

	if (IS_ERR(pd))
		return PTR_ERR(pd);
	ret = modify_ah(ends, pd) ?: modify_port(ends[0].device);
	ib_dealloc_pd(pd);
	return ret;
}

/* ends[0] is the owner. */
int ulp_modify(struct ulp_end *ends, u32 rounds)
{
	int ret = ulp_find_gid(&ends[0]) ?: ulp_find_gid(&ends[1]);

	while (!ret && rounds--)
		ret = modify_once(ends);
	return ret;
}
