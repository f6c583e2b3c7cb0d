// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where the requests of a process lie in kernel memory. It begins with a few slots, enough
 * for who waits for each answer, and for a QP that is idle; what does not fit stays in the
 * process's ring meanwhile. A doorbell that finds more makes it larger, since there memory
 * may be waited for and the process be charged. When there is none, nothing fails: fewer
 * requests are under way at a time.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "datapath/qp.h"

/* Slots that are wanted; more than there are only if it can be had. A guess without the lock. */
static u32 wanted_slots(const struct sroce_qp *qp)
{
	u32 under_way = READ_ONCE(qp->req.posted) - READ_ONCE(qp->req.retired);
	u32 wanted = under_way + sroce_ring_pending(&qp->sq_ring);

	return min_t(u32, roundup_pow_of_two(max(wanted, 1u)), qp->sq_ring.mask + 1);
}

/**
 * sroce_send_queue_grow() - make room for what a process has posted
 * @qp: of a process, which has rung the doorbell; may sleep
 */
void sroce_send_queue_grow(struct sroce_qp *qp)
{
	u32 slots = wanted_slots(qp);
	void *storage;

	if (likely(slots <= READ_ONCE(qp->req.ring_mask) + 1))
		return;
	storage = kvcalloc(slots, qp->req.stride, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!storage)
		return;
	spin_lock_bh(&qp->sq.lock);
	/* Another doorbell may have been faster. */
	if (slots > qp->req.ring_mask + 1) {
		sroce_requester_move(&qp->req, storage, slots);
		swap(qp->sq_storage, storage);
	}
	spin_unlock_bh(&qp->sq.lock);
	kvfree(storage);
}
