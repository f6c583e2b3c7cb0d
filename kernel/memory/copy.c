// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Moving bytes between packets and regions: find the region, check the range,
 * copy piece by piece, let go of the region. A region may be held for the packets
 * of one skb (struct sroce_mr_ref); key and region are looked up again for the next,
 * because keys may go in between. The range is checked each time.
 *
 * Callers come from softirq or with a QP half locked; nothing here sleeps.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "memory/memory.h"
#include "transport/responder.h"

/* The bytes at @va of a range already checked, as far as they lie in one piece. */
static void *region_bytes_at(const struct sroce_region *region, u64 va, u32 bytes, u32 *contiguous)
{
	const struct sroce_page_list *pages = &region->pages;
	u64 offset, within;

	if (region->kind == SROCE_REGION_DMA) {
		*contiguous = min_t(u64, bytes, PAGE_SIZE - offset_in_page(va));
		/* An address may come from a peer, where the consumer opened all memory. */
		return virt_addr_valid((void *)(uintptr_t)va) ? (void *)(uintptr_t)va : NULL;
	}
	offset = va - region->range.iova + pages->first_offset;
	within = offset & (BIT_ULL(pages->shift) - 1);
	*contiguous = min_t(u64, bytes, BIT_ULL(pages->shift) - within);
	if (WARN_ON_ONCE(offset >> pages->shift >= pages->count))
		return NULL;
	return pages->pieces[offset >> pages->shift] + within;
}

/* Returns whether the piece that has been written was right. */
static bool next_segment(struct sroce_payload *from)
{
	from->at += from->skip_bytes;
	from->left_bytes = from->piece_bytes;
	if (from->segment_written && !from->segment_written(from))
		return false;
	from->pieces++;
	return true;
}

/* Returns whether all that was written is right, as far as can be told. */
static bool write_payload(void *to, struct sroce_payload *from, u32 bytes)
{
	if (!from->at) {
		/* The packet parser has checked that they are there. */
		WARN_ON_ONCE(skb_copy_bits(from->skb, from->offset, to, bytes));
		from->offset += bytes;
		return true;
	}
	while (bytes) {
		u32 contiguous = min(bytes, from->left_bytes);

		if (from->pieces && !from->checked) {
			from->writer.to = to;
			sroce_crc_write(&from->writer, from->at, contiguous);
		} else {
			memcpy(to, from->at, contiguous);
		}
		to += contiguous;
		bytes -= contiguous;
		from->at += contiguous;
		from->left_bytes -= contiguous;
		if (!from->left_bytes && !next_segment(from))
			return false;
	}
	return true;
}

static enum sroce_mem_status write_region(const struct sroce_region *region, u64 va,
					  struct sroce_payload *from, u32 bytes)
{
	u32 contiguous;

	for (; bytes; bytes -= contiguous, va += contiguous) {
		void *to = region_bytes_at(region, va, bytes, &contiguous);

		if (!to)
			return SROCE_MEM_BAD_RANGE;
		if (!write_payload(to, from, contiguous))
			return SROCE_MEM_BAD_PAYLOAD;
	}
	return SROCE_MEM_OK;
}

static enum sroce_mem_status read_region(const struct sroce_region *region, u64 va,
					 struct sroce_crc_writer *writer, u32 bytes)
{
	u32 contiguous;

	for (; bytes; bytes -= contiguous, va += contiguous) {
		const void *from = region_bytes_at(region, va, bytes, &contiguous);

		if (!from)
			return SROCE_MEM_BAD_RANGE;
		sroce_crc_write(writer, from, contiguous);
	}
	return SROCE_MEM_OK;
}

/**
 * sroce_mr_ref_init() - nothing is held yet
 * @mr_ref: filled in
 * @mem: key table
 * @pd: protection domain of the QP
 */
void sroce_mr_ref_init(struct sroce_mr_ref *mr_ref, struct sroce_memory *mem, const void *pd)
{
	mr_ref->mem = mem;
	mr_ref->pd = pd;
	mr_ref->region = NULL;
}

/**
 * sroce_mr_ref_put() - let go of the region held
 * @mr_ref: the mr_ref
 */
void sroce_mr_ref_put(struct sroce_mr_ref *mr_ref)
{
	if (mr_ref->region)
		sroce_region_close(mr_ref->region);
	mr_ref->region = NULL;
}

