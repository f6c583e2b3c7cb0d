// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creating and destroying queue pairs: allocates the queues, sets up requester and responder, and
 * adds the QP to the table last.
 *
 *   user QP:   sq_ring (mapped) --copied by the datapath--> sq_storage
 *              receive ring  --copied, one at a time---> resp.recv
 *   kernel QP: consumers write sq_storage and the receive ring directly
 *
 * In rxe mode the element size of a mapped ring is a power of two, which librxe computes from the
 * capabilities. In native mode both rings are in one mapping, and the element size is the one
 * needed.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "datapath/qp.h"
#include "datapath/send_queue.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"

static int check_cap(struct ib_device *ibdev, const struct ib_qp_cap *cap, bool is_native)
{
	u32 max_inline = is_native ? SROCE_MAX_INLINE_NATIVE : SROCE_MAX_INLINE_BYTES;

	if (cap->max_send_wr <= SROCE_MAX_QP_WR && cap->max_recv_wr <= SROCE_MAX_QP_WR &&
	    cap->max_send_sge <= SROCE_MAX_SGE && cap->max_recv_sge <= SROCE_MAX_SGE &&
	    cap->max_inline_data <= max_inline)
		return 0;
	ibdev_dbg(ibdev, "qp: %u+%u requests of %u+%u elements and %u bytes inline are too many\n",
		  cap->max_send_wr, cap->max_recv_wr, cap->max_send_sge, cap->max_recv_sge,
		  cap->max_inline_data);
	return -EINVAL;
}

/*
 * Only a process in native mode can create an initiator, or the domain of a target. The target
 * belongs to the kernel. Its packets name their SRQs, so one that its creator names, as
 * libfabric does, means nothing.
 */
static int check_xrc(struct ib_device *ibdev, const struct ib_qp_init_attr *init_attr,
		     bool is_user, bool is_native)
{
	bool is_target = init_attr->qp_type == IB_QPT_XRC_TGT;

	if (is_target ? is_user : !is_native)
		return -EOPNOTSUPP;
	if (is_target ? !init_attr->xrcd : init_attr->srq || !init_attr->send_cq) {
		ibdev_dbg(ibdev, "qp: XRC with an SRQ, or without a domain or completion queue\n");
		return -EINVAL;
	}
	return 0;
}

static bool is_xrc(enum ib_qp_type type)
{
	return type == IB_QPT_XRC_INI || type == IB_QPT_XRC_TGT;
}

static int check_init_attr(struct ib_device *ibdev, const struct ib_qp_init_attr *init_attr,
			   bool is_user, bool is_native)
{
	int err;

	switch (init_attr->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		break;
	case IB_QPT_GSI:
		if (init_attr->port_num != SROCE_PORT)
			return -EINVAL;
		break;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		err = check_xrc(ibdev, init_attr, is_user, is_native);
		if (err)
			return err;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init_attr->create_flags || (init_attr->srq && init_attr->qp_type == IB_QPT_GSI)) {
		ibdev_dbg(ibdev, "qp: flags %#x, or an SRQ of QP 1, not supported\n",
			  init_attr->create_flags);
		return -EOPNOTSUPP;
	}
	if (!is_xrc(init_attr->qp_type) && (!init_attr->send_cq || !init_attr->recv_cq)) {
		ibdev_dbg(ibdev, "qp: no completion queue\n");
		return -EINVAL;
	}
	return check_cap(ibdev, &init_attr->cap, is_native);
}

/* Gather list and inline data share the end of a WQE, so each gets the space of the larger one. */
static void round_up_cap(struct ib_qp_cap *cap)
{
	u32 list_bytes = max_t(u32, cap->max_send_sge * sizeof(struct sroce_sge),
			       cap->max_inline_data);

	BUILD_BUG_ON(sizeof(struct sroce_sge) != sizeof(struct rxe_sge));
	/* An ATOMIC WRITE is inline, whatever the process asked for. */
	list_bytes = max_t(u32, list_bytes, sizeof(u64));
	cap->max_send_sge = min_t(u32, list_bytes / sizeof(struct sroce_sge), SROCE_MAX_SGE);
	cap->max_inline_data = list_bytes;
}

static int init_rxe_recv_ring(struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	int err = sroce_ring_init(&qp->own_recv_queue.ring, cap->max_recv_wr,
				  sizeof(struct rxe_recv_wqe) +
				  cap->max_recv_sge * sizeof(struct sroce_sge));

	if (!err)
		cap->max_recv_wr = qp->own_recv_queue.ring.mask;
	return err;
}

