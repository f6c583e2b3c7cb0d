// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive work requests: posted by a kernel consumer or a process, copied once from the ring into
 * the responder's storage, flushed in ERR.
 */
#include <linux/string.h>

#include "datapath/recv_queue.h"
#include "uapi/sroce_abi.h"

/* Bytes of a scatter list, at most what the field can hold. */
static u32 list_bytes(const struct sroce_recv_wqe *wqe)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		sum += wqe->sge[i].length;
	return min_t(u64, sum, U32_MAX);
}

static void copy_rxe_recv(const struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe)
{
	struct rxe_recv_wqe copy;
	u32 num_sge;

	sroce_ring_copy(&queue->ring, 0, &copy, sizeof(copy));
	wqe->wr_id = copy.wr_id;
	num_sge = copy.dma.num_sge;
	if (num_sge > queue->max_sge) {
		wqe->status = SROCE_WC_LOC_QP_OP_ERR;
		num_sge = 0;
	}
	sroce_ring_copy(&queue->ring, offsetof(struct rxe_recv_wqe, dma.sge), wqe->sge,
			num_sge * sizeof(struct sroce_sge));
	wqe->num_sge = num_sge;
}

/* The list ends with an element without length, or where the slot ends. */
static void copy_native_recv(const struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe)
{
	struct sroce_recv_slot copy;
	u32 i, at = sizeof(copy);

	sroce_ring_copy(&queue->ring, 0, &copy, sizeof(copy));
	wqe->wr_id = copy.wr_id;
	for (i = 0; i < queue->max_sge; i++) {
		sroce_ring_copy(&queue->ring, at, &wqe->sge[i], sizeof(struct sroce_sge));
		at += sizeof(struct sroce_sge);
		if (!wqe->sge[i].length)
			break;
	}
	wqe->num_sge = i;
}

/**
 * sroce_recv_queue_copy() - copy the oldest receive work request, if there is one
 * @queue: the queue; nobody else takes requests from it
 * @wqe: filled in, when true is returned
 *
 * A request that claims more elements than it may have is rejected: its status says so, and it
 * fails when it is used.
 *
 * Return: whether there was one. It stays in the queue until sroce_recv_queue_advance().
 */
bool sroce_recv_queue_copy(const struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe)
{
	if (!sroce_recv_queue_has_posted(queue))
		return false;
	wqe->status = SROCE_WC_SUCCESS;
	if (queue->ring.head)
		copy_native_recv(queue, wqe);
	else
		copy_rxe_recv(queue, wqe);
	wqe->length = list_bytes(wqe);
	return true;
}

/**
 * sroce_recv_queue_advance() - release the slot of the request that has been copied
 * @queue: the queue
 */
void sroce_recv_queue_advance(struct sroce_recv_queue *queue)
{
	sroce_ring_fetched(&queue->ring);
	sroce_ring_release(&queue->ring, 0);
}

/**
 * sroce_recv_queue_fetch() - take the oldest receive work request, if there is one
 * @queue: the queue of one QP; the caller holds the lock of that work queue
 * @wqe: filled in, when true is returned
 *
 * Return: whether there was one.
 */
bool sroce_recv_queue_fetch(struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe)
{
	if (!sroce_recv_queue_copy(queue, wqe))
		return false;
	sroce_recv_queue_advance(queue);
	return true;
}

/**
 * sroce_recv_queue_take_flushed() - take the oldest request without using it: QP in ERR
 * @queue: the queue
 * @wqe: overwritten
 * @wc: its completion, filled in when true is returned
 *
 * Return: whether there was one.
 */
bool sroce_recv_queue_take_flushed(struct sroce_recv_queue *queue, struct sroce_recv_wqe *wqe,
				   struct sroce_completion *wc)
{
	if (!sroce_recv_queue_fetch(queue, wqe))
		return false;
	*wc = (struct sroce_completion) {
		.wr_id = wqe->wr_id,
		.status = SROCE_WC_WR_FLUSH_ERR,
		.opcode = SROCE_WC_RECV,
	};
	return true;
}

/**
 * sroce_recv_queue_post() - write a kernel consumer's request to the ring
 * @queue: the queue, its lock held; both indices of the ring are the kernel's own, and the
 *         producer's is written here only
 * @wr: the request
 *
 * Return: 0, -EINVAL for too many elements, -ENOMEM if the ring is full.
 */
int sroce_recv_queue_post(struct sroce_recv_queue *queue, const struct ib_recv_wr *wr)
{
	struct sroce_ring *ring = &queue->ring;
	u32 index = *ring->producer & ring->mask;
	struct rxe_recv_wqe *slot;

	if (wr->num_sge < 0 || wr->num_sge > queue->max_sge)
		return -EINVAL;
	if (sroce_ring_filled(ring) == ring->mask)
		return -ENOMEM;
	slot = sroce_ring_at(ring, index);
	slot->wr_id = wr->wr_id;
	slot->dma.num_sge = wr->num_sge;
	memcpy(slot->dma.sge, wr->sg_list, wr->num_sge * sizeof(struct sroce_sge));
	/* Pairs with sroce_ring_pending(): the element is complete. */
	smp_store_release(ring->producer, (index + 1) & ring->mask);
	return 0;
}

/**
 * sroce_recv_queue_reset() - forget all requests: QP to RESET
 * @queue: the queue; nothing is taken from it meanwhile
 */
void sroce_recv_queue_reset(struct sroce_recv_queue *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	sroce_ring_reset(&queue->ring);
	spin_unlock_irqrestore(&queue->lock, flags);
}