/* Hold the region with this key, which does not change while it is held, and check the range. */
static enum sroce_mem_status get_range(struct sroce_mr_ref *mr_ref, u32 key, u64 va, u32 bytes,
				       u32 access)
{
	if (!mr_ref->region || mr_ref->region->key != key) {
		sroce_mr_ref_put(mr_ref);
		mr_ref->region = sroce_region_open(mr_ref->mem, mr_ref->pd, key);
		if (!mr_ref->region)
			return SROCE_MEM_BAD_KEY;
	}
	return sroce_access_check(&mr_ref->region->range, va, bytes, access);
}

/**
 * sroce_memory_check() - may a peer touch this range?
 * @mem: key table
 * @pd: protection domain of the QP
 * @rkey: key
 * @va: first byte
 * @bytes: how many; 0 is always permitted and the key is not looked at
 * @access: SROCE_ACCESS_* needed
 *
 * Return: enum sroce_mem_status.
 */
enum sroce_mem_status sroce_memory_check(struct sroce_memory *mem, const void *pd, u32 rkey,
					 u64 va, u32 bytes, u32 access)
{
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;

	if (!bytes)
		return SROCE_MEM_OK;
	sroce_mr_ref_init(&mr_ref, mem, pd);
	status = get_range(&mr_ref, rkey, va, bytes, access);
	sroce_mr_ref_put(&mr_ref);
	return status;
}

/**
 * sroce_memory_place() - write the payload of a WRITE packet
 * @mem: key table
 * @pd: protection domain of the QP
 * @rkey: key; needs SROCE_ACCESS_REMOTE_WRITE
 * @va: where to
 * @check_bytes: range from @va that must be writable as a whole (the message)
 * @from: the payload
 * @bytes: payload to write, may be less than @check_bytes
 *
 * Return: enum sroce_mem_status; nothing was written unless SROCE_MEM_OK (but
 * for a DMA region with a hole in it), or SROCE_MEM_BAD_PAYLOAD: @from->pieces of it were right.
 */
enum sroce_mem_status sroce_memory_place(struct sroce_memory *mem, const void *pd, u32 rkey,
					 u64 va, u32 check_bytes, struct sroce_payload *from,
					 u32 bytes)
{
	u32 whole = max(check_bytes, bytes);
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;

	if (!whole)
		return SROCE_MEM_OK;
	sroce_mr_ref_init(&mr_ref, mem, pd);
	status = get_range(&mr_ref, rkey, va, whole, SROCE_ACCESS_REMOTE_WRITE);
	if (status == SROCE_MEM_OK)
		status = write_region(mr_ref.region, va, from, bytes);
	sroce_mr_ref_put(&mr_ref);
	return status;
}

/**
 * sroce_memory_fetch() - read the payload of READ responses
 * @mr_ref: what is held from one packet to the next
 * @rkey: key; needs SROCE_ACCESS_REMOTE_READ
 * @va: where from
 * @writer: where to
 * @bytes: how many
 *
 * Return: enum sroce_mem_status.
 */
enum sroce_mem_status sroce_memory_fetch(struct sroce_mr_ref *mr_ref, u32 rkey, u64 va,
					 struct sroce_crc_writer *writer, u32 bytes)
{
	enum sroce_mem_status status;

	if (!bytes)
		return SROCE_MEM_OK;
	status = get_range(mr_ref, rkey, va, bytes, SROCE_ACCESS_REMOTE_READ);
	return status == SROCE_MEM_OK ? read_region(mr_ref->region, va, writer, bytes) : status;
}

/*
 * One operation of the CPU, so that it is atomic against the CPU atomics of
 * whoever maps the memory, not only against other RDMA atomics.
 */
static u64 do_atomic(void *at, enum sroce_opcode op, u64 compare, u64 swap_add)
{
	if (op == SROCE_OP_COMPARE_SWAP)
		return cmpxchg64((u64 *)at, compare, swap_add);
	return atomic64_fetch_add(swap_add, (atomic64_t *)at);
}

/**
 * sroce_memory_atomic() - carry out an atomic on 8 bytes
 * @mem: key table
 * @pd: protection domain of the QP
 * @rkey: key; needs SROCE_ACCESS_REMOTE_ATOMIC
 * @va: where; a multiple of 8
 * @op: SROCE_OP_COMPARE_SWAP or SROCE_OP_FETCH_ADD
 * @compare: value that is exchanged (COMPARE_SWAP)
 * @swap_add: new value, or addend
 * @original: set to the value before, in host order
 *
 * Return: enum sroce_mem_status.
 */
