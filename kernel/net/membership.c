// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Membership in multicast groups. The stack then tells the routers by IGMP or MLD, opens the
 * filters of the interface, and delivers the group's packets to our sockets.
 *
 * The interface joins, not a socket, because all devices of a namespace share the sockets, whose
 * memberships `igmp_max_memberships` limits to 20. rdma_cm joins IPv4 groups in the same way, and
 * IPv6 groups not at all. The stack counts the users of a membership. It ends them all when the
 * interface loses its IPv4 or IPv6 state: on removal, on the move to another namespace, and when
 * its MTU becomes too small for the protocol. If the MTU grows again, the groups must be joined
 * again.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

#include "net/membership.h"

static bool is_member(const struct in_device *in_dev, __be32 group)
{
	const struct ip_mc_list *joined;

	for (joined = rtnl_dereference(in_dev->mc_list); joined;
	     joined = rtnl_dereference(joined->next_rcu))
		if (joined->multiaddr == group)
			return true;
	return false;
}

static int join_ipv4(struct sroce_membership *membership, struct net_device *netdev, __be32 group)
{
	struct in_device *in_dev = in_dev_get(netdev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, group);
	/* ip_mc_inc_group() does not report that it had no memory. */
	if (!is_member(in_dev, group)) {
		in_dev_put(in_dev);
		return -ENOMEM;
	}
	membership->in_dev = in_dev;
	return 0;
}

static void leave_ipv4(struct sroce_membership *membership, __be32 group)
{
	/* A dead state has lost its memberships; they are not those of a later one. */
	if (!membership->in_dev->dead)
		ip_mc_dec_group(membership->in_dev, group);
	in_dev_put(membership->in_dev);
}

#if IS_ENABLED(CONFIG_IPV6)
static bool has_lost_ipv6(const struct sroce_membership *membership,
			  const struct net_device *netdev)
{
	return __in6_dev_get(netdev) != membership->in6_dev;
}

static int join_ipv6(struct sroce_membership *membership, struct net_device *netdev,
		     const struct in6_addr *group)
{
	struct inet6_dev *in6_dev = in6_dev_get(netdev);
	int err;

	if (!in6_dev)
		return -ENODEV;
	err = ipv6_dev_mc_inc(netdev, group);
	if (err)
		in6_dev_put(in6_dev);
	else
		membership->in6_dev = in6_dev;
	return err;
}

static void leave_ipv6(struct sroce_membership *membership, struct net_device *netdev,
		       const struct in6_addr *group)
{
	if (!has_lost_ipv6(membership, netdev))
		ipv6_dev_mc_dec(netdev, group);
	in6_dev_put(membership->in6_dev);
}
#else
static bool has_lost_ipv6(const struct sroce_membership *membership,
			  const struct net_device *netdev)
{
	return true;
}

static int join_ipv6(struct sroce_membership *membership, struct net_device *netdev,
		     const struct in6_addr *group)
{
	return -EAFNOSUPPORT;
}

static void leave_ipv6(struct sroce_membership *membership, struct net_device *netdev,
		       const struct in6_addr *group)
{
}
#endif

/* RTNL is held. */
static int join_group(struct sroce_membership *membership, const struct sroce_endpoint *ep,
		      const struct in6_addr *group)
{
	if (!sroce_endpoint_is_in_place(ep))
		return -ENODEV;
	if (ipv6_addr_v4mapped(group))
		return join_ipv4(membership, ep->netdev, group->s6_addr32[3]);
	return join_ipv6(membership, ep->netdev, group);
}

/* RTNL is held. */
static void leave_group(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			const struct in6_addr *group)
{
	if (membership->in_dev)
		leave_ipv4(membership, group->s6_addr32[3]);
	else
		leave_ipv6(membership, ep->netdev, group);
}

/**
 * sroce_membership_join() - make the interface of an endpoint a member of a group
 * @membership: zeroed; filled in
 * @ep: the endpoint
 * @group: the group; IPv4 as mapped IPv6
 *
 * May sleep; takes RTNL.
 *
 * Return: 0; -ENODEV if the interface has gone, has moved to another namespace, or has no IPv4 or
 * IPv6; -EAFNOSUPPORT, -ENOMEM.
 */
int sroce_membership_join(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			  const struct in6_addr *group)
{
	int err;

	rtnl_lock();
	err = join_group(membership, ep, group);
	rtnl_unlock();
	return err;
}

/**
 * sroce_membership_renew() - join again if the stack has ended the membership
 * @membership: filled in by sroce_membership_join(); unchanged if it has not ended, or if the
 *              interface cannot join now
 * @ep: the same endpoint
 * @group: the same group
 *
 * May sleep; takes RTNL.
 */
void sroce_membership_renew(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group)
{
	struct sroce_membership renewed = {};
	bool has_ended;

	rtnl_lock();
	has_ended = membership->in_dev ? membership->in_dev->dead :
					 has_lost_ipv6(membership, ep->netdev);
	if (has_ended && !join_group(&renewed, ep, group)) {
		leave_group(membership, ep, group);
		*membership = renewed;
	}
	rtnl_unlock();
}

/**
 * sroce_membership_leave() - undo sroce_membership_join()
 * @membership: filled in by it
 * @ep: the same endpoint
 * @group: the same group
 *
 * May sleep; takes RTNL.
 */
void sroce_membership_leave(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group)
{
	rtnl_lock();
	leave_group(membership, ep, group);
	rtnl_unlock();
}
