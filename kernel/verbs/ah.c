// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address handles, and the conversion of address vectors to paths. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <rdma/ib_cache.h>
#include <rdma/uverbs_ioctl.h>

#include "datapath/av.h"
#include "datapath/cq.h"
#include "datapath/device.h"
#include "net/membership.h"
#include "verbs/verbs.h"

/* In place of a hop limit of 0: the defaults of IP. A group's stays on the link (RFC 1112). */
#define DEFAULT_HOP_LIMIT	64
#define GROUP_HOP_LIMIT		1
/* The 802.1p priority has 3 bits. rdma_cm also knows more traffic classes. */
#define MAX_SERVICE_LEVEL	7

static int take_first(struct net_device *lower, struct netdev_nested_priv *priv)
{
	priv->data = lower;
	return 1;
}

/*
 * The service level that rdma_cm derives from a priority: the 802.1p priority or traffic class. If
 * the interface is no VLAN, the first one below it decides.
 */
static u32 service_level_of(struct net_device *ndev, u32 priority)
{
	struct netdev_nested_priv priv = { .data = ndev };
	const struct net_device *real;

	if (!is_vlan_dev(ndev))
		netdev_walk_all_lower_dev_rcu(ndev, take_first, &priv);
	ndev = priv.data;
	real = is_vlan_dev(ndev) ? vlan_dev_real_dev(ndev) : ndev;
	if (real->num_tc)
		return netdev_get_prio_tc_map(real, priority);
	return is_vlan_dev(ndev) ?
	       vlan_dev_get_egress_qos_mask(ndev, priority) >> VLAN_PRIO_SHIFT : 0;
}

/* A process that replies to a datagram copies the packet type here (ibv_init_ah_from_wc()). */
static u32 service_level(const struct rdma_ah_attr *attr, bool is_datagram)
{
	u32 sl = rdma_ah_get_sl(attr);

	if (is_datagram && (sl == SROCE_PACKET_TYPE_IPV6 || sl == SROCE_PACKET_TYPE_IPV4))
		return 0;
	return sl;
}

/*
 * A VLAN's egress map makes the 802.1p priority of this. A service level that the map has already
 * given for the type of service must not be mapped again.
 */
static u32 priority_of(struct net_device *ndev, const struct rdma_ah_attr *attr, u32 sl)
{
	u32 priority = rt_tos2priority(rdma_ah_read_grh(attr)->traffic_class);

	return sl && sl != service_level_of(ndev, priority) ? sl : priority;
}

/*
 * ib_core creates GIDs for every VLAN and macvlan above our netdev, in any namespace. One in
 * another namespace is useless: our sockets do not receive for it, its ifindex is invalid here, and
 * the routes and filters of our namespace do not apply to it.
 */
static int use_netdev(const struct sroce_device *dev, const struct rdma_ah_attr *attr, u32 sl,
		      struct sroce_path *path)
{
	const struct ib_gid_attr *sgid = rdma_ah_read_grh(attr)->sgid_attr;
	struct net_device *ndev;
	int err = 0;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(sgid);
	if (IS_ERR(ndev))
		err = PTR_ERR(ndev);
	else if (!net_eq(dev_net(ndev), dev_net(dev->ep.netdev)))
		err = -EINVAL;
	if (!err) {
		path->oif = ndev->ifindex;
		path->priority = priority_of(ndev, attr, sl);
	}
	rcu_read_unlock();
	if (err)
		ibdev_dbg(&dev->ibdev, "%pI6c is no address of this network namespace\n",
			  sgid->gid.raw);
	return err;
}

/* Only datagrams may go to a group. */
static bool destination_is_valid(const struct sroce_device *dev, const struct sroce_path *path,
				 bool is_datagram)
{
	bool is_multicast = sroce_is_multicast(&path->daddr);

	if (ipv6_addr_any(&path->daddr) || (is_multicast && !is_datagram))
		return false;
	/* A group of rdma_cm is ff0e::ffff:a.b.c.d, so the kinds of the two GIDs may differ. */
	if (path->is_v1)
		return is_multicast_ether_addr(path->dmac) == is_multicast;
	return path->is_ipv4 == ipv6_addr_v4mapped(&path->daddr) &&
	       !sroce_path_is_broadcast(&dev->ep, path);
}

static u8 hop_limit_of(const struct ib_global_route *grh, const struct sroce_path *path)
{
	if (grh->hop_limit)
		return grh->hop_limit;
	return sroce_is_multicast(&path->daddr) ? GROUP_HOP_LIMIT : DEFAULT_HOP_LIMIT;
}

/**
 * sroce_path_from_ah_attr() - convert an address vector to a path
 * @ibdev: device
 * @attr: address vector; ib_core has resolved its source GID
 * @qpn: local QP, 0 for datagrams
 * @dest_qpn: remote QP, 0 for datagrams
 * @path: filled in
 *
 * Return: 0; -EINVAL, also if the netdev of the source GID is in another network namespace than the
 * device; -ENODEV if that netdev has gone.
 */
