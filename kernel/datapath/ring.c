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

#include "datapath/ring.h"
#include "uapi/sroce_abi.h"

/* A cache line, and librxe's own lower bound for an element. */
#define MIN_ELEMENT_SHIFT	6

/* Shared memory of fewer pages would save less than its file costs. */
#define MIN_SHMEM_PAGES		3

/* Pages to keep ahead of the producer: at 10 million entries a second, those of 100 us. */
#define PAGES_AHEAD		16

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

/* Sizes of a ring in the rxe layout; see sroce_ring_init(). Returns the bytes, or 0 if too many. */
static size_t size_ring(struct sroce_ring *ring, u32 elements, u32 element_bytes)
{
	u32 shift = max_t(u32, MIN_ELEMENT_SHIFT, order_base_2(element_bytes));
	u32 slots;
	size_t bytes;

	memset(ring, 0, sizeof(*ring));
	if (elements > BIT(30) || shift > 30)
		return 0;
	slots = roundup_pow_of_two(elements + 1);
	if (check_shl_overflow((size_t)slots, shift, &bytes) ||
	    check_add_overflow(bytes, sizeof(struct rxe_queue_buf), &bytes))
		return 0;
	ring->stride = 1u << shift;
	ring->mask = slots - 1;
	ring->wrap = ring->mask;
	return PAGE_ALIGN(bytes);
}

static void place_head(struct sroce_ring *ring, struct rxe_queue_buf *buf)
{
	ring->producer = &buf->producer_index;
	ring->consumer = &buf->consumer_index;
	buf->log2_elem_size = ilog2(ring->stride);
	buf->index_mask = ring->mask;
}

/**
 * sroce_ring_init() - allocate an empty ring for work requests
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
	size_t bytes = size_ring(ring, elements, element_bytes);
	struct rxe_queue_buf *buf;

	if (!bytes)
		return -EINVAL;
	ring->memory = sroce_ring_memory_alloc(bytes);
	if (!ring->memory)
		return -ENOMEM;
	buf = ring->memory->buf;
	place_head(ring, buf);
	ring->elements = buf->data;
	return 0;
}

/**
 * sroce_ring_init_shmem() - allocate an empty ring for sends of librxe
 * @ring: zeroed or uninitialised
 * @elements: as sroce_ring_init()
 * @element_bytes: as sroce_ring_init()
 *
 * Memory of a large ring grows by use. May sleep.
 *
 * Return: 0, -EINVAL if the sizes overflow, -ENOMEM.
 */
int sroce_ring_init_shmem(struct sroce_ring *ring, u32 elements, u32 element_bytes)
{
	size_t bytes = size_ring(ring, elements, element_bytes);

	/* An element may lie in two pages, and no more. */
	if (!bytes || ring->stride > PAGE_SIZE)
		return -EINVAL;
	if (bytes < MIN_SHMEM_PAGES * PAGE_SIZE)
		return sroce_ring_init(ring, elements, element_bytes);
	ring->memory = sroce_ring_memory_alloc_shmem(bytes);
	if (!ring->memory)
		return -ENOMEM;
	place_head(ring, ring->memory->pages[0]);
	return 0;
}

/**
 * sroce_ring_init_cq() - allocate an empty ring for completions
 * @ring: zeroed or uninitialised
 * @entries: as sroce_ring_init()
 * @entry_bytes: as sroce_ring_init(), at most a page
 * @is_user: a large ring grows by use; that of a kernel consumer never does
 *
 * May sleep.
 *
 * Return: 0, -EINVAL if the sizes overflow, -ENOMEM.
 */
