/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Stand-ins for the functions that control/attach.c calls. devices.c is in place of that file. */
#include "stand_in/attach.h"

#include "control/stats.h"
#include "net/endpoint.h"
#include "verbs/ops.h"

struct stand_in_attach stand_in_attach;
const struct ib_device_ops sroce_verbs_ops;

struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num)
{
	return NULL;
}

int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
		       int index)
{
	return 0;
}

/* In the initial namespace, as before 6.17. */
void *stand_in_alloc_device(size_t bytes)
{
	struct ib_device *ibdev = stand_in_alloc(bytes);

	if (!ibdev)
		return NULL;
	stand_in_attach.devices++;
	ibdev->coredev.owner = ibdev;
	ibdev->dev.refs = 1;
	return ibdev;
}

void get_device(struct device *device)
{
	WARN_ON(!device->refs++);
}

void put_device(struct device *device)
{
	WARN_ON(device->refs <= 0);
	if (--device->refs)
		return;
	stand_in_attach.devices--;
	free(container_of(device, struct ib_device, dev));
}

/* As in ib_core, also after a registration that failed. */
void ib_dealloc_device(struct ib_device *ibdev)
{
	if (ibdev->ops.dealloc_driver)
		ibdev->ops.dealloc_driver(ibdev);
	ibdev->ops.dealloc_driver = NULL;
	put_device(&ibdev->dev);
}

/* The second table adds what the first has not. */
void ib_set_device_ops(struct ib_device *ibdev, const struct ib_device_ops *ops)
{
	if (ops != &sroce_verbs_ops)
		ibdev->ops = *ops;
}

int ib_register_device(struct ib_device *ibdev, const char *name, void *dma_device)
{
	void (*registering)(struct ib_device *ibdev) = stand_in_attach.registering;

	if (stand_in_attach.register_error)
		return stand_in_attach.register_error;
	WARN_ON(stand_in.rtnl);
	strcpy(ibdev->name, name);
	ibdev->index = stand_in_attach.next_index++;
	stand_in_attach.registered[ibdev->index] = ibdev;
	ibdev->is_registered = true;
	WARN_ON(ibdev->ops.enable_driver(ibdev));
	stand_in_attach.registering = NULL;
	if (registering)
		registering(ibdev);
	return 0;
}

void ib_unregister_device(struct ib_device *ibdev)
{
	if (!ibdev->is_registered)
		return;
	WARN_ON(ibdev->users);
	ibdev->is_registered = false;
	stand_in_attach.registered[ibdev->index] = NULL;
	ib_dealloc_device(ibdev);
}

void ib_unregister_driver(u32 driver_id)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(stand_in_attach.registered); i++) {
		struct ib_device *ibdev = stand_in_attach.registered[i];

		if (ibdev && ibdev->ops.driver_id == driver_id)
			ib_unregister_device(ibdev);
	}
}

bool ib_device_try_get(struct ib_device *ibdev)
{
	if (!ibdev->is_registered)
		return false;
	ibdev->users++;
	return true;
}

void ib_device_put(struct ib_device *ibdev)
{
	WARN_ON(ibdev->users-- <= 0);
}

int sroce_endpoint_init(struct sroce_endpoint *ep, struct net_device *netdev, struct net *net)
{
	if (stand_in_attach.endpoint_error)
		return stand_in_attach.endpoint_error;
	stand_in_attach.endpoints++;
	ep->netdev = netdev;
	ep->counters = alloc_percpu_gfp(struct sroce_counters, GFP_KERNEL_ACCOUNT);
	return 0;
}

void sroce_endpoint_fini(struct sroce_endpoint *ep)
{
	stand_in_attach.endpoints--;
	free_percpu(ep->counters);
	ep->counters = NULL;
}

bool sroce_endpoint_is_in_place(const struct sroce_endpoint *ep)
{
	ASSERT_RTNL();
	WARN_ON(!ep->counters);	/* sroce_endpoint_fini() has freed its sockets */
	return !stand_in_attach.left;
}

bool sroce_endpoint_has_ended(const struct sroce_endpoint *ep)
{
	return stand_in_attach.left;
}
