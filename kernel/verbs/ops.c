// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of verbs. */
#include "compat/dmabuf.h"
#include "datapath/cq.h"
#include "datapath/av.h"
#include "datapath/post.h"
#include "datapath/qp.h"
#include "datapath/srq.h"
#include "verbs/ops.h"
#include "verbs/verbs.h"

SROCE_COMPAT_REG_USER_MR(sroce_reg_user_mr)
SROCE_COMPAT_REG_USER_MR_DMABUF(sroce_reg_user_mr_dmabuf)

const struct ib_device_ops sroce_verbs_ops = {
	.query_device = sroce_query_device,
	.modify_device = sroce_modify_device,
	.query_port = sroce_query_port,
	.modify_port = sroce_modify_port,
	.get_port_immutable = sroce_get_port_immutable,
	.get_link_layer = sroce_get_link_layer,
	.get_netdev = sroce_get_netdev,
	.query_pkey = sroce_query_pkey,
	.add_gid = sroce_add_gid,
	.del_gid = sroce_del_gid,

	.alloc_ucontext = sroce_alloc_ucontext,
	.dealloc_ucontext = sroce_dealloc_ucontext,
	.disassociate_ucontext = sroce_disassociate_ucontext,
	.mmap = sroce_mmap,
	.mmap_free = sroce_mmap_free,

	.alloc_pd = sroce_alloc_pd,
	.dealloc_pd = sroce_dealloc_pd,

	.create_ah = sroce_create_ah,
	.create_user_ah = sroce_create_ah,
	.modify_ah = sroce_modify_ah,
	.query_ah = sroce_query_ah,
	.destroy_ah = sroce_destroy_ah,

	.create_cq = sroce_create_cq,
	.resize_user_cq = sroce_resize_cq,
	.modify_cq = sroce_modify_cq,
	.destroy_cq = sroce_destroy_cq,
	.poll_cq = sroce_cq_poll,
	.req_notify_cq = sroce_req_notify_cq,

	.get_dma_mr = sroce_get_dma_mr,
	.reg_user_mr = compat_reg_user_mr,
	.reg_user_mr_dmabuf = compat_reg_user_mr_dmabuf,
	.rereg_user_mr = sroce_rereg_user_mr,
	.alloc_mr = sroce_alloc_mr,
	.map_mr_sg = sroce_map_mr_sg,
	.dereg_mr = sroce_dereg_mr,
	.advise_mr = sroce_advise_mr,

	.alloc_mw = sroce_alloc_mw,
	.dealloc_mw = sroce_dealloc_mw,

	.create_qp = sroce_create_qp,
	.modify_qp = sroce_modify_qp,
	.query_qp = sroce_query_qp,
	.destroy_qp = sroce_destroy_qp,
	.post_send = sroce_post_send,
	.post_recv = sroce_post_recv,

	.attach_mcast = sroce_attach_mcast,
	.detach_mcast = sroce_detach_mcast,

	.create_srq = sroce_create_srq,
	.modify_srq = sroce_modify_srq,
	.query_srq = sroce_query_srq,
	.destroy_srq = sroce_destroy_srq,
	.post_srq_recv = sroce_post_srq_recv,

	.alloc_xrcd = sroce_alloc_xrcd,
	.dealloc_xrcd = sroce_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_ah, sroce_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, sroce_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, sroce_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, sroce_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, sroce_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, sroce_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, sroce_ucontext, ibuc),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, sroce_xrcd, ibxrcd),
};
