// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device and its port: attributes, and the addresses of its GID table. */
#include <linux/netdevice.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "compat/compat.h"
#include "datapath/device.h"
#include "memory/pmem.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"

/* We have no OUI; this value means "none". */
#define VENDOR_ID		0xffffff
/* 4.096 us << 12 = 17 ms, because responses are sent in softirq, which may be delayed. */
#define CA_ACK_DELAY		12

/**
 * sroce_query_device() - report capabilities and limits
 * @ibdev: device
 * @attr: zeroed; filled in
 * @udata: NULL or empty
 *
 * Return: 0 or -EINVAL.
 */
int sroce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	if (udata && (udata->inlen || udata->outlen))
		return -EINVAL;

	attr->sys_image_guid = ibdev->node_guid;
	attr->vendor_id = VENDOR_ID;
	attr->device_cap_flags = IB_DEVICE_CURR_QP_STATE_MOD | IB_DEVICE_BAD_QKEY_CNTR |
				 IB_DEVICE_UD_AV_PORT_ENFORCE |
				 IB_DEVICE_PORT_ACTIVE_EVENT | IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_SRQ_RESIZE | IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_ATOMIC_WRITE |
				 IB_DEVICE_FLUSH_GLOBAL;
	if (SROCE_HAS_PMEM)
		attr->device_cap_flags |= IB_DEVICE_FLUSH_PERSISTENT;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = ~(u64)(SROCE_MIN_FAST_REG_PAGE - 1);
	attr->max_fast_reg_page_list_len = SROCE_MAX_FAST_REG_PAGES;
	attr->max_qp = SROCE_MAX_QP;
	attr->max_qp_wr = SROCE_MAX_QP_WR;
	attr->max_send_sge = SROCE_MAX_SGE;
	attr->max_recv_sge = SROCE_MAX_SGE;
	attr->max_sge_rd = SROCE_MAX_SGE;
	attr->max_srq = SROCE_MAX_SRQ;
	attr->max_srq_wr = SROCE_MAX_QP_WR;
	attr->max_srq_sge = SROCE_MAX_SGE;
	attr->max_cq = SROCE_MAX_CQ;
	attr->max_cqe = SROCE_MAX_CQE;
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	attr->max_mr = SROCE_MAX_MR;
	attr->max_mw = SROCE_MAX_MR;
	attr->max_pd = SROCE_MAX_PD;
	attr->max_ah = SROCE_MAX_AH;
	attr->max_mcast_grp = SROCE_MAX_MCAST_GROUPS;
	attr->max_mcast_qp_attach = SROCE_MAX_MCAST_GROUP_QPS;
	attr->max_total_mcast_qp_attach = SROCE_MAX_MCAST_MEMBERS;
	attr->max_qp_rd_atom = SROCE_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = SROCE_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = SROCE_MAX_RD_ATOMIC * SROCE_MAX_QP;
	/* Atomics are CPU instructions. */
	attr->atomic_cap = IB_ATOMIC_GLOB;
	attr->max_pkeys = SROCE_PKEY_TABLE_LEN;
	attr->local_ca_ack_delay = CA_ACK_DELAY;
	sroce_odp_set_caps(attr);
	/* Our provider adds what librxe does not have: XRC and timestamps. */
	return 0;
}

/**
 * sroce_modify_device() - change the node description
 * @ibdev: device
 * @mask: IB_DEVICE_MODIFY_*
 * @modify: new values
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int sroce_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

/**
 * sroce_query_port() - report state and limits of the port
 * @ibdev: device
 * @port_num: 1
 * @attr: zeroed; filled in
 *
 * Takes RTNL to read the speed.
 *
 * Return: 0 or -EINVAL.
 */
