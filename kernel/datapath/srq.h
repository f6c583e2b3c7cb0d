/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A receive queue that several QPs take requests from. See srq.c.
 */
#ifndef SROCE_DATAPATH_SRQ_H
#define SROCE_DATAPATH_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "datapath/recv_queue.h"

/**
 * struct sroce_srq - a shared receive queue
 * @ibsrq: first
 * @modify_lock: one modify_srq at a time; outside of @queue.lock
 * @queue: the posted requests; its lock protects the fields below, too
 * @max_wr: size, as reported
 * @limit: the limit event is due when fewer requests are posted; 0: not armed
 * @taken: requests that QPs have taken since the queue was created
 * @number: unique in the module, for librxe and XRC
 * @ref: of an XRC queue: for packets that name it (xrc.c)
 * @is_user: the queue belongs to a process
 * @is_native: that process is in native mode
 */
struct sroce_srq {
	struct ib_srq ibsrq;
	struct mutex modify_lock;
	struct sroce_recv_queue queue;
	u32	max_wr;
	u32	limit;
	u32	taken;
	u32	number;
	bool	is_user;
	bool	is_native;
	struct sroce_srq_ref *ref;
};

enum sroce_srq_outcome {
	SROCE_SRQ_EMPTY,	/* nothing is posted */
	SROCE_SRQ_SHORT,	/* the oldest request is too short, and stays */
	SROCE_SRQ_TAKEN,
	SROCE_SRQ_LIMIT,	/* taken; IB_EVENT_SRQ_LIMIT_REACHED is due, see locking.md */
};

/**
 * struct sroce_srq_stats - what tools show of a shared receive queue
 * @wqes: requests posted and not taken
 * @max_wr: size, as reported
 * @limit: see struct sroce_srq
 */
struct sroce_srq_stats {
	u32	wqes;
	u32	max_wr;
	u32	limit;
};

static inline struct sroce_srq *to_sroce_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct sroce_srq, ibsrq);
}

enum sroce_srq_outcome sroce_srq_fetch(struct sroce_srq *srq, struct sroce_recv_wqe *wqe,
				       u32 least_bytes);
bool sroce_srq_has_posted(struct sroce_srq *srq);
bool sroce_srq_set_limit(struct sroce_srq *srq, u32 limit);
int sroce_srq_swap_ring(struct sroce_srq *srq, struct sroce_ring *ring,
			struct sroce_mmap_entry **mmap, u32 max_wr);
void sroce_srq_drop_ring(struct sroce_srq *srq);
bool sroce_srq_get_stats(struct sroce_srq *srq, struct sroce_srq_stats *stats);
void sroce_srq_dispatch_limit(struct sroce_srq *srq);

#endif