int sroce_path_from_ah_attr(struct ib_device *ibdev, const struct rdma_ah_attr *attr, u32 qpn,
			    u32 dest_qpn, struct sroce_path *path)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	int err;

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || !grh->sgid_attr) {
		ibdev_dbg(ibdev, "address vector without a GRH\n");
		return -EINVAL;
	}
	if (rdma_ah_get_port_num(attr) != SROCE_PORT) {
		ibdev_dbg(ibdev, "address vector for port %u\n", rdma_ah_get_port_num(attr));
		return -EINVAL;
	}
	memset(path, 0, sizeof(*path));
	memcpy(&path->saddr, grh->sgid_attr->gid.raw, sizeof(path->saddr));
	memcpy(&path->daddr, grh->dgid.raw, sizeof(path->daddr));
	path->is_v1 = grh->sgid_attr->gid_type == IB_GID_TYPE_ROCE;
	path->is_ipv4 = !path->is_v1 && ipv6_addr_v4mapped(&path->saddr);
	ether_addr_copy(path->dmac, attr->roce.dmac);
	if (!destination_is_valid(to_sroce_device(ibdev), path, !qpn)) {
		ibdev_dbg(ibdev, "invalid destination: from %pI6c to %pI6c\n", &path->saddr,
			  &path->daddr);
		return -EINVAL;
	}
	path->tos = grh->traffic_class;
	path->hop_limit = hop_limit_of(grh, path);
	path->flow_label = grh->flow_label & IB_GRH_FLOWLABEL_MASK;
	if (path->flow_label || qpn)
		path->sport = htons(rdma_get_udp_sport(path->flow_label, qpn, dest_qpn));
	path->ip_id = get_random_u32();
	err = use_netdev(to_sroce_device(ibdev), attr, service_level(attr, !qpn), path);
	if (!err && path->priority > MAX_SERVICE_LEVEL) {
		ibdev_dbg(ibdev, "service level %u\n", path->priority);
		return -EINVAL;
	}
	return err;
}

static struct sroce_av *create_av(const struct ib_ah *ibah, const struct rdma_ah_attr *attr,
				  gfp_t gfp)
{
	struct sroce_av *av = kzalloc(sizeof(*av), gfp);
	int err;

	if (!av)
		return ERR_PTR(-ENOMEM);
	err = sroce_path_from_ah_attr(ibah->device, attr, 0, 0, &av->path);
	if (err) {
		kfree(av);
		return ERR_PTR(err);
	}
	refcount_set(&av->refs, 1);
	av->pd = ibah->pd;
	return av;
}

/*
 * User WQEs name their handle by number. Old providers, which do not know the number, put the
 * address into the WQE instead. This is not supported.
 */
static int publish_number(struct sroce_ah *ah, struct ib_udata *udata)
{
	struct sroce_device *dev = to_sroce_device(ah->ibah.device);
	struct rxe_create_ah_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp)) {
		ibdev_dbg(&dev->ibdev, "provider does not support address handle numbers\n");
		return -EINVAL;
	}
	refcount_inc(&ah->av->refs);
	err = xa_alloc_cyclic(&dev->ahs, &ah->number, ah->av, XA_LIMIT(1, SROCE_MAX_AH),
			      &dev->next_ah, GFP_KERNEL);
	if (err < 0) {
		sroce_av_put(ah->av);
		return err;
	}
	resp.ah_num = ah->number;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err) {
		xa_erase(&dev->ahs, ah->number);
		sroce_av_put(ah->av);
	}
	return err;
}

/**
 * sroce_create_ah() - create an address handle
 * @ibah: zeroed except for device and PD
 * @init_attr: address vector; says if this may sleep
 * @udata: NULL for kernel consumers
 *
 * Return: 0 or a negative errno.
 */
int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata)
{
	bool may_sleep = init_attr->flags & RDMA_CREATE_AH_SLEEPABLE;
	struct sroce_ah *ah = to_sroce_ah(ibah);
	int err;

	ah->av = create_av(ibah, init_attr->ah_attr, may_sleep ? GFP_KERNEL_ACCOUNT : GFP_ATOMIC);
	if (IS_ERR(ah->av))
		return PTR_ERR(ah->av);
	ah->sl = rdma_ah_get_sl(init_attr->ah_attr);
	err = udata ? publish_number(ah, udata) : 0;
	if (err)
		sroce_av_put(ah->av);
	return err;
}

/**
 * sroce_modify_ah() - give a handle of the kernel another address vector
 * @ibah: address handle of a kernel consumer (processes have no such verb); not in use meanwhile
 * @attr: address vector
 *
 * Requests under way go where the handle led when they were posted. Any context.
 *
 * Return: 0 or a negative errno.
 */
int sroce_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	struct sroce_av *av = create_av(ibah, attr, GFP_ATOMIC);
	struct sroce_ah *ah = to_sroce_ah(ibah);

	if (IS_ERR(av))
		return PTR_ERR(av);
	sroce_av_put(ah->av);
	ah->av = av;
	ah->sl = rdma_ah_get_sl(attr);
	return 0;
}

/**
 * sroce_query_ah() - report the address vector of a handle
 * @ibah: address handle
 * @attr: filled in; without a reference to the source GID
 *
 * ib_mad compares it with the source of a response. Any context.
 *
 * Return: 0.
 */
int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	const struct sroce_ah *ah = to_sroce_ah(ibah);
	struct sroce_path *path = &ah->av->path;

	memset(attr, 0, sizeof(*attr));
	attr->type = ibah->type;
	rdma_ah_set_sl(attr, ah->sl);
	rdma_ah_set_port_num(attr, SROCE_PORT);
	rdma_ah_set_grh(attr, NULL, path->flow_label, ibah->sgid_attr->index, path->hop_limit,
			path->tos);
	rdma_ah_set_dgid_raw(attr, &path->daddr);
	return 0;
}

/**
 * sroce_destroy_ah() - destroy an address handle
 * @ibah: address handle
 * @flags: unused; this never sleeps
 *
 * Requests under way have their own reference to the address vector.
 *
 * Return: 0.
 */
int sroce_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	struct sroce_ah *ah = to_sroce_ah(ibah);

	if (ah->number) {
		xa_erase(&to_sroce_device(ibah->device)->ahs, ah->number);
		sroce_av_put(ah->av);
	}
	sroce_av_put(ah->av);
	return 0;
}
