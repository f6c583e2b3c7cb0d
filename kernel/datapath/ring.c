// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings shared with a process, or between kernel consumer and datapath.
 *
 *            cursor               Every index lives in [0, mask]. The shared
 *              v                  page holds two of them, and which is ours
 *   +---+---+---+---+---+---+     depends on the ring: the kernel consumes SQ
 *   |   | x | x | x | . |   |     and RQ, and produces into the CQ. Ours is
 *   +---+---+---+---+---+---+     only ever written here, from the private
 *         ^           ^           copy; theirs is only ever read, once, and
 *     consumer     producer       masked: a wild value makes a wrong count of
 *                                 at most mask elements, all of them inside.
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

static void *element(const struct sroce_ring *ring, u32 index)
{
	return ring->buf->data + ((size_t)index << ring->element_shift);
}

static struct sroce_ring_memory *alloc_memory(size_t bytes)
{
	struct sroce_ring_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);

	if (!memory)
		return NULL;
	kref_init(&memory->refs);
	memory->bytes = bytes;
	/* Not vmalloc_user(), which cannot charge the process's memory cgroup. */
	memory->buf = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
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
 * @elements: how many it must hold; one slot more is kept, and the sum rounded
 *            up to a power of two
 * @element_bytes: size of one, rounded up to a power of two
 *
 * May sleep.
 *
 * Return: 0, -EINVAL when the sizes overflow, -ENOMEM.
 */
int sroce_ring_init(struct sroce_ring *ring, u32 elements, u32 element_bytes)
{
	u32 shift = max_t(u32, MIN_ELEMENT_SHIFT, order_base_2(element_bytes));
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
	ring->buf = ring->memory->buf;
	ring->element_shift = shift;
	ring->mask = slots - 1;
	ring->buf->log2_elem_size = shift;
	ring->buf->index_mask = ring->mask;
	return 0;
}

/**
 * sroce_ring_fini() - give up the owner's share of the pages
 * @ring: the ring; one that was never set up (all zero) is accepted
 *
 * A mapping keeps the pages until it goes; the kernel does not look at them
 * again.
 */
void sroce_ring_fini(struct sroce_ring *ring)
{
	if (ring->memory)
		sroce_ring_memory_put(ring->memory);
	ring->memory = NULL;
	ring->buf = NULL;
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
 * sroce_ring_reset() - empty a ring
 * @ring: the ring; the caller keeps all other users of the kernel's side away
 *
 * Both shared indices are set: a QP in RESET has nothing queued, whatever its
 * owner wrote there.
 */
void sroce_ring_reset(struct sroce_ring *ring)
{
	ring->cursor = 0;
	ring->released = 0;
	WRITE_ONCE(ring->buf->producer_index, 0);
	WRITE_ONCE(ring->buf->consumer_index, 0);
	sroce_ring_show_fetched(ring);
	sroce_ring_show_watched(ring, false);
}

/**
 * sroce_ring_pending() - elements the peer has produced and we have not fetched
 * @ring: SQ or RQ
 *
 * The elements' contents may be read after this (acquire).
 *
 * Return: at most @ring->mask.
 */
u32 sroce_ring_pending(const struct sroce_ring *ring)
{
	/* Pairs with the producer's release: the elements are there. */
	u32 producer = smp_load_acquire(&ring->buf->producer_index);

	return (producer - ring->cursor) & ring->mask;
}

/**
 * sroce_ring_peek() - the next element to fetch
 * @ring: SQ or RQ with something pending
 *
 * Its owner may change it at any time: copy it out, then look at the copy.
 *
 * Return: the element.
 */
const void *sroce_ring_peek(const struct sroce_ring *ring)
{
	return element(ring, ring->cursor);
}

/**
 * sroce_ring_fetched() - the element peeked at has been copied out
 * @ring: SQ or RQ
 *
 * The slot is not free yet, see sroce_ring_release().
 */
void sroce_ring_fetched(struct sroce_ring *ring)
{
	ring->cursor = (ring->cursor + 1) & ring->mask;
}

/**
 * sroce_ring_release() - let the peer use slots again
 * @ring: SQ or RQ
 * @count: how many of the fetched elements, oldest first
 */
void sroce_ring_release(struct sroce_ring *ring, u32 count)
{
	ring->released = (ring->released + count) & ring->mask;
	/* Our reads of the elements come before the producer's reuse. */
	smp_store_release(&ring->buf->consumer_index, ring->released);
}

/**
 * sroce_ring_show_fetched() - tell the process how far the ring has been fetched
 * @ring: SQ
 */
void sroce_ring_show_fetched(struct sroce_ring *ring)
{
	WRITE_ONCE(ring->buf->pad_3[SROCE_RING_FETCHED], ring->cursor);
}

/**
 * sroce_ring_show_watched() - tell the process whether it may do without the doorbell
 * @ring: SQ
 * @watched: whether the kernel will look at the ring again without one
 */
void sroce_ring_show_watched(struct sroce_ring *ring, bool watched)
{
	WRITE_ONCE(ring->buf->pad_3[SROCE_RING_WATCHED], watched);
}

/**
 * sroce_ring_unread() - how many entries the consumer has not taken, as it says
 * @ring: CQ
 *
 * Return: at most @ring->mask; then there is no slot to produce into.
 */
u32 sroce_ring_unread(const struct sroce_ring *ring)
{
	/* Pairs with the consumer's release: it has read what we overwrite. */
	u32 consumer = smp_load_acquire(&ring->buf->consumer_index);

	return (ring->cursor - consumer) & ring->mask;
}

/**
 * sroce_ring_slot() - the slot to fill next
 * @ring: CQ that is not full
 *
 * Return: the slot; it is written, never read.
 */
void *sroce_ring_slot(const struct sroce_ring *ring)
{
	return element(ring, ring->cursor);
}

/**
 * sroce_ring_publish() - hand the filled slot to the consumer
 * @ring: CQ
 */
void sroce_ring_publish(struct sroce_ring *ring)
{
	ring->cursor = (ring->cursor + 1) & ring->mask;
	/* The entry is written before it can be seen. */
	smp_store_release(&ring->buf->producer_index, ring->cursor);
}

/**
 * sroce_ring_available() - elements produced and not consumed, by the shared indices
 * @ring: a ring with a kernel consumer on the other side; both indices are
 *        then the kernel's own
 *
 * Return: at most @ring->mask.
 */
u32 sroce_ring_available(const struct sroce_ring *ring)
{
	/* Pairs with the release of whoever produces, */
	u32 producer = smp_load_acquire(&ring->buf->producer_index);
	/* and of whoever consumes. */
	u32 consumer = smp_load_acquire(&ring->buf->consumer_index);

	return (producer - consumer) & ring->mask;
}
