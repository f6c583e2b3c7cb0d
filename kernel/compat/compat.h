/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The only file that knows how kernels differ. All other code is written for the newest kernel, and
 * shims here make older ones look like it. probe.sh compiles probes.c to find out which functions a
 * kernel has. Version numbers are useless because distributions backport. The version at each shim
 * only says where the change appeared first. Macros give older functions the new names, so that a
 * shim can go without a change elsewhere.
 */
#ifndef SROCE_COMPAT_COMPAT_H
#define SROCE_COMPAT_COMPAT_H

#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/flow.h>
#include <net/genetlink.h>
#include <net/inet_dscp.h>
#include <net/ipv6.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#ifndef rdma_for_each_block	/* that of MLNX_OFED is in ib_verbs.h */
#include <rdma/iter.h>
#endif

#include "compat/probe.h"

/*
 * For a large local variable that a callee fills in. It saves clearing the variable for each packet
 * in kernels with CONFIG_INIT_STACK_ALL_ZERO.
 */
#if __has_attribute(__uninitialized__)
#define __sroce_uninit	__attribute__((__uninitialized__))
#else
#define __sroce_uninit
#endif

/* Operations of struct ib_device_ops with changed signatures. */

/* 6.12: create_cq() gets more than the ib_udata, which is NULL for the CQ of a kernel consumer. */
#ifdef SROCE_HAVE_CREATE_CQ_ATTRS
#define compat_cq_attrs uverbs_attr_bundle
static inline struct ib_udata *compat_cq_udata(struct uverbs_attr_bundle *attrs)
{
	return attrs ? &attrs->driver_udata : NULL;
}
#else
#define compat_cq_attrs ib_udata
#define compat_cq_udata(attrs) (attrs)
#endif

/* 7.1: resize_cq() became resize_user_cq(), and its number of entries unsigned. */
#ifdef SROCE_HAVE_RESIZE_USER_CQ
#define compat_cqe unsigned int
#else
#define compat_cqe int
#define resize_user_cq resize_cq
#endif

/*
 * 6.17: reg_user_mr() gets a DMA handle, NULL if the user gave none. The macro defines a static
 * compat_reg_user_mr() for the table, which calls @fn with these arguments:
 * struct ib_mr *fn(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
 *		    struct ib_dmah *dmah, struct ib_udata *udata);
 */
#ifdef SROCE_HAVE_REG_USER_MR_DMAH
#define SROCE_COMPAT_REG_USER_MR(fn)						\
static struct ib_mr *compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va,	\
					int access, struct ib_dmah *dmah,	\
					struct ib_udata *udata)			\
{										\
	return fn(pd, start, length, va, access, dmah, udata);			\
}
#else
struct ib_dmah;
#define SROCE_COMPAT_REG_USER_MR(fn)						\
static struct ib_mr *compat_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va,	\
					int access, struct ib_udata *udata)	\
{										\
	return fn(pd, start, length, va, access, NULL, udata);			\
}
#endif

/* 6.12: drivers describe SRQs in the list of resources. */
#ifdef SROCE_HAVE_FILL_RES_SRQ
#define COMPAT_FILL_RES_SRQ(fn) .fill_res_srq_entry = fn,
#else
#define COMPAT_FILL_RES_SRQ(fn)
#endif

/* 6.17: QPs are bound to a counter of one port. The macro defines two functions for the table. */
#ifdef SROCE_HAVE_COUNTER_PORT
#define COMPAT_COUNTER_ARGS(args...) (args, u32 port)
#else
#define COMPAT_COUNTER_ARGS(args...) (args)
#endif
#define SROCE_COMPAT_COUNTER_OPS(bind, unbind)					\
static int compat_counter_bind_qp						\
COMPAT_COUNTER_ARGS(struct rdma_counter *counter, struct ib_qp *qp)		\
{										\
	return bind(counter, qp);						\
}										\
static int compat_counter_unbind_qp COMPAT_COUNTER_ARGS(struct ib_qp *qp)	\
{										\
	return unbind(qp);							\
}

/* 6.15: a counter has the size that the driver says, and the driver initialises it. */
#ifdef SROCE_HAVE_COUNTER_INIT
static inline void compat_counter_init(struct rdma_counter *counter)
{
}

#define COMPAT_COUNTER_SIZE(drv_struct, member)					\
	.counter_init = compat_counter_init,					\
	INIT_RDMA_OBJ_SIZE(rdma_counter, drv_struct, member),
#else
#define COMPAT_COUNTER_SIZE(drv_struct, member)
#endif

/* 7.2: ib_umem_get() became ib_umem_get_va(). */
#ifndef SROCE_HAVE_UMEM_GET_VA
#define ib_umem_get_va ib_umem_get
#endif

/*
 * 6.2: FLUSH and ATOMIC WRITE. Before, no device can announce them, and no region permits a FLUSH.
 * Processes can post both all the same.
 */
