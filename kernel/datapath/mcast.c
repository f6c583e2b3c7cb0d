// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The multicast groups of a device: a hash table of pairs of a group and a QP. ib_core destroys no
 * QP that is attached, and uverbs detaches those of a process that ends. Each pair is one user of
 * the interface's membership in the group.
 */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "datapath/mcast.h"
#include "datapath/qp.h"
#include "net/membership.h"

/**
 * struct sroce_mcast_member - a QP that is attached to a group
 * @node: in sroce_mcast.members
 * @group: the group
 * @ref: the QP
 * @membership: of the interface
 * @rcu: defers the free
 */
struct sroce_mcast_member {
	struct hlist_node node;
	struct in6_addr group;
	struct sroce_qp_ref *ref;
	struct sroce_membership membership;
	struct rcu_head rcu;
};

/* Processes choose the groups, so the hash has a secret. */
static u32 hash_group(const struct sroce_mcast *mcast, const struct in6_addr *group)
{
	return jhash2((__force const u32 *)group->s6_addr32, ARRAY_SIZE(group->s6_addr32),
		      mcast->seed);
}

static void renew_memberships(struct work_struct *work)
{
	struct sroce_mcast *mcast = container_of(work, struct sroce_mcast, renewal);
	struct sroce_device *dev = container_of(mcast, struct sroce_device, mcast);
	struct sroce_mcast_member *member;
	int bucket;

	mutex_lock(&mcast->lock);
	hash_for_each(mcast->members, bucket, member, node)
		sroce_membership_renew(&member->membership, &dev->ep, &member->group);
	mutex_unlock(&mcast->lock);
}

/**
 * sroce_mcast_init() - no QP is attached to any group
 * @mcast: zeroed; filled in
 */
void sroce_mcast_init(struct sroce_mcast *mcast)
{
	mutex_init(&mcast->lock);
	hash_init(mcast->members);
	mcast->seed = get_random_u32();
	INIT_WORK(&mcast->renewal, renew_memberships);
}

/**
 * sroce_mcast_fini() - the device is going
 * @mcast: without members; no call of sroce_mcast_renew() is under way
 *
 * May sleep. Not called with RTNL, which the renewal takes.
 */
void sroce_mcast_fini(struct sroce_mcast *mcast)
{
	cancel_work_sync(&mcast->renewal);
	WARN_ON(mcast->member_count);
}

/**
 * sroce_mcast_renew() - join the groups again whose memberships the stack has ended
 * @mcast: groups of a device whose interface may have got its IPv4 or IPv6 state back
 *
 * The work does it later, so this may be called under RTNL.
 */
void sroce_mcast_renew(struct sroce_mcast *mcast)
{
	schedule_work(&mcast->renewal);
}

/* The lock is held. Returns the number of QPs of the group; sets *@own to the member with @ref. */
static u32 count_members(const struct sroce_mcast *mcast, const struct in6_addr *group,
			 const struct sroce_qp_ref *ref, struct sroce_mcast_member **own)
{
	struct sroce_mcast_member *member;
	u32 count = 0;

	*own = NULL;
	hash_for_each_possible(mcast->members, member, node, hash_group(mcast, group)) {
		if (!ipv6_addr_equal(&member->group, group))
			continue;
		count++;
		if (member->ref == ref)
			*own = member;
	}
	return count;
}

static int add_member(struct sroce_qp *qp, const struct in6_addr *group)
{
	struct sroce_mcast *mcast = &qp->dev->mcast;
	struct sroce_mcast_member *member;
	u32 count = count_members(mcast, group, qp->ref, &member);
	int err;

	if (member)
		return -EEXIST;
	if (count >= SROCE_MAX_MCAST_GROUP_QPS || mcast->member_count >= SROCE_MAX_MCAST_MEMBERS ||
	    (!count && mcast->group_count >= SROCE_MAX_MCAST_GROUPS))
		return -ENOSPC;
	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!member)
		return -ENOMEM;
	member->group = *group;
	member->ref = qp->ref;
	err = sroce_membership_join(&member->membership, &qp->dev->ep, group);
	if (err) {
		kfree(member);
		return err;
	}
	hash_add_rcu(mcast->members, &member->node, hash_group(mcast, group));
	mcast->member_count++;
	mcast->group_count += !count;
	return 0;
}