static int init_rxe_rings(struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	int err = sroce_qp_has_receives(qp) ? init_rxe_recv_ring(qp, cap) : 0;

	if (err)
		return err;
	if (!qp->is_user)
		return 0;
	err = sroce_ring_init_shmem(&qp->sq_ring, cap->max_send_wr,
				    sizeof(struct rxe_send_wqe) + cap->max_inline_data);
	if (!err)
		cap->max_send_wr = qp->sq_ring.mask;
	return err;
}

/**
 * sroce_slots_for() - the slots of a native queue
 * @max_wr: size wanted; set to the actual one
 *
 * Return: a power of two. With the largest, one slot stays unused, see SROCE_MAX_QP_WR.
 */
u32 sroce_slots_for(u32 *max_wr)
{
	u32 slots = roundup_pow_of_two(max(*max_wr, 1u));

	*max_wr = min_t(u32, slots, SROCE_MAX_QP_WR);
	return slots;
}

static int init_native_rings(struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	u32 send_stride = ALIGN(sizeof(struct sroce_send_slot) + cap->max_inline_data,
				SROCE_QUEUE_LINE);
	u32 recv_stride = sizeof(struct sroce_recv_slot) +
			  cap->max_recv_sge * sizeof(struct sroce_sge);
	u32 send_slots = sroce_slots_for(&cap->max_send_wr), recv_slots;

	if (!sroce_qp_has_receives(qp))
		return sroce_ring_init_single(&qp->sq_ring, send_slots, send_stride);
	recv_slots = sroce_slots_for(&cap->max_recv_wr);
	return sroce_ring_init_native(&qp->sq_ring, send_slots, send_stride,
				      &qp->own_recv_queue.ring, recv_slots, recv_stride);
}

static int init_send_queue(struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	u32 stride = ALIGN(sizeof(struct sroce_send_wqe) + cap->max_inline_data, sizeof(u64));
	u32 slots;

	/* For a process the storage grows when needed. */
	slots = qp->is_user ? min(qp->sq_ring.mask + 1, SROCE_FIRST_SLOTS) :
			      sroce_slots_for(&cap->max_send_wr);
	qp->sq_storage = kvcalloc(slots, stride, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!qp->sq_storage)
		return -ENOMEM;
	sroce_requester_init(&qp->req, qp->service, qp->sq_storage, stride, slots);
	return 0;
}

static int init_recv_queue(struct sroce_qp *qp)
{
	struct sroce_recv_wqe *recv = kzalloc(struct_size(recv, sge, qp->recv_queue->max_sge),
					      GFP_KERNEL_ACCOUNT);

	if (!recv)
		return -ENOMEM;
	sroce_responder_init(&qp->resp, qp->service, recv);
	return 0;
}

static int init_queues(struct sroce_qp *qp, struct ib_qp_cap *cap, bool is_native)
{
	round_up_cap(cap);
	return (is_native ? init_native_rings(qp, cap) : init_rxe_rings(qp, cap)) ?:
	       init_send_queue(qp, cap) ?: init_recv_queue(qp);
}

/* Works at any stage of creation, as missing parts are NULL. */
static void free_queues(struct sroce_qp *qp)
{
	sroce_mmap_remove(qp->sq_mmap);
	sroce_mmap_remove(qp->own_recv_queue.mmap);
	sroce_ring_fini(&qp->sq_ring);
	sroce_ring_fini(&qp->own_recv_queue.ring);
	kvfree(qp->sq_storage);
	kfree(qp->resp.recv);
	kfree(qp->resources);
	mutex_destroy(&qp->modify_lock);
}

static int offer_qp_ring(struct ib_udata *udata, const struct sroce_ring *ring,
			 struct sroce_mmap_entry **mmap, struct mminfo *info)
{
	struct sroce_mmap_entry *entry = sroce_mmap_insert(udata, ring, info);

	if (IS_ERR(entry))
		return PTR_ERR(entry);
	*mmap = entry;
	return 0;
}

