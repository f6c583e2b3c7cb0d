// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creating, modifying and destroying shared receive queues. QPs take requests in datapath/srq.c.
 */
#include <linux/uaccess.h>
#include <rdma/uverbs_ioctl.h>

#include "datapath/device.h"
#include "datapath/srq.h"
#include "datapath/xrc.h"
#include "transport/srq_policy.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"

#define SRQ_MASK	(IB_SRQ_MAX_WR | IB_SRQ_LIMIT)

/* Sets @max_wr to the actual size. */
static int init_srq_ring(const struct sroce_srq *srq, struct sroce_ring *ring, u32 *max_wr)
{
	u32 list_bytes = srq->queue.max_sge * sizeof(struct sroce_sge);
	int err;

	if (srq->is_native) {
		u32 slots = sroce_slots_for(max_wr);

		return sroce_ring_init_single(ring, slots,
					      sizeof(struct sroce_recv_slot) + list_bytes);
	}
	err = sroce_ring_init(ring, *max_wr, sizeof(struct rxe_recv_wqe) + list_bytes);
	if (!err)
		*max_wr = ring->mask;
	return err;
}

static struct sroce_create_srq_resp describe_native(const struct sroce_srq *srq,
						    const struct sroce_ring *ring,
						    const struct mminfo *info)
{
	return (struct sroce_create_srq_resp) {
		.offset = info->offset,
		.size = info->size,
		.head = sroce_ring_offset(ring, ring->head),
		.slots = sroce_ring_offset(ring, ring->elements),
		.count = ring->mask + 1,
		.stride = ring->stride,
		.number = srq->number,
	};
}

/* Make the ring of a new queue mappable and tell the process where. */
static int offer_srq_ring(struct sroce_srq *srq, struct ib_udata *udata)
{
	struct rxe_create_srq_resp rxe = { .srq_num = srq->number };
	struct sroce_create_srq_resp native;
	struct sroce_mmap_entry *entry;

	if (udata->outlen < (srq->is_native ? sizeof(native) : sizeof(rxe)))
		return -EINVAL;
	entry = sroce_mmap_insert(udata, &srq->queue.ring, &rxe.mi);
	if (IS_ERR(entry))
		return PTR_ERR(entry);
	srq->queue.mmap = entry;
	if (!srq->is_native)
		return ib_copy_to_udata(udata, &rxe, sizeof(rxe));
	native = describe_native(srq, &srq->queue.ring, &rxe.mi);
	return ib_copy_to_udata(udata, &native, sizeof(native));
}

/* A resize has no response. The process names an address of its own instead, as librxe does. */
static struct sroce_mmap_entry *offer_new_ring(const struct sroce_srq *srq,
					       const struct sroce_ring *ring,
					       struct ib_udata *udata)
{
	struct sroce_create_srq_resp native;
	struct sroce_mmap_entry *entry;
	struct rxe_modify_srq_cmd cmd;
	void __user *to;
	struct mminfo info;
	int err;

	if (udata->inlen < sizeof(cmd))
		return ERR_PTR(-EINVAL);
	err = ib_copy_from_udata(&cmd, udata, sizeof(cmd));
	if (err)
		return ERR_PTR(err);
	entry = sroce_mmap_insert(udata, ring, &info);
	if (IS_ERR(entry))
		return entry;
	to = u64_to_user_ptr(cmd.mmap_info_addr);
	native = describe_native(srq, ring, &info);
	if (srq->is_native ? copy_to_user(to, &native, sizeof(native)) :
			     copy_to_user(to, &info, sizeof(info))) {
		sroce_mmap_remove(entry);
		return ERR_PTR(-EFAULT);
	}
	return entry;
}

/* Works at any stage of creation, as missing parts are NULL or 0. */
static void free_srq(struct sroce_srq *srq)
{
	sroce_srq_table_remove(srq);
	sroce_mmap_remove(srq->queue.mmap);
	sroce_srq_drop_ring(srq);
	mutex_destroy(&srq->modify_lock);
}

static int build_srq(struct sroce_srq *srq, struct ib_udata *udata)
{
	int err = sroce_srq_table_add(srq, SROCE_MAX_SRQ);

	if (err)
		return err;
	err = init_srq_ring(srq, &srq->queue.ring, &srq->max_wr);
	if (!err && udata)
		err = offer_srq_ring(srq, udata);
	if (err || srq->ibsrq.srq_type != IB_SRQT_XRC)
		return err;
	srq->ibsrq.ext.xrc.srq_num = srq->number;
	return sroce_srq_table_publish(srq);
}

/* Only a process in native mode can create a queue of XRC. */
static int check_srq_type(const struct ib_srq *ibsrq, enum ib_srq_type type, bool is_native)
{
	if (type == IB_SRQT_BASIC)
		return 0;
	if (type != IB_SRQT_XRC || !is_native)
		return -EOPNOTSUPP;
	if (ibsrq->ext.xrc.xrcd && ibsrq->ext.cq)
		return 0;
	ibdev_dbg(ibsrq->device, "srq: XRC without a domain or a CQ\n");
	return -EINVAL;
}

