/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A half of a queue pair as the datapath drives it, and the reference object
 * that stands for the QP where it may no longer exist.
 */
#ifndef SROCE_DATAPATH_WQ_H
#define SROCE_DATAPATH_WQ_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/refcount.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>

#include "memory/copy.h"
#include "net/endpoint.h"
#include "net/path.h"
#include "net/udp_gso.h"
#include "transport/packet.h"
#include "transport/wqe.h"

struct sroce_qp;

/* The two halves of a QP, and what stands for them in struct sroce_qp_ref. */
enum sroce_wq_type {
	SROCE_SQ,
	SROCE_RQ,
	SROCE_WQ_TYPES,
};

/**
 * struct sroce_wq - what a shell needs beside an engine half
 * @lock: protects the engine wq, the path and everything here; taken with BH off
 * @timer: softirq hrtimer: the engine's deadline, and "go on" after a budget
 * @tasklet: runs the half in softirq, soon (see sroce_wq_kick())
 * @armed_ns: when @timer fires at the latest, SROCE_NEVER when it is not armed
 * @type: which half this is
 * @running: somebody runs this half (see above)
 * @again: work came up meanwhile; the runner makes another round
 * @yielding: the budget was spent: only the timer goes on
 * @pace_ns: congestion control lets nothing more out before, 0 for no wait
 * @retry: the last round ran out of memory or routes: another one in a while
 * @more: the last round has built enough: the tasklet goes on
 * @dying: the QP is being destroyed: neither timer nor tasklet is started any more
 * @wake: the consumer of the half's CQ is to be called back
 * @events: events to dispatch, BIT(enum ib_event_type)
 * @failed: the QP is to follow this half into error
 * @sent: packets handed to the stack since creation
 * @freed: how many of them it had freed when the ACK timer was last looked at
 * @edt_skbs: skbs that bear a time, since the last one's was over
 * @edt_pending: packets that bear a time have been handed over since then
 * @timer_defer_ns: for how long the answers to packets, or the receive half's ACKs, are not missed,
 * see sroce_wq_timer_idle()
 * @slack_ns: how much later than the round that a half wants next it may be: so the timers of
 *            many QPs share an interrupt. Only what waits calmly has any
 * @rearm_after_ns: until then an ACK timeout is not believed: packets were still
 *               edt_pending this host
 * @now_ns: what the time is, for who runs next; 0 if that has to be asked for
 * @out: packets built, to be handed to the stack
 * @path: where packets go
 * @dst: cached route, with
 * @dst_cookie: its cookie
 */
struct sroce_wq {
	spinlock_t lock;
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	u64	armed_ns;
	u8	type;
	bool	running;
	bool	again;
	bool	yielding;
	bool	retry;
	bool	more;
	bool	dying;
	bool	wake;
	bool	failed;
	bool	edt_pending;
	u32	events;
	u32	edt_skbs;
	u32	sent;
	u32	freed;
	u64	timer_defer_ns;
	u64	slack_ns;
	u64	rearm_after_ns;
	u64	pace_ns;
	u64	now_ns;
	struct sk_buff_head out;
	struct sroce_path path;
	struct dst_entry *dst;
	u32	dst_cookie;
};

/* The earlier of two; the slack of @deadline_ns ends at @exact_ns. SROCE_NEVER for none. */
static inline u64 sroce_wq_earliest(struct sroce_wq *wq, u64 deadline_ns, u64 exact_ns)
{
	if (exact_ns >= deadline_ns) {
		wq->slack_ns = min(wq->slack_ns, exact_ns - deadline_ns);
		return deadline_ns;
	}
	wq->slack_ns = 0;
	return exact_ns;
}

/**
 * struct sroce_tsq - back-pressure of a half
 * @queued: packets handed to the stack and not yet freed by it
 * @throttled: the half stopped because there were too many; the destructor of
 *             one of them restarts it
 */
struct sroce_tsq {
	atomic_t queued;
	bool	throttled;
};

