/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The part of ib_core that the datapath and modify_qp use; numbers are those of ib_verbs.h. */
#ifndef STAND_IN_VERBS_H
#define STAND_IN_VERBS_H

#ifdef __cplusplus
#include <linux/stddef.h>
#undef __DECLARE_FLEX_ARRAY
#define __DECLARE_FLEX_ARRAY(type, name) type name[0]
#endif
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include "stand_in/ah.h"
#include "stand_in/device_attr.h"
#include "stand_in/ib_device.h"
#include "stand_in/mr.h"
#include "stand_in/srq.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ib_cq;
struct ib_qp;
struct rdma_counter;

enum ib_mtu {
	IB_MTU_256 = 1, IB_MTU_512, IB_MTU_1024, IB_MTU_2048, IB_MTU_4096,
};

#ifdef __cplusplus
static inline void operator--(enum ib_mtu &mtu, int)
{
	mtu = (enum ib_mtu)(mtu - 1);
}
#endif

static inline int ib_mtu_enum_to_int(enum ib_mtu mtu)
{
	return 128 << mtu;
}

static inline enum ib_mtu ib_mtu_int_to_enum(int bytes)
{
	return (enum ib_mtu)(ilog2(bytes) - 7);
}

enum ib_qp_type {
	IB_QPT_SMI, IB_QPT_GSI, IB_QPT_RC, IB_QPT_UC, IB_QPT_UD, IB_QPT_XRC_INI = 9, IB_QPT_XRC_TGT,
};

enum ib_qp_state {
	IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS, IB_QPS_SQD, IB_QPS_SQE, IB_QPS_ERR,
};

enum ib_mig_state { IB_MIG_MIGRATED, IB_MIG_REARM, IB_MIG_ARMED };

enum ib_qp_attr_mask {
	IB_QP_STATE = 1 << 0, IB_QP_CUR_STATE = 1 << 1, IB_QP_EN_SQD_ASYNC_NOTIFY = 1 << 2,
	IB_QP_ACCESS_FLAGS = 1 << 3, IB_QP_PKEY_INDEX = 1 << 4, IB_QP_PORT = 1 << 5,
	IB_QP_QKEY = 1 << 6, IB_QP_AV = 1 << 7, IB_QP_PATH_MTU = 1 << 8, IB_QP_TIMEOUT = 1 << 9,
	IB_QP_RETRY_CNT = 1 << 10, IB_QP_RNR_RETRY = 1 << 11, IB_QP_RQ_PSN = 1 << 12,
	IB_QP_MAX_QP_RD_ATOMIC = 1 << 13, IB_QP_ALT_PATH = 1 << 14, IB_QP_MIN_RNR_TIMER = 1 << 15,
	IB_QP_SQ_PSN = 1 << 16, IB_QP_MAX_DEST_RD_ATOMIC = 1 << 17,
	IB_QP_PATH_MIG_STATE = 1 << 18, IB_QP_CAP = 1 << 19, IB_QP_DEST_QPN = 1 << 20,
};

#define IB_QP_ATTR_STANDARD_BITS	0x1fffff

enum ib_access_flags {
	IB_ACCESS_LOCAL_WRITE = 1 << 0, IB_ACCESS_REMOTE_WRITE = 1 << 1,
	IB_ACCESS_REMOTE_READ = 1 << 2, IB_ACCESS_REMOTE_ATOMIC = 1 << 3,
	IB_ACCESS_MW_BIND = 1 << 4, IB_ACCESS_ON_DEMAND = 1 << 6, IB_ACCESS_FLUSH_GLOBAL = 1 << 8,
	IB_ACCESS_FLUSH_PERSISTENT = 1 << 9, IB_ACCESS_OPTIONAL = 0x3ff00000,
};

enum ib_event_type {
	IB_EVENT_CQ_ERR, IB_EVENT_QP_FATAL, IB_EVENT_QP_REQ_ERR, IB_EVENT_QP_ACCESS_ERR,
	IB_EVENT_COMM_EST, IB_EVENT_SQ_DRAINED, IB_EVENT_PORT_ACTIVE = 9, IB_EVENT_PORT_ERR,
	IB_EVENT_SRQ_LIMIT_REACHED = 15,
	IB_EVENT_QP_LAST_WQE_REACHED,
};

enum ib_cq_notify_flags {
	IB_CQ_SOLICITED = 1 << 0, IB_CQ_NEXT_COMP = 1 << 1, IB_CQ_SOLICITED_MASK = 3,
	IB_CQ_REPORT_MISSED_EVENTS = 1 << 2,
};