/**
 * sroce_create_srq() - create a shared receive queue
 * @ibsrq: zeroed except for the fields of ib_core
 * @init_attr: size wanted; updated to the actual one. The limit is not armed (ibv_create_srq(3))
 * @udata: NULL for kernel consumers
 *
 * Return: 0 or a negative errno.
 */
int sroce_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *init_attr,
		     struct ib_udata *udata)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);
	struct ib_srq_attr *attr = &init_attr->attr;
	bool is_native = sroce_is_native(udata);
	int err = check_srq_type(ibsrq, init_attr->srq_type, is_native);

	if (err)
		return err;
	if (!sroce_srq_modify_is_valid(attr->max_wr, 0, SROCE_MAX_QP_WR) ||
	    attr->max_sge > SROCE_MAX_SGE) {
		ibdev_dbg(ibsrq->device, "srq: %u requests of %u elements, the limits are %u and %u\n",
			  attr->max_wr, attr->max_sge, SROCE_MAX_QP_WR, SROCE_MAX_SGE);
		return -EINVAL;
	}
	spin_lock_init(&srq->queue.lock);
	mutex_init(&srq->modify_lock);
	srq->is_user = udata;
	srq->is_native = is_native;
	srq->queue.pd = ibsrq->pd;
	srq->queue.max_sge = max(attr->max_sge, 1u);
	srq->max_wr = attr->max_wr;
	err = build_srq(srq, udata);
	if (err) {
		free_srq(srq);
		return err;
	}
	attr->max_wr = srq->max_wr;
	attr->max_sge = srq->queue.max_sge;
	return 0;
}

static int resize_srq(struct sroce_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct sroce_mmap_entry *mmap = NULL;
	struct sroce_ring ring;
	int err;

	err = init_srq_ring(srq, &ring, &max_wr);
	if (err)
		return err;
	if (udata)
		mmap = offer_new_ring(srq, &ring, udata);
	if (IS_ERR(mmap)) {
		sroce_ring_fini(&ring);
		return PTR_ERR(mmap);
	}
	err = sroce_srq_swap_ring(srq, &ring, &mmap, max_wr);
	sroce_mmap_remove(mmap);
	sroce_ring_fini(&ring);
	return err;
}

/* Sets @limit_due if sroce_srq_dispatch_limit() is due. */
static int apply_srq_attr(struct sroce_srq *srq, const struct ib_srq_attr *attr, u32 mask,
			  struct ib_udata *udata, bool *limit_due)
{
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->max_wr;
	u32 limit = mask & IB_SRQ_LIMIT ? attr->srq_limit : READ_ONCE(srq->limit);
	int err;

	if (!sroce_srq_modify_is_valid(max_wr, limit, SROCE_MAX_QP_WR)) {
		ibdev_dbg(srq->ibsrq.device, "srq: %u requests with a limit of %u\n", max_wr,
			  limit);
		return -EINVAL;
	}
	if (mask & IB_SRQ_MAX_WR) {
		err = resize_srq(srq, max_wr, udata);
		if (err)
			return err;
	}
	if (mask & IB_SRQ_LIMIT)
		*limit_due = sroce_srq_set_limit(srq, limit);
	return 0;
}

/**
 * sroce_modify_srq() - resize a shared receive queue, arm its limit event, or both
 * @ibsrq: the queue
 * @attr: new values
 * @mask: IB_SRQ_*: the values to apply
 * @udata: of a process that resizes: struct rxe_modify_srq_cmd
 *
 * A process does not post during a resize, and maps the new ring before it posts again. May sleep.
 *
 * Return: 0; -EINVAL if the posted requests do not fit; another negative errno. On error nothing
 * has changed.
 */
int sroce_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		     struct ib_udata *udata)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);
	bool limit_due = false;
	int err;

	if (mask & ~SRQ_MASK)
		return -EINVAL;
	mutex_lock(&srq->modify_lock);
	err = apply_srq_attr(srq, attr, mask, udata, &limit_due);
	mutex_unlock(&srq->modify_lock);
	if (limit_due)
		sroce_srq_dispatch_limit(srq);
	return err;
}

/**
 * sroce_query_srq() - report the size and the limit of a shared receive queue
 * @ibsrq: the queue
 * @attr: filled in
 *
 * Return: 0.
 */
int sroce_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);

	mutex_lock(&srq->modify_lock);
	*attr = (struct ib_srq_attr) {
		.max_wr = srq->max_wr,
		.max_sge = srq->queue.max_sge,
		.srq_limit = READ_ONCE(srq->limit),
	};
	mutex_unlock(&srq->modify_lock);
	return 0;
}

/**
 * sroce_destroy_srq() - destroy a shared receive queue
 * @ibsrq: the queue; no QP uses it
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	free_srq(to_sroce_srq(ibsrq));
	return 0;
}
