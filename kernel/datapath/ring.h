/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A ring of fixed-size elements in the layout of <rdma/rdma_user_rxe.h>,
 * possibly mapped into a process that may write anything at any time.
 *
 * So: the kernel's own position is private (@cursor), sizes are private, the
 * other side's index is read once, masked and used for nothing but "how many";
 * an element is copied out before it is looked at. Indices in the shared page
 * are kept masked, and one slot stays empty, as librxe expects.
 */
#ifndef SROCE_DATAPATH_RING_H
#define SROCE_DATAPATH_RING_H

#include <linux/kref.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_rxe.h>

/**
 * struct sroce_ring_memory - the pages of a ring
 * @refs: the object that owns the ring, and the mmap entry if there is one
 * @buf: vmalloc() memory, in single pages
 * @bytes: its size, whole pages
 */
struct sroce_ring_memory {
	struct kref refs;
	struct rxe_queue_buf *buf;
	size_t	bytes;
};

/**
 * struct sroce_ring - the kernel's view of a ring
 * @memory: the pages
 * @buf: shortcut to @memory->buf
 * @element_shift: log2 of the bytes of an element
 * @mask: slots - 1
 * @cursor: SQ and RQ: next element to fetch; CQ: next element to fill; masked
 * @released: SQ: consumer index as published (an element is released when its
 *            request retires, later than it is fetched)
 */
struct sroce_ring {
	struct sroce_ring_memory *memory;
	struct rxe_queue_buf *buf;
	u32	element_shift;
	u32	mask;
	u32	cursor;
	u32	released;
};

/* An mmap offset handed to user space for one ring. */
struct sroce_mmap_entry {
	struct rdma_user_mmap_entry rdma_entry;
	struct sroce_ring_memory *memory;
};

int sroce_ring_init(struct sroce_ring *ring, u32 elements, u32 element_bytes);
void sroce_ring_fini(struct sroce_ring *ring);
void sroce_ring_memory_put(struct sroce_ring_memory *memory);
void sroce_ring_reset(struct sroce_ring *ring);

/* A ring the kernel consumes (SQ, RQ): the peer is the producer. */
u32 sroce_ring_pending(const struct sroce_ring *ring);
const void *sroce_ring_peek(const struct sroce_ring *ring);
void sroce_ring_fetched(struct sroce_ring *ring);	/* cursor moves, slot not yet free */
void sroce_ring_release(struct sroce_ring *ring, u32 count);
void sroce_ring_show_fetched(struct sroce_ring *ring);	/* native mode, as is */
void sroce_ring_show_watched(struct sroce_ring *ring, bool watched);

/* A ring the kernel produces (CQ): the peer is the consumer. */
u32 sroce_ring_unread(const struct sroce_ring *ring);
void *sroce_ring_slot(const struct sroce_ring *ring);
void sroce_ring_publish(struct sroce_ring *ring);

/* Kernel consumers (kernel QPs and CQs) use the other side's index themselves. */
u32 sroce_ring_available(const struct sroce_ring *ring);

#endif
