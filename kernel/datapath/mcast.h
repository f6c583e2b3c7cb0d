/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Which QPs are attached to which multicast groups. See mcast.c. */
#ifndef SROCE_DATAPATH_MCAST_H
#define SROCE_DATAPATH_MCAST_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct sroce_device;
struct sroce_mcast_member;
struct sroce_qp;

/*
 * Limits of a device: groups, QPs of a group, and QPs of all groups. The stack searches the IPv6
 * groups of an interface one by one, and softirq copies a packet to each QP of its group.
 */
#define SROCE_MAX_MCAST_GROUPS		1024
#define SROCE_MAX_MCAST_GROUP_QPS	64
#define SROCE_MAX_MCAST_MEMBERS		8192

#define SROCE_MCAST_HASH_BITS		8

/**
 * struct sroce_mcast - the multicast groups of a device
 * @lock: serialises attaching and detaching; taken before RTNL
 * @members: struct sroce_mcast_member by the hash of its group; read under RCU
 * @seed: of the hash
 * @group_count: number of groups
 * @member_count: number of members of all groups
 * @renewal: renews memberships that the stack has ended
 */
struct sroce_mcast {
	struct mutex lock;
	DECLARE_HASHTABLE(members, SROCE_MCAST_HASH_BITS);
	u32	seed;
	u32	group_count;
	u32	member_count;
	struct work_struct renewal;
};

void sroce_mcast_init(struct sroce_mcast *mcast);
void sroce_mcast_fini(struct sroce_mcast *mcast);
void sroce_mcast_renew(struct sroce_mcast *mcast);
int sroce_mcast_add_qp(struct sroce_qp *qp, const struct in6_addr *group);
int sroce_mcast_remove_qp(struct sroce_qp *qp, const struct in6_addr *group);
bool sroce_mcast_has_group(const struct sroce_device *dev, const struct in6_addr *group);
struct sroce_qp *sroce_mcast_next_qp(const struct sroce_device *dev, const struct in6_addr *group,
				     const struct sroce_mcast_member **at);

#endif
