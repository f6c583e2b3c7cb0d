// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The storage of a QP's send WQEs in kernel memory.
 *
 * A process's requests are copied once from its mapped ring and checked on the copy. Kernel posters
 * fill the slots themselves (post.c). A rejected request keeps its status and fails in its turn.
 *
 * The storage of a process's QP begins with a few slots, enough for a consumer that waits for each
 * completion, or for an idle QP. Requests that do not fit stay in the process's ring. A doorbell
 * enlarges the storage for them, because the system call may sleep for memory and charge the
 * process. Without memory nothing fails: fewer requests are under way at a time.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/compat.h"
#include "datapath/av.h"
#include "datapath/qp.h"
#include "datapath/send_queue.h"
#include "uapi/sroce_abi.h"

static_assert(sizeof(struct sroce_sge) == sizeof(struct rxe_sge));
static_assert(sizeof(struct sroce_send_slot) == 48);
static_assert(offsetof(struct sroce_send_wqe, rdma.remote_addr) ==
	      offsetof(struct sroce_send_wqe, atomic.remote_addr));
static_assert(offsetof(struct sroce_send_wqe, rdma.rkey) ==
	      offsetof(struct sroce_send_wqe, atomic.rkey));

/* A Q_Key with this bit stands for the QP's own (IBTA 10.2.5). */
#define QKEY_CONTROLLED	BIT(31)

static struct sroce_av *find_av(const struct sroce_qp *qp, u32 number)
{
	struct sroce_av *av;

	rcu_read_lock();
	av = xa_load(&qp->dev->ahs, number);
	if (av && (av->pd != qp->ibqp.pd || !refcount_inc_not_zero(&av->refs)))
		av = NULL;
	rcu_read_unlock();
	return av;
}

static void set_datagram(const struct sroce_qp *qp, struct sroce_send_wqe *wqe, u32 ah,
			 u32 dest_qpn, u32 qkey)
{
	wqe->ud.ah = find_av(qp, ah);
	wqe->ud.dest_qpn = dest_qpn & SROCE_QPN_MASK;
	wqe->ud.qkey = qkey & QKEY_CONTROLLED ? qp->resp.attr.qkey : qkey;
}

/* The operation's own fields; the caller has zeroed the union. */
static void copy_operation(const struct sroce_qp *qp, const struct rxe_send_wr *wr,
			   struct sroce_send_wqe *wqe)
{
	if (!sroce_qp_is_connected(qp)) {
		set_datagram(qp, wqe, wr->wr.ud.ah_num, wr->wr.ud.remote_qpn,
			     wr->wr.ud.remote_qkey);
	} else if (wqe_is_atomic(wqe->opcode)) {
		wqe->atomic.remote_addr = wr->wr.atomic.remote_addr;
		wqe->atomic.rkey = wr->wr.atomic.rkey;
		wqe->atomic.compare_add = wr->wr.atomic.compare_add;
		wqe->atomic.swap = wr->wr.atomic.swap;
	} else if (wqe->opcode == SROCE_WR_BIND_MW) {
		wqe->bind_mw.addr = wr->wr.mw.addr;
		wqe->bind_mw.length = wr->wr.mw.length;
		wqe->bind_mw.rkey = wr->wr.mw.mw_rkey;
		wqe->bind_mw.new_rkey = wr->wr.mw.rkey;
		wqe->bind_mw.lkey = wr->wr.mw.mr_lkey;
		wqe->bind_mw.access = wr->wr.mw.access;
	} else if (wqe->opcode == SROCE_WR_FLUSH) {
		wqe->flush.remote_addr = compat_flush_of(wr)->remote_addr;
		wqe->flush.rkey = compat_flush_of(wr)->rkey;
		wqe->flush.placement = compat_flush_of(wr)->type;
		wqe->flush.level = compat_flush_of(wr)->level;
		/* librxe has the length of the range in place of that of a payload. */
		wqe->flush.length = wqe->length;
		wqe->length = 0;
	} else {
		wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
		wqe->rdma.rkey = wr->wr.rdma.rkey;
	}
}

/*
 * SGEs or inline data follow the fixed part in the ring. The sizes come from the copy;
 * sroce_wqe_check() rejects those that are too large.
 */
static void copy_wqe_payload(const struct sroce_qp *qp, u32 offset, struct sroce_send_wqe *wqe)
{
	if (wqe->flags & SROCE_SEND_INLINE) {
		wqe->num_sge = 0;
		if (wqe->length <= qp->cap.max_inline_data)
			sroce_ring_copy(&qp->sq_ring, offset, wqe->inline_data, wqe->length);
	} else if (wqe->num_sge <= qp->cap.max_send_sge) {
		sroce_ring_copy(&qp->sq_ring, offset, wqe->sge,
				wqe->num_sge * sizeof(struct sroce_sge));
	}
}