/**
 * sroce_mcast_add_qp() - attach a QP to a group
 * @qp: a UD queue pair
 * @group: address of the group
 *
 * May sleep; takes RTNL.
 *
 * Return: 0, -EEXIST if it is attached to that group, -ENOSPC if a limit is reached, or the errno
 * of sroce_membership_join().
 */
int sroce_mcast_add_qp(struct sroce_qp *qp, const struct in6_addr *group)
{
	struct sroce_mcast *mcast = &qp->dev->mcast;
	int err;

	mutex_lock(&mcast->lock);
	err = add_member(qp, group);
	mutex_unlock(&mcast->lock);
	return err;
}

/**
 * sroce_mcast_remove_qp() - detach a QP from a group
 * @qp: the QP
 * @group: address of the group
 *
 * May sleep; takes RTNL. A packet that is being received may still reach the QP.
 *
 * Return: 0, or -EINVAL if it is not attached.
 */
int sroce_mcast_remove_qp(struct sroce_qp *qp, const struct in6_addr *group)
{
	struct sroce_mcast *mcast = &qp->dev->mcast;
	struct sroce_mcast_member *member;
	u32 count;

	mutex_lock(&mcast->lock);
	count = count_members(mcast, group, qp->ref, &member);
	if (member) {
		hash_del_rcu(&member->node);
		sroce_membership_leave(&member->membership, &qp->dev->ep, group);
		mcast->member_count--;
		mcast->group_count -= count == 1;
		kfree_rcu(member, rcu);
	}
	mutex_unlock(&mcast->lock);
	return member ? 0 : -EINVAL;
}

/**
 * sroce_mcast_has_group() - is a QP attached to a group?
 * @dev: the device
 * @group: address of the group
 *
 * Called under rcu_read_lock().
 *
 * Return: true if one is.
 */
bool sroce_mcast_has_group(const struct sroce_device *dev, const struct in6_addr *group)
{
	const struct sroce_mcast *mcast = &dev->mcast;
	const struct sroce_mcast_member *member;

	hash_for_each_possible_rcu(mcast->members, member, node, hash_group(mcast, group))
		if (ipv6_addr_equal(&member->group, group))
			return true;
	return false;
}

/* The first member of a group's chain, or the one behind @at. */
static const struct sroce_mcast_member *next_in_chain(const struct sroce_mcast *mcast,
						      const struct in6_addr *group,
						      const struct sroce_mcast_member *at)
{
	const struct hlist_head *chain;
	const struct hlist_node *node;

	if (at) {
		node = rcu_dereference(hlist_next_rcu(&at->node));
	} else {
		chain = &mcast->members[hash_min(hash_group(mcast, group), SROCE_MCAST_HASH_BITS)];
		node = rcu_dereference(hlist_first_rcu(chain));
	}
	return hlist_entry_safe(node, const struct sroce_mcast_member, node);
}

/**
 * sroce_mcast_next_qp() - iterate over the QPs of a group
 * @dev: the device
 * @group: address of the group
 * @at: position; points to NULL at first
 *
 * Called under rcu_read_lock(), which must be held until the end of the iteration. QPs that are
 * attached or detached meanwhile may be found or not.
 *
 * Return: the next QP, to be released with sroce_qp_put(), or NULL if there is none left.
 */
struct sroce_qp *sroce_mcast_next_qp(const struct sroce_device *dev, const struct in6_addr *group,
				     const struct sroce_mcast_member **at)
{
	while ((*at = next_in_chain(&dev->mcast, group, *at)))
		if (ipv6_addr_equal(&(*at)->group, group) &&
		    refcount_inc_not_zero(&(*at)->ref->users))
			return (*at)->ref->qp;
	return NULL;
}
