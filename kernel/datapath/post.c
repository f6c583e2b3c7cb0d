// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting work.
 *
 * The post_send of a process is a doorbell. Its requests are in its ring and are sent from here.
 * The requests of a kernel consumer are written to the requester's slots. They are sent from here
 * too, if the context permits it, but the consumer is not called back from its own post_send.
 */
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/sched/stat.h>
#include <linux/string.h>

#include "datapath/av.h"
#include "datapath/post.h"
#include "datapath/qp.h"
#include "datapath/send_queue.h"
#include "transport/yield_policy.h"

static DEFINE_PER_CPU(struct sroce_yield, yield_of_cpu);

static void run_sq(struct sroce_qp *qp)
{
	if (irqs_disabled() || in_hardirq()) {
		sroce_wq_kick(&qp->sq);
		return;
	}
	spin_lock_bh(&qp->sq.lock);
	sroce_db_rung(&qp->db);
	sroce_wq_run(qp, &qp->sq, qp->is_user);
}

/*
 * In ERR new receives are flushed at once. A process announces them by a doorbell, see
 * needs_doorbell of struct sroce_queue_head.
 */
static void kick_rq_in_error(struct sroce_qp *qp)
{
	/* Pairs with sroce_wq_kick() after the change to ERR: its run sees them, or we see ERR. */
	smp_mb();
	if (READ_ONCE(qp->state) == IB_QPS_ERR)
		sroce_wq_kick(&qp->rq);
}

static void write_datagram(const struct sroce_qp *qp, const struct ib_ud_wr *wr,
			   struct sroce_send_wqe *wqe)
{
	struct sroce_ah *ah = container_of(wr->ah, struct sroce_ah, ibah);

	refcount_inc(&ah->av->refs);
	wqe->ud.ah = ah->av;
	wqe->ud.dest_qpn = wr->remote_qpn & SROCE_QPN_MASK;
	wqe->ud.qkey = wr->remote_qkey;
	if (wr->remote_qkey & BIT(31))
		wqe->ud.qkey = qp->resp.attr.qkey;
}

/* Returns whether the opcode is supported. */
static bool write_operation(const struct ib_send_wr *wr, struct sroce_send_wqe *wqe)
{
	wqe->opcode = wr->opcode;
	switch (wr->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
		wqe->imm = wr->ex.imm_data;
		return true;
	case IB_WR_SEND_WITH_INV:
	case IB_WR_LOCAL_INV:
		wqe->invalidate_rkey = wr->ex.invalidate_rkey;
		return true;
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
		wqe->imm = wr->ex.imm_data;
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		return true;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		wqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->atomic.rkey = atomic_wr(wr)->rkey;
		wqe->atomic.compare_add = atomic_wr(wr)->compare_add;
		wqe->atomic.swap = atomic_wr(wr)->swap;
		return true;
	case IB_WR_REG_MR:
		wqe->opcode = SROCE_WR_REG_MR;
		wqe->reg_mr.iova = reg_wr(wr)->mr->iova;
		wqe->reg_mr.key = reg_wr(wr)->key;
		wqe->reg_mr.access = reg_wr(wr)->access;
		/* Copies to such a region are not written back, see memory/pmem.h. */
		return !(wqe->reg_mr.access & SROCE_ACCESS_FLUSH_PERSISTENT);
	default:
		return false;
	}
}

/*
 * Returns whether the list fits its slot. A length of more than 32 bits is truncated here;
 * sroce_wqe_check() rejects such a list, because it adds the lengths up in 64 bits.
 */
static bool write_wqe_payload(const struct sroce_qp *qp, const struct ib_send_wr *wr,
			      struct sroce_send_wqe *wqe)
{
	u64 length = 0;
	int i;

	if (wqe_is_local(wqe->opcode))
		return true;
	if (wr->num_sge < 0 || wr->num_sge > qp->cap.max_send_sge)
		return false;
	for (i = 0; i < wr->num_sge; i++)
		length += wr->sg_list[i].length;
	wqe->length = length;
	if (!(wqe->flags & SROCE_SEND_INLINE)) {
		wqe->num_sge = wr->num_sge;
		memcpy(wqe->sge, wr->sg_list, wr->num_sge * sizeof(struct sroce_sge));
		return true;
	}
	if (length > qp->cap.max_inline_data)
		return false;
	for (i = 0, length = 0; i < wr->num_sge; i++) {
		memcpy(wqe->inline_data + length, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		length += wr->sg_list[i].length;
	}
	return true;
}

static int write_wqe(const struct sroce_qp *qp, const struct ib_send_wr *wr,
		     struct sroce_send_wqe *wqe)
{
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->flags = wr->send_flags & SROCE_SEND_FLAGS;
	if (qp->sq_sig_all)
		wqe->flags |= SROCE_SEND_SIGNALED;
	if (!write_operation(wr, wqe) || !write_wqe_payload(qp, wr, wqe))
		return -EINVAL;
	if (sroce_send_queue_check(qp, wqe) != SROCE_WC_SUCCESS)
		return -EINVAL;
	if (!sroce_qp_is_connected(qp))
		write_datagram(qp, ud_wr(wr), wqe);
	return 0;
}

static int post_one(struct sroce_qp *qp, const struct ib_send_wr *wr)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(&qp->req, qp->sq_posted);
	int err;

	/* Pairs with the release in sroce_send_queue_retire(). */
	if (qp->sq_posted - smp_load_acquire(&qp->sq_retired) >= sroce_requester_slots(&qp->req))
		return -ENOMEM;
	err = write_wqe(qp, wr, wqe);
	if (err)
		return err;
	/* Pairs with the acquire in sroce_send_queue_has_posted(): the slot is complete. */
	smp_store_release(&qp->sq_posted, qp->sq_posted + 1);
	return 0;
}

