// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: the QPs that use one take requests in turn, under its lock.
 *
 * An empty queue does not know which QPs wait for a request, because a process posts without a
 * system call. Each QP checks for itself during its RNR delay, at intervals that start short
 * (transport/reorder.c), and its peer gets an RNR NAK if the delay ends first. So a QP that is
 * slow, or stops, does not keep the others from the next request.
 */
#include <linux/sched.h>
#include <linux/string.h>

#include "datapath/srq.h"
#include "transport/srq_policy.h"

/* Requests that a resize moves at a time, with interrupts off. */
#define MOVE_BATCH	256u

static bool disarm_below_limit(struct sroce_srq *srq)
{
	/* Without a limit, do not load the index of the process again. */
	if (!srq->limit || !sroce_srq_below_limit(srq->limit, sroce_ring_pending(&srq->queue.ring)))
		return false;
	WRITE_ONCE(srq->limit, 0);
	return true;
}

/**
 * sroce_srq_fetch() - take the oldest request
 * @srq: the queue
 * @wqe: filled in, unless SROCE_SRQ_EMPTY is returned
 * @least_bytes: if the request has less room, it stays for others; one that is invalid does not
 *
 * The caller holds the lock of the work queue that takes the request.
 *
 * Return: enum sroce_srq_outcome.
 */
enum sroce_srq_outcome sroce_srq_fetch(struct sroce_srq *srq, struct sroce_recv_wqe *wqe,
				       u32 least_bytes)
{
	enum sroce_srq_outcome outcome = SROCE_SRQ_EMPTY;
	unsigned long flags;

	spin_lock_irqsave(&srq->queue.lock, flags);
	if (!sroce_recv_queue_copy(&srq->queue, wqe)) {
		/* Nothing is posted. */
	} else if (wqe->status == SROCE_WC_SUCCESS && wqe->length < least_bytes) {
		outcome = SROCE_SRQ_SHORT;
	} else {
		sroce_recv_queue_advance(&srq->queue);
		wqe->srqn = srq->number;
		srq->taken++;
		outcome = disarm_below_limit(srq) ? SROCE_SRQ_LIMIT : SROCE_SRQ_TAKEN;
	}
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	return outcome;
}

/**
 * sroce_srq_has_posted() - is a request posted?
 * @srq: the queue; locks of work queues may be held
 *
 * Return: whether there is one; another QP may take it.
 */
bool sroce_srq_has_posted(struct sroce_srq *srq)
{
	unsigned long flags;
	bool posted;

	/* A resize frees the ring. */
	spin_lock_irqsave(&srq->queue.lock, flags);
	posted = sroce_recv_queue_has_posted(&srq->queue);
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	return posted;
}

/**
 * sroce_srq_set_limit() - arm or disarm the limit event
 * @srq: the queue
 * @limit: 0 disarms it
 *
 * Return: whether sroce_srq_dispatch_limit() is due at once.
 */
bool sroce_srq_set_limit(struct sroce_srq *srq, u32 limit)
{
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&srq->queue.lock, flags);
	WRITE_ONCE(srq->limit, limit);
	due = disarm_below_limit(srq);
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	return due;
}

/*
 * Copies a batch of requests to @ring, whose elements are numbered from 0 when the move begins.
 * Does not interpret them, because the process may be writing. Returns how many are left, or
 * -EINVAL if they do not fit.
 */
static int move_recv_batch(const struct sroce_srq *srq, struct sroce_ring *ring,
			   struct sroce_srq_move *move)
{
	const struct sroce_ring *old = &srq->queue.ring;
	u32 posted = sroce_ring_pending(old), left = sroce_srq_left_to_move(move, posted);
	u32 i, from, count = min(left, MOVE_BATCH);

	if (posted > sroce_ring_capacity(ring))
		return -EINVAL;
	from = old->cursor + (move->moved - move->taken);
	for (i = 0; i < count; i++)
		memcpy(sroce_ring_at(ring, move->moved + i), sroce_ring_at(old, from + i),
		       old->stride);
	move->moved += count;
	return left - count;
}

/**
 * sroce_srq_swap_ring() - replace the ring
 * @srq: the queue, its modify_lock held
 * @ring: the new ring, empty, with the stride of the old one; on success set to the old one
 * @mmap: its mapping; likewise
 * @max_wr: its size, as reported
 *
 * Requests are moved in batches, and QPs take them from the old ring meanwhile. A process does not
 * post meanwhile; a kernel consumer may. May sleep.
 *
 * Return: 0; -EINVAL if the posted requests do not fit; -EINTR. On error nothing has changed.
 */
int sroce_srq_swap_ring(struct sroce_srq *srq, struct sroce_ring *ring,
			struct sroce_mmap_entry **mmap, u32 max_wr)
{
	struct sroce_srq_move move = { };
	unsigned long flags;
	u32 start = 0;
	int left;

	do {
		spin_lock_irqsave(&srq->queue.lock, flags);
		/* The first batch begins at the oldest request. */
		if (!move.moved)
			start = srq->taken;
		move.taken = srq->taken - start;
		left = move_recv_batch(srq, ring, &move);
		if (!left) {
			sroce_ring_start(ring, move.taken, move.moved);
			swap(srq->queue.ring, *ring);
			swap(srq->queue.mmap, *mmap);
			srq->max_wr = max_wr;
		}
		spin_unlock_irqrestore(&srq->queue.lock, flags);
		cond_resched();
		/* A process that writes the index again and again would not come to an end. */
		if (left > 0 && fatal_signal_pending(current))
			left = -EINTR;
	} while (left > 0);
	return left;
}

/**
 * sroce_srq_drop_ring() - free the ring
 * @srq: nothing but sroce_srq_get_stats() uses it any more
 */
void sroce_srq_drop_ring(struct sroce_srq *srq)
{
	struct sroce_ring ring = { };
	unsigned long flags;

	spin_lock_irqsave(&srq->queue.lock, flags);
	swap(srq->queue.ring, ring);
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	sroce_ring_fini(&ring);
}

/**
 * sroce_srq_get_stats() - read what tools show of a shared receive queue
 * @srq: the queue; sroce_srq_drop_ring() may run meanwhile
 * @stats: filled in
 *
 * Return: false if the queue is being destroyed.
 */
bool sroce_srq_get_stats(struct sroce_srq *srq, struct sroce_srq_stats *stats)
{
	unsigned long flags;
	bool exists;

	spin_lock_irqsave(&srq->queue.lock, flags);
	exists = srq->queue.ring.memory;
	*stats = (struct sroce_srq_stats){
		.wqes = exists ? sroce_ring_pending(&srq->queue.ring) : 0,
		.max_wr = srq->max_wr,
		.limit = srq->limit,
	};
	spin_unlock_irqrestore(&srq->queue.lock, flags);
	return exists;
}

/**
 * sroce_srq_dispatch_limit() - tell the consumer that few requests are left
 * @srq: the queue, not locked
 */
void sroce_srq_dispatch_limit(struct sroce_srq *srq)
{
	struct ib_event event = {
		.device = srq->ibsrq.device,
		.element.srq = &srq->ibsrq,
		.event = IB_EVENT_SRQ_LIMIT_REACHED,
	};

	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
}
