// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queues that wait for pages. A copy has BH off and cannot fault a page in. If it misses one,
 * its work queue starts a work item that does it, and then runs the queue, which tries again:
 *
 *   send queue     sends nothing meanwhile, and no ACK timeout expires. Before a READ or an atomic
 *                  is sent, its buffer is made present. A response that misses a page all the same
 *                  is dropped, and requested again when the page is there.
 *   receive queue  an RC request waits as without a receive WQE (transport/reorder.c); one of UC or
 *                  UD, with all behind it, in the backlog. A READ response is sent later.
 *
 * If the pages cannot be faulted in, the copy that misses them fails when it is tried again.
 *
 * A fault lasts as long as the memory's owner likes: a page may come from a FUSE server. So faults
 * have a workqueue of their own: a few hundred of them would stop the system's workqueue. All
 * devices and users share ours. WQ_MAX_ACTIVE faults still stop all others.
 */
#include "datapath/odp_wait.h"
#include "datapath/qp.h"
#include "trace.h"

static struct workqueue_struct *fault_queue;

/* The lock of @paging's work queue is held. */
static void end_fault(struct sroce_qp *qp, struct sroce_paging *paging, int err)
{
	paging->pending = false;
	paging->done = true;
	/* A fault at a bad time is started again by the copy that misses the page. */
	if (err && err != -EBUSY && err != -EAGAIN) {
		paging->wait.failed = paging->range;
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_PAGE_FAULT_ERRORS);
	}
	trace_sroce_page_fault(qp->ibqp.qp_num, &paging->range, err);
}

/*
 * After a reset during the fault, the queue may wait for another one: the work item is queued again
 * while it runs, and then runs once more.
 */
static void fault_pages_in(struct work_struct *work)
{
	struct sroce_paging *paging = container_of(work, struct sroce_paging, work);
	struct sroce_wq *wq = container_of(paging, struct sroce_wq, paging);
	struct sroce_qp *qp = sroce_wq_qp(wq);
	struct sroce_page_range range;
	u32 resets;
	int err;

	spin_lock_bh(&wq->lock);
	range = paging->range;
	resets = paging->resets;
	spin_unlock_bh(&wq->lock);

	err = sroce_odp_fault_in(&qp->dev->memory, &range);

	spin_lock_bh(&wq->lock);
	if (paging->pending && paging->resets == resets)
		end_fault(qp, paging, err);
	sroce_wq_run(qp, wq, true);
}

/**
 * sroce_fault_queue_init() - set up the workqueue of all page faults
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_fault_queue_init(void)
{
	fault_queue = alloc_workqueue("sroce_faults", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return fault_queue ? 0 : -ENOMEM;
}

/**
 * sroce_fault_queue_fini() - free the workqueue; no QP is left
 */
void sroce_fault_queue_fini(void)
{
	destroy_workqueue(fault_queue);
}

/**
 * sroce_paging_init() - set up the wait for pages
 * @wq: zeroed
 */
void sroce_paging_init(struct sroce_wq *wq)
{
	INIT_WORK(&wq->paging.work, fault_pages_in);
}

/**
 * sroce_paging_begin() - a copy has missed pages: fault them in
 * @qp: the QP
 * @wq: its queue that made the copy, locked
 *
 * Does nothing if the queue waits for pages already; then it will miss these again.
 *
 * Return: whether the fault has begun.
 */
bool sroce_paging_begin(struct sroce_qp *qp, struct sroce_wq *wq)
{
	struct sroce_paging *paging = &wq->paging;

	if (paging->pending || wq->dying)
		return false;
	paging->pending = true;
	paging->done = false;
	paging->range = paging->wait.missing;
	paging->began_ns = ktime_get_ns();
	sroce_count(sroce_qp_counters(qp), SROCE_CTR_PAGE_FAULTS);
	queue_work(fault_queue, &paging->work);
	return true;
}

/**
 * sroce_paging_reset() - forget what was waited for
 * @wq: the queue, locked
 */
void sroce_paging_reset(struct sroce_wq *wq)
{
	wq->paging.pending = false;
	wq->paging.resets++;
	wq->paging.request_waits = false;
	wq->paging.done = false;
	wq->paging.misses = 0;
	wq->paging.excused = 0;
	wq->paging.wait = (struct sroce_page_wait){ };
}

/**
 * sroce_paging_stop() - wait until the work item does not run any more
 * @wq: dying
 *
 * Sleeps until a page fault under way is done. So does the removal of the device and its netdev.
 */
void sroce_paging_stop(struct sroce_wq *wq)
{
	cancel_work_sync(&wq->paging.work);
}