/**
 * struct sroce_qp_ref - what the table and everybody in flight hold
 * @users: one for the table entry, one for each packet or destructor at work on
 *         the QP: destroy waits for them
 * @released: completed when the last user goes
 * @holders: of this object's memory: the QP and each queued skb, which may
 *           outlive the QP in a qdisc
 * @qp: valid while a user counts
 * @tsq: back-pressure, by enum sroce_wq_type
 * @rcu: defers the free
 */
struct sroce_qp_ref {
	refcount_t users;
	struct completion released;
	refcount_t holders;
	struct sroce_qp *qp;
	struct sroce_tsq tsq[SROCE_WQ_TYPES];
	struct rcu_head rcu;
};

/* More than the packets of an skb, which is noted beside the pointer. */
#define SROCE_QP_REF_ALIGNMENT	128ul

/* DSCP and ECN are the path's. */
#define SROCE_PATH_DSCP		0xff

/**
 * struct sroce_tx - packets of a half being put together
 * @qp: the QP
 * @wq: the half
 * @dscp: of them all; SROCE_PATH_DSCP for that of their paths
 * @now_ns: when it began: the time is asked for once
 * @edt_ns: when the next packets leave: @now_ns, or later where the qdisc sees to it
 * @gso: see there
 * @pad_bytes: of the packet begun
 * @bytes: payload built
 * @mr_ref: on the memory that payloads come from
 */
struct sroce_tx {
	struct sroce_qp *qp;
	struct sroce_wq *wq;
	u8	dscp;
	u64	now_ns;
	u64	edt_ns;
	struct sroce_gso gso;
	u32	pad_bytes;
	u32	bytes;
	struct sroce_mr_ref mr_ref;
};

/**
 * struct sroce_wq_ops - what a half does, its lock held
 * @work: one round: takes from the budget, about in packets, and returns when it wants the next
 * @timer_fired: the timer has fired: was what it looks after in order? See sroce_wq_timer_idle()
 */
struct sroce_wq_ops {
	u64 (*work)(struct sroce_qp *qp, u32 *budget);
	void (*timer_fired)(struct sroce_qp *qp);
};

/* send.c, respond.c */
extern const struct sroce_wq_ops sroce_sq_ops;
extern const struct sroce_wq_ops sroce_rq_ops;

/* wq.c */
void sroce_wq_init(struct sroce_wq *wq, enum sroce_wq_type type);
void sroce_wq_run(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__releases(&wq->lock);
void sroce_wq_kick(struct sroce_wq *wq);
void sroce_wq_timer_idle(struct sroce_wq *wq, u64 least_ns);
void sroce_wq_set_timer_slack(struct sroce_wq *wq, u64 wait_ns);

/* deliver.c */
void sroce_wq_complete(struct sroce_qp *qp, struct sroce_wq *wq,
		       const struct sroce_completion *wc, const struct sroce_rx *rx);
bool sroce_wq_deliver(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__must_hold(&wq->lock);

/* tx.c */
bool sroce_wq_is_throttled(struct sroce_qp *qp, struct sroce_wq *wq, u32 pending);
void sroce_wq_charge(struct sroce_qp *qp, struct sroce_wq *wq);
void sroce_tx_init(struct sroce_tx *tx, struct sroce_qp *qp, struct sroce_wq *wq);
u32 sroce_tx_schedule(const struct sroce_tx *tx, const struct sroce_cc *cc,
		      u64 *edt_ns);
void sroce_tx_set_edt(struct sroce_tx *tx, struct sroce_cc *cc, u64 edt_ns);
int sroce_tx_begin(struct sroce_tx *tx, const struct sroce_path *path,
		   const struct sroce_packet *pkt, u32 expected,
		   struct sroce_crc_writer **writer);
void sroce_tx_end(struct sroce_tx *tx);
u32 sroce_tx_repeat_begin(struct sroce_tx *tx, u32 count, u32 psn,
			  struct sroce_crc_writer **writer);
void sroce_tx_repeat_end(struct sroce_tx *tx);

#endif