int sroce_query_port(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr)
{
	struct sroce_device *dev = to_sroce_device(ibdev);
	const struct net_device *netdev = dev->ep.netdev;

	if (port_num != SROCE_PORT)
		return -EINVAL;

	if (netif_running(netdev) && netif_carrier_ok(netdev)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = netif_running(netdev) ? IB_PORT_PHYS_STATE_POLLING :
							   IB_PORT_PHYS_STATE_DISABLED;
	}
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = sroce_active_mtu(netdev);
	attr->phys_mtu = READ_ONCE(netdev->mtu);
	attr->gid_tbl_len = SROCE_GID_TABLE_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = atomic_read(&dev->port_cap_flags);
	attr->qkey_viol_cntr = min_t(u32, atomic_read(&dev->qkey_violations), U16_MAX);
	attr->max_msg_sz = SROCE_MAX_MESSAGE_BYTES;
	attr->pkey_tbl_len = SROCE_PKEY_TABLE_LEN;
	attr->max_vl_num = 1;
	/* The netdev reports no speed, or is being unregistered: report the lowest. */
	if (ib_get_eth_speed(ibdev, port_num, &attr->active_speed, &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
	return 0;
}

/**
 * sroce_modify_port() - announce or withdraw capabilities, reset the Q_Key violation counter
 * @ibdev: device
 * @port_num: 1
 * @mask: IB_PORT_RESET_QKEY_CNTR or 0
 * @modify: capabilities to set and to clear: those of ULPs, such as device management
 *
 * Any context.
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP.
 */
int sroce_modify_port(struct ib_device *ibdev, u32 port_num, int mask,
		      struct ib_port_modify *modify)
{
	struct sroce_device *dev = to_sroce_device(ibdev);

	if (port_num != SROCE_PORT)
		return -EINVAL;
	if (mask & ~IB_PORT_RESET_QKEY_CNTR)
		return -EOPNOTSUPP;
	atomic_or(modify->set_port_cap_mask, &dev->port_cap_flags);
	atomic_andnot(modify->clr_port_cap_mask, &dev->port_cap_flags);
	if (mask & IB_PORT_RESET_QKEY_CNTR)
		atomic_set(&dev->qkey_violations, 0);
	return 0;
}

/**
 * sroce_get_port_immutable() - report constant attributes of the port
 * @ibdev: device
 * @port_num: 1
 * @immutable: filled in
 *
 * Return: 0 or -EINVAL.
 */
int sroce_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_immutable *immutable)
{
	if (port_num != SROCE_PORT)
		return -EINVAL;
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	if (to_sroce_device(ibdev)->ep.roce_v1)
		immutable->core_cap_flags |= RDMA_CORE_PORT_IBA_ROCE;
	immutable->gid_tbl_len = SROCE_GID_TABLE_LEN;
	immutable->pkey_tbl_len = SROCE_PKEY_TABLE_LEN;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

/**
 * sroce_get_link_layer() - report the link layer of the port
 * @ibdev: device
 * @port_num: 1
 *
 * Return: Ethernet for any netdev, because the alternative is InfiniBand.
 */
enum rdma_link_layer sroce_get_link_layer(struct ib_device *ibdev, u32 port_num)
{
	return IB_LINK_LAYER_ETHERNET;
}

/**
 * sroce_get_netdev() - get the netdev of the port
 * @ibdev: device
 * @port_num: 1
 *
 * Return: the netdev with a reference for the caller, or NULL.
 */
struct net_device *sroce_get_netdev(struct ib_device *ibdev, u32 port_num)
{
	struct net_device *netdev = to_sroce_device(ibdev)->ep.netdev;

	if (port_num != SROCE_PORT)
		return NULL;
	dev_hold(netdev);
	return netdev;
}

/**
 * sroce_query_pkey() - report the partition key of the port
 * @ibdev: device
 * @port_num: 1
 * @index: 0
 * @pkey: set to the default key, full member
 *
 * Return: 0 or -EINVAL.
 */
int sroce_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey)
{
	if (port_num != SROCE_PORT || index >= SROCE_PKEY_TABLE_LEN)
		return -EINVAL;
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/**
 * sroce_add_gid() - note an address that ib_core has added to the GID table
 * @attr: the entry
 * @context: set to what sroce_del_gid() needs
 *
 * An address may be added several times: for a VLAN and for the netdev below, and for RoCE v1. The
 * address of a VLAN or macvlan in another namespace is not ours, see ah.c.
 *
 * Return: 0 or -ENOMEM. May sleep.
 */
int sroce_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct sroce_endpoint *ep = &to_sroce_device(attr->device)->ep;
	const struct net_device *netdev;
	bool is_ours;
	int err;

	rcu_read_lock();
	netdev = rcu_dereference(attr->ndev);
	is_ours = netdev && net_eq(dev_net(netdev), dev_net(ep->netdev));
	rcu_read_unlock();
	if (!is_ours)
		return 0;
	err = sroce_endpoint_add_address(ep, (const struct in6_addr *)attr->gid.raw);
	if (!err)
		*context = ep;
	return err;
}

/**
 * sroce_del_gid() - note that ib_core has removed an address from the GID table
 * @attr: the entry
 * @context: as set by sroce_add_gid()
 *
 * Return: 0. May sleep.
 */
int sroce_del_gid(const struct ib_gid_attr *attr, void **context)
{
	if (*context)
		sroce_endpoint_del_address(*context, (const struct in6_addr *)attr->gid.raw);
	*context = NULL;
	return 0;
}
