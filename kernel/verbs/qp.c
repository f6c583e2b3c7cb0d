// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs as objects: queues are allocated, handed to the engine halves,
 * published in the table of QPs last; and all of it in reverse.
 *
 *   user QP:   sq_ring (mapped) --copied by the datapath--> sq_storage
 *              rq_ring (mapped) --copied, one at a time---> resp.recv
 *   kernel QP: posters write sq_storage and rq_ring themselves
 *
 * The mapped rings have the element sizes that librxe computes from the
 * capabilities it is told, rounded up to a power of two.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "datapath/qp.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"

static u32 max_inline_bytes(struct ib_device *ibdev)
{
	return to_sroce_device(ibdev)->mode == SROCE_MODE_NATIVE ? SROCE_MAX_INLINE_NATIVE :
								   SROCE_MAX_INLINE_BYTES;
}

static int check_cap(struct ib_device *ibdev, const struct ib_qp_cap *cap)
{
	if (cap->max_send_wr <= SROCE_MAX_QP_WR && cap->max_recv_wr <= SROCE_MAX_QP_WR &&
	    cap->max_send_sge <= SROCE_MAX_SGE && cap->max_recv_sge <= SROCE_MAX_SGE &&
	    cap->max_inline_data <= max_inline_bytes(ibdev))
		return 0;
	ibdev_dbg(ibdev, "qp: %u+%u requests of %u+%u elements, %u bytes inline\n",
		  cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge, cap->max_recv_sge,
		  cap->max_inline_data);
	return -EINVAL;
}

static int check_init_attr(struct ib_device *ibdev, const struct ib_qp_init_attr *init_attr)
{
	switch (init_attr->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (init_attr->port_num != SROCE_PORT)
			return -EINVAL;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init_attr->srq || init_attr->create_flags) {
		ibdev_dbg(ibdev, "qp: SRQ or flags %#x\n", init_attr->create_flags);
		return -EOPNOTSUPP;
	}
	if (!init_attr->send_cq || !init_attr->recv_cq) {
		ibdev_dbg(ibdev, "qp: without a completion queue\n");
		return -EINVAL;
	}
	return check_cap(ibdev, &init_attr->cap);
}

/*
 * Gather list and inline data share the end of a WQE, so there may as well be
 * as many elements as fit where the inline data goes, and the other way round.
 */
static int init_send_queue(struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	u32 list_bytes = max_t(u32, cap->max_send_sge * sizeof(struct sroce_sge),
			       cap->max_inline_data);
	u32 stride = ALIGN(sizeof(struct sroce_send_wqe) + list_bytes, sizeof(u64));
	u32 slots = roundup_pow_of_two(max(cap->max_send_wr, 1u));
	int err;

	BUILD_BUG_ON(sizeof(struct sroce_sge) != sizeof(struct rxe_sge));
	cap->max_send_sge = min_t(u32, list_bytes / sizeof(struct sroce_sge), SROCE_MAX_SGE);
	cap->max_inline_data = list_bytes;
	/* A slot more than is advertised, at most. */
	cap->max_send_wr = min_t(u32, slots, SROCE_MAX_QP_WR);
	if (qp->is_user) {
		err = sroce_ring_init(&qp->sq_ring, cap->max_send_wr,
				      sizeof(struct rxe_send_wqe) + list_bytes);
		if (err)
			return err;
		cap->max_send_wr = qp->sq_ring.mask;
		/* More when they are needed. */
		slots = min(qp->sq_ring.mask + 1, SROCE_FIRST_SLOTS);
	}
	qp->max_inline = list_bytes;
	qp->sq_storage = kvcalloc(slots, stride, GFP_KERNEL_ACCOUNT);
	if (!qp->sq_storage)
		return -ENOMEM;
	sroce_requester_init(&qp->req, qp->service, qp->sq_storage, stride, slots);
	return 0;
}

static int init_recv_queue(struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	size_t list_bytes = cap->max_recv_sge * sizeof(struct sroce_sge);
	struct sroce_recv_wqe *recv;
	int err;

	err = sroce_ring_init(&qp->rq_ring, cap->max_recv_wr,
			      sizeof(struct rxe_recv_wqe) + list_bytes);
	if (err)
		return err;
	cap->max_recv_wr = qp->rq_ring.mask;
	recv = kzalloc(sizeof(*recv) + list_bytes, GFP_KERNEL_ACCOUNT);
	if (!recv)
		return -ENOMEM;
	sroce_responder_init(&qp->resp, qp->service, recv);
	sroce_resources_init(&qp->resp.resources, NULL, 0);
	return 0;
}