/**
 * sroce_send_queue_check() - check a WQE against the limits of its QP
 * @qp: queue pair
 * @wqe: copy of the WQE in kernel memory
 *
 * Return: SROCE_WC_SUCCESS, or the status that the WQE completes with.
 */
enum sroce_wc_status sroce_send_queue_check(const struct sroce_qp *qp,
					    const struct sroce_send_wqe *wqe)
{
	struct sroce_wqe_limits limits = {
		.service = qp->service,
		.max_sge = qp->cap.max_send_sge,
		.max_inline_bytes = qp->cap.max_inline_data,
		.mtu_bytes = qp->req.attr.mtu_bytes,
	};

	return sroce_wqe_check(wqe, &limits);
}

/* A process has no fast registration. U8_MAX is no opcode. */
static u8 user_opcode(u32 opcode)
{
	/* An opcode of more than eight bits must not be truncated to a valid one. */
	return opcode > U8_MAX || opcode == SROCE_WR_REG_MR ? U8_MAX : opcode;
}

static bool invalidates_key(u8 opcode)
{
	return opcode == SROCE_WR_SEND_INV || opcode == SROCE_WR_LOCAL_INV;
}

/* Returns where its payload is in the slot. */
static u32 copy_rxe_send(const struct sroce_qp *qp, struct sroce_send_wqe *wqe)
{
	struct rxe_send_wqe copy;

	sroce_ring_copy(&qp->sq_ring, 0, &copy, sizeof(copy));
	wqe->wr_id = copy.wr.wr_id;
	wqe->opcode = user_opcode(copy.wr.opcode);
	wqe->flags = copy.wr.send_flags & SROCE_SEND_FLAGS;
	wqe->length = copy.dma.length;
	wqe->num_sge = copy.dma.num_sge;
	wqe->imm = copy.wr.ex.imm_data;
	if (invalidates_key(wqe->opcode))
		wqe->invalidate_rkey = copy.wr.ex.invalidate_rkey;
	/* librxe has the value of an ATOMIC WRITE in the place of inline data, without the flag. */
	if (wqe->opcode == SROCE_WR_ATOMIC_WRITE && !wqe->num_sge)
		wqe->flags |= SROCE_SEND_INLINE;
	copy_operation(qp, &copy.wr, wqe);
	return offsetof(struct rxe_send_wqe, dma.sge);
}

static u32 copy_native_send(const struct sroce_qp *qp, struct sroce_send_wqe *wqe)
{
	struct sroce_send_slot copy;

	sroce_ring_copy(&qp->sq_ring, 0, &copy, sizeof(copy));
	wqe->wr_id = copy.wr_id;
	wqe->opcode = user_opcode(copy.opcode);
	wqe->flags = copy.flags & SROCE_SEND_FLAGS;
	wqe->length = copy.length;
	wqe->num_sge = copy.num_sge;
	wqe->imm = copy.imm_data;
	if (invalidates_key(wqe->opcode))
		wqe->invalidate_rkey = copy.invalidate_rkey;
	if (qp->service == SROCE_SERVICE_XRC)
		wqe->srqn = wqe_is_atomic(wqe->opcode) ? copy.atomic_srqn : copy.xrc.srqn;
	if (!sroce_qp_is_connected(qp)) {
		set_datagram(qp, wqe, copy.ud.ah, copy.ud.dest_qpn, copy.qkey);
	} else if (wqe->opcode == SROCE_WR_BIND_MW) {
		wqe->bind_mw.addr = copy.remote_addr;
		wqe->bind_mw.length = copy.bind.length;
		wqe->bind_mw.rkey = copy.rkey;
		wqe->bind_mw.new_rkey = copy.invalidate_rkey;
		wqe->bind_mw.lkey = copy.bind.lkey;
		wqe->bind_mw.access = copy.bind.access;
	} else if (wqe->opcode == SROCE_WR_FLUSH) {
		wqe->flush.remote_addr = copy.remote_addr;
		wqe->flush.rkey = copy.rkey;
		wqe->flush.length = copy.flush.length;
		wqe->flush.placement = copy.flush.type;
		wqe->flush.level = copy.flush.level;
	} else {
		/* The first two are at the same offset for all operations. */
		wqe->atomic.remote_addr = copy.remote_addr;
		wqe->atomic.rkey = copy.rkey;
		wqe->atomic.compare_add = copy.compare_add;
		wqe->atomic.swap = copy.swap;
	}
	return sizeof(copy);
}

static void fetch_user_wqe(struct sroce_qp *qp)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(&qp->req,
							 sroce_requester_posted(&qp->req));
	u32 payload;

	memset(wqe, 0, sizeof(*wqe));
	payload = qp->sq_ring.head ? copy_native_send(qp, wqe) : copy_rxe_send(qp, wqe);
	copy_wqe_payload(qp, payload, wqe);
	if (qp->sq_sig_all)
		wqe->flags |= SROCE_SEND_SIGNALED;
	sroce_db_fetched(&qp->db, wqe->flags & SROCE_SEND_SIGNALED);

	wqe->status = sroce_send_queue_check(qp, wqe);
	if (!sroce_qp_is_connected(qp) && !wqe->ud.ah)
		wqe->status = SROCE_WC_LOC_QP_OP_ERR;
}