int sroce_ring_init_cq(struct sroce_ring *ring, u32 entries, u32 entry_bytes, bool is_user)
{
	size_t bytes = size_ring(ring, entries, entry_bytes);
	int err;

	/* No entry crosses a page. */
	BUILD_BUG_ON(offsetof(struct rxe_queue_buf, data) % BIT(MIN_ELEMENT_SHIFT));
	if (!bytes)
		return -EINVAL;
	ring->memory = sroce_ring_memory_alloc_pages(bytes, is_user);
	if (!ring->memory)
		return -ENOMEM;
	err = sroce_ring_add_ahead(ring);
	if (err)
		sroce_ring_fini(ring);
	else
		place_head(ring, ring->memory->pages[0]);
	return err;
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
	memory = sroce_ring_memory_alloc(PAGE_ALIGN(sq_at + (size_t)sq_slots * sq_stride));
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

	memory = sroce_ring_memory_alloc(PAGE_ALIGN(slots_at + (size_t)slots * stride));
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
	WRITE_ONCE(ring->head->needs_doorbell, 0);
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

/* The pages of @count elements from @index on, which do not wrap. */
static int add_elements(const struct sroce_ring *ring, u32 index, u32 count)
{
	size_t begin = sroce_ring_element_offset(ring, index);
	size_t end = begin + (size_t)count * ring->stride;
	u32 first = begin >> PAGE_SHIFT;

	return count ? sroce_ring_memory_add(ring->memory, first,
					     ((end - 1) >> PAGE_SHIFT) - first + 1) : 0;
}

/**
 * sroce_ring_add_posted() - get the memory of all that the process has posted
 * @ring: SQ; others may read it meanwhile
 *
 * What the process has written is there already. It need not have written to the end of an element,
 * whose last page may be added here. May sleep.
 *
 * Return: 0 or -ENOMEM; then some requests may have their memory.
 */
int sroce_ring_add_posted(const struct sroce_ring *ring)
{
	u32 cursor, count, straight;

	if (ring->elements || !atomic_read(&ring->memory->missing))
		return 0;
	/* Before the producer's index, or most of the ring would seem to be posted. */
	cursor = smp_load_acquire(&ring->cursor);
	/* Pairs with the producer's release, as sroce_ring_pending() does. */
	count = ring_distance(ring, cursor, smp_load_acquire(ring->producer));
	straight = min(count, ring->mask + 1 - cursor);
	return add_elements(ring, cursor, straight) ?: add_elements(ring, 0, count - straight);
}

/**
 * sroce_ring_copy_pages() - sroce_ring_copy() from a ring in shared memory
 * @ring: SQ
 * @offset: in the element at the kernel's index, which is present and may lie in two pages
 * @to: what is copied
 * @bytes: at most to the end of the element
 */
void sroce_ring_copy_pages(const struct sroce_ring *ring, u32 offset, void *to, u32 bytes)
{
	size_t at = sroce_ring_element_offset(ring, ring->cursor) + offset;

	while (bytes) {
		u32 piece = min_t(u32, bytes, PAGE_SIZE - offset_in_page(at));

		memcpy(to, READ_ONCE(ring->memory->pages[at >> PAGE_SHIFT]) + offset_in_page(at),
		       piece);
		at += piece;
		to += piece;
		bytes -= piece;
	}
}

/**
 * sroce_ring_fetched() - the element at the cursor has been copied
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
 * sroce_ring_require_doorbell() - tell the process to announce receives by a doorbell from now on
 * @ring: RQ; without effect in the rxe layout
 *
 * A receive that the process has posted without one is in the ring afterwards.
 */
void sroce_ring_require_doorbell(struct sroce_ring *ring)
{
	if (!ring->head)
		return;
	WRITE_ONCE(ring->head->needs_doorbell, 1);
	/* Pairs with ProducerRing::publish(): the process sees the word, or we see its request. */
	smp_mb();
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
 * sroce_ring_entry() - an entry of a CQ
 * @ring: CQ
 * @index: of the entry; may come from a process: it is masked
 *
 * Return: the entry; NULL if nothing was ever written there, because its page is not there.
 */
void *sroce_ring_entry(const struct sroce_ring *ring, u32 index)
{
	size_t offset = sroce_ring_element_offset(ring, index);
	void *page = READ_ONCE(ring->memory->pages[offset >> PAGE_SHIFT]);

	return page ? page + offset_in_page(offset) : NULL;
}

/**
 * sroce_ring_next_entry() - the entry to fill in, for sroce_ring_publish()
 * @ring: CQ that is not full
 *
 * Any context. Adds its page, if sroce_ring_add_ahead() was too late.
 *
 * Return: the entry, which is written and never read; NULL if there is no memory.
 */
void *sroce_ring_next_entry(const struct sroce_ring *ring)
{
	void *entry = sroce_ring_entry(ring, ring->cursor), *page;
	size_t offset;

	if (likely(entry))
		return entry;
	offset = sroce_ring_element_offset(ring, ring->cursor);
	page = sroce_ring_memory_page(ring->memory, offset >> PAGE_SHIFT, GFP_NOWAIT);
	return page ? page + offset_in_page(offset) : NULL;
}

/**
 * sroce_ring_wants_pages() - is it time for sroce_ring_add_ahead()?
 * @ring: CQ
 *
 * Return: whether half of the pages that should be ahead are missing; true only at the first entry
 * of a page.
 */
bool sroce_ring_wants_pages(const struct sroce_ring *ring)
{
	const struct sroce_ring_memory *memory = ring->memory;
	size_t offset = sroce_ring_element_offset(ring, ring->cursor);
	u32 ahead = (offset >> PAGE_SHIFT) + PAGES_AHEAD / 2;

	return !offset_in_page(offset) &&
	       !READ_ONCE(memory->pages[ahead % sroce_ring_memory_count(memory)]);
}

/**
 * sroce_ring_add_ahead() - add the pages for the next entries
 * @ring: CQ, or a copy of it
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_ring_add_ahead(const struct sroce_ring *ring)
{
	u32 first = sroce_ring_element_offset(ring, ring->cursor) >> PAGE_SHIFT;

	return sroce_ring_memory_add(ring->memory, first, 1 + PAGES_AHEAD);
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