static int offer_rxe_rings(struct sroce_qp *qp, struct ib_udata *udata)
{
	struct sroce_recv_queue *recv_queue = &qp->own_recv_queue;
	struct rxe_create_qp_resp resp = {};
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	err = offer_qp_ring(udata, &qp->sq_ring, &qp->sq_mmap, &resp.sq_mi);
	if (!err && sroce_qp_has_receives(qp))
		err = offer_qp_ring(udata, &recv_queue->ring, &recv_queue->mmap, &resp.rq_mi);
	if (err)
		return err;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static int offer_native_rings(struct sroce_qp *qp, struct ib_udata *udata)
{
	const struct sroce_ring *sq = &qp->sq_ring, *rq = &qp->own_recv_queue.ring;
	struct sroce_create_qp_resp resp = {
		.send_head = sroce_ring_offset(sq, sq->head),
		.send_slots = sroce_ring_offset(sq, sq->elements),
		.send_count = sq->mask + 1,
		.send_stride = sq->stride,
	};
	struct mminfo info;
	int err;

	if (udata->outlen < sizeof(resp))
		return -EINVAL;
	if (sroce_qp_has_receives(qp)) {
		resp.recv_head = sroce_ring_offset(rq, rq->head);
		resp.recv_slots = sroce_ring_offset(rq, rq->elements);
		resp.recv_count = rq->mask + 1;
		resp.recv_stride = rq->stride;
	}
	err = offer_qp_ring(udata, sq, &qp->sq_mmap, &info);
	if (err)
		return err;
	resp.offset = info.offset;
	resp.size = info.size;
	return ib_copy_to_udata(udata, &resp, sizeof(resp));
}

static enum sroce_service service_of(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return SROCE_SERVICE_RC;
	case IB_QPT_UC:
		return SROCE_SERVICE_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return SROCE_SERVICE_XRC;
	default:
		return SROCE_SERVICE_UD;
	}
}

static atomic64_t last_serial = ATOMIC64_INIT(0);

static void init_qp(struct sroce_qp *qp, const struct ib_qp_init_attr *init_attr, bool is_user,
		    bool is_native)
{
	qp->dev = to_sroce_device(qp->ibqp.device);
	qp->serial = atomic64_inc_return(&last_serial);
	qp->service = service_of(init_attr->qp_type);
	qp->is_user = is_user;
	qp->db.supported = is_native;
	qp->sq_sig_all = init_attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->state = IB_QPS_RESET;
	qp->send_cq = init_attr->send_cq ? to_sroce_cq(init_attr->send_cq) : NULL;
	/* An XRC initiator has no receives to complete. */
	qp->recv_cq = init_attr->recv_cq ? to_sroce_cq(init_attr->recv_cq) : qp->send_cq;
	qp->own_recv_queue.pd = qp->ibqp.pd;
	qp->own_recv_queue.max_sge = init_attr->cap.max_recv_sge;
	/* Any shared receive queue may be named. */
	if (sroce_qp_is_xrc_target(qp))
		qp->own_recv_queue.max_sge = SROCE_MAX_SGE;
	if (init_attr->srq && !sroce_qp_is_xrc_target(qp))
		qp->srq = to_sroce_srq(init_attr->srq);
	qp->recv_queue = qp->srq ? &qp->srq->queue : &qp->own_recv_queue;
	mutex_init(&qp->modify_lock);
}

/**
 * sroce_create_qp() - create a queue pair, in state RESET
 * @ibqp: zeroed except for the fields of ib_core
 * @init_attr: type, CQs and capabilities wanted; updated to the actual capabilities
 * @udata: NULL for kernel consumers
 *
 * Return: 0 or a negative errno.
 */
int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init_attr,
		    struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	bool is_native = sroce_is_native(udata);
	int err;

	/* The sizes of the receive queue are those of the SRQ, and the caller may pass any. */
	if (init_attr->srq || is_xrc(init_attr->qp_type)) {
		init_attr->cap.max_recv_wr = 0;
		init_attr->cap.max_recv_sge = 0;
	}
	if (init_attr->qp_type == IB_QPT_XRC_TGT)
		init_attr->cap = (struct ib_qp_cap) { };
	err = check_init_attr(ibqp->device, init_attr, udata, is_native);
	if (err)
		return err;
	init_qp(qp, init_attr, udata, is_native);
	err = init_queues(qp, &init_attr->cap, is_native);
	if (!err && udata)
		err = is_native ? offer_native_rings(qp, udata) : offer_rxe_rings(qp, udata);
	if (err)
		goto err_queues;
	/* The engine of a target has a send queue, but nobody can post to it. */
	if (sroce_qp_is_xrc_target(qp))
		init_attr->cap = (struct ib_qp_cap) { };
	qp->cap = init_attr->cap;

	err = sroce_qp_datapath_init(qp);
	if (err)
		goto err_queues;
	err = sroce_qp_table_add(qp);
	if (err)
		goto err_datapath;
	return 0;

