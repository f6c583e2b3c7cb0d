/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue pair as the datapath drives it: two engine halves, each with its own
 * lock, timer, route and transmit bookkeeping.
 *
 * Lock order: modify_lock -> sq.lock -> rq.lock -> (cq.lock | rq_post_lock). Only QP state
 * changes take both halves' locks. No callback is made and no packet is handed
 * to the stack while any of them is held: a runner collects packets and wakeups
 * under the lock, drops it, then delivers. `running` makes one runner at a time
 * responsible for a wq, so packets of a half leave in order.
 */
#ifndef SROCE_DATAPATH_QP_H
#define SROCE_DATAPATH_QP_H

#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

#include "datapath/cq.h"
#include "datapath/device.h"
#include "datapath/wq.h"
#include "datapath/reorder_queue.h"
#include "datapath/ring.h"
#include "transport/qp_state.h"
#include "transport/requester.h"
#include "transport/responder.h"

/**
 * struct sroce_db_suppress - the promise to look at a process's send ring without a doorbell
 * @supported: there may be one: the QP is a process's on a device in native mode
 * @active: it holds: the send half will run, by @until_ns or for other reasons
 * @unused: no request has come without a doorbell since there was none before it
 * @doorbell_seen: there was a doorbell since the last look
 * @signaled: one of them asks for a completion
 * @found: work requests fetched since the last look
 * @unacked_psn: of the requester when it was given: have answers come since?
 * @late_cost: how much they have waited for the timer lately (see doorbell.c)
 * @epsn: of the responder at the last look: has the peer sent something since?
 * @poll_ns: for how long it is given, at most, while answers are due
 * @poll_until_ns: when it may be withdrawn; SROCE_NEVER while other events make us look. While
 * there is none, for doubt: until when it would have been of use, else 0
 * @pause_until_ns: none is given before: the process would sleep on it
 *
 * All of it with the send lock held.
 */
struct sroce_db_suppress {
	bool	supported;
	bool	active;
	bool	unused;
	bool	doorbell_seen;
	bool	signaled;
	u32	found;
	u32	unacked_psn;
	u32	late_cost;
	u32	epsn;
	u64	poll_ns;
	u64	poll_until_ns;
	u64	pause_until_ns;
};

/**
 * struct sroce_delayed_ack - ACKs that travel with requests (ack_delay.c)
 * @pending: one that is due has not been sent yet; set with @rq.lock
 * @consumer_replies: something was sent since one last waited; a hint, read without lock
 * @pause: so many that could wait do not
 */
struct sroce_delayed_ack {
	bool	pending;
	bool	consumer_replies;
	u8	pause;
};

/**
 * struct sroce_qp - a queue pair
 * @ibqp: first
 * @dev: device
 * @ref: see struct sroce_qp_ref
 * @service: enum sroce_service
 * @is_user: rings are mapped by a process
 * @state: enum ib_qp_state; written with both locks held
 * @modify_lock: one modify_qp at a time; outermost
 * @sq_draining_notify: dispatch IB_EVENT_SQ_DRAINED when the drain is done
 * @attr: attributes as last set, for query; those of the queues from the beginning
 * @send_cq: completions of @req
 * @recv_cq: completions of @resp
 * @sq_sig_all: every send is signaled
 * @max_inline: bytes
 * @sq: send queue, driven around @req
 * @req: requester
 * @sq_storage: ring of send WQEs in kernel memory; USER: of as many as are needed (send_storage.c)
 * @sq_ring: USER: the process's send ring, copied from into @sq_storage
 * @sq_mmap: USER: its mapping; in native mode that of @rq_ring, too
 * @db: USER: see above
 * @sq_post_lock: kernel posters; irq-safe; nests inside nothing of ours
 * @sq_posted: KERNEL: slots filled by posters, taken over by the send runner
 * @sq_retired: slots that posters may fill again: behind @req.retired, since the
 *              runner looks at a WQE once more after it has retired
 * @rq: receive queue, driven around @resp
 * @resp: responder
 * @rq_ring: receive ring, mapped or not
 * @rq_mmap: USER, in rxe mode: its mapping
 * @rq_post_lock: kernel posters of receives; irq-safe, innermost
 * @resources: storage of responder resources
 * @delayed_ack: ACKs that wait for a packet of the send half to travel with
 * @reorder_queue: requests that came before their turn; NULL until the first one; with @rq.lock
 * @np: notification point; with @rq.lock
 */
struct sroce_qp {
	struct ib_qp ibqp;
	struct sroce_device *dev;
	struct sroce_qp_ref *ref;
	u8	service;
	bool	is_user;
	bool	sq_sig_all;
	bool	sq_draining_notify;
	enum ib_qp_state state;
	struct mutex modify_lock;
	u32	max_inline;
	struct ib_qp_attr attr;
	struct sroce_cq *send_cq;
	struct sroce_cq *recv_cq;

	struct sroce_wq sq;
	struct sroce_requester req;
	void	*sq_storage;
	struct sroce_ring sq_ring;
	struct sroce_mmap_entry *sq_mmap;
	struct sroce_db_suppress db;
	spinlock_t sq_post_lock;
	u32	sq_posted;
	u32	sq_retired;