enum sroce_mem_status sroce_memory_atomic(struct sroce_memory *mem, const void *pd, u32 rkey,
					  u64 va, enum sroce_opcode op, u64 compare, u64 swap_add,
					  u64 *original)
{
	struct sroce_region *region;
	enum sroce_mem_status status;
	void *at;
	u32 contiguous;

	if (!IS_ALIGNED(va, sizeof(u64)))
		return SROCE_MEM_MISALIGNED;
	region = sroce_region_open(mem, pd, rkey);
	if (!region)
		return SROCE_MEM_BAD_KEY;
	status = sroce_access_check(&region->range, va, sizeof(u64), SROCE_ACCESS_REMOTE_ATOMIC);
	if (status == SROCE_MEM_OK) {
		at = region_bytes_at(region, va, sizeof(u64), &contiguous);
		if (!at)
			status = SROCE_MEM_BAD_RANGE;
		else if (!IS_ALIGNED((uintptr_t)at, sizeof(u64)))
			status = SROCE_MEM_MISALIGNED;	/* an iova that is not where it seems */
		else
			*original = do_atomic(at, op, compare, swap_add);
	}
	sroce_region_close(region);
	return status;
}

/* Only the elements that are touched are looked at; empty ones need no key. */
static enum sroce_mem_status copy_sges(struct sroce_mr_ref *mr_ref, const struct sroce_sge *sge,
				       u32 num_sge, u32 offset, struct sroce_payload *from,
				       struct sroce_crc_writer *writer, u32 bytes)
{
	u32 access = from ? SROCE_ACCESS_LOCAL_WRITE : 0;
	enum sroce_mem_status status;

	for (; bytes && num_sge; sge++, num_sge--) {
		u64 va = sge->addr + offset;
		u32 contiguous;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		contiguous = min(bytes, sge->length - offset);
		status = get_range(mr_ref, sge->lkey, va, contiguous, access);
		if (status == SROCE_MEM_OK)
			status = from ? write_region(mr_ref->region, va, from, contiguous) :
					read_region(mr_ref->region, va, writer, contiguous);
		if (status != SROCE_MEM_OK)
			return status == SROCE_MEM_BAD_PAYLOAD ? status : SROCE_MEM_BAD_LOCAL;
		offset = 0;
		bytes -= contiguous;
	}
	return bytes ? SROCE_MEM_BAD_LOCAL : SROCE_MEM_OK;
}

/**
 * sroce_memory_scatter() - write bytes to a scatter list
 * @mem: key table
 * @pd: protection domain of the QP
 * @sge: the list, in kernel memory
 * @num_sge: elements in it
 * @offset: bytes of the list to skip
 * @from: what to write
 * @bytes: how many
 *
 * Return: SROCE_MEM_OK; SROCE_MEM_BAD_LOCAL when the list is too short or names memory that
 * may not be written; or SROCE_MEM_BAD_PAYLOAD: @from->pieces of it were right.
 */
enum sroce_mem_status sroce_memory_scatter(struct sroce_memory *mem, const void *pd,
					   const struct sroce_sge *sge, u32 num_sge, u32 offset,
					   struct sroce_payload *from, u32 bytes)
{
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;

	sroce_mr_ref_init(&mr_ref, mem, pd);
	status = copy_sges(&mr_ref, sge, num_sge, offset, from, NULL, bytes);
	sroce_mr_ref_put(&mr_ref);
	return status;
}

/**
 * sroce_memory_gather() - read a gather list
 * @mr_ref: what is held from one packet to the next
 * @sge: the list, in kernel memory
 * @num_sge: elements in it
 * @offset: bytes of the list to skip
 * @writer: where to
 * @bytes: how many
 *
 * Return: SROCE_MEM_OK or SROCE_MEM_BAD_LOCAL.
 */
enum sroce_mem_status sroce_memory_gather(struct sroce_mr_ref *mr_ref, const struct sroce_sge *sge,
					  u32 num_sge, u32 offset, struct sroce_crc_writer *writer,
					  u32 bytes)
{
	return copy_sges(mr_ref, sge, num_sge, offset, NULL, writer, bytes);
}
