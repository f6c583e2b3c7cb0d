/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A work queue in IBTA's sense: the send queue or the receive queue of a QP, as the datapath
 * drives it. It is not a workqueue_struct. See wq.c.
 */
#ifndef SROCE_DATAPATH_WQ_H
#define SROCE_DATAPATH_WQ_H

#include <linux/hrtimer.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "compat/compat.h"
#include "datapath/odp_wait.h"
#include "net/path.h"
#include "transport/wqe.h"

struct sroce_qp;
struct sroce_rx;

enum sroce_wq_type {
	SROCE_SQ,
	SROCE_RQ,
	SROCE_WQ_TYPES,
};

/* Packets, however small, that one run may build before the timer takes over. */
#define SROCE_WQ_BUDGET		256
/*
 * Payload that a queue builds in one run, so that a receiver on this host copies it while it is in
 * the cache, and responds before more is sent. From 6.9 on a BH work may run ten times before
 * other softirqs do.
 */
#define SROCE_ROUND_BYTES	(128 * 1024)

/**
 * struct sroce_wq_ops - the work of one type of queue; called with its lock held
 * @work: one round: reduces the budget, roughly in packets, and returns when it wants the next
 *        round (ns, SROCE_NEVER for never)
 * @timer_fired: the timer has fired: adapt its deferral, see transport/timer_policy.h
 * @failed: the queue has failed and its lock has been dropped: the QP follows it to ERR or SQE
 */
struct sroce_wq_ops {
	u64 (*work)(struct sroce_qp *qp, u32 *budget);
	void (*timer_fired)(struct sroce_qp *qp);
	void (*failed)(struct sroce_qp *qp, enum sroce_wq_type type);
};

/**
 * struct sroce_wq - the datapath's state around a requester or a responder
 * @lock: protects the requester or responder and everything here; taken with BH off
 * @timer: softirq hrtimer for the engine's deadline, and to go on after a spent budget
 * @bh_work: runs the queue soon in softirq, see sroce_wq_kick()
 * @ops: its work
 * @armed_ns: when @timer fires at the latest, SROCE_NEVER if it is not armed
 * @type: enum sroce_wq_type
 * @running: a CPU runs this queue
 * @again: work came up meanwhile; the runner does another round
 * @yielding: the budget was spent: only the timer goes on
 * @paced_until_ns: congestion control lets nothing out before this time; 0: no wait
 * @retry: the last round was short of memory: try again after a while
 * @more: the last round reached SROCE_ROUND_BYTES: @bh_work goes on
 * @dying: the QP is being destroyed: nothing is sent, and neither @timer nor @bh_work is started
 * @path_changed: @path has been replaced, see sroce_tx_relock()
 * @wake: the consumer of the queue's CQ is to be called back
 * @events: events to dispatch, BIT(enum ib_event_type)
 * @failed: the QP is to follow this queue into error
 * @fault: for vendor_err: the last enum sroce_mem_status, or syndrome, that may fail a request
 * @sent: packets handed to the stack since creation
 * @freed: how many of them the stack had freed when the ACK timer was last looked at
 * @timer_defer_ns: how long the timer may be deferred because it has found nothing to do,
 *                  see transport/timer_policy.h
 * @slack_ns: how late the next round may come, so that the timers of many QPs share an interrupt
 * @ignore_timeout_until_ns: no ACK timeout before: packets were still leaving this host
 * @now_ns: the time, for the next runner; 0: it reads the clock
 * @paging: see odp_wait.c
 * @out: skbs built and not yet handed to the stack
 * @path: where packets go
 * @dst: cached route of @path
 * @dst_cookie: its cookie
 */
struct sroce_wq {
	spinlock_t lock;
	struct hrtimer timer;
	struct compat_bh_work bh_work;
	const struct sroce_wq_ops *ops;
	u64	armed_ns;
	u8	type;
	bool	running;
	bool	again;
	bool	yielding;
	bool	retry;
	bool	more;
	bool	dying;
	bool	path_changed;
	bool	wake;
	bool	failed;
	u8	fault;
	u32	events;
	u32	sent;
	u32	freed;
	u64	timer_defer_ns;
	u64	slack_ns;
	u64	ignore_timeout_until_ns;
	u64	paced_until_ns;
	u64	now_ns;
	struct sroce_paging paging;
	struct sk_buff_head out;
	struct sroce_path path;
	struct dst_entry *dst;
	u32	dst_cookie;
};

void sroce_wq_init(struct sroce_wq *wq, enum sroce_wq_type type, const struct sroce_wq_ops *ops);
struct sroce_qp *sroce_wq_qp(struct sroce_wq *wq);
void sroce_wq_run(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__releases(&wq->lock);
void sroce_wq_kick(struct sroce_wq *wq);
void sroce_wq_post_cqe(struct sroce_qp *qp, struct sroce_wq *wq,
		       const struct sroce_completion *wc, const struct sroce_rx *rx);
bool sroce_wq_path_matches(const struct sroce_qp *qp, const struct sroce_wq *wq,
			   const struct sroce_rx *rx);

#endif
