// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Probes of a kernel tree, never linked. If the section PROBE_<name> compiles, probe.sh defines
 * SROCE_HAVE_<name> in compat/probe.h.
 */
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
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
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_rxe.h>
#include <rdma/uverbs_ioctl.h>

/* Compiles with every supported kernel, or the flags are wrong. */
#ifdef PROBE_BASELINE
struct ib_device probe_device;
struct rdma_link_ops probe_link;
#endif

/* FLUSH and ATOMIC WRITE. */
#ifdef PROBE_FLUSH
u8 probe_flush(const struct rxe_send_wr *wr)
{
	return wr->opcode == IB_WR_FLUSH ? wr->wr.flush.type : IB_WR_ATOMIC_WRITE;
}
#endif

/* create_cq() gets the attribute bundle, not its ib_udata. */
#ifdef PROBE_CREATE_CQ_ATTRS
int probe_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
const struct ib_device_ops probe = { .create_cq = probe_create_cq };
#endif

#ifdef PROBE_RESIZE_USER_CQ
int probe_resize(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata);
const struct ib_device_ops probe = { .resize_user_cq = probe_resize };
#endif

/* reg_user_mr() gets a struct ib_dmah. */
#ifdef PROBE_REG_USER_MR_DMAH
struct ib_mr *probe_reg(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
			struct ib_dmah *dmah, struct ib_udata *udata);
const struct ib_device_ops probe = { .reg_user_mr = probe_reg };
#endif

/* reg_user_mr_dmabuf() gets the attribute bundle, not its ib_udata, and no struct ib_dmah yet. */
#ifdef PROBE_REG_DMABUF_ATTRS
struct ib_mr *probe_reg(struct ib_pd *pd, u64 offset, u64 length, u64 va, int fd, int access,
			struct uverbs_attr_bundle *attrs);
const struct ib_device_ops probe = { .reg_user_mr_dmabuf = probe_reg };
#endif

#ifdef PROBE_FILL_RES_SRQ
int probe_put_srq(struct sk_buff *msg, struct ib_srq *srq);
const struct ib_device_ops probe = { .fill_res_srq_entry = probe_put_srq };
#endif

/* QPs are bound to a counter of one port. */
#ifdef PROBE_COUNTER_PORT
int probe_unbind(struct ib_qp *qp, u32 port);
const struct ib_device_ops probe = { .counter_unbind_qp = probe_unbind };
#endif

#ifdef PROBE_COUNTER_INIT
void probe_init(struct rdma_counter *counter);
const struct ib_device_ops probe = { .counter_init = probe_init };
#endif

#ifdef PROBE_UMEM_GET_VA
struct ib_umem *probe(struct ib_device *dev)
{
	return ib_umem_get_va(dev, 0, 0, 0);
}
#endif

/* An ib_device is allocated for a network namespace. */
#ifdef PROBE_ALLOC_DEVICE_WITH_NET
struct ib_device *probe(struct net *net)
{
	return _ib_alloc_device(sizeof(struct ib_device), net);
}
#endif

#ifdef PROBE_MARK_NAME_ASSIGNED_BY_USER
void probe(struct ib_device *dev)
{
	ib_mark_name_assigned_by_user(dev);
}
#endif

/* The UDP tunnel calls take a struct sock, not a struct socket. */
#ifdef PROBE_UDP_TUNNEL_SOCK
void probe(struct net *net, struct sock *sk, struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net, sk, cfg);
}
#endif

#ifdef PROBE_UDP_TUNNEL_RELEASE_SOCK
void probe(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}
#endif

/* IPv6 may be a module, reached through a table of functions. */
#ifdef PROBE_IPV6_STUB
#include <net/ipv6_stubs.h>
struct dst_entry *probe(struct net *net, struct flowi6 *fl6)
{
	return ipv6_stub->ipv6_dst_lookup_flow(net, NULL, fl6, NULL);
}
#endif

#ifdef PROBE_VM_FLAGS_SET
void probe(struct vm_area_struct *vma)
{
	vm_flags_set(vma, VM_DONTEXPAND);
}
#endif

#ifdef PROBE_HRTIMER_SETUP
enum hrtimer_restart probe_expire(struct hrtimer *timer);
void probe(struct hrtimer *timer)
{
	hrtimer_setup(timer, probe_expire, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
}
#endif

/* Work items run in softirq. */
#ifdef PROBE_BH_WORK
void probe(struct work_struct *work)
{
	queue_work(system_bh_wq, work);
}
#endif

/* The clock of a delivery time is an enum. */
#ifdef PROBE_SKB_CLOCK
void probe(struct sk_buff *skb)
{
	skb_set_delivery_time(skb, 0, SKB_CLOCK_MONOTONIC);
}
#endif

#ifdef PROBE_FLOWI4_DSCP
void probe(struct flowi4 *fl4)
{
	fl4->flowi4_dscp = inet_dsfield_to_dscp(0);
}
#endif

/* For callers that hold the netdev's instance lock. */
#ifdef PROBE_NETIF_GET_LINK_KSETTINGS
int probe(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	return netif_get_link_ksettings(netdev, settings);
}
#endif

/* A dump has a struct genl_info. */
#ifdef PROBE_GENL_INFO_DUMP
const struct genl_info *probe(struct netlink_callback *cb)
{
	return genl_info_dump(cb);
}
#endif

/* The text of an extended ACK can be formatted. */
#ifdef PROBE_EXTACK_FMT
void probe(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG_FMT(extack, "%d", 0);
}
#endif

/* The flags of shared memory have the type of those of a VMA. */
#ifdef PROBE_SHMEM_VMA_FLAGS
#include <linux/shmem_fs.h>
struct file *probe(void)
{
	return shmem_file_setup("", 0, EMPTY_VMA_FLAGS);
}
#endif

/* One function maps a file, whichever function the file has. */
#ifdef PROBE_VFS_MMAP
#include <linux/fs.h>
int probe(struct file *file, struct vm_area_struct *vma)
{
	return vfs_mmap(file, vma);
}
#endif

/* On-demand paging. */
#ifdef PROBE_ODP
#include <rdma/ib_umem_odp.h>
int probe(struct ib_umem_odp *odp)
{
	return ib_umem_odp_map_dma_and_lock(odp, 0, 0, 0, true);
}
#endif

/* Its list of pages is one of HMM. */
#ifdef PROBE_ODP_HMM
#include <rdma/ib_umem_odp.h>
unsigned long probe(struct ib_umem_odp *odp)
{
	return odp->map.pfn_list[0];
}
#endif

/* The lock of a DMA-BUF's reservation is the caller's matter. */
#ifdef PROBE_DMA_BUF_VMAP_UNLOCKED
#include <linux/dma-buf.h>
int probe(struct dma_buf *buffer, struct iosys_map *map)
{
	return dma_buf_vmap_unlocked(buffer, map);
}
#endif

/* Every importer of a DMA-BUF that moves has a function. */
#ifdef PROBE_DMA_BUF_MOVE_NOTIFY
#include <linux/dma-buf.h>
void probe_move(struct dma_buf_attachment *attachment);
const struct dma_buf_attach_ops probe = { .move_notify = probe_move };
#endif
