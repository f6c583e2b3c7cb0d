// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of UC and UD that wait for pages, in order. Nobody sends them again, so the first that
 * misses a page and all behind it are queued. They share a memory limit with other QPs, so
 * they are dropped beyond it, or after SROCE_REORDER_MAX_AGE_NS. If one fault lasts that long,
 * no more are queued until it ends.
 *
 * Each is copied into an skb of its own, as in the reorder queue, with its IP header, which a
 * datagram is delivered with.
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/skbuff.h>

#include "datapath/odp_backlog.h"
#include "datapath/queued_packet.h"
#include "transport/reorder_policy.h"

/* As much as a fast peer sends while a page is read from a disk, and the overhead of skbs. */
#define BACKLOG_BYTES		(4u * 1024 * 1024)

static bool lasts_too_long(const struct sroce_paging *paging, u64 now_ns)
{
	return paging->pending && now_ns >= paging->began_ns + SROCE_REORDER_MAX_AGE_NS;
}

/* The header of its own packet: that of an skb with many is the header of the first. */
static void copy_ip_header(struct sk_buff *skb, const struct sroce_rx *rx, u32 header_bytes)
{
	skb_put_data(skb, skb_network_header(rx->skb), header_bytes);
	skb_reset_network_header(skb);
	if (rx->is_ipv4 && !rx->ip_id_stays)
		ip_hdr(skb)->id = htons(ntohs(ip_hdr(skb)->id) + rx->number);
	__skb_pull(skb, header_bytes);
}

static struct sk_buff *copy_waiting_packet(const struct sroce_rx *rx)
{
	u32 header_bytes = rx->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	struct sk_buff *skb = alloc_skb(header_bytes + rx->bytes, SROCE_QUEUED_GFP);

	if (!skb)
		return NULL;
	copy_ip_header(skb, rx, header_bytes);
	if (!skb_copy_bits(rx->skb, rx->pos.offset, skb_put(skb, rx->bytes), rx->bytes) &&
	    sroce_queued_packet_init(skb, rx))
		return skb;
	kfree_skb(skb);
	return NULL;
}

/* The QPs of a device share its limit with the reorder queues. */
static bool charge_backlog(struct sroce_qp *qp, const struct sk_buff *skb)
{
	u32 bytes = qp->backlog_bytes + skb->truesize;

	if (!sroce_reorder_may_queue(bytes, atomic64_add_return(skb->truesize,
								&qp->dev->reorder_bytes))) {
		atomic64_sub(skb->truesize, &qp->dev->reorder_bytes);
		return false;
	}
	qp->backlog_bytes = bytes;
	return true;
}

static void uncharge_backlog(struct sroce_qp *qp, u32 bytes)
{
	qp->backlog_bytes -= bytes;
	atomic64_sub(bytes, &qp->dev->reorder_bytes);
}

/**
 * sroce_backlog_add() - let a copy of a packet wait
 * @qp: the QP, its receive lock held
 * @rx: the packet
 *
 * Return: false if there is no memory for it, its bytes have changed since it was parsed, or the
 * page does not come.
 */
bool sroce_backlog_add(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct mem_cgroup *active;
	struct sk_buff *skb;

	if (lasts_too_long(&qp->rq.paging, rx->now_ns))
		return false;
	active = set_active_memcg(qp->memcg);
	skb = qp->backlog_bytes < BACKLOG_BYTES ? copy_waiting_packet(rx) : NULL;
	set_active_memcg(active);
	if (!skb || !charge_backlog(qp, skb)) {
		kfree_skb(skb);
		return false;
	}
	__skb_queue_tail(&qp->backlog, skb);
	return true;
}

/**
 * sroce_backlog_first() - look at the oldest packet
 * @qp: the QP, its receive lock held
 * @now_ns: monotonic time
 * @rx: filled in; the skb stays queued
 *
 * Return: whether there is one.
 */
bool sroce_backlog_first(struct sroce_qp *qp, u64 now_ns, struct sroce_rx *rx)
{
	struct sk_buff *skb = skb_peek(&qp->backlog);

	return skb && sroce_queued_packet_get(qp, skb, now_ns, rx);
}

/**
 * sroce_backlog_drop_first() - the oldest packet has been handled
 * @qp: the QP, its receive lock held
 */
void sroce_backlog_drop_first(struct sroce_qp *qp)
{
	struct sk_buff *skb = __skb_dequeue(&qp->backlog);

	uncharge_backlog(qp, skb->truesize);
	consume_skb(skb);
}

/**
 * sroce_backlog_deadline() - when the oldest packet must be dropped
 * @qp: the QP, its receive lock held
 *
 * Return: monotonic nanoseconds, or SROCE_NEVER.
 */
u64 sroce_backlog_deadline(const struct sroce_qp *qp)
{
	const struct sk_buff *skb = skb_peek(&qp->backlog);

	return skb ? sroce_queued_packet_of(skb)->arrived_ns + SROCE_REORDER_MAX_AGE_NS :
		     SROCE_NEVER;
}

/**
 * sroce_backlog_purge() - drop all packets
 * @qp: the QP, its receive lock held, or being destroyed
 */
void sroce_backlog_purge(struct sroce_qp *qp)
{
	__skb_queue_purge(&qp->backlog);
	uncharge_backlog(qp, qp->backlog_bytes);
}
