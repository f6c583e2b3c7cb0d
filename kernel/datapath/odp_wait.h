/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work queues that wait for pages of memory that is paged on demand. See odp_wait.c. */
#ifndef SROCE_DATAPATH_ODP_WAIT_H
#define SROCE_DATAPATH_ODP_WAIT_H

#include <linux/workqueue.h>

#include "memory/odp.h"

struct sroce_qp;
struct sroce_wq;

/**
 * struct sroce_paging - the pages that a work queue waits for; with its lock
 * @work: faults them in, in process context
 * @wait: for the copies of the queue
 * @range: what @work faults in
 * @began_ns: when it was last queued
 * @pending: the queue waits for @work, which is queued or runs
 * @resets: how often the QP was reset; nobody waits for a fault begun before the last reset
 * @of_response: receive queue: a READ response has missed them, and not a request
 * @request_waits: receive queue of RC: the expected request waits for a page, not for a WQE
 * @done: send queue: it has run since the queue last looked
 * @misses: send queue: how often the buffer of the next request was found to be missing
 * @excused: send queue: one more than the PSN for whose response an ACK timeout was put off last
 */
struct sroce_paging {
	struct work_struct work;
	struct sroce_page_wait wait;
	struct sroce_page_range range;
	u64	began_ns;
	bool	pending;
	bool	of_response;
	bool	request_waits;
	bool	done;
	u8	misses;
	u32	excused;
	u32	resets;
};

int sroce_fault_queue_init(void);
void sroce_fault_queue_fini(void);
void sroce_paging_init(struct sroce_wq *wq);
bool sroce_paging_begin(struct sroce_qp *qp, struct sroce_wq *wq);
void sroce_paging_reset(struct sroce_wq *wq);
void sroce_paging_stop(struct sroce_wq *wq);

/* An error has been reported. The memory may be there when it is used again. */
static inline void sroce_paging_forget(struct sroce_paging *paging)
{
	paging->wait.failed.bytes = 0;
}

#endif
