/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Network interfaces, routes, timers and BH works. */
#ifndef STAND_IN_NET_H
#define STAND_IN_NET_H

#include "stand_in/ib_device.h"
#include "stand_in/skb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STAND_IN_LOOPBACK	0x8
#define IFF_LOOPBACK		STAND_IN_LOOPBACK
#define IFF_UP			0x1

struct Qdisc_ops {
	const char *id;
};

struct Qdisc {
	const struct Qdisc_ops *ops;
	void	*enqueue;
};

struct netdev_queue {
	struct Qdisc *qdisc;
};

struct sock;

struct net_device_ops {
	void	*ndo_get_peer_dev;
};

/* @generic is the part of the module, @refs are references taken less dropped. */
struct net {
	void	*generic;
	int	refs;
	bool	has_ended;
};

#define STAND_IN_PRIORITIES	8

/*
 * @lower is the interface below a stacked one; the two maps are those of priorities; @refs are
 * references taken less dropped.
 */
struct net_device {
	const char *name;
	u16	type;
	int	ifindex;
	unsigned int mtu;
	unsigned int flags;
	struct net *net;
	struct device dev;
	u8	addr_len;
	bool	has_header;
	u8	dev_addr[6];
	struct netdev_queue queue;
	struct net_device *lower;
	bool	is_vlan;
	u16	vlan_id;
	u32	features;
	const struct net_device_ops *netdev_ops;
	int	refs;
	int	reg_state;
	u8	num_tc;
	u8	traffic_classes[STAND_IN_PRIORITIES];
	u8	egress_map[STAND_IN_PRIORITIES];
};

struct netdev_nested_priv {
	void	*data;
};

#define VLAN_PRIO_SHIFT				13
/* As linux/if_arp.h has them. */
enum {
	ARPHRD_ETHER = 1, ARPHRD_INFINIBAND = 32, ARPHRD_TUNNEL = 768, ARPHRD_TUNNEL6 = 769,
	ARPHRD_LOOPBACK = 772, ARPHRD_SIT = 776, ARPHRD_IPGRE = 778, ARPHRD_IP6GRE = 823,
	ARPHRD_NONE = 0xfffe,
};
#define is_vlan_dev(netdev)			((netdev)->is_vlan)
#define netdev_get_prio_tc_map(netdev, priority) ((netdev)->traffic_classes[priority])
#define vlan_dev_get_egress_qos_mask(netdev, priority) \
	((netdev)->egress_map[priority] << VLAN_PRIO_SHIFT)

static inline struct net_device *vlan_dev_real_dev(const struct net_device *netdev)
{
	while (is_vlan_dev(netdev))
		netdev = netdev->lower;
	return (struct net_device *)netdev;
}

#define vlan_dev_vlan_id(netdev)		((netdev)->vlan_id)

static inline int netdev_walk_all_lower_dev_rcu(struct net_device *netdev,
						int (*fn)(struct net_device *netdev,
							  struct netdev_nested_priv *priv),
						struct netdev_nested_priv *priv)
{
	int result = 0;

	while (!result && (netdev = netdev->lower))
		result = fn(netdev, priv);
	return result;
}

typedef struct {
	int	unused;
} netdevice_tracker;

#define dev_net(netdev)				((netdev)->net)
#define net_eq(a, b)				((a) == (b))
#define netdev_get_tx_queue(netdev, index)	(&(netdev)->queue)
#define netdev_hold(netdev, tracker, gfp)	((void)(tracker), (void)(netdev)->refs++)
#define netdev_put(netdev, tracker)		((void)(tracker), (void)(netdev)->refs--)
#define LL_RESERVED_SPACE(netdev)		32u
#define NETREG_REGISTERED			1

/* A route is valid while it has the cookie with which it was cached. */
struct dst_entry {
	struct net_device *dev;
	const void *xfrm;
	const void *lwtstate;
	int	error;
	u32	cookie;
	u32	mtu;
};

#define dst_xfrm(dst)				((dst)->xfrm)
#define dst_mtu(dst)				((dst)->mtu)

static inline struct dst_entry *dst_check(struct dst_entry *dst, u32 cookie)
{
	return dst->cookie == cookie ? dst : NULL;
}

