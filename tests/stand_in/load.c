/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/load.h"

#include "control/netdev.h"
#include "control/netlink.h"
#include "control/rdma_link.h"
#include "datapath/receive.h"
#include "datapath/route_release.h"
#include "net/endpoint.h"

struct stand_in_load stand_in_load;

int stand_in_step(char step)
{
	u32 at = strlen(stand_in_load.steps);

	WARN_ON(at + 1 >= sizeof(stand_in_load.steps));
	stand_in_load.steps[at] = step;
	if (stand_in_load.at_step)
		stand_in_load.at_step(step);
	return stand_in_load.fails == step ? -EBUSY : 0;
}

int sroce_net_init(sroce_receive_fn receive, sroce_release_routes_fn release_routes)
{
	WARN_ON(receive != sroce_receive || release_routes != sroce_routes_release);
	return stand_in_step('n');
}

void sroce_net_fini(void)
{
	stand_in_step('N');
}

int register_netdevice_notifier(struct notifier_block *notifier)
{
	WARN_ON(notifier != &sroce_netdev_notifier);
	return stand_in_step('e');
}

void unregister_netdevice_notifier(struct notifier_block *notifier)
{
	WARN_ON(notifier != &sroce_netdev_notifier);
	stand_in_step('E');
}

int genl_register_family(struct genl_family *family)
{
	WARN_ON(family != &sroce_genl_family);
	return stand_in_step('g');
}

void genl_unregister_family(struct genl_family *family)
{
	WARN_ON(family != &sroce_genl_family);
	stand_in_step('G');
}

void rdma_link_register(struct rdma_link_ops *ops)
{
	WARN_ON(ops != &sroce_link_ops && ops != &sroce_v1_link_ops);
	stand_in_step('l');
}

void rdma_link_unregister(struct rdma_link_ops *ops)
{
	WARN_ON(ops != &sroce_link_ops && ops != &sroce_v1_link_ops);
	stand_in_step('L');
}
