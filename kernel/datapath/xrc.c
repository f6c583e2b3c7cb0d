// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC target QPs and the shared receive queues that their packets name (IBTA annex A14).
 *
 * A target QP belongs to a domain (XRCD), and has neither protection domain nor CQ. Each request
 * names a shared receive queue of the same domain, whose process may be another than that which
 * created the QP. The queue has what the QP lacks: receives, a CQ, and the protection domain of
 * buffers and regions.
 *
 * Queue and QP do not know each other. A packet finds the queue by its number and is a user of it
 * while it is handled; destroying the queue waits for these users. So a process that dies takes its
 * queues with it, and a message to one of them gets a NAK (transport/responder.c).
 *
 * Numbers of all shared receive queues are unique in the module and handed out cyclically, so that
 * a number is not reused soon. The table holds struct sroce_srq_ref, which is freed by RCU.
 */
#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "datapath/xrc.h"

/**
 * struct sroce_srq_ref - stands for a queue where it may no longer exist
 * @users: one for the table, and one for each that uses the queue
 * @released: completed when the last user goes
 * @srq: valid while there is a user
 * @rcu: defers the free
 */
struct sroce_srq_ref {
	refcount_t users;
	struct completion released;
	struct sroce_srq *srq;
	struct rcu_head rcu;
};

/* Has all numbers in use, but only XRC queues: packets find nothing else. */
static DEFINE_XARRAY_FLAGS(srq_table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 next_number;

/**
 * sroce_srq_table_add() - give a shared receive queue its number
 * @srq: the queue; packets do not find it yet
 * @last_number: the largest number
 *
 * May sleep.
 *
 * Return: 0 or a negative errno.
 */
int sroce_srq_table_add(struct sroce_srq *srq, u32 last_number)
{
	const struct xa_limit limit = XA_LIMIT(1, last_number);
	int err = xa_alloc_cyclic(&srq_table, &srq->number, NULL, limit, &next_number, GFP_KERNEL);

	return err < 0 ? err : 0;
}

/**
 * sroce_srq_table_publish() - let packets find an XRC queue
 * @srq: the queue, completely set up
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_srq_table_publish(struct sroce_srq *srq)
{
	struct sroce_srq_ref *ref = kzalloc(sizeof(*ref), GFP_KERNEL_ACCOUNT);
	int err;

	if (!ref)
		return -ENOMEM;
	refcount_set(&ref->users, 1);
	init_completion(&ref->released);
	ref->srq = srq;
	/* Before a packet can find it. */
	srq->ref = ref;
	err = xa_err(xa_store(&srq_table, srq->number, ref, GFP_KERNEL));
	if (err) {
		srq->ref = NULL;
		kfree(ref);
	}
	return err;
}

/**
 * sroce_srq_table_remove() - free the number, and wait until no packet uses the queue
 * @srq: the queue; it may have no number yet
 *
 * May sleep.
 */
void sroce_srq_table_remove(struct sroce_srq *srq)
{
	if (srq->number)
		xa_erase(&srq_table, srq->number);
	if (!srq->ref)
		return;
	sroce_xrc_put_srq(srq);
	wait_for_completion(&srq->ref->released);
	kfree_rcu(srq->ref, rcu);
	srq->ref = NULL;
}

/**
 * sroce_xrc_get_srq() - find the shared receive queue that a packet names
 * @qp: the target QP
 * @number: number of the queue
 *
 * Any context.
 *
 * Return: the queue, to be released with sroce_xrc_put_srq(), or NULL if the QP's domain has none.
 */
struct sroce_srq *sroce_xrc_get_srq(const struct sroce_qp *qp, u32 number)
{
	struct sroce_srq *srq = NULL;
	struct sroce_srq_ref *ref;

	rcu_read_lock();
	ref = xa_load(&srq_table, number);
	if (ref && refcount_inc_not_zero(&ref->users))
		srq = ref->srq;
	rcu_read_unlock();
	if (srq && srq->ibsrq.ext.xrc.xrcd != qp->ibqp.xrcd) {
		sroce_xrc_put_srq(srq);
		srq = NULL;
	}
	return srq;
}

/**
 * sroce_xrc_put_srq() - done with a shared receive queue
 * @srq: from sroce_xrc_get_srq(); may be gone afterwards
 *
 * Any context.
 */
void sroce_xrc_put_srq(struct sroce_srq *srq)
{
	struct sroce_srq_ref *ref = srq->ref;

	if (refcount_dec_and_test(&ref->users))
		complete(&ref->released);
}

/**
 * sroce_xrc_find_queue() - find the SRQ that a request to a target QP names
 * @qp: the QP, its receive lock held
 * @rx: the request; @rx->srq and @rx->pkt.has_srq are set
 */
void sroce_xrc_find_queue(const struct sroce_qp *qp, struct sroce_rx *rx)
{
	rx->srq = sroce_xrc_get_srq(qp, rx->pkt.srqn);
	rx->pkt.has_srq = rx->srq;
}

/**
 * sroce_xrc_has_posted() - is there a receive for the request that waits for one?
 * @qp: the target QP, its receive lock held
 *
 * Return: whether there is one. Also if the queue has gone: the request then gets a NAK.
 */
bool sroce_xrc_has_posted(const struct sroce_qp *qp)
{
	struct sroce_srq *srq = sroce_xrc_get_srq(qp, sroce_reorder_waiting_srqn(&qp->resp));
	bool posted;

	if (!srq)
		return true;
	posted = sroce_srq_has_posted(srq);
	sroce_xrc_put_srq(srq);
	return posted;
}

/**
 * sroce_xrc_complete() - complete the receive that a target QP has taken
 * @qp: the QP, its receive lock held
 * @wc: the completion
 * @extra: the fields that only the datapath knows
 *
 * Only processes have XRC queues. The callbacks of uverbs only take locks of their own, so they are
 * called under ours, while the queue keeps the CQ alive. If the queue has gone, nobody waits for
 * the completion.
 *
 * Return: false if the CQ has lost it: the QP cannot report completions any more.
 */
bool sroce_xrc_complete(struct sroce_qp *qp, const struct sroce_completion *wc,
			const struct sroce_wc_extra *extra)
{
	struct sroce_srq *srq = sroce_xrc_get_srq(qp, qp->resp.recv->srqn);
	enum sroce_cq_outcome outcome;
	struct sroce_cq *cq;

	if (!srq)
		return true;
	cq = to_sroce_cq(srq->ibsrq.ext.cq);
	outcome = sroce_cq_post(cq, wc, extra);
	if (outcome == SROCE_CQ_WAKE && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (outcome == SROCE_CQ_OVERFLOW)
		sroce_cq_dispatch_error(cq);
	sroce_xrc_put_srq(srq);
	return outcome == SROCE_CQ_POSTED || outcome == SROCE_CQ_WAKE;
}
