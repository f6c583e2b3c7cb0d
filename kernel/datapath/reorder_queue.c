// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests beyond the expected PSN, queued until it is their turn.
 *
 * The engine's bitmap (transport/reorder.c) is the index: it says which PSNs are queued and which
 * is next. The skbs are here, in a direct-mapped array of 64-slot chunks: a slot has an skb if the
 * bitmap has its PSN. An rbtree would dominate the cost: at 1 % loss nearly every packet arrives
 * out of order.
 *
 * A packet is copied into an skb of its own, because a GSO skb would keep the memory of all its
 * packets, and the skb of a driver a page of its pool. The copy is charged to the memory cgroup of
 * the process that created the QP. A packet beyond that limit or those of
 * transport/reorder_policy.h is dropped, and its sender retransmits it.
 *
 * Some skbs are kept to be used again, until no packet has been queued for SPARES_NS. They are
 * freed and needed in bursts, so a kernel that clears memory when it is allocated would clear as
 * much as the payload, and more for the new pages of its slabs.
 */
#include <linux/memcontrol.h>
#include <linux/prefetch.h>
#include <linux/sched/mm.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "datapath/qp.h"
#include "datapath/queued_packet.h"
#include "datapath/reorder_queue.h"
#include "transport/psn.h"
#include "transport/reorder_policy.h"
#include "transport/time.h"
#include "transport/wire.h"

/* Coalesced packets are handled under one lock, so limit them to the length of an skb. */
#define COALESCED_BYTES_MAX		65536u
/* As much as waits for a hole to be filled on a fast path. */
#define SPARE_BYTES_MAX			(512 * 1024u)
/* A few round trips. */
#define SPARES_NS			(10 * NSEC_PER_MSEC)

/* With the last skb the chunks are freed, and the device gets back the rest of the share. */
static void free_if_empty(struct sroce_qp *qp)
{
	struct sroce_reorder_queue *queue = qp->reorder_queue;
	u32 i;

	if (queue->bytes || queue->spare_bytes)
		return;
	atomic64_sub(queue->share_bytes, &qp->dev->reorder_bytes);
	queue->share_bytes = 0;
	for (i = 0; i < SROCE_REORDER_CHUNKS; i++) {
		kfree(queue->chunks[i]);
		queue->chunks[i] = NULL;
	}
}

/* The device is charged in larger pieces, so that its counter is not touched for each packet. */
static bool charge_spare(struct sroce_qp *qp, const struct sk_buff *skb)
{
	struct sroce_reorder_queue *queue = qp->reorder_queue;
	u32 more;

	if (queue->bytes + queue->spare_bytes + skb->truesize > queue->share_bytes) {
		more = max(SROCE_REORDER_PIECE_BYTES, skb->truesize);
		if (!sroce_reorder_may_queue(queue->share_bytes + more,
					     atomic64_add_return(more, &qp->dev->reorder_bytes))) {
			atomic64_sub(more, &qp->dev->reorder_bytes);
			return false;
		}
		queue->share_bytes += more;
	}
	queue->spare_bytes += skb->truesize;
	return true;
}

/* Not to NAPI's cache of skbs, where the charge to the memory cgroup would stay. */
static void free_spare(struct sroce_qp *qp, struct sk_buff *skb)
{
	qp->reorder_queue->spare_bytes -= skb->truesize;
	consume_skb(skb);
}

static void recycle_skb(struct sroce_qp *qp, struct sk_buff *skb)
{
	if (qp->reorder_queue->spare_bytes > SPARE_BYTES_MAX) {
		free_spare(qp, skb);
		free_if_empty(qp);
		return;
	}
	skb_trim(skb, 0);
	__skb_queue_tail(&qp->reorder_queue->spares, skb);
}

static struct sk_buff *alloc_spare(struct sroce_qp *qp, u32 bytes)
{
	struct sk_buff *skb = alloc_skb(bytes, SROCE_QUEUED_GFP);

	if (skb && !charge_spare(qp, skb)) {
		kfree_skb(skb);
		return NULL;
	}
	return skb;
}

static void free_spares(struct sroce_qp *qp)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&qp->reorder_queue->spares)))
		free_spare(qp, skb);
}

/* A spare that is too short is freed: the path MTU has changed, or packets differ in size. */
static struct sk_buff *get_spare(struct sroce_qp *qp, u32 bytes)
{
	struct sk_buff_head *spares = &qp->reorder_queue->spares;
	struct sk_buff *skb = __skb_dequeue_tail(spares);

	if (skb && skb_tailroom(skb) >= (int)bytes)
		return skb;
	if (skb)
		free_spare(qp, skb);
	skb = alloc_spare(qp, bytes);
	if (skb || skb_queue_empty(spares))
		return skb;
	/* The others may be too short, too, and use up the limit. */
	free_spares(qp);
	return alloc_spare(qp, bytes);
}

static u32 chunk_index(u32 psn)
{
	return psn / SROCE_REORDER_CHUNK_SLOTS % SROCE_REORDER_CHUNKS;
}