static int post_kernel_send(struct sroce_qp *qp, const struct ib_send_wr *wr,
			    const struct ib_send_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&qp->sq_post_lock, flags);
	if (READ_ONCE(qp->state) < IB_QPS_RTS)
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		err = post_one(qp, wr);
		if (err)
			break;
	}
	spin_unlock_irqrestore(&qp->sq_post_lock, flags);
	if (err)
		*bad_wr = wr;
	return err;
}

/*
 * A process rings the doorbell before its QP can send. The call fails, so its requests are taken
 * out of the ring: they must not be sent later.
 */
static int reject_user_sends(struct sroce_qp *qp)
{
	int err = 0;

	spin_lock_bh(&qp->sq.lock);
	if (qp->state < IB_QPS_RTS) {
		sroce_send_queue_discard(qp);
		err = -EINVAL;
	}
	spin_unlock_bh(&qp->sq.lock);
	return err;
}

/*
 * Only messages on the same QP show that its peer responds, so an XRC initiator never yields.
 * Real-time tasks keep their CPU.
 */
static bool may_yield(const struct sroce_qp *qp)
{
	return qp->service != SROCE_SERVICE_XRC && current->prio >= MAX_RT_PRIO &&
	       !single_task_running();
}

/* Differs after each packet of a connection, and each datagram, that is accepted. */
static u64 arrivals_of(const struct sroce_responder *resp)
{
	return (u64)sroce_responder_epsn(resp) << 32 | sroce_responder_messages(resp);
}

/*
 * Let the peer of a process run, if it waits for this CPU. Nothing depends on it: without, and with
 * a peer elsewhere, the process polls.
 */
static void yield_to_peer(const struct sroce_qp *qp)
{
	struct sroce_yield *state = raw_cpu_ptr(&yield_of_cpu);
	unsigned int tries = 0;
	u64 begin_ns, now_ns;
	bool responded;
	u64 arrivals;

	if (!may_yield(qp))
		return;
	begin_ns = ktime_get_ns();
	if (!sroce_yield_is_due(state, begin_ns))
		return;
	arrivals = arrivals_of(&qp->resp);
	do {
		yield();
		now_ns = ktime_get_ns();
		responded = arrivals_of(&qp->resp) != arrivals;
	} while (sroce_yield_again(++tries, now_ns - begin_ns, responded,
				   sroce_responder_messages(&qp->resp)));
	/* If the process is on another CPU now, nothing was learnt. */
	if (raw_cpu_ptr(&yield_of_cpu) == state)
		sroce_yield_end(state, begin_ns, now_ns, responded);
}

/**
 * sroce_post_send() - post_send of kernel consumers, and the doorbell of processes
 * @ibqp: the QP
 * @wr: list of work requests; ignored for a process
 * @bad_wr: set to the first that was rejected
 *
 * A kernel consumer: any context. A process: may sleep, to get memory for its queue.
 *
 * Return: 0, -EINVAL for a request that the QP cannot execute (in its state), -ENOMEM if the send
 * queue is full. A process: -ENOMEM if the memory of a request is missing; then requests stay
 * posted.
 */
int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	int err = 0;

	if (sroce_qp_is_xrc_target(qp)) {
		*bad_wr = wr;
		return -EINVAL;
	}
	if (qp->is_user) {
		kick_rq_in_error(qp);
		*bad_wr = wr;
		if (READ_ONCE(qp->state) < IB_QPS_RTS)
			err = reject_user_sends(qp);
		err = err ?: sroce_ring_add_posted(&qp->sq_ring);
		sroce_send_queue_grow(qp);
	} else {
		err = post_kernel_send(qp, wr, bad_wr);
	}
	run_sq(qp);
	if (qp->is_user && !err)
		yield_to_peer(qp);
	return err;
}

/**
 * sroce_post_recv() - post_recv of kernel consumers
 * @ibqp: the QP
 * @wr: list of work requests
 * @bad_wr: set to the first that was rejected
 *
 * Any context. Processes write to their ring and never call this.
 *
 * Return: 0, -EINVAL for a request that the QP cannot execute (in its state), -ENOMEM if the
 * receive queue is full.
 */
int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	unsigned long flags;
	int err = 0;

	*bad_wr = wr;
	if (qp->is_user || !sroce_qp_has_receives(qp))
		return -EINVAL;
	spin_lock_irqsave(&qp->recv_queue->lock, flags);
	if (READ_ONCE(qp->state) == IB_QPS_RESET)
		err = -EINVAL;
	for (; wr && !err; wr = wr->next) {
		*bad_wr = wr;
		err = sroce_recv_queue_post(qp->recv_queue, wr);
	}
	spin_unlock_irqrestore(&qp->recv_queue->lock, flags);
	kick_rq_in_error(qp);
	return err;
}

/**
 * sroce_post_srq_recv() - post_srq_recv of kernel consumers
 * @ibsrq: the shared receive queue
 * @wr: list of work requests
 * @bad_wr: set to the first that was rejected
 *
 * Any context. Processes write to their ring and never call this.
 *
 * Return: 0, -EINVAL for a request with too many elements, -ENOMEM if the queue is full.
 */
int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);
	unsigned long flags;
	int err = 0;

	*bad_wr = wr;
	if (srq->is_user)
		return -EINVAL;
	spin_lock_irqsave(&srq->queue.lock, flags);
	for (; wr && !err; wr = wr->next) {
		*bad_wr = wr;
		err = sroce_recv_queue_post(&srq->queue, wr);
	}
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	return err;
}