static inline struct dst_entry *dst_clone(struct dst_entry *dst)
{
	stand_in.dst_refs++;
	return dst;
}

static inline void dst_release(struct dst_entry *dst)
{
	if (dst && !IS_ERR(dst))
		stand_in.dst_refs--;
}

static inline bool ipv6_addr_equal(const struct in6_addr *a, const struct in6_addr *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static inline bool ipv6_addr_any(const struct in6_addr *a)
{
	return !(a->s6_addr32[0] | a->s6_addr32[1] | a->s6_addr32[2] | a->s6_addr32[3]);
}

static inline bool ipv6_addr_v4mapped(const struct in6_addr *a)
{
	return !a->s6_addr32[0] && !a->s6_addr32[1] && a->s6_addr32[2] == htonl(0xffff);
}

static inline void ipv6_addr_set_v4mapped(__be32 from, struct in6_addr *to)
{
	memset(to, 0, sizeof(*to));
	to->s6_addr32[2] = htonl(0xffff);
	to->s6_addr32[3] = from;
}

static inline u32 ipv6_addr_hash(const struct in6_addr *a)
{
	return a->s6_addr32[0] ^ a->s6_addr32[1] ^ a->s6_addr32[2] ^ a->s6_addr32[3];
}

#define ipv6_addr_is_multicast(address)		((address)->s6_addr[0] == 0xff)
#define ipv4_is_multicast(address)		(be32_to_cpu(address) >> 28 == 14)
#define ipv4_is_loopback(address)		(be32_to_cpu(address) >> 24 == 127)
#define ipv4_is_zeronet(address)		(be32_to_cpu(address) >> 24 == 0)
#define ipv4_is_lbcast(address)			((address) == 0xffffffff)
#define IPV6_ADDR_MC_SCOPE(address)		((address)->s6_addr[1] & 0x0f)
#define IPV6_ADDR_SCOPE_NODELOCAL		1
#define IPV6_ADDR_LINKLOCAL			0x20
#define ipv6_addr_type(address)	\
	((address)->s6_addr[0] == 0xfe && ((address)->s6_addr[1] & 0xc0) == 0x80 ? IPV6_ADDR_LINKLOCAL : 0)

static inline bool ipv6_addr_loopback(const struct in6_addr *a)
{
	return !(a->s6_addr32[0] | a->s6_addr32[1] | a->s6_addr32[2]) && a->s6_addr32[3] == htonl(1);
}

static inline bool dev_has_header(const struct net_device *netdev)
{
	return netdev->has_header;
}

/* One level. */
static inline bool netdev_has_upper_dev_all_rcu(struct net_device *netdev,
						struct net_device *upper)
{
	return upper->lower == netdev;
}

/* Timers and BH works never run by themselves; the test calls their functions. */
enum hrtimer_restart {
	HRTIMER_NORESTART,
};

struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	u64	expires_ns;
	u64	slack_ns;
	bool	started;
};

#define CLOCK_MONOTONIC_STAND_IN	1
#ifndef CLOCK_MONOTONIC
#define CLOCK_MONOTONIC			CLOCK_MONOTONIC_STAND_IN
#endif
#define HRTIMER_MODE_ABS_SOFT		0
#define HRTIMER_MODE_REL_SOFT		1
#define hrtimer_start(timer, ns, mode)	((timer)->expires_ns = (ns), (timer)->started = true)
#define ns_to_ktime(ns)			(ns)
#define hrtimer_setup(timer, fn, clock, mode)	((timer)->function = (fn))
#define hrtimer_start_range_ns(timer, at, slack, mode)			\
	((timer)->expires_ns = (at), (timer)->slack_ns = (slack), (timer)->started = true)
#define hrtimer_cancel(timer)			((timer)->started = false)
#define compat_bh_work			work_struct
#define compat_bh_work_init(work, fn)	((work)->function = (fn))
#define compat_bh_work_queue(work)	((void)(work), stand_in.scheduled++)
#define compat_bh_work_stop(work)	((void)(work))

#ifdef __cplusplus
}
#endif

#endif
