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

#include <linux/compiler.h>
#include <linux/string.h>
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
 * @elements: in @memory: the first slot; NULL if it is not contiguous, see sroce_ring_copy() and
 *            sroce_ring_entry()
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

/* The element of a contiguous ring at an index, which may come from a process: it is masked. */
static inline void *sroce_ring_at(const struct sroce_ring *ring, u32 index)
{
	return ring->elements + (size_t)(index & ring->mask) * ring->stride;
}

int sroce_ring_init(struct sroce_ring *ring, u32 elements, u32 element_bytes);
int sroce_ring_init_shmem(struct sroce_ring *ring, u32 elements, u32 element_bytes);
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
void sroce_ring_copy_pages(const struct sroce_ring *ring, u32 offset, void *to, u32 bytes);
u32 sroce_ring_pending(const struct sroce_ring *ring);
int sroce_ring_add_posted(const struct sroce_ring *ring);
void sroce_ring_fetched(struct sroce_ring *ring);
void sroce_ring_release(struct sroce_ring *ring, u32 used);
/* In native mode: */
void sroce_ring_publish_fetched(struct sroce_ring *ring);
void sroce_ring_require_doorbell(struct sroce_ring *ring);
void sroce_ring_set_no_doorbell(struct sroce_ring *ring, bool no_doorbell);

/* Where an element is in the memory of a ring in the rxe layout. */
static inline size_t sroce_ring_element_offset(const struct sroce_ring *ring, u32 index)
{
	return offsetof(struct rxe_queue_buf, data) + (size_t)(index & ring->mask) * ring->stride;
}

/* Part of the element at the kernel's index; NULL if it is in two pages. */
static inline const void *sroce_ring_piece(const struct sroce_ring *ring, u32 offset, u32 bytes)
{
	size_t at;
	u8 *page;

	if (likely(ring->elements))
		return (u8 *)sroce_ring_at(ring, ring->cursor) + offset;
	at = sroce_ring_element_offset(ring, ring->cursor) + offset;
	page = (u8 *)READ_ONCE(ring->memory->pages[at >> PAGE_SHIFT]);
	at = offset_in_page(at);
	return at + bytes <= PAGE_SIZE ? page + at : NULL;
}

/**
 * sroce_ring_is_present() - does the kernel have the memory of the element at its index?
 * @ring: SQ
 *
 * Return: false until sroce_ring_add_posted() has got it, if the queue is in shared memory.
 */
static inline bool sroce_ring_is_present(const struct sroce_ring *ring)
{
	size_t at;

	if (likely(ring->elements))
		return true;
	at = sroce_ring_element_offset(ring, ring->cursor);
	return READ_ONCE(ring->memory->pages[at >> PAGE_SHIFT]) &&
	       READ_ONCE(ring->memory->pages[(at + ring->stride - 1) >> PAGE_SHIFT]);
}

/**
 * sroce_ring_copy() - copy from the element at the kernel's index
 * @ring: SQ or RQ with something pending, an SQ with sroce_ring_is_present()
 * @offset: in the element
 * @to: what is copied; the caller looks at it only, because the process may write to the element
 * @bytes: at most to the end of the element
 */
static inline void sroce_ring_copy(const struct sroce_ring *ring, u32 offset, void *to, u32 bytes)
{
	const void *from = sroce_ring_piece(ring, offset, bytes);

	/* Where the compiler knows @bytes, it calls no function for this. */
	if (likely(from))
		memcpy(to, from, bytes);
	else
		sroce_ring_copy_pages(ring, offset, to, bytes);
	/* The compiler must not read the element again. */
	barrier();
}

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
