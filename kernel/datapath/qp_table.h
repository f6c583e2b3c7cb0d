/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From QP number to QP, and the reference object that stands for a QP where the QP may no longer
 * exist. See qp_table.c.
 */
#ifndef SROCE_DATAPATH_QP_TABLE_H
#define SROCE_DATAPATH_QP_TABLE_H

#include <linux/completion.h>
#include <linux/refcount.h>

#include "datapath/wq.h"
#include "net/endpoint.h"

/**
 * struct sroce_tsq - back-pressure of a work queue, as TCP small queues have it
 * @queued: packets handed to the stack and not yet freed by it; their skbs in the upper half
 * @throttled: the queue has stopped because of them; the destructor of one of them restarts it
 */
struct sroce_tsq {
	atomic64_t queued;
	bool	throttled;
};

#define SROCE_TSQ_SKB	(1ll << 32)

/**
 * struct sroce_qp_ref - held by the QP table and by everything in flight
 * @users: one for the table entry, one for each packet or destructor that uses the QP; destroy
 *         waits for them
 * @released: completed when the last user goes
 * @holders: references to this object's memory: the QP and each queued skb, which may outlive
 *           the QP in a qdisc
 * @qp: valid while there is a user
 * @tsq: back-pressure, by enum sroce_wq_type
 * @sent_at: jiffies when packets were last handed to the stack
 * @sender_cpu: CPU whose transmit queue they go to, plus 1; 0 at first
 * @ipv4_sk: socket that owns the QP's IPv4 packets in the stack
 * @ipv6_sk: the same for IPv6; NULL without IPv6
 * @rcu: defers the free
 */
struct sroce_qp_ref {
	refcount_t users;
	struct completion released;
	refcount_t holders;
	struct sroce_qp *qp;
	struct sroce_tsq tsq[SROCE_WQ_TYPES];
	unsigned long sent_at;
	u32 sender_cpu;
	struct sock *ipv4_sk;
	struct sock *ipv6_sk;
	struct rcu_head rcu;
};

/* More than the packets of an skb, whose count is kept in the low bits of a pointer to the ref. */
#define SROCE_QP_REF_ALIGNMENT	128ul

int sroce_qp_table_add(struct sroce_qp *qp);
void sroce_qp_table_remove(struct sroce_qp *qp);
struct sroce_qp *sroce_qp_get(struct sroce_endpoint *ep, u32 qpn);
struct sroce_qp *sroce_qp_get_listed(const struct ib_qp *ibqp);
struct sroce_qp *sroce_qp_get_next(struct sroce_endpoint *ep, u32 *qpn);
void sroce_qp_put(struct sroce_qp *qp);
struct sroce_qp_ref *sroce_qp_ref_create(struct sroce_qp *qp);
void sroce_qp_ref_put(struct sroce_qp_ref *ref);
void sroce_qp_refs_wait(void);

extern atomic_t sroce_live_qp_refs;

/* QPs of all devices, with GSI QPs and those whose packets are still in the stack. */
static inline u64 sroce_qp_count(void)
{
	return atomic_read(&sroce_live_qp_refs);
}

#endif