/* The slot of a PSN, or NULL if there is no chunk for it. */
static struct sk_buff **slot_of_psn(const struct sroce_reorder_queue *queue, u32 psn)
{
	struct sk_buff **chunk = queue->chunks[chunk_index(psn)];

	return chunk ? &chunk[psn % SROCE_REORDER_CHUNK_SLOTS] : NULL;
}

static bool alloc_queue(struct sroce_qp *qp)
{
	if (qp->reorder_queue)
		return true;
	qp->reorder_queue = kzalloc(sizeof(*qp->reorder_queue), SROCE_QUEUED_GFP);
	if (!qp->reorder_queue)
		return false;
	__skb_queue_head_init(&qp->reorder_queue->spares);
	return true;
}

static struct sk_buff **make_slot(struct sroce_reorder_queue *queue, u32 psn)
{
	struct sk_buff ***chunk = &queue->chunks[chunk_index(psn)];

	if (!*chunk)
		*chunk = kcalloc(SROCE_REORDER_CHUNK_SLOTS, sizeof(**chunk), SROCE_QUEUED_GFP);
	return slot_of_psn(queue, psn);
}

static struct sk_buff *remove_slot(struct sroce_qp *qp, struct sk_buff **slot)
{
	struct sk_buff *skb = *slot;

	*slot = NULL;
	qp->reorder_queue->bytes -= skb->truesize;
	qp->reorder_queue->spare_bytes += skb->truesize;
	return skb;
}

static void put_slot(struct sroce_qp *qp, struct sk_buff **slot, struct sk_buff *skb)
{
	*slot = skb;
	qp->reorder_queue->spare_bytes -= skb->truesize;
	qp->reorder_queue->bytes += skb->truesize;
}

static bool add_packet(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sk_buff **slot, *skb;

	if (!alloc_queue(qp))
		return false;
	skb = get_spare(qp, rx->bytes);
	slot = skb ? make_slot(qp->reorder_queue, rx->pkt.psn) : NULL;
	if (!slot || WARN_ON_ONCE(*slot) ||
	    skb_copy_bits(rx->skb, rx->pos.offset, skb_put(skb, rx->bytes), rx->bytes) ||
	    !sroce_queued_packet_init(skb, rx)) {
		if (skb)
			free_spare(qp, skb);
		free_if_empty(qp);
		return false;
	}
	put_slot(qp, slot, skb);
	return true;
}

/* It was queued, but still cannot be executed. Its chunk is there while its memory is charged. */
static bool return_packet(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sk_buff **slot = slot_of_psn(qp->reorder_queue, rx->pkt.psn);

	if (WARN_ON_ONCE(!slot || *slot))
		return false;
	put_slot(qp, slot, rx->skb);
	return true;
}

/**
 * sroce_reorder_queue_add() - queue a copy of a packet
 * @qp: the QP, its receive lock held
 * @rx: the packet; one from sroce_reorder_queue_pop() is queued again itself
 *
 * Return: false if there is no memory for it, or its bytes have changed since it was parsed.
 */
bool sroce_reorder_queue_add(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct mem_cgroup *active;
	bool added;

	if (rx->pkt.was_queued)
		return return_packet(qp, rx);
	active = set_active_memcg(qp->memcg);
	added = add_packet(qp, rx);
	set_active_memcg(active);
	return added;
}

/* The next packets have been queued for long: they are out of the caches. */
static void prefetch_next(const struct sroce_reorder_queue *queue, u32 psn)
{
	struct sk_buff **slot = slot_of_psn(queue, psn + 1);

	if (slot && *slot)
		prefetch((*slot)->data);
	slot = slot_of_psn(queue, psn + 2);
	if (slot && *slot)
		prefetch(&(*slot)->data);
}

/**
 * sroce_reorder_queue_pop() - take out a packet that is now expected
 * @qp: the QP, its receive lock held
 * @psn: its PSN
 * @now_ns: monotonic time
 * @rx: filled in; if true is returned, call sroce_reorder_queue_done()
 *
 * Return: whether it is there; the engine says that it is.
 */
bool sroce_reorder_queue_pop(struct sroce_qp *qp, u32 psn, u64 now_ns, struct sroce_rx *rx)
{
	struct sk_buff **slot = qp->reorder_queue ? slot_of_psn(qp->reorder_queue, psn) : NULL,
		       *skb;

	if (WARN_ON_ONCE(!slot || !*slot))
		return false;
	prefetch_next(qp->reorder_queue, psn);
	skb = remove_slot(qp, slot);
	if (sroce_queued_packet_get(qp, skb, now_ns, rx))
		return true;
	recycle_skb(qp, skb);
	return false;
}

/**
 * sroce_reorder_queue_bth() - the BTH of a queued packet
 * @queue: the queue
 * @psn: PSN of the packet, which is queued
 *
 * Return: the BTH. A packet that sroce_reorder_queue_coalesce() takes is contiguous in memory.
 */
const u8 *sroce_reorder_queue_bth(const struct sroce_reorder_queue *queue, u32 psn)
{
	return (*slot_of_psn(queue, psn))->data;
}