enum { IB_WC_REG_MR = 8, IB_WC_WITH_NETWORK_HDR_TYPE = 1 << 5, IB_WC_WITH_VLAN = 1 << 4 };
enum { RDMA_NETWORK_IB, RDMA_NETWORK_ROCE_V1, RDMA_NETWORK_IPV4, RDMA_NETWORK_IPV6 };

struct ib_pd {
	struct ib_device *device;
};

struct ib_event {
	struct ib_device *device;
	union {
		struct ib_cq *cq;
		struct ib_qp *qp;
		struct ib_srq *srq;
		u32	port_num;
	} element;
	enum ib_event_type event;
};

struct ib_cq {
	struct ib_device *device;
	void	(*comp_handler)(struct ib_cq *cq, void *context);
	void	(*event_handler)(struct ib_event *event, void *context);
	void	*cq_context;
	int	cqe;
};

struct ib_xrcd {
	int	unused;
};

struct ib_qp {
	struct ib_device *device;
	struct ib_pd *pd;
	void	(*event_handler)(struct ib_event *event, void *context);
	void	*qp_context;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	struct rdma_counter *counter;
	u32	qp_num;
	u32	port;
	enum ib_qp_type qp_type;
};

struct ib_qp_cap {
	u32	max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
};

enum ib_sig_type { IB_SIGNAL_ALL_WR, IB_SIGNAL_REQ_WR };

struct ib_qp_init_attr {
	void	*qp_context;
	struct ib_cq *send_cq, *recv_cq;
	struct ib_srq *srq;
	struct ib_xrcd *xrcd;
	struct ib_qp_cap cap;
	enum ib_sig_type sq_sig_type;
	enum ib_qp_type qp_type;
	u32	create_flags, port_num;
};

/*
 * A request and room for a response, which are copied unless there is an error to return, of a
 * process that is native or is not.
 */
struct ib_udata {
	size_t	outlen;
	void	*outbuf;
	size_t	inlen;
	const void *inbuf;
	struct ib_ucontext *context;
	int	error;
	bool	is_native;
};

static inline int ib_copy_to_udata(struct ib_udata *udata, const void *from, size_t bytes)
{
	if (!udata->error)
		memcpy(udata->outbuf, from, min(bytes, udata->outlen));
	return udata->error;
}

static inline int ib_copy_from_udata(void *to, struct ib_udata *udata, size_t bytes)
{
	if (!udata->error)
		memcpy(to, udata->inbuf, bytes);
	return udata->error;
}

struct ib_qp_attr {
	enum ib_qp_state qp_state, cur_qp_state;
	enum ib_mtu path_mtu;
	enum ib_mig_state path_mig_state;
	u32	qkey, rq_psn, sq_psn, dest_qp_num;
	int	qp_access_flags;
	struct ib_qp_cap cap;
	struct rdma_ah_attr ah_attr;
	u16	pkey_index;
	u8	en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
	u32	port_num, alt_port_num;
	u8	timeout, retry_cnt, rnr_retry;
};

struct ib_sge {
	u64	addr;
	u32	length;
	u32	lkey;
};

struct ib_recv_wr {
	u64	wr_id;
	struct ib_sge *sg_list;
	int	num_sge;
	struct ib_recv_wr *next;
};

struct ib_wc {
	u64	wr_id;
	int	status, opcode;
	u32	vendor_err, byte_len;
	struct ib_qp *qp;
	union {
		__be32	imm_data;
		u32	invalidate_rkey;
	} ex;
	u32	src_qp;
	int	wc_flags;
	u32	port_num;
	u16	vlan_id;
	u8	network_hdr_type;
};

struct rdma_user_mmap_entry {
	int	refs;
	bool	removed;
	unsigned long pgoff;
};

struct ib_ucontext {
	struct ib_device *device;
};

struct ib_cq_init_attr {
	u32	cqe, comp_vector, flags;
};

struct uverbs_attr_bundle;
struct scatterlist;
struct vm_area_struct;
struct ib_umem;
void ib_umem_release(struct ib_umem *umem);

static inline void ibdev_dbg(const void *device, const char *format, ...) { }

/* ib_core's table of transitions. */
bool ib_modify_qp_is_ok(enum ib_qp_state from, enum ib_qp_state to, enum ib_qp_type type,
			int mask);

static inline u16 rdma_get_udp_sport(u32 flow_label, u32 qpn, u32 dest_qpn)
{
	return 0xc000 | ((flow_label ? flow_label : qpn ^ dest_qpn) & 0x3fff);
}

#ifdef __cplusplus
}
#endif

#endif