#ifdef SROCE_HAVE_FLUSH
#define compat_flush_of(request)	(&(request)->wr.flush)
#else
#define IB_WR_FLUSH		14
#define IB_WR_ATOMIC_WRITE	15
#define IB_WC_FLUSH		8
#define IB_WC_ATOMIC_WRITE	9
#define IB_ACCESS_FLUSH_GLOBAL	BIT(8)
#define IB_ACCESS_FLUSH_PERSISTENT BIT(9)
#define IB_DEVICE_FLUSH_GLOBAL	0
#define IB_DEVICE_FLUSH_PERSISTENT 0
#define IB_DEVICE_ATOMIC_WRITE	0

/* In place of the operands of other requests. */
struct compat_flush {
	u64	remote_addr;
	u32	length;
	u32	rkey;
	u8	type;
	u8	level;
};

#define compat_flush_of(request)	((const struct compat_flush *)&(request)->wr)
#endif

/* 6.8: marks the device name as assigned by the user, so that udev does not rename it. */
#ifndef SROCE_HAVE_MARK_NAME_ASSIGNED_BY_USER
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
}
#endif

/* 7.2: the UDP tunnel functions take a struct sock. A backport may have only one of them. */
#ifndef SROCE_HAVE_UDP_TUNNEL_SOCK
static inline void compat_setup_udp_tunnel_sock(struct net *net, struct sock *sk,
						struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net, sk->sk_socket, cfg);
}

#define setup_udp_tunnel_sock compat_setup_udp_tunnel_sock
#endif

#ifndef SROCE_HAVE_UDP_TUNNEL_RELEASE_SOCK
static inline void compat_udp_tunnel_sock_release(struct sock *sk)
{
	udp_tunnel_sock_release(sk->sk_socket);
}

#define udp_tunnel_sock_release compat_udp_tunnel_sock_release
#endif

/* 7.1: IPv6 cannot be a module, so its functions are called directly. */
#ifdef SROCE_HAVE_IPV6_STUB
#include <net/ipv6_stubs.h>

static inline struct dst_entry *compat_ip6_dst_lookup_flow(struct net *net, const struct sock *sk,
							   struct flowi6 *fl6,
							   const struct in6_addr *final_dst)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, final_dst);
}

#define ip6_dst_lookup_flow compat_ip6_dst_lookup_flow
#endif

/* 6.3: the flags of a VMA are changed by functions. */
#ifndef SROCE_HAVE_VM_FLAGS_SET
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

/* 6.13: one call sets function and clock. */
#ifndef SROCE_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* 6.9: work items run in softirq; before, tasklets do. */
#ifdef SROCE_HAVE_BH_WORK
#define compat_bh_work			work_struct
#define compat_bh_work_init(work, fn)	INIT_WORK(work, fn)
#define compat_bh_work_queue(work)	queue_work(system_bh_wq, work)
#define compat_bh_work_stop(work)	cancel_work_sync(work)
#else
#define compat_bh_work			tasklet_struct
#define compat_bh_work_init(work, fn)	tasklet_setup(work, fn)
#define compat_bh_work_queue(work)	tasklet_schedule(work)
#define compat_bh_work_stop(work)	tasklet_kill(work)
#endif

/* 6.10: the clock of a delivery time is an enum; before, a bool says "CLOCK_MONOTONIC". */
#ifndef SROCE_HAVE_SKB_CLOCK
#define SKB_CLOCK_MONOTONIC true
#endif

/* 6.18: the key of an IPv4 route lookup has a DSCP instead of a TOS byte. */
static inline void compat_flowi4_set_tos(struct flowi4 *fl4, u8 tos)
{
#ifdef SROCE_HAVE_FLOWI4_DSCP
	fl4->flowi4_dscp = inet_dsfield_to_dscp(tos);
#else
	fl4->flowi4_tos = inet_dscp_to_dsfield(inet_dsfield_to_dscp(tos));
#endif
}

/* 7.2: for callers that hold the netdev's instance lock, if it has one, such as notifiers. */
#ifndef SROCE_HAVE_NETIF_GET_LINK_KSETTINGS
static inline int netif_get_link_ksettings(struct net_device *netdev,
					   struct ethtool_link_ksettings *settings)
{
	return __ethtool_get_link_ksettings(netdev, settings);
}
#endif

/* 6.6: a dump has a struct genl_info; before, another struct with attrs. */
#ifndef SROCE_HAVE_GENL_INFO_DUMP
#define genl_info_dump(cb) genl_dumpit_info(cb)
#endif

/*
 * 6.2: the text of an extended ACK can be formatted. Before, it must stay valid until the ACK is
 * sent. The text is then @name only, which is a constant or part of the request.
 */
#ifdef SROCE_HAVE_EXTACK_FMT
#define compat_extack_about(extack, name, fmt, args...)	\
	NL_SET_ERR_MSG_FMT(extack, "%s" fmt, (const char *)(name), ##args)
#else
static inline void compat_extack_set(struct netlink_ext_ack *extack, const char *name)
{
	if (extack)
		extack->_msg = name;
}

#define compat_extack_about(extack, name, fmt, args...) compat_extack_set(extack, name)
#endif

#endif