/* Is the packet with this PSN queued, and equal to that of @rx but for PSN and payload? */
static bool can_coalesce_next(const struct sroce_reorder_queue *queue, const struct sroce_rx *rx,
			      u32 psn)
{
	struct sk_buff **slot = slot_of_psn(queue, psn);

	return slot && *slot && (*slot)->len == rx->bytes &&
	       sroce_bth_follows(rx->pos.at, sroce_reorder_queue_bth(queue, psn), psn);
}

/**
 * sroce_reorder_queue_coalesce() - coalesce a packet with the equal ones queued behind it
 * @queue: the queue
 * @rx: from sroce_reorder_queue_pop(); @rx->pkt.count and its payload grow
 * @behind: the most packets to coalesce with it; the engine has all of them as queued
 *
 * They stay queued until sroce_reorder_queue_advance(). All work but the copy is then done once
 * for all of them.
 */
void sroce_reorder_queue_coalesce(const struct sroce_reorder_queue *queue, struct sroce_rx *rx,
				  u32 behind)
{
	u32 count = 1, most;

	if (rx->pkt.header_bytes != sizeof(struct sroce_bth) || rx->pkt.pad_bytes || !rx->pos.at)
		return;
	most = min(1 + behind, COALESCED_BYTES_MAX / rx->bytes);
	while (count < most && can_coalesce_next(queue, rx, psn_add(rx->pkt.psn, count))) {
		prefetch_next(queue, psn_add(rx->pkt.psn, count));
		count++;
	}
	rx->pkt.payload_bytes *= count;
	rx->pkt.count = count;
}

/**
 * sroce_reorder_queue_done() - a packet has been handled, or queued again
 * @qp: the QP, its receive lock held
 * @rx: from sroce_reorder_queue_pop()
 */
void sroce_reorder_queue_done(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sk_buff **slot = slot_of_psn(qp->reorder_queue, rx->pkt.psn);

	if (!slot || *slot != rx->skb)
		recycle_skb(qp, rx->skb);
}

/**
 * sroce_reorder_queue_deadline() - when sroce_reorder_queue_trim() has something to do
 * @qp: the QP, its receive lock held
 *
 * Return: monotonic nanoseconds, or SROCE_NEVER.
 */
u64 sroce_reorder_queue_deadline(const struct sroce_qp *qp)
{
	const struct sroce_reorder_queue *queue = qp->reorder_queue;

	return queue && !skb_queue_empty(&queue->spares) && !queue->bytes ?
	       queue->spares_until_ns : SROCE_NEVER;
}

/**
 * sroce_reorder_queue_trim() - free skbs that have not been needed for long
 * @qp: the QP, its receive lock held
 * @now_ns: monotonic time
 */
void sroce_reorder_queue_trim(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_reorder_queue *queue = qp->reorder_queue;

	if (queue && queue->bytes) {
		queue->spares_until_ns = now_ns + SPARES_NS;
	} else if (now_ns >= sroce_reorder_queue_deadline(qp)) {
		free_spares(qp);
		free_if_empty(qp);
	}
}

static void drop_slot(struct sroce_qp *qp, u32 psn)
{
	struct sk_buff **slot = slot_of_psn(qp->reorder_queue, psn);

	if (slot && *slot)
		recycle_skb(qp, remove_slot(qp, slot));
}

/**
 * sroce_reorder_queue_advance() - the expected PSN has moved on: drop packets before it
 * @qp: the QP, its receive lock held
 * @from_psn: where it was
 *
 * They were coalesced with another; or they came again, and were executed before their turn in the
 * queue; or a hostile peer has sent packets with PSNs inside of a READ.
 */
void sroce_reorder_queue_advance(struct sroce_qp *qp, u32 from_psn)
{
	u32 count = (sroce_responder_epsn(&qp->resp) - from_psn) & SROCE_PSN_MASK, i;

	if (!qp->reorder_queue)
		return;
	for (i = 0; i < min(count, SROCE_PSN_MAP_SPAN) && qp->reorder_queue->bytes; i++)
		drop_slot(qp, psn_add(from_psn, i));
}

/**
 * sroce_reorder_queue_flush() - drop all packets if the engine has dropped them
 * @qp: the QP, its receive lock held, or being destroyed
 */
void sroce_reorder_queue_flush(struct sroce_qp *qp)
{
	u32 psn;

	if (!qp->reorder_queue || sroce_responder_queued(&qp->resp))
		return;
	for (psn = 0; psn < SROCE_PSN_MAP_SPAN && qp->reorder_queue->bytes; psn++)
		drop_slot(qp, psn);
}

/**
 * sroce_reorder_queue_purge() - drop all packets, which the engine has dropped, and free all skbs
 * @qp: the QP, its receive lock held, or being destroyed
 */
void sroce_reorder_queue_purge(struct sroce_qp *qp)
{
	if (!qp->reorder_queue)
		return;
	sroce_reorder_queue_flush(qp);
	free_spares(qp);
	free_if_empty(qp);
}
