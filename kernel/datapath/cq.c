// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: writing entries, and for kernel consumers also polling and arming.
 *
 * A process reads entries from its mapping and calls the kernel only to arm the CQ. In native mode
 * it arms by two counters in the mapping instead.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include <rdma/ib_user_verbs.h>

#include "compat/compat.h"
#include "datapath/cq.h"

/* libibverbs' IBV_WC_WITH_INV, which differs from the kernel's flag and is in no uapi header. */
#define USER_WC_WITH_INV	BIT(3)

static u32 user_flags(u8 flags)
{
	return flags & SROCE_WC_WITH_INVALIDATE ?
	       (flags & ~SROCE_WC_WITH_INVALIDATE) | USER_WC_WITH_INV : flags;
}

static u8 packet_type(const struct sroce_completion *wc, const struct sroce_wc_extra *extra)
{
	if (!(wc->flags & SROCE_WC_GRH) || extra->is_v1)
		return 0;
	return extra->is_ipv4 ? SROCE_PACKET_TYPE_IPV4 : SROCE_PACKET_TYPE_IPV6;
}

static void write_user(struct ib_uverbs_wc *entry, const struct sroce_completion *wc,
		       const struct sroce_wc_extra *extra)
{
	*entry = (struct ib_uverbs_wc) {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = extra->vendor_err,
		.byte_len = wc->byte_len,
		.qp_num = extra->qp->qp_num,
		.src_qp = wc->src_qpn,
		.wc_flags = user_flags(wc->flags),
		.sl = packet_type(wc, extra),
		.port_num = 1,
	};
	if (wc->flags & SROCE_WC_WITH_INVALIDATE)
		entry->ex.invalidate_rkey = wc->invalidate_rkey;
	else
		entry->ex.imm_data = wc->imm;
}

/* The slot has room behind the entry, because its size is a power of two. */
static void write_timestamp(void *entry)
{
	BUILD_BUG_ON(sizeof(struct ib_uverbs_wc) != SROCE_CQ_TIMESTAMP_AT);
	*(u64 *)(entry + SROCE_CQ_TIMESTAMP_AT) = ktime_get_ns();
}

