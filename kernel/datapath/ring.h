/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of fixed-size elements, possibly mapped into a process that may write anything at any
 * time. Therefore the kernel's own position (@cursor) and all sizes are private. The other side's
 * index is read once, masked, and used only to count elements. An element is copied before it is
 * looked at.
 *
 * There are two layouts. In that of <rdma/rdma_user_rxe.h> indices are kept masked, and one slot
 * stays empty, as librxe expects. In native mode indices are free-running, all slots are used, and
 * the two queues of a QP share their pages.
 */
#ifndef SROCE_DATAPATH_RING_H
#define SROCE_DATAPATH_RING_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "datapath/ring_memory.h"

struct sroce_queue_head;

/**
 * struct sroce_ring - the kernel's view of a ring
 * @memory: the pages
 * @producer: in @memory: index of the side that fills elements
 * @consumer: in @memory: index of the side that takes them
 * @head: in @memory: indices and flags of a native queue; NULL in the rxe layout
 * @elements: in @memory: the first slot; NULL for a CQ, see sroce_ring_entry()
 * @stride: bytes from one element to the next
 * @mask: slots - 1
 * @wrap: mask of an index: @mask, or all bits if indices are free-running
 * @cursor: SQ and RQ: next element to fetch; CQ: next element to fill
 */
struct sroce_ring {
	struct sroce_ring_memory *memory;
	u32	*producer;
	u32	*consumer;
	struct sroce_queue_head *head;
	u8	*elements;
	u32	stride;
	u32	mask;
	u32	wrap;
	u32	cursor;
};

/* An mmap offset handed to user space for one ring. */
struct sroce_mmap_entry {
	struct rdma_user_mmap_entry rdma_entry;
	struct sroce_ring_memory *memory;
};

/* The element of an SQ or RQ at an index, which may come from a process: it is masked. */
static inline void *sroce_ring_at(const struct sroce_ring *ring, u32 index)
{
	return ring->elements + (size_t)(index & ring->mask) * ring->stride;
}

int sroce_ring_init(struct sroce_ring *ring, u32 elements, u32 element_bytes);
int sroce_ring_init_cq(struct sroce_ring *ring, u32 entries, u32 entry_bytes, bool is_user);
int sroce_ring_init_native(struct sroce_ring *sq, u32 sq_slots, u32 sq_stride,
			   struct sroce_ring *rq, u32 rq_slots, u32 rq_stride);
int sroce_ring_init_single(struct sroce_ring *ring, u32 slots, u32 stride);
void sroce_ring_fini(struct sroce_ring *ring);
void sroce_ring_reset(struct sroce_ring *ring);
void sroce_ring_start(struct sroce_ring *ring, u32 consumer, u32 producer);
u32 sroce_ring_offset(const struct sroce_ring *ring, const void *at);
u32 sroce_ring_capacity(const struct sroce_ring *ring);

/* A ring the kernel consumes (SQ, RQ): the peer is the producer. */
void *sroce_ring_slot(const struct sroce_ring *ring);
u32 sroce_ring_pending(const struct sroce_ring *ring);
void sroce_ring_fetched(struct sroce_ring *ring);
void sroce_ring_release(struct sroce_ring *ring, u32 used);
/* In native mode: */
void sroce_ring_publish_fetched(struct sroce_ring *ring);
void sroce_ring_set_no_doorbell(struct sroce_ring *ring, bool no_doorbell);

/* A ring the kernel produces (CQ): the peer is the consumer. */
u32 sroce_ring_unread(const struct sroce_ring *ring);
void *sroce_ring_entry(const struct sroce_ring *ring, u32 index);
void *sroce_ring_next_entry(const struct sroce_ring *ring);
bool sroce_ring_wants_pages(const struct sroce_ring *ring);
int sroce_ring_add_ahead(const struct sroce_ring *ring);
void sroce_ring_publish(struct sroce_ring *ring);

/* The other side of a kernel QP or CQ is in the kernel, too. */
u32 sroce_ring_filled(const struct sroce_ring *ring);

#endif
