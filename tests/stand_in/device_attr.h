/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device and its port as ib_core sees them: a part of rdma/ib_verbs.h. */
#ifndef STAND_IN_DEVICE_ATTR_H
#define STAND_IN_DEVICE_ATTR_H

#include "stand_in/kernel.h"

struct ib_device;

enum {
	IB_DEVICE_BAD_QKEY_CNTR = 1 << 2,
	IB_DEVICE_UD_AV_PORT_ENFORCE = 1 << 6, IB_DEVICE_CURR_QP_STATE_MOD = 1 << 7,
	IB_DEVICE_PORT_ACTIVE_EVENT = 1 << 10, IB_DEVICE_SYS_IMAGE_GUID = 1 << 11,
	IB_DEVICE_RC_RNR_NAK_GEN = 1 << 12, IB_DEVICE_SRQ_RESIZE = 1 << 13,
	IB_DEVICE_MEM_WINDOW = 1 << 17, IB_DEVICE_MEM_MGT_EXTENSIONS = 1 << 21,
	IB_DEVICE_MEM_WINDOW_TYPE_2B = 1 << 24,
};

#define IB_DEVICE_FLUSH_GLOBAL		(1ull << 38)
#define IB_DEVICE_FLUSH_PERSISTENT	(1ull << 39)
#define IB_DEVICE_ATOMIC_WRITE		(1ull << 40)
enum { IBK_ON_DEMAND_PAGING = 1 << 2, IBK_ALLOW_USER_UNREG = 1 << 4 };
enum { IB_ATOMIC_NONE, IB_ATOMIC_HCA, IB_ATOMIC_GLOB };
enum { IB_ODP_SUPPORT = 1 };
enum {
	IB_ODP_SUPPORT_SEND = 1, IB_ODP_SUPPORT_RECV = 2, IB_ODP_SUPPORT_WRITE = 4,
	IB_ODP_SUPPORT_READ = 8, IB_ODP_SUPPORT_ATOMIC = 16, IB_ODP_SUPPORT_SRQ_RECV = 32,
};

struct ib_odp_caps {
	u64	general_caps;
	struct {
		u32	rc_odp_caps, uc_odp_caps, ud_odp_caps, xrc_odp_caps;
	} per_transport_caps;
};

struct ib_device_attr {
	__be64	sys_image_guid;
	u64	max_mr_size, page_size_cap, device_cap_flags, kernel_cap_flags;
	u32	vendor_id, max_fast_reg_page_list_len;
	int	max_qp, max_qp_wr, max_send_sge, max_recv_sge, max_sge_rd, max_cq, max_cqe, max_mr;
	int	max_pd, max_qp_rd_atom, max_res_rd_atom, max_qp_init_rd_atom, atomic_cap, max_mw;
	int	max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah, max_srq;
	int	max_srq_wr, max_srq_sge;
	u16	max_pkeys;
	u8	local_ca_ack_delay;
	struct ib_odp_caps odp_caps;
	struct {
		u16	max_cq_moderation_count, max_cq_moderation_period;
	} cq_caps;
};

enum ib_device_modify_flags {
	IB_DEVICE_MODIFY_SYS_IMAGE_GUID = 1 << 0, IB_DEVICE_MODIFY_NODE_DESC = 1 << 1,
};

struct ib_device_modify {
	u64	sys_image_guid;
	char	node_desc[64];
};

enum { IB_PORT_DOWN = 1, IB_PORT_ACTIVE = 4 };
enum {
	IB_PORT_PHYS_STATE_POLLING = 2, IB_PORT_PHYS_STATE_DISABLED = 3,
	IB_PORT_PHYS_STATE_LINK_UP = 5,
};

#define IB_PORT_CM_SUP				(1 << 16)
#define IB_PORT_DEVICE_MGMT_SUP			(1 << 19)
#define IB_PORT_SHUTDOWN			1
#define IB_PORT_RESET_QKEY_CNTR			(1 << 3)
#define IB_SPEED_SDR				1
#define IB_WIDTH_1X				1
#define IB_DEFAULT_PKEY_FULL			0xffff
#define RDMA_CORE_PORT_IBA_ROCE		0x00b02007
#define RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP	0x00b01017
enum rdma_link_layer {
	IB_LINK_LAYER_UNSPECIFIED, IB_LINK_LAYER_INFINIBAND, IB_LINK_LAYER_ETHERNET,
};

struct ib_port_attr {
	int	state, max_mtu, active_mtu;
	u32	phys_mtu;
	int	gid_tbl_len;
	bool	ip_gids;
	u32	port_cap_flags, max_msg_sz, qkey_viol_cntr;
	u16	pkey_tbl_len;
	u8	max_vl_num, active_width;
	u16	active_speed;
	u8	phys_state;
};

struct ib_port_modify {
	u32	set_port_cap_mask, clr_port_cap_mask;
	u8	init_type;
};

#define atomic_or(bits, v)		((void)((v)->counter |= (bits)))
#define atomic_andnot(bits, v)		((void)((v)->counter &= ~(bits)))

struct ib_port_immutable {
	int	pkey_tbl_len, gid_tbl_len;
	u32	core_cap_flags, max_mad_size;
};

/* Counters. */
#define RDMA_HW_STATS_DEFAULT_LIFESPAN	10

struct rdma_stat_desc {
	const char *name;
};

struct rdma_hw_stats {
	const struct rdma_stat_desc *descs;
	int	num_counters;
	u64	value[128];
};

static inline struct rdma_hw_stats *rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs,
							       int count, unsigned long lifespan)
{
	struct rdma_hw_stats *stats = (struct rdma_hw_stats *)stand_in_alloc(sizeof(*stats));

	if (!stats)
		return NULL;
	WARN_ON(count > ARRAY_SIZE(stats->value));
	stats->descs = descs;
	stats->num_counters = count;
	return stats;
}

#endif