/* Right at any stage of creation: what is not there yet is NULL. */
static void free_queues(struct sroce_qp *qp)
{
	sroce_mmap_remove(qp->sq_mmap);
	sroce_mmap_remove(qp->rq_mmap);
	sroce_ring_fini(&qp->sq_ring);
	sroce_ring_fini(&qp->rq_ring);
	kvfree(qp->sq_storage);
	kfree(qp->resp.recv);
	kfree(qp->resources);
	mutex_destroy(&qp->modify_lock);
}

static int offer_ring(struct ib_udata *udata, const struct sroce_ring *ring,
		      struct sroce_mmap_entry **mmap, struct mminfo *info)
{
	struct sroce_mmap_entry *entry = sroce_mmap_insert(udata, ring, info);

	if (IS_ERR(entry))
		return PTR_ERR(entry);
	*mmap = entry;
	return 0;
}

static int offer_rings(struct sroce_qp *qp, struct ib_udata *udata)
{
	struct rxe_create_qp_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	err = offer_ring(udata, &qp->rq_ring, &qp->rq_mmap, &resp.rq_mi) ?:
	      offer_ring(udata, &qp->sq_ring, &qp->sq_mmap, &resp.sq_mi);
	if (err)
		return err;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static void fill_in(struct sroce_qp *qp, const struct ib_qp_init_attr *init_attr, bool is_user)
{
	qp->dev = to_sroce_device(qp->ibqp.device);
	qp->service = init_attr->qp_type == IB_QPT_RC ? SROCE_SERVICE_RC : SROCE_SERVICE_UD;
	qp->is_user = is_user;
	qp->watch.offered = is_user && qp->dev->mode == SROCE_MODE_NATIVE;
	qp->sq_sig_all = init_attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	qp->send_cq = to_sroce_cq(init_attr->send_cq);
	qp->recv_cq = to_sroce_cq(init_attr->recv_cq);
	mutex_init(&qp->modify_lock);
}

/**
 * sroce_create_qp() - a new queue pair, in RESET
 * @ibqp: zeroed but for what ib_core sets
 * @init_attr: kind, queues and capabilities wanted; set to those given
 * @udata: NULL for kernel consumers
 *
 * Return: 0 or a negative errno.
 */
int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init_attr,
		    struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	int err;

	err = check_init_attr(ibqp->device, init_attr);
	if (err)
		return err;
	fill_in(qp, init_attr, udata);
	err = init_send_queue(qp, &init_attr->cap) ?: init_recv_queue(qp, &init_attr->cap);
	if (!err && udata)
		err = offer_rings(qp, udata);
	if (err)
		goto err_queues;
	qp->init_attr = *init_attr;

	err = sroce_qp_datapath_init(qp);
	if (err)
		goto err_queues;
	err = sroce_qp_table_add(qp);
	if (err)
		goto err_datapath;
	return 0;

err_datapath:
	sroce_qp_quiesce(qp);
err_queues:
	free_queues(qp);
	return err;
}

/**
 * sroce_query_qp() - state, attributes and capabilities of a queue pair
 * @ibqp: queue pair
 * @attr: filled in, whatever @mask says
 * @mask: IB_QP_*
 * @init_attr: filled in
 *
 * Return: 0.
 */
int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);

	mutex_lock(&qp->modify_lock);
	*attr = qp->attr;
	spin_lock_bh(&qp->send.lock);
	attr->qp_state = qp->state;
	attr->sq_psn = qp->req.next_psn;
	attr->sq_draining = qp->state == IB_QPS_SQD && !sroce_requester_is_drained(&qp->req);
	spin_unlock_bh(&qp->send.lock);
	mutex_unlock(&qp->modify_lock);

	spin_lock_bh(&qp->recv.lock);
	attr->rq_psn = qp->resp.epsn;
	spin_unlock_bh(&qp->recv.lock);

	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->init_attr.cap;
	*init_attr = qp->init_attr;
	return 0;
}

/**
 * sroce_destroy_qp() - end of a queue pair
 * @ibqp: queue pair
 * @udata: unused
 *
 * Sleeps until no packet, timer or callback of it is under way.
 *
 * Return: 0.
 */
int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);

	sroce_qp_table_remove(qp);
	sroce_qp_quiesce(qp);
	/* A process whose device has gone is told so by its doorbell. */
	if (qp->watch.offered)
		sroce_ring_show_watched(&qp->sq_ring, false);
	free_queues(qp);
	return 0;
}
