// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings shared with a process, or between kernel consumer and datapath.
 *
 *            cursor               The shared pages hold two indices. The kernel consumes SQ and
 *              v                  RQ, and produces into the CQ. It only writes its own index,
 *   +---+---+---+---+---+---+     from a private copy, and only reads the other one, once.
 *   |   | x | x | x | . |   |
 *   +---+---+---+---+---+---+     A wild value leads to a wrong number of elements, at most the
 *         ^           ^           capacity, and every element is inside the ring. A number beyond
 *     consumer     producer       the capacity counts as 0, or there would be endless work.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "datapath/ring.h"
#include "uapi/sroce_abi.h"

/* A cache line, and librxe's own lower bound for an element. */
#define MIN_ELEMENT_SHIFT	6

/**
 * sroce_ring_capacity() - the number of elements that a ring can hold
 * @ring: the ring
 *
 * Return: the number; in the rxe layout one less than slots.
 */
u32 sroce_ring_capacity(const struct sroce_ring *ring)
{
	return ring->wrap == ring->mask ? ring->mask : ring->mask + 1;
}

static u32 ring_distance(const struct sroce_ring *ring, u32 from, u32 to)
{
	u32 count = (to - from) & ring->wrap;

	return count <= sroce_ring_capacity(ring) ? count : 0;
}

static u32 ring_index_add(const struct sroce_ring *ring, u32 index, u32 count)
{
	return (index + count) & ring->wrap;
}

static struct sroce_ring_memory *alloc_memory(size_t bytes)
{
	struct sroce_ring_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);

	if (!memory)
		return NULL;
	kref_init(&memory->refs);
	memory->bytes = bytes;
	/* Not vmalloc_user(), which cannot charge the process's memory cgroup. */
	memory->buf = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!memory->buf) {
		kfree(memory);
		return NULL;
	}
	return memory;
}

static void free_memory(struct kref *refs)
{
	struct sroce_ring_memory *memory = container_of(refs, struct sroce_ring_memory, refs);

	vfree(memory->buf);
	kfree(memory);
}

/**
 * sroce_ring_init() - allocate an empty ring
 * @ring: zeroed or uninitialised
 * @elements: how many it must hold; one is added, and the sum rounded up to a power of two
 * @element_bytes: size of one, rounded up to a power of two
 *
 * May sleep.
 *
 * Return: 0, -EINVAL if the sizes overflow, -ENOMEM.
 */
int sroce_ring_init(struct sroce_ring *ring, u32 elements, u32 element_bytes)
{
	u32 shift = max_t(u32, MIN_ELEMENT_SHIFT, order_base_2(element_bytes));
	struct rxe_queue_buf *buf;
	u32 slots;
	size_t bytes;

	memset(ring, 0, sizeof(*ring));
	if (elements > BIT(30) || shift > 30)
		return -EINVAL;
	slots = roundup_pow_of_two(elements + 1);
	if (check_shl_overflow((size_t)slots, shift, &bytes) ||
	    check_add_overflow(bytes, sizeof(struct rxe_queue_buf), &bytes))
		return -EINVAL;

	ring->memory = alloc_memory(PAGE_ALIGN(bytes));
	if (!ring->memory)
		return -ENOMEM;
	buf = ring->memory->buf;
	ring->producer = &buf->producer_index;
	ring->consumer = &buf->consumer_index;
	ring->elements = buf->data;
	ring->stride = 1u << shift;
	ring->mask = slots - 1;
	ring->wrap = ring->mask;
	buf->log2_elem_size = shift;
	buf->index_mask = ring->mask;
	return 0;
}

static void place_ring(struct sroce_ring *ring, struct sroce_ring_memory *memory, u32 head_at,
		       size_t elements_at, u32 slots, u32 stride)
{
	*ring = (struct sroce_ring) {
		.memory = memory,
		.head = memory->buf + head_at,
		.elements = memory->buf + elements_at,
		.stride = stride,
		.mask = slots - 1,
		.wrap = U32_MAX,
	};
	ring->producer = &ring->head->producer;
	ring->consumer = &ring->head->consumer;
}

