/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receive work requests that have been posted and not taken: the receive queue of one QP, or one
 * that QPs share (srq.h). See recv_queue.c.
 */
#ifndef SROCE_DATAPATH_RECV_QUEUE_H
#define SROCE_DATAPATH_RECV_QUEUE_H

#include <linux/spinlock.h>

#include "datapath/ring.h"
#include "transport/wqe.h"

/**
 * struct sroce_recv_queue - posted receives
 * @ring: their slots, mapped into a process or not
 * @mmap: of a process: the mapping; a QP in native mode uses that of its send ring
 * @pd: the protection domain of the receive buffers
 * @lock: kernel posters; of a shared queue also QPs that take requests; irq-safe, innermost
 * @max_sge: elements that a request may have
 *
 * A QP takes the requests of its own queue under the lock of its work queue.
 */
struct sroce_recv_queue {
	struct sroce_ring ring;
	struct sroce_mmap_entry *mmap;
	struct ib_pd *pd;
	spinlock_t lock;
	u32	max_sge;
};

static inline bool sroce_recv_queue_has_posted(const struct sroce_recv_queue *queue)
{
	return sroce_ring_pending(&queue->ring);
}

bool sroce_recv_queue_fetch(struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe);
bool sroce_recv_queue_copy(const struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe);
void sroce_recv_queue_advance(struct sroce_recv_queue *queue);
bool sroce_recv_queue_take_flushed(struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe,
				   struct sroce_completion *wc);
int sroce_recv_queue_post(struct sroce_recv_queue *queue, const struct ib_recv_wr *wr);
void sroce_recv_queue_reset(struct sroce_recv_queue *queue);

#endif
