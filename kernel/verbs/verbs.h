/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The verbs, one file per object. They check arguments, create objects and destroy them. The
 * datapath handles packets.
 */
#ifndef SROCE_VERBS_VERBS_H
#define SROCE_VERBS_VERBS_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "compat/compat.h"
#include "datapath/ring.h"
#include "net/path.h"
#include "transport/responder_resources.h"

/* Limits of a device. */
#define SROCE_PORT		1
#define SROCE_GID_TABLE_LEN	256
#define SROCE_PKEY_TABLE_LEN	1
#define SROCE_MAX_QP		(1 << 20)
#define SROCE_MAX_SRQ		(1 << 20)
#define SROCE_MAX_CQ		(1 << 20)
#define SROCE_MAX_PD		(1 << 20)
#define SROCE_MAX_AH		(1 << 20)
#define SROCE_MAX_MR		(1 << 23)	/* half of the numbers: the first is random */
/* One less than a power of two, because a ring has one slot that stays empty. */
#define SROCE_MAX_QP_WR		((1 << 16) - 1)
#define SROCE_MAX_CQE		((1 << 22) - 1)
#define SROCE_MAX_SGE		32
#define SROCE_MAX_INLINE_BYTES	(SROCE_MAX_SGE * sizeof(struct rxe_sge))
#define SROCE_MAX_RD_ATOMIC	SROCE_MAX_RESOURCES
#define SROCE_MAX_FAST_REG_PAGES 512
#define SROCE_MIN_FAST_REG_PAGE	4096

struct ib_dmah;

/**
 * struct sroce_ucontext - a device that a process has opened
 * @ibuc: first
 * @is_native: the process knows uapi/sroce_abi.h, else only rxe's ABI
 */
struct sroce_ucontext {
	struct ib_ucontext ibuc;
	bool is_native;
};

struct sroce_pd {
	struct ib_pd ibpd;
};

struct sroce_xrcd {
	struct ib_xrcd ibxrcd;
};

/**
 * struct sroce_mw - a memory window as ib_core knows it
 * @ibmw: first
 * @region: the window
 */
struct sroce_mw {
	struct ib_mw ibmw;
	struct sroce_region *region;
};

/* device.c */
int sroce_query_device(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int sroce_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify);
int sroce_query_port(struct ib_device *ibdev, u32 port_num, struct ib_port_attr *attr);
int sroce_modify_port(struct ib_device *ibdev, u32 port_num, int mask,
		      struct ib_port_modify *modify);
int sroce_get_port_immutable(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_immutable *immutable);
enum rdma_link_layer sroce_get_link_layer(struct ib_device *ibdev, u32 port_num);
struct net_device *sroce_get_netdev(struct ib_device *ibdev, u32 port_num);
int sroce_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index, u16 *pkey);
int sroce_add_gid(const struct ib_gid_attr *attr, void **context);
int sroce_del_gid(const struct ib_gid_attr *attr, void **context);

/* ucontext.c */
int sroce_alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata);
void sroce_dealloc_ucontext(struct ib_ucontext *ibuc);
void sroce_disassociate_ucontext(struct ib_ucontext *ibuc);
bool sroce_is_native(struct ib_udata *udata);
int sroce_mmap(struct ib_ucontext *ibuc, struct vm_area_struct *vma);
void sroce_mmap_free(struct rdma_user_mmap_entry *rdma_entry);
struct sroce_mmap_entry *sroce_mmap_insert(struct ib_udata *udata, const struct sroce_ring *ring,
					   struct mminfo *info);
void sroce_mmap_remove(struct sroce_mmap_entry *entry);

/* pd.c */
int sroce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int sroce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

/* ah.c */
int sroce_path_from_ah_attr(struct ib_device *ibdev, const struct rdma_ah_attr *attr, u32 qpn,
			    u32 dest_qpn, struct sroce_path *path);
int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata);
int sroce_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_destroy_ah(struct ib_ah *ibah, u32 flags);

/* cq.c */
int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct compat_cq_attrs *attrs);
int sroce_resize_cq(struct ib_cq *ibcq, compat_cqe cqe, struct ib_udata *udata);
int sroce_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us);
int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* mr.c */
struct ib_mr *sroce_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *sroce_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 va, int access,
				struct ib_dmah *dmah, struct ib_udata *udata);
struct ib_mr *sroce_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 va, int fd,
				       int access, struct ib_dmah *dmah);
struct ib_mr *sroce_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length, u64 va,
				  int access, struct ib_pd *ibpd, struct ib_udata *udata);
struct ib_mr *sroce_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);
int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* odp.c */
void sroce_odp_set_caps(struct ib_device_attr *attr);
int sroce_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		    struct ib_sge *sges, u32 count, struct uverbs_attr_bundle *attrs);

/* mw.c */
int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int sroce_dealloc_mw(struct ib_mw *ibmw);

/* qp.c */
u32 sroce_slots_for(u32 *max_wr);
int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init_attr,
		    struct ib_udata *udata);
int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr);
int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* mcast.c */
int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* srq.c */
int sroce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init_attr,
		     struct ib_udata *udata);
int sroce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		     struct ib_udata *udata);
int sroce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int sroce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);

/* xrc.c */
int sroce_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int sroce_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* modify_qp.c */
int sroce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);

#endif