/**
 * sroce_ring_init_native() - allocate the queues of a QP in native mode
 * @sq: send queue
 * @sq_slots: a power of two, at most 2^16
 * @sq_stride: bytes of a slot, whole cache lines, at most a page
 * @rq: receive queue
 * @rq_slots: a power of two, at most 2^16
 * @rq_stride: bytes of a slot, at most a page
 *
 * The heads of both queues come first, then the slots of the receive queue. May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_ring_init_native(struct sroce_ring *sq, u32 sq_slots, u32 sq_stride,
			   struct sroce_ring *rq, u32 rq_slots, u32 rq_stride)
{
	size_t rq_at = 2 * sizeof(struct sroce_queue_head);
	size_t sq_at = ALIGN(rq_at + (size_t)rq_slots * rq_stride, SROCE_QUEUE_LINE);
	struct sroce_ring_memory *memory;

	BUILD_BUG_ON(offsetof(struct sroce_queue_head, consumer) != SROCE_QUEUE_LINE);
	BUILD_BUG_ON(sizeof(struct sroce_queue_head) != 2 * SROCE_QUEUE_LINE);
	memory = alloc_memory(PAGE_ALIGN(sq_at + (size_t)sq_slots * sq_stride));
	if (!memory)
		return -ENOMEM;
	kref_get(&memory->refs);
	place_ring(sq, memory, 0, sq_at, sq_slots, sq_stride);
	place_ring(rq, memory, sizeof(struct sroce_queue_head), rq_at, rq_slots, rq_stride);
	return 0;
}

/**
 * sroce_ring_init_single() - allocate a queue that shares its pages with none, in native mode
 * @ring: shared receive queue, or the send queue of a QP that uses one
 * @slots: a power of two, at most 2^16
 * @stride: bytes of a slot, at most a page
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_ring_init_single(struct sroce_ring *ring, u32 slots, u32 stride)
{
	size_t slots_at = sizeof(struct sroce_queue_head);
	struct sroce_ring_memory *memory;

	memory = alloc_memory(PAGE_ALIGN(slots_at + (size_t)slots * stride));
	if (!memory)
		return -ENOMEM;
	place_ring(ring, memory, 0, slots_at, slots, stride);
	return 0;
}

/**
 * sroce_ring_fini() - drop the owner's reference to the pages
 * @ring: the ring; one that was never set up (all zero) is accepted
 *
 * A mapping keeps its own reference; the kernel does not look at the pages again.
 */
void sroce_ring_fini(struct sroce_ring *ring)
{
	if (ring->memory)
		sroce_ring_memory_put(ring->memory);
	ring->memory = NULL;
}

/**
 * sroce_ring_memory_put() - drop a reference to the pages of a ring
 * @memory: the pages; may be freed; may sleep
 */
void sroce_ring_memory_put(struct sroce_ring_memory *memory)
{
	kref_put(&memory->refs, free_memory);
}

/**
 * sroce_ring_offset() - where something lies in the pages that a process maps
 * @ring: the ring
 * @at: its head or its elements
 *
 * Return: bytes from their start.
 */
u32 sroce_ring_offset(const struct sroce_ring *ring, const void *at)
{
	return at - ring->memory->buf;
}

/**
 * sroce_ring_reset() - empty a ring
 * @ring: the ring; the caller makes sure that the kernel does not use it meanwhile
 *
 * Both shared indices are set: a QP in RESET has nothing queued, whatever the process wrote there.
 */
void sroce_ring_reset(struct sroce_ring *ring)
{
	ring->cursor = 0;
	WRITE_ONCE(*ring->producer, 0);
	WRITE_ONCE(*ring->consumer, 0);
	if (!ring->head)
		return;
	sroce_ring_publish_fetched(ring);
	sroce_ring_set_no_doorbell(ring, false);
}

/**
 * sroce_ring_start() - set the indices of a ring that nobody uses yet
 * @ring: RQ; its elements are filled in
 * @consumer: the first element
 * @producer: one past the last
 */
