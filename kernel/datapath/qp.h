/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue pair as the datapath drives it: a requester and a responder, each with a work queue
 * (lock, timer, route, transmit state) around it.
 *
 * Documentation/locking.md has the lock order, and the rule about callbacks. `running` makes one
 * runner at a time responsible for a queue, so that its packets leave in order.
 */
#ifndef SROCE_DATAPATH_QP_H
#define SROCE_DATAPATH_QP_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>

#include "datapath/cq.h"
#include "datapath/device.h"
#include "datapath/qp_table.h"
#include "datapath/recv_queue.h"
#include "datapath/srq.h"
#include "datapath/wq.h"
#include "transport/ack_delay_policy.h"
#include "transport/doorbell_policy.h"
#include "transport/requester_state.h"
#include "transport/responder.h"
#include "transport/response.h"

struct mem_cgroup;
struct sroce_reorder_queue;

/**
 * struct sroce_qp - a queue pair
 * @ibqp: first
 * @dev: device
 * @ref: see struct sroce_qp_ref
 * @counters: of the device, or those that an administrator bound it to (control/qp_counter.c)
 * @serial: not 0; unique among all QPs ever, unlike the QP number
 * @service: enum sroce_service
 * @is_user: rings are mapped by a process
 * @state: enum ib_qp_state; written with both locks held
 * @modify_lock: one modify_qp at a time; outermost
 * @sq_draining_notify: dispatch IB_EVENT_SQ_DRAINED when the drain is done
 * @cap: sizes of the queues
 * @ah_attr: address vector as last set, for query
 * @timeout: local ACK timeout as last set, for query
 * @send_cq: completions of @req
 * @recv_cq: completions of @resp; NULL, as @send_cq, for an XRC target, see xrc.c
 * @sq_sig_all: every send is signaled
 * @sq: work queue around @req
 * @req: requester
 * @sq_storage: ring of send WQEs in kernel memory; of a process: of as many as it needs
 * @sq_ring: of a process: its send ring, copied from into @sq_storage
 * @sq_mmap: of a process: the mapping; in native mode that of the receive ring, too
 * @db: of a process: doorbell suppression
 * @sq_post_lock: kernel posters; irq-safe; taken under both queue locks at RESET
 * @sq_posted: kernel: slots filled by posters, taken over by the runner of @sq
 * @sq_retired: slots that posters may fill again: behind @req.retired, because the runner looks at
 *              a WQE once more after it has retired
 * @rq: work queue around @resp
 * @resp: responder
 * @recv_queue: receives posted for @resp: @own_recv_queue, or that of @srq
 * @own_recv_queue: see @recv_queue; with @srq, or of XRC, it has no ring
 * @srq: shared receive queue, or NULL
 * @last_wqe_due: in ERR: IB_EVENT_QP_LAST_WQE_REACHED is to be dispatched; with @rq.lock
 * @fatal_reported: bit 0: IB_EVENT_QP_FATAL has been dispatched since RESET
 * @resources: storage of responder resources
 * @delayed_ack: see transport/ack_delay_policy.c; with @rq.lock
 * @ack_delayed: an ACK waits for a packet of @sq to share its skb
 * @consumer_replies: the consumer has sent something since an ACK was last delayed
 * @reorder_queue: requests beyond the expected PSN; NULL until the first one; with @rq.lock
 * @backlog: UC and UD: requests that wait for pages, see odp_backlog.c; with @rq.lock
 * @backlog_bytes: their memory
 * @memcg: memory cgroup of the process that created the QP, which @reorder_queue and @backlog are
 *         charged to
 * @np: notification point; with @rq.lock
 *
 * ib_core allocates it with kzalloc(), which rounds up to a power of two. It fits 4096 bytes,
 * except on a kernel that debugs locks.
 */
struct sroce_qp {
	struct ib_qp ibqp;
	struct sroce_device *dev;
	struct sroce_qp_ref *ref;
	struct sroce_counters __percpu *counters;
	u64	serial;
	u8	service;
	bool	is_user;
	bool	sq_sig_all;
	bool	sq_draining_notify;
	enum ib_qp_state state;
	struct mutex modify_lock;
	struct ib_qp_cap cap;
	struct rdma_ah_attr ah_attr;
	u8	timeout;
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
	struct sroce_recv_queue *recv_queue;
	struct sroce_recv_queue own_recv_queue;
	struct sroce_srq *srq;
	bool	last_wqe_due;
	unsigned long fatal_reported;
	struct sroce_resource_storage *resources;
	struct sroce_delayed_ack delayed_ack;
	bool	ack_delayed;
	bool	consumer_replies;
	struct sroce_reorder_queue *reorder_queue;
	struct sk_buff_head backlog;
	u32	backlog_bytes;
	struct mem_cgroup *memcg;
	struct sroce_np np;
};

static inline struct sroce_qp *to_sroce_qp(struct ib_qp *ibqp)
{
	return container_of(ibqp, struct sroce_qp, ibqp);
}

/* Has the QP one peer? A QP that has none takes the destination from each WQE. */
static inline bool sroce_qp_is_connected(const struct sroce_qp *qp)
{
	return sroce_service_is_connected(qp->service);
}

/* Are its packets acknowledged? */
static inline bool sroce_qp_is_acked(const struct sroce_qp *qp)
{
	return sroce_service_is_acked(qp->service);
}

/* Are receives posted to the QP itself? */
static inline bool sroce_qp_has_receives(const struct sroce_qp *qp)
{
	return !qp->srq && qp->service != SROCE_SERVICE_XRC;
}

/* Do the packets of the QP name the shared receive queue? It has no send queue, and no process. */
static inline bool sroce_qp_is_xrc_target(const struct sroce_qp *qp)
{
	return qp->ibqp.qp_type == IB_QPT_XRC_TGT;
}

/* Where to count, until BH are on again. */
static inline struct sroce_counters __percpu *sroce_qp_counters(const struct sroce_qp *qp)
{
	return READ_ONCE(qp->counters);
}

int sroce_qp_datapath_init(struct sroce_qp *qp);
void sroce_qp_stop(struct sroce_qp *qp);
void sroce_qp_quiesce(struct sroce_qp *qp);
void sroce_qp_settle_state(struct sroce_qp *qp);
int sroce_qp_set_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
		       const struct ib_qp_attr *attr, int mask);

void sroce_send_count_events(struct sroce_qp *qp, u32 events);

/* The work of the two queues: sq_work.c, rq_work.c. */
u64 sroce_sq_work(struct sroce_qp *qp, u32 *budget);
void sroce_sq_timer_fired(struct sroce_qp *qp);
u64 sroce_rq_work(struct sroce_qp *qp, u32 *budget);
void sroce_rq_timer_fired(struct sroce_qp *qp);

#endif