	struct sroce_wq rq;
	struct sroce_responder resp;
	struct sroce_ring rq_ring;
	struct sroce_mmap_entry *rq_mmap;
	spinlock_t rq_post_lock;
	struct sroce_resource *resources;
	struct sroce_delayed_ack delayed_ack;
	struct sroce_reorder_queue *reorder_queue;
	struct sroce_np np;
};

static inline struct sroce_qp *to_sroce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_qp, ibqp);
}

/**
 * struct sroce_av - where datagrams go, outliving the handle
 * @path: addresses (ip_id unused: the QP's is taken)
 * @pd: protection domain of the handle, which a WQE's QP must be in
 * @refs: the handle, the device's table, and each WQE under way
 * @rcu: defers the free
 *
 * ib_core frees struct sroce_ah as soon as destroy_ah returns, while a WQE that
 * names it may still be in a send queue: hence an object of its own.
 */
struct sroce_av {
	struct sroce_path path;
	const struct ib_pd *pd;
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * struct sroce_ah - an address handle
 * @ibah: first
 * @address: see above
 * @number: user handle: key in sroce_device.ahs (of sroce_av); 0 for kernel handles
 */
struct sroce_ah {
	struct ib_ah ibah;
	struct sroce_av *address;
	u32	number;
};

static inline struct sroce_ah *to_sroce_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ah, ibah);
}

/* qp_table.c */
int sroce_qp_table_add(struct sroce_qp *qp);		/* sets ibqp.qp_num */
void sroce_qp_table_remove(struct sroce_qp *qp);	/* unpublish; then sroce_qp_quiesce() */
struct sroce_qp *sroce_qp_get(struct sroce_endpoint *ep, u32 qpn);
struct sroce_qp *sroce_qp_get_next(struct sroce_endpoint *ep, u32 *qpn);
void sroce_qp_put(struct sroce_qp *qp);
struct sroce_qp_ref *sroce_qp_ref_create(struct sroce_qp *qp);
void sroce_qp_ref_put(struct sroce_qp_ref *ref);
u64 sroce_qps(void);
void sroce_qp_refs_wait(void);

/* qp.c */
int sroce_qp_datapath_init(struct sroce_qp *qp);
void sroce_qp_quiesce(struct sroce_qp *qp);
void sroce_qp_follow_error(struct sroce_qp *qp, enum sroce_wq_type type);
int sroce_qp_set_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
		       const struct ib_qp_attr *attr, int mask);

/* send_queue.c, recv_queue.c */
void sroce_send_queue_discard(struct sroce_qp *qp);
void sroce_send_queue_fetch(struct sroce_qp *qp);
void sroce_send_queue_retire(struct sroce_qp *qp, u32 from);
bool sroce_recv_queue_fetch(struct sroce_qp *qp);

/* send_storage.c */
/* Slots that the requests of a process have at first. */
#define SROCE_FIRST_SLOTS	8u
void sroce_send_queue_grow(struct sroce_qp *qp);

/* doorbell.c */
u64 sroce_doorbell_update(struct sroce_qp *qp, u64 deadline_ns);

/* ack_delay.c */
void sroce_ack_piggyback_reserve(struct sroce_tx *tx);
void sroce_ack_piggyback(struct sroce_tx *tx);
void sroce_ack_delay_cancel(struct sroce_qp *qp);
void sroce_ack_delay_suspend(struct sroce_qp *qp);
bool sroce_ack_delay_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan);

/* av.c */
void sroce_av_put(struct sroce_av *address);

/* wq.c, send.c, respond.c */
/* Packets, however small, of one run before the timer takes over. */
#define SROCE_WQ_BUDGET	256
/*
 * Payload that a half builds before it lets others in the softirq have their turn: what it has
 * sent is then received while it is in the cache, and answered before more is sent.
 */
#define SROCE_ROUND_BYTES	(128 * 1024)

/* post.c */
int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);

int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);

/* rx_copy.c */
enum sroce_mem_status sroce_rx_copy_request(struct sroce_qp *qp, struct sroce_rx *rx,
					    const struct sroce_recv_plan *plan);
enum sroce_mem_status sroce_rx_copy_response(struct sroce_qp *qp, struct sroce_rx *rx,
					     const struct sroce_ack_plan *plan);

/* receive.c */
void sroce_receive(struct sroce_rx *rx);
bool sroce_wq_path_matches(const struct sroce_qp *qp, const struct sroce_wq *wq,
			   const struct sroce_rx *rx);
void sroce_receive_queued(struct sroce_qp *qp, u64 now_ns, u32 *budget);

/* cnp.c */
void sroce_cnp_marked(struct sroce_qp *qp, const struct sroce_rx *rx);
void sroce_cnp_received(struct sroce_qp *qp, const struct sroce_rx *rx);
void sroce_cc_trace(const struct sroce_qp *qp, struct sroce_cc *cc, enum sroce_wq_type type);

/* Congestion control of a half has been told something: trace what it has made of that. */
static inline void sroce_trace_cc_events(const struct sroce_qp *qp, struct sroce_cc *cc,
					 enum sroce_wq_type type)
{
	if (unlikely(cc->events.mask))
		sroce_cc_trace(qp, cc, type);
}

#endif