void sroce_ring_start(struct sroce_ring *ring, u32 consumer, u32 producer)
{
	ring->cursor = consumer & ring->wrap;
	WRITE_ONCE(*ring->consumer, ring->cursor);
	WRITE_ONCE(*ring->producer, producer & ring->wrap);
}

/**
 * sroce_ring_pending() - elements the peer has produced and we have not fetched
 * @ring: SQ or RQ
 *
 * The elements' contents may be read after this (acquire).
 *
 * Return: at most what the ring can hold.
 */
u32 sroce_ring_pending(const struct sroce_ring *ring)
{
	/* Pairs with the producer's release: the elements are there. */
	u32 producer = smp_load_acquire(ring->producer);

	return ring_distance(ring, ring->cursor, producer);
}

/**
 * sroce_ring_slot() - the element at the kernel's index
 * @ring: SQ or RQ with something pending, or CQ that is not full
 *
 * The process may change an SQ or RQ at any time: copy the element, then look at the copy. A CQ
 * is written, never read.
 *
 * Return: the element to fetch or to fill next.
 */
void *sroce_ring_slot(const struct sroce_ring *ring)
{
	return sroce_ring_at(ring, ring->cursor);
}

/**
 * sroce_ring_fetched() - the element peeked at has been copied
 * @ring: SQ or RQ
 *
 * The slot is not free yet, see sroce_ring_release().
 */
void sroce_ring_fetched(struct sroce_ring *ring)
{
	ring->cursor = ring_index_add(ring, ring->cursor, 1);
}

/**
 * sroce_ring_release() - let the peer use slots again
 * @ring: SQ or RQ
 * @used: how many of the fetched elements, the newest, stay in use
 */
void sroce_ring_release(struct sroce_ring *ring, u32 used)
{
	/* Our reads of the elements come before the producer's reuse. */
	smp_store_release(ring->consumer, ring_index_add(ring, ring->cursor, -used));
}

/**
 * sroce_ring_publish_fetched() - tell the process how far the ring has been fetched
 * @ring: SQ, native
 */
void sroce_ring_publish_fetched(struct sroce_ring *ring)
{
	WRITE_ONCE(ring->head->fetched, ring->cursor);
}

/**
 * sroce_ring_set_no_doorbell() - tell the process whether it may skip the doorbell
 * @ring: SQ, native
 * @no_doorbell: whether the kernel will look at the ring again without one
 */
void sroce_ring_set_no_doorbell(struct sroce_ring *ring, bool no_doorbell)
{
	WRITE_ONCE(ring->head->no_doorbell, no_doorbell);
}

/**
 * sroce_ring_unread() - number of entries that the consumer has not taken, by its index
 * @ring: CQ
 *
 * Return: at most what the ring can hold; then there is no slot to produce into.
 */
u32 sroce_ring_unread(const struct sroce_ring *ring)
{
	/* Pairs with the consumer's release: it has read what we overwrite. */
	u32 consumer = smp_load_acquire(ring->consumer);

	return ring_distance(ring, consumer, ring->cursor);
}

/**
 * sroce_ring_publish() - hand the filled slot to the consumer
 * @ring: CQ
 */
void sroce_ring_publish(struct sroce_ring *ring)
{
	ring->cursor = ring_index_add(ring, ring->cursor, 1);
	/* The entry is written before it can be seen. */
	smp_store_release(ring->producer, ring->cursor);
}

/**
 * sroce_ring_filled() - elements produced and not consumed, by the shared indices
 * @ring: a ring of a kernel consumer: the kernel writes both indices
 *
 * Return: at most what the ring can hold.
 */
u32 sroce_ring_filled(const struct sroce_ring *ring)
{
	/* Pairs with the producer's release. */
	u32 producer = smp_load_acquire(ring->producer);
	/* Pairs with the consumer's release. */
	u32 consumer = smp_load_acquire(ring->consumer);

	return ring_distance(ring, consumer, producer);
}
