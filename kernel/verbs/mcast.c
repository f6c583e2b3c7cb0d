// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attaching queue pairs to multicast groups. ib_core has checked that the QP is UD, and that the
 * GID is a group.
 */
#include "datapath/mcast.h"
#include "datapath/qp.h"
#include "verbs/verbs.h"

/**
 * sroce_attach_mcast() - attach a queue pair to a multicast group
 * @ibqp: queue pair
 * @gid: address of the group
 * @lid: meaningless on Ethernet; ignored
 *
 * May sleep; takes RTNL.
 *
 * Return: 0; -EEXIST if it is attached to the group, which a process can try with another @lid;
 * -ENOSPC if a limit of the device is reached; -ENODEV if the interface cannot join; -ENOMEM.
 */
int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	int err = sroce_mcast_add_qp(to_sroce_qp(ibqp), (const struct in6_addr *)gid->raw);

	if (err)
		ibdev_dbg(ibqp->device, "qp %u: not attached to %pI6c: error %d\n", ibqp->qp_num,
			  gid->raw, err);
	return err;
}

/**
 * sroce_detach_mcast() - detach a queue pair from a multicast group
 * @ibqp: queue pair
 * @gid: address of the group
 * @lid: ignored
 *
 * May sleep; takes RTNL.
 *
 * Return: 0, or -EINVAL if it is not attached.
 */
int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	int err = sroce_mcast_remove_qp(to_sroce_qp(ibqp), (const struct in6_addr *)gid->raw);

	if (err)
		ibdev_dbg(ibqp->device, "qp %u: not attached to %pI6c\n", ibqp->qp_num, gid->raw);
	return err;
}