static u8 network_type(const struct sroce_wc_extra *extra)
{
	if (extra->is_v1)
		return RDMA_NETWORK_ROCE_V1;
	return extra->is_ipv4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

static void write_kernel(struct ib_wc *entry, const struct sroce_completion *wc,
			 const struct sroce_wc_extra *extra)
{
	*entry = (struct ib_wc) {
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode == SROCE_WC_REG_MR ? IB_WC_REG_MR : wc->opcode,
		.vendor_err = extra->vendor_err,
		.byte_len = wc->byte_len,
		.qp = extra->qp,
		.src_qp = wc->src_qpn,
		.wc_flags = wc->flags,
		.port_num = 1,
	};
	if (wc->flags & SROCE_WC_WITH_INVALIDATE)
		entry->ex.invalidate_rkey = wc->invalidate_rkey;
	else
		entry->ex.imm_data = wc->imm;
	if (!(wc->flags & SROCE_WC_GRH))
		return;
	entry->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
	entry->network_hdr_type = network_type(extra);
	if (extra->vlan_id != SROCE_NO_VLAN) {
		entry->wc_flags |= IB_WC_WITH_VLAN;
		entry->vlan_id = extra->vlan_id;
	}
}

static void arm_cq(struct sroce_cq *cq, u8 wanted)
{
	/* IB_CQ_NEXT_COMP includes solicited completions, so it stays. */
	if (cq->armed != IB_CQ_NEXT_COMP)
		WRITE_ONCE(cq->armed, wanted);
}

/*
 * Arm the CQ if the process has incremented one of its counters since the last look. The lock is
 * held. Only differences count, so wrong values harm nobody else.
 */
static void read_user_arm(struct sroce_cq *cq)
{
	const struct sroce_cq_line *line =
		container_of(cq->ring.consumer, struct sroce_cq_line, consumer);
	u32 any = READ_ONCE(line->arm.any);
	u32 solicited = READ_ONCE(line->arm.solicited);

	if (solicited != cq->arm_seen.solicited)
		arm_cq(cq, IB_CQ_SOLICITED);
	if (any != cq->arm_seen.any)
		arm_cq(cq, IB_CQ_NEXT_COMP);
	cq->arm_seen = (struct sroce_cq_arm){ .any = any, .solicited = solicited };
}

/* Is the consumer to be woken for this completion? */
static bool wakes_consumer(const struct sroce_cq *cq, const struct sroce_completion *wc)
{
	return cq->armed == IB_CQ_NEXT_COMP ||
	       (cq->armed && (wc->solicited || wc->status != SROCE_WC_SUCCESS));
}

/* The consumer is to be woken for an entry. Returns whether it is to be woken now. */
static bool moderate_entry(struct sroce_cq *cq)
{
	enum sroce_moderation_step step = sroce_moderation_add(&cq->moderation);
	u64 period_ns = (u64)cq->moderation.period_us * NSEC_PER_USEC;

	if (step == SROCE_REPORT_WITH_TIMER)
		hrtimer_start(&cq->timer, ns_to_ktime(period_ns), HRTIMER_MODE_REL_SOFT);
	return step == SROCE_REPORT_NOW;
}

/* The slot is filled. Returns whether to wake the consumer, which is done once. */
static bool publish_entry(struct sroce_cq *cq, const struct sroce_completion *wc)
{
	bool counts, wake;

	if (cq->user_arms)
		read_user_arm(cq);
	counts = wakes_consumer(cq, wc);
	wake = counts && moderate_entry(cq);
	if (wake)
		WRITE_ONCE(cq->armed, 0);
	sroce_ring_publish(&cq->ring);
	if (!cq->user_arms)
		return wake;
	/* Pairs with CompletionQueue::arm(): the process sees the entry, or we see it arm. */
	smp_mb();
	read_user_arm(cq);
	/* The CQ stays armed, because the process may have polled the entry before it armed. */
	if (!counts && wakes_consumer(cq, wc))
		wake = moderate_entry(cq);
	return wake;
}

/* Wake the consumer for what waits. The lock is not held. */
static void report_waiting(struct sroce_cq *cq, bool is_waiting)
{
	if (is_waiting && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
}

/* Under the lock. Returns whether there is anything to report when it has been dropped. */
static bool take_waiting(struct sroce_cq *cq)
{
	bool is_waiting = sroce_moderation_flush(&cq->moderation);

	if (is_waiting)
		WRITE_ONCE(cq->armed, 0);
	return is_waiting;
}

static enum hrtimer_restart period_expired(struct hrtimer *timer)
{
	struct sroce_cq *cq = container_of(timer, struct sroce_cq, timer);
	unsigned long flags;
	bool is_waiting;

	spin_lock_irqsave(&cq->lock, flags);
	is_waiting = take_waiting(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	report_waiting(cq, is_waiting);
	return HRTIMER_NORESTART;
}

/**
 * sroce_cq_moderate() - wake the consumer once for several completions that would wake it
 * @cq: the completion queue
 * @count: number of such completions that wake it; 0: each one does
 * @period_us: time from the first of them after which it is woken anyway; 0: each one wakes it
 *
 * Completions that wait already are reported. Any context, except from the consumer's callback.
 */
void sroce_cq_moderate(struct sroce_cq *cq, u16 count, u16 period_us)
{
	unsigned long flags;
	bool is_waiting;

	spin_lock_irqsave(&cq->lock, flags);
	is_waiting = take_waiting(cq);
	cq->moderation.count = count;
	cq->moderation.period_us = period_us;
	spin_unlock_irqrestore(&cq->lock, flags);
	report_waiting(cq, is_waiting);
}

static void grow_ring(struct work_struct *work)
{
	struct sroce_cq *cq = container_of(work, struct sroce_cq, grow_ring);
	struct sroce_ring ring;
	unsigned long flags;

	/* No resize replaces the ring meanwhile. */
	mutex_lock(&cq->resize_lock);
	spin_lock_irqsave(&cq->lock, flags);
	ring = cq->ring;
	spin_unlock_irqrestore(&cq->lock, flags);
	/* If this fails, the datapath tries again, without sleeping. */
	(void)sroce_ring_add_ahead(&ring);
	mutex_unlock(&cq->resize_lock);
}

/**
 * sroce_cq_init() - set up locks, work and timer
 * @cq: zeroed; without a ring
 */
void sroce_cq_init(struct sroce_cq *cq)
{
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	INIT_WORK(&cq->grow_ring, grow_ring);
	hrtimer_setup(&cq->timer, period_expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
}

/**
 * sroce_cq_fini() - stop timer and work, and free the ring
 * @cq: nothing but sroce_cq_get_stats() uses it any more; may sleep
 */
void sroce_cq_fini(struct sroce_cq *cq)
{
	struct sroce_ring ring = {};
	unsigned long flags;

	hrtimer_cancel(&cq->timer);
	cancel_work_sync(&cq->grow_ring);
	spin_lock_irqsave(&cq->lock, flags);
	swap(cq->ring, ring);
	spin_unlock_irqrestore(&cq->lock, flags);
	sroce_ring_fini(&ring);
	mutex_destroy(&cq->resize_lock);
}

/* The entry to fill in, or NULL without memory. */
static void *claim_entry(struct sroce_cq *cq)
{
	if (sroce_ring_wants_pages(&cq->ring))
		schedule_work(&cq->grow_ring);
	return sroce_ring_next_entry(&cq->ring);
}

/**
 * sroce_cq_post() - write an entry
 * @cq: the completion queue
 * @wc: the completion, from the engine
 * @extra: the fields that only the datapath knows
 *
 * Any context; locks of work queues may be held. No consumer is called back.
 *
 * Return: what the caller must do once it holds no lock.
 */
enum sroce_cq_outcome sroce_cq_post(struct sroce_cq *cq, const struct sroce_completion *wc,
				    const struct sroce_wc_extra *extra)
{
	enum sroce_cq_outcome outcome = SROCE_CQ_POSTED;
	void *entry = NULL;
	unsigned long flags;
	u32 unread;

	spin_lock_irqsave(&cq->lock, flags);
	unread = sroce_ring_unread(&cq->ring);
	/* One unread entry is normal even for a consumer that waits for each completion. */
	WRITE_ONCE(cq->behind, unread > 1);
	if (!cq->overflowed && unread < cq->ring.mask)
		entry = claim_entry(cq);
	if (cq->overflowed) {
		outcome = SROCE_CQ_LOST;
	} else if (!entry) {
		cq->overflowed = true;
		outcome = SROCE_CQ_OVERFLOW;
	} else {
		if (cq->is_user)
			write_user(entry, wc, extra);
		else
			write_kernel(entry, wc, extra);
		if (cq->stamps)
			write_timestamp(entry);
		if (publish_entry(cq, wc))
			outcome = SROCE_CQ_WAKE;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return outcome;
}

/* Both indices of a kernel CQ are written here only, under its lock. */
static void take_entry(struct sroce_ring *ring, struct ib_wc *wc)
{
	u32 index = *ring->consumer & ring->mask;

	memcpy(wc, sroce_ring_entry(ring, index), sizeof(*wc));
	/* Pairs with sroce_ring_unread(): the entry has been read. */
	smp_store_release(ring->consumer, (index + 1) & ring->mask);
}

/**
 * sroce_cq_poll() - poll_cq of kernel consumers
 * @ibcq: the completion queue
 * @num_entries: the most entries to take
 * @wc: filled in
 *
 * Any context.
 *
 * Return: the number of entries taken, or -EINVAL for the CQ of a process.
 */
int sroce_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	unsigned long flags;
	int taken = 0;

	if (cq->is_user)
		return -EINVAL;
	spin_lock_irqsave(&cq->lock, flags);
	while (taken < num_entries && sroce_ring_filled(&cq->ring))
		take_entry(&cq->ring, &wc[taken++]);
	spin_unlock_irqrestore(&cq->lock, flags);
	return taken;
}

/**
 * sroce_cq_req_notify() - arm a completion queue
 * @ibcq: the completion queue
 * @flags: which completions wake the consumer; whether to report entries that are already there
 *
 * Any context.
 *
 * Return: 1 if there are entries already and they are to be reported, else 0.
 */
int sroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	unsigned long irq_flags;
	int missed = 0;

	spin_lock_irqsave(&cq->lock, irq_flags);
	arm_cq(cq, flags & IB_CQ_SOLICITED_MASK);
	if (flags & IB_CQ_REPORT_MISSED_EVENTS)
		missed = sroce_ring_filled(&cq->ring) != 0;
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return missed;
}

/**
 * sroce_cq_is_armed() - is the CQ armed?
 * @cq: the completion queue
 *
 * Any context; locks of work queues may be held.
 *
 * Return: whether it was, for any completion or for solicited ones; it may have changed since.
 */
bool sroce_cq_is_armed(struct sroce_cq *cq)
{
	unsigned long flags;
	bool armed;

	if (!cq->user_arms)
		return READ_ONCE(cq->armed);
	/* A resize replaces the counters. */
	spin_lock_irqsave(&cq->lock, flags);
	read_user_arm(cq);
	armed = cq->armed;
	spin_unlock_irqrestore(&cq->lock, flags);
	return armed;
}

/**
 * sroce_cq_get_stats() - read what tools show of a completion queue
 * @cq: the completion queue; sroce_cq_fini() may run meanwhile
 * @stats: filled in
 *
 * Return: false if the queue is being destroyed.
 */
bool sroce_cq_get_stats(struct sroce_cq *cq, struct sroce_cq_stats *stats)
{
	unsigned long flags;
	bool exists;

	spin_lock_irqsave(&cq->lock, flags);
	exists = cq->ring.memory;
	*stats = (struct sroce_cq_stats){
		.unread = exists ? sroce_ring_unread(&cq->ring) : 0,
		.overflowed = cq->overflowed,
		.event_count = cq->moderation.count,
		.event_period_us = cq->moderation.period_us,
	};
	spin_unlock_irqrestore(&cq->lock, flags);
	return exists;
}

/**
 * sroce_cq_swap_ring() - replace the ring of a completion queue
 * @cq: the completion queue, its lock held
 * @ring: the new ring, whose counters are 0; set to the old one
 *
 * The process neither polls nor arms meanwhile. If it has armed the old ring, the CQ stays armed.
 */
void sroce_cq_swap_ring(struct sroce_cq *cq, struct sroce_ring *ring)
{
	if (cq->user_arms)
		read_user_arm(cq);
	swap(cq->ring, *ring);
	cq->arm_seen = (struct sroce_cq_arm){};
}

/**
 * sroce_cq_dispatch_error() - tell the consumer that its CQ has overflowed
 * @cq: the CQ
 *
 * The consumer's handler is called.
 */
void sroce_cq_dispatch_error(struct sroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ibcq.device,
		.element.cq = &cq->ibcq,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
}
