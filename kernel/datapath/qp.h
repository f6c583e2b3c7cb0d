/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue pair as the datapath drives it: two engine halves, each with its own
 * lock, timer, route and transmit bookkeeping.
 *
 * Lock order: modify_lock -> send.lock -> recv.lock -> (cq.lock | rq_lock). Only QP state
 * changes take both halves' locks. No callback is made and no packet is handed
 * to the stack while any of them is held: a runner collects packets and wakeups
 * under the lock, drops it, then delivers. `running` makes one runner at a time
 * responsible for a half, so packets of a half leave in order.
 */
#ifndef SROCE_DATAPATH_QP_H
#define SROCE_DATAPATH_QP_H

#include <linux/mutex.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>

#include "datapath/cq.h"
#include "datapath/device.h"
#include "datapath/half.h"
#include "datapath/hold.h"
#include "datapath/ring.h"
#include "transport/qp_state.h"
#include "transport/requester.h"
#include "transport/responder.h"

/**
 * struct sroce_watch - the promise to look at a process's send ring without a doorbell
 * @offered: there may be one: the QP is a process's on a device in native mode
 * @on: it holds: the send half will run, by @until_ns or for other reasons
 * @doubted: no request has come without a doorbell since there was none before it
 * @rung: there was a doorbell since the last look
 * @signaled: one of them asks for a completion
 * @found: work requests fetched since the last look
 * @unacked_psn: of the requester when it was given: have answers come since?
 * @late: how much they have waited for the timer lately (see watch.c)
 * @epsn: of the responder at the last look: has the peer sent something since?
 * @grace_ns: for how long it is given, at most, while answers are due
 * @until_ns: when it may be withdrawn; SROCE_NEVER while other events make us look. While there
 *            is none, for doubt: until when it would have been of use, else 0
 * @pause_ns: none is given before: the process would sleep on it
 *
 * All of it with the send lock held.
 */
struct sroce_watch {
	bool	offered;
	bool	on;
	bool	doubted;
	bool	rung;
	bool	signaled;
	u32	found;
	u32	unacked_psn;
	u32	late;
	u32	epsn;
	u64	grace_ns;
	u64	until_ns;
	u64	pause_ns;
};

/**
 * struct sroce_ride - ACKs that travel with requests (ride.c)
 * @waits: one that is due has not been sent yet; set with @recv.lock
 * @answers: something was sent since one last waited; a hint, read without lock
 * @pause: so many that could wait do not
 */
struct sroce_ride {
	bool	waits;
	bool	answers;
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
 * @send: shell of @req
 * @req: requester
 * @sq_storage: ring of send WQEs in kernel memory; USER: of as many as are needed (send_storage.c)
 * @sq_ring: USER: the process's send ring, copied from into @sq_storage
 * @sq_mmap: USER: its mapping; in native mode that of @rq_ring, too
 * @watch: USER: see above
 * @post_lock: kernel posters; irq-safe; nests inside nothing of ours
 * @sq_posted: KERNEL: slots filled by posters, taken over by the send runner
 * @sq_retired: slots that posters may fill again: behind @req.retired, since the
 *              runner looks at a WQE once more after it has retired
 * @recv: shell of @resp
 * @resp: responder
 * @rq_ring: receive ring, mapped or not
 * @rq_mmap: USER, in rxe mode: its mapping
 * @rq_lock: kernel posters of receives; irq-safe, innermost
 * @resources: storage of responder resources
 * @ride: ACKs that wait for a packet of the send half to travel with
 * @hold: requests that came before their turn; NULL until the first one; with @recv.lock
 * @np: notification point; with @recv.lock
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

	struct sroce_half send;
	struct sroce_requester req;
	void	*sq_storage;
	struct sroce_ring sq_ring;
	struct sroce_mmap_entry *sq_mmap;
	struct sroce_watch watch;
	spinlock_t post_lock;
	u32	sq_posted;
	u32	sq_retired;

	struct sroce_half recv;
	struct sroce_responder resp;
	struct sroce_ring rq_ring;
	struct sroce_mmap_entry *rq_mmap;
	spinlock_t rq_lock;
	struct sroce_resource *resources;
	struct sroce_ride ride;
	struct sroce_hold *hold;
	struct sroce_np np;
};

static inline struct sroce_qp *to_sroce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_qp, ibqp);
}

/**
 * struct sroce_address - where datagrams go, outliving the handle
 * @path: addresses (ip_id unused: the QP's is taken)
 * @pd: protection domain of the handle, which a WQE's QP must be in
 * @refs: the handle, the device's table, and each WQE under way
 * @rcu: defers the free
 *
 * ib_core frees struct sroce_ah as soon as destroy_ah returns, while a WQE that
 * names it may still be in a send queue: hence an object of its own.
 */
struct sroce_address {
	struct sroce_path path;
	const struct ib_pd *pd;
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * struct sroce_ah - an address handle
 * @ibah: first
 * @address: see above
 * @number: user handle: key in sroce_device.ahs (of sroce_address); 0 for kernel handles
 */
struct sroce_ah {
	struct ib_ah ibah;
	struct sroce_address *address;
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
void sroce_qp_follow_error(struct sroce_qp *qp, enum sroce_side side);
int sroce_qp_set_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
		       const struct ib_qp_attr *attr, int mask);

/* send_wqe.c, recv_wqe.c */
void sroce_send_wqe_discard(struct sroce_qp *qp);
void sroce_send_wqe_fetch(struct sroce_qp *qp);
void sroce_send_wqe_retire(struct sroce_qp *qp, u32 from);
bool sroce_recv_wqe_fetch(struct sroce_qp *qp);

/* send_storage.c */
/* Slots that the requests of a process have at first. */
#define SROCE_FIRST_SLOTS	8u
void sroce_send_storage_grow(struct sroce_qp *qp);

/* watch.c */
u64 sroce_watch_ring(struct sroce_qp *qp, u64 deadline_ns);

/* ride.c */
void sroce_ride_expect(struct sroce_burst *burst);
void sroce_ride_join(struct sroce_burst *burst);
void sroce_ride_stop(struct sroce_qp *qp);
void sroce_ride_missed(struct sroce_qp *qp);
bool sroce_ride_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan);

/* address.c */
void sroce_address_put(struct sroce_address *address);

/* half.c, send.c, respond.c */
/* Packets, however small, of one run before the timer takes over. */
#define SROCE_RUN_BUDGET	256
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

/* place.c */
enum sroce_mem_status sroce_place_request(struct sroce_qp *qp, struct sroce_rx *rx,
					  const struct sroce_recv_plan *plan);
enum sroce_mem_status sroce_place_response(struct sroce_qp *qp, struct sroce_rx *rx,
					   const struct sroce_ack_plan *plan);

/* receive.c */
void sroce_receive(struct sroce_rx *rx);
bool sroce_half_hears(const struct sroce_qp *qp, const struct sroce_half *half,
		      const struct sroce_rx *rx);
void sroce_receive_held(struct sroce_qp *qp, u64 now_ns, u32 *budget);

/* notify.c */
void sroce_notify_marked(struct sroce_qp *qp, const struct sroce_rx *rx);
void sroce_notify_cnp(struct sroce_qp *qp, const struct sroce_rx *rx);
void sroce_notify_decided(const struct sroce_qp *qp, struct sroce_cc *cc, enum sroce_side side);

/* Congestion control of a half has been told something: trace what it has made of that. */
static inline void sroce_trace_decisions(const struct sroce_qp *qp, struct sroce_cc *cc,
					 enum sroce_side side)
{
	if (unlikely(cc->did.what))
		sroce_notify_decided(qp, cc, side);
}

#endif
