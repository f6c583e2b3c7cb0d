/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues. An entry is written under the lock of a work queue; the consumer is called
 * back after that lock has been dropped.
 */
#ifndef SROCE_DATAPATH_CQ_H
#define SROCE_DATAPATH_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "datapath/ring.h"
#include "net/endpoint.h"
#include "transport/moderation_policy.h"
#include "transport/wqe.h"
#include "uapi/sroce_abi.h"

struct sroce_qp_ref;

/**
 * struct sroce_cq - a completion queue
 * @ibcq: first
 * @resize_lock: one resize at a time; outside of @lock
 * @lock: protects the fields below; irq-safe, innermost
 * @ring: entries: struct ib_uverbs_wc for users, struct ib_wc for the kernel
 * @grow_ring: adds pages to @ring ahead of the next entries
 * @mmap: of a process: its mapping
 * @armed: enum ib_cq_notify_flags the consumer asked for, 0 when not armed; written under @lock
 * @moderation: when a consumer that has armed is woken; something waits only while @armed
 * @timer: its period; the callback takes @lock
 * @is_user: the CQ belongs to a process
 * @user_arms: native mode, with a completion channel: the process arms by counters in the ring
 * @stamps: native mode: each entry has a timestamp
 * @arm_seen: those counters at the last look
 * @overflowed: an entry was lost, for want of a slot or of memory: no more are written
 * @delayed_ack_qp: of a kernel consumer: the QP whose ACK is delayed, or NULL (see ack_delay.c)
 * @behind: the consumer leaves entries unread; a hint, read without the lock
 * @fetches: rounds that fetched requests, of all send queues that complete here; a hint
 */
struct sroce_cq {
	struct ib_cq ibcq;
	struct mutex resize_lock;
	spinlock_t lock;
	struct sroce_ring ring;
	struct work_struct grow_ring;
	struct sroce_mmap_entry *mmap;
	struct sroce_moderation moderation;
	struct hrtimer timer;
	u8	armed;
	bool	is_user;
	bool	user_arms;
	bool	stamps;
	bool	overflowed;
	bool	behind;
	u32	fetches;
	struct sroce_cq_arm arm_seen;
	struct sroce_qp_ref *delayed_ack_qp;
};

/**
 * struct sroce_wc_extra - the part of a completion that only the datapath knows
 * @qp: the QP it belongs to
 * @vendor_err: of an error: enum sroce_vendor_err
 * @is_ipv4: received datagram: its network header type
 * @is_v1: received datagram: it came by RoCE v1
 * @vlan_id: received datagram: its VLAN, or SROCE_NO_VLAN
 */
struct sroce_wc_extra {
	struct ib_qp *qp;
	u8	vendor_err;
	bool	is_ipv4;
	bool	is_v1;
	u16	vlan_id;
};

/**
 * struct sroce_cq_stats - what tools show of a completion queue
 * @unread: entries that the consumer has not taken
 * @overflowed: an entry was lost
 * @event_count: moderation: completions for one event, or 0
 * @event_period_us: moderation: time to the event, or 0
 */
struct sroce_cq_stats {
	u32	unread;
	bool	overflowed;
	u16	event_count;
	u16	event_period_us;
};

/*
 * The packet type of a datagram, in the SL field of its completion: 8 for UDP, and the kind of IP.
 * RNICs report it there, because RoCE has no other use for the field (IBTA A17.4.5.1). UCX drops
 * datagrams without it. RoCE v1 has 0.
 */
enum {
	SROCE_PACKET_TYPE_IPV6	= 9,
	SROCE_PACKET_TYPE_IPV4	= 10,
};

enum sroce_cq_outcome {
	SROCE_CQ_POSTED,	/* written; nobody to wake */
	SROCE_CQ_WAKE,		/* written; call ibcq.comp_handler once the locks are dropped */
	SROCE_CQ_OVERFLOW,	/* lost: dispatch IB_EVENT_CQ_ERR, QP to error */
	SROCE_CQ_LOST,		/* lost after an earlier overflow: QP to error */
};

static inline struct sroce_cq *to_sroce_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sroce_cq, ibcq);
}

void sroce_cq_init(struct sroce_cq *cq);
void sroce_cq_fini(struct sroce_cq *cq);
enum sroce_cq_outcome sroce_cq_post(struct sroce_cq *cq, const struct sroce_completion *wc,
				    const struct sroce_wc_extra *extra);
int sroce_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
bool sroce_cq_is_armed(struct sroce_cq *cq);
bool sroce_cq_get_stats(struct sroce_cq *cq, struct sroce_cq_stats *stats);
void sroce_cq_moderate(struct sroce_cq *cq, u16 count, u16 period_us);
void sroce_cq_dispatch_error(struct sroce_cq *cq);
void sroce_cq_swap_ring(struct sroce_cq *cq, struct sroce_ring *ring);

#endif