/**
 * sroce_send_queue_has_posted() - is there a request that can be fetched?
 * @qp: the QP, its send lock held
 *
 * A request whose memory is not there yet does not count. Another thread has posted it, and its
 * doorbell follows; or its doorbell has failed.
 *
 * Return: whether there is.
 */
bool sroce_send_queue_has_posted(const struct sroce_qp *qp)
{
	if (qp->is_user)
		return sroce_ring_pending(&qp->sq_ring) && sroce_ring_is_present(&qp->sq_ring);
	/* Pairs with the release in the poster: the slot is complete. */
	return smp_load_acquire(&qp->sq_posted) != sroce_requester_posted(&qp->req);
}

/**
 * sroce_send_queue_fetch() - fetch posted requests, as many as there are free slots for
 * @qp: the QP, its send lock held
 *
 * Stops when it is as far ahead as one budget can send, so that a long ring is not copied in one
 * go. It is called again whenever the requester advances.
 */
void sroce_send_queue_fetch(struct sroce_qp *qp)
{
	if (qp->state < IB_QPS_RTS)
		return;
	while (sroce_requester_unsent(&qp->req) < SROCE_WQ_BUDGET &&
	       sroce_requester_room(&qp->req) && sroce_send_queue_has_posted(qp)) {
		if (qp->is_user) {
			fetch_user_wqe(qp);
			sroce_ring_fetched(&qp->sq_ring);
		}
		sroce_requester_post(&qp->req);
	}
	if (qp->db.supported)
		sroce_ring_publish_fetched(&qp->sq_ring);
}

/**
 * sroce_send_queue_discard() - empty a process's send ring without reading it
 * @qp: the QP, its send lock held, in a state that sends nothing
 */
void sroce_send_queue_discard(struct sroce_qp *qp)
{
	u32 count = sroce_ring_pending(&qp->sq_ring), i;

	for (i = 0; i < count; i++)
		sroce_ring_fetched(&qp->sq_ring);
	sroce_ring_release(&qp->sq_ring, sroce_requester_used(&qp->req));
	if (qp->db.supported)
		sroce_ring_publish_fetched(&qp->sq_ring);
}

static bool is_send(u8 opcode)
{
	return opcode == SROCE_WR_SEND || opcode == SROCE_WR_SEND_IMM ||
	       opcode == SROCE_WR_SEND_INV;
}

/**
 * sroce_send_queue_retire() - free the slots of retired requests
 * @qp: the QP, its send lock held
 * @from: up to where slots have been freed
 *
 * Posters may fill the slots again afterwards.
 */
void sroce_send_queue_retire(struct sroce_qp *qp, u32 from)
{
	u32 retired = sroce_requester_retired(&qp->req), index;

	if (retired == from)
		return;
	for (index = from; index != retired; index++) {
		struct sroce_send_wqe *wqe = sroce_requester_wqe(&qp->req, index);

		if (!sroce_qp_is_connected(qp) && wqe->ud.ah)
			sroce_av_put(wqe->ud.ah);
		if (is_send(wqe->opcode))
			sroce_count(sroce_qp_counters(qp), SROCE_CTR_RDMA_SEND);
	}
	if (qp->is_user)
		sroce_ring_release(&qp->sq_ring, sroce_requester_used(&qp->req));
	/* Pairs with the acquire in the poster: the slots have been read. */
	smp_store_release(&qp->sq_retired, retired);
}

/* How many slots there should be, 0 if there are enough. */
static u32 wanted_slots(const struct sroce_qp *qp)
{
	u32 wanted = sroce_requester_used(&qp->req) + sroce_ring_pending(&qp->sq_ring);

	wanted = min_t(u32, roundup_pow_of_two(max(wanted, 1u)), qp->sq_ring.mask + 1);
	return wanted > sroce_requester_slots(&qp->req) ? wanted : 0;
}

/**
 * sroce_send_queue_grow() - get slots for the requests that a process has posted
 * @qp: QP of a process, which has rung the doorbell
 *
 * May sleep.
 */
void sroce_send_queue_grow(struct sroce_qp *qp)
{
	/* Without the lock, so only a guess. */
	u32 slots = data_race(wanted_slots(qp));
	void *storage;

	if (likely(!slots))
		return;
	storage = kvcalloc(slots, sroce_requester_stride(&qp->req),
			   GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!storage)
		return;
	spin_lock_bh(&qp->sq.lock);
	/* Another doorbell may have been faster. */
	if (slots > sroce_requester_slots(&qp->req)) {
		sroce_requester_set_storage(&qp->req, storage, slots);
		swap(qp->sq_storage, storage);
	}
	spin_unlock_bh(&qp->sq.lock);
	kvfree(storage);
}