err_datapath:
	sroce_qp_stop(qp);
	sroce_qp_quiesce(qp);
err_queues:
	free_queues(qp);
	return err;
}

static void read_requester(struct sroce_qp *qp, struct ib_qp_attr *attr)
{
	const struct sroce_requester_attr *from = &qp->req.attr;

	spin_lock_bh(&qp->sq.lock);
	attr->qp_state = qp->state;
	attr->sq_psn = sroce_requester_next_psn(&qp->req);
	attr->sq_draining = qp->state == IB_QPS_SQD && !sroce_requester_is_drained(&qp->req);
	if (sroce_qp_is_connected(qp) && from->mtu_bytes)
		attr->path_mtu = ib_mtu_int_to_enum(from->mtu_bytes);
	attr->dest_qp_num = from->dest_qpn;
	attr->retry_cnt = from->retry_cnt;
	attr->rnr_retry = from->rnr_retry;
	attr->max_rd_atomic = from->max_rd_atomic;
	spin_unlock_bh(&qp->sq.lock);
}

static void read_responder(struct sroce_qp *qp, struct ib_qp_attr *attr)
{
	const struct sroce_responder_attr *from = &qp->resp.attr;

	spin_lock_bh(&qp->rq.lock);
	attr->rq_psn = sroce_responder_epsn(&qp->resp);
	attr->qkey = from->qkey;
	attr->qp_access_flags = from->access;
	attr->min_rnr_timer = from->min_rnr_timer;
	/* RESET keeps the storage of the last connection, so its size says nothing before RTR. */
	if (attr->qp_state >= IB_QPS_RTR)
		attr->max_dest_rd_atomic = sroce_resources_capacity(&qp->resp.resources);
	spin_unlock_bh(&qp->rq.lock);
}

/**
 * sroce_query_qp() - report state, attributes and capabilities of a queue pair
 * @ibqp: queue pair
 * @attr: filled in completely
 * @mask: IB_QP_*; unused
 * @init_attr: filled in
 *
 * May sleep.
 *
 * Return: 0, or -EAGAIN if the QP is being destroyed: `rdma resource show qp` asks nevertheless.
 */
int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr)
{
	struct sroce_qp *qp = sroce_qp_get_listed(ibqp);

	if (!qp)
		return -EAGAIN;
	mutex_lock(&qp->modify_lock);
	sroce_qp_settle_state(qp);
	*attr = (struct ib_qp_attr) {
		.path_mig_state = IB_MIG_MIGRATED,
		.cap = qp->cap,
		.ah_attr = qp->ah_attr,
		.timeout = qp->timeout,
	};
	read_requester(qp, attr);
	read_responder(qp, attr);
	mutex_unlock(&qp->modify_lock);

	attr->cur_qp_state = attr->qp_state;
	if (attr->qp_state != IB_QPS_RESET)
		attr->port_num = SROCE_PORT;
	*init_attr = (struct ib_qp_init_attr) {
		.qp_context = ibqp->qp_context,
		.send_cq = qp->send_cq ? &qp->send_cq->ibcq : NULL,
		.recv_cq = qp->recv_cq ? &qp->recv_cq->ibcq : NULL,
		.srq = ibqp->srq,
		.cap = attr->cap,
		.sq_sig_type = qp->sq_sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type = ibqp->qp_type,
		.xrcd = ibqp->xrcd,
		.port_num = ibqp->port,
	};
	sroce_qp_put(qp);
	return 0;
}

/**
 * sroce_destroy_qp() - destroy a queue pair
 * @ibqp: queue pair
 * @udata: unused
 *
 * Sleeps until none of its packets, timers and callbacks is under way.
 *
 * Return: 0.
 */
int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);

	sroce_qp_stop(qp);
	sroce_qp_table_remove(qp);
	sroce_qp_quiesce(qp);
	/* If the device has gone, the process must ring the doorbell to learn it from the error. */
	if (qp->db.supported)
		sroce_ring_set_no_doorbell(&qp->sq_ring, false);
	free_queues(qp);
	return 0;
}
