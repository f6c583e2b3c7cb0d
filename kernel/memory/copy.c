// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies between packets and regions.
 *
 * Each copy opens the region, checks the range, copies block by block and closes the region. A
 * struct sroce_mr_ref keeps it open for a round of a work queue. But a region that can be
 * invalidated stays open for the packets of one plan only, and the next plan looks its key up
 * again. The range is checked for each packet.
 *
 * Callers are in softirq or hold the lock of a work queue.
 */
#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "memory/copy.h"
#include "memory/pmem.h"
#include "transport/opcode.h"

/*
 * Returns the address of @va, whose range was checked, or NULL. @contiguous <= @bytes follow it.
 * Of an ODP region NULL means that the page is not present.
 */
static void *region_bytes_at(const struct sroce_region *region, u64 va, u32 bytes, bool write,
			     u32 *contiguous)
{
	const struct sroce_page_list *pages = &region->pages;
	u64 offset, within;
	void *block;

	if (region->kind == SROCE_REGION_DMA) {
		*contiguous = min_t(u64, bytes, PAGE_SIZE - offset_in_page(va));
		/* The consumer may have given its peer an R_Key for all memory. */
		return virt_addr_valid((void *)(uintptr_t)va) ? (void *)(uintptr_t)va : NULL;
	}
	offset = va - region->range.iova + pages->first_offset;
	within = offset & (BIT_ULL(pages->shift) - 1);
	*contiguous = min_t(u64, bytes, BIT_ULL(pages->shift) - within);
	if (WARN_ON_ONCE(offset >> pages->shift >= pages->count))
		return NULL;
	if (region->kind == SROCE_REGION_ODP) {
		block = sroce_odp_block(&pages->blocks[offset >> pages->shift], write);
		return block ? block + within : NULL;
	}
	return pages->blocks[offset >> pages->shift] + within;
}

/* There is no memory at @va: it is wrong, or not yet there. */
static enum sroce_mem_status note_missing(struct sroce_mr_ref *mr_ref, u64 va, u32 bytes,
					  bool write)
{
	struct sroce_page_wait *wait = mr_ref->wait;

	if (mr_ref->region->kind != SROCE_REGION_ODP || !wait)
		return SROCE_MEM_BAD_RANGE;
	if (wait->failed.bytes && wait->failed.key == mr_ref->region->key &&
	    wait->failed.va == va && wait->failed.write == write)
		return SROCE_MEM_BAD_RANGE;
	wait->missing = (struct sroce_page_range) {
		.pd = mr_ref->pd,
		.key = mr_ref->region->key,
		.write = write,
		.bytes = bytes,
		.va = va,
	};
	return SROCE_MEM_NOT_PRESENT;
}

/* Returns false if the piece just written was wrong. */
static bool next_segment(struct sroce_payload *from)
{
	from->left_bytes = from->piece_bytes;
	if (from->segment_written && !from->segment_written(from))
		return false;
	from->pieces++;
	return true;
}

/* Returns false if a piece completed here was wrong. */
static bool write_payload(void *to, struct sroce_payload *from, u32 bytes)
{
	if (!from->at) {
		/* The packet parser has checked the length. */
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

/* Write from @from to the open region, read it to @writer, or, without both, write nothing. */
static enum sroce_mem_status copy_region(struct sroce_mr_ref *mr_ref, u64 va,
					 struct sroce_payload *from,
					 struct sroce_crc_writer *writer, u32 bytes)
{
	u32 contiguous;
	bool correct;

	for (; bytes; bytes -= contiguous, va += contiguous) {
		void *at = region_bytes_at(mr_ref->region, va, bytes, !writer, &contiguous);

		if (!at)
			return note_missing(mr_ref, va, bytes, !writer);
		if (writer) {
			sroce_crc_write(writer, at, contiguous);
		} else if (from) {
			correct = write_payload(at, from, contiguous);
			/* The pieces before a wrong one count. */
			sroce_pmem_write_back(mr_ref->region, at, contiguous);
			if (!correct)
				return SROCE_MEM_BAD_PAYLOAD;
		}
	}
	return SROCE_MEM_OK;
}

/**
 * sroce_mr_ref_init() - set up a reference without a region
 * @mr_ref: the reference
 * @mem: key table
 * @pd: protection domain of the QP
 * @qp_serial: of the QP if its peer names the keys, 0 for L_Keys
 */
void sroce_mr_ref_init(struct sroce_mr_ref *mr_ref, struct sroce_memory *mem, const void *pd,
		       u64 qp_serial)
{
	mr_ref->mem = mem;
	mr_ref->pd = pd;
	mr_ref->qp_serial = qp_serial;
	mr_ref->region = NULL;
	mr_ref->fault = SROCE_MEM_OK;
	mr_ref->wait = NULL;
}

/**
 * sroce_mr_ref_put() - close the region, if one is open
 * @mr_ref: the reference
 */
void sroce_mr_ref_put(struct sroce_mr_ref *mr_ref)
{
	if (mr_ref->region)
		sroce_region_close(mr_ref->region);
	mr_ref->region = NULL;
}

/**
 * sroce_mr_ref_end_plan() - close the region if it, or a page of it, can be invalidated
 * @mr_ref: the reference
 */
void sroce_mr_ref_end_plan(struct sroce_mr_ref *mr_ref)
{
	if (mr_ref->region && sroce_region_is_volatile(mr_ref->region))
		sroce_mr_ref_put(mr_ref);
}

/* Open the region of @key, unless it is open already, and check the range. */
static enum sroce_mem_status open_range(struct sroce_mr_ref *mr_ref, u32 key, u64 va, u32 bytes,
					u32 access)
{
	if (!mr_ref->region || mr_ref->region->key != key || mr_ref->region->pd != mr_ref->pd) {
		sroce_mr_ref_put(mr_ref);
		mr_ref->region = sroce_region_open(mr_ref->mem, mr_ref->pd,
						   mr_ref->qp_serial, key);
		if (!mr_ref->region)
			return SROCE_MEM_BAD_KEY;
	}
	return sroce_access_check(&mr_ref->region->range, va, bytes, access);
}

/**
 * sroce_memory_place() - check a range of a peer, and write a payload to it
 * @range: must be accessible as a whole: for the first packet of a WRITE, the whole message. One of
 *	0 bytes is permitted whatever its key.
 * @from: the payload; NULL if @bytes is 0
 * @bytes: how many to write, from the start of @range on
 *
 * Return: enum sroce_mem_status. With SROCE_MEM_BAD_PAYLOAD, the first @from->pieces pieces are
 * correct. With another error, bytes before a hole of a DMA region, or before a page of an ODP
 * region that is not present, may have been written.
 */
enum sroce_mem_status sroce_memory_place(const struct sroce_mr_range *range,
					 struct sroce_payload *from, u32 bytes)
{
	u32 check_bytes = max(range->bytes, bytes);
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;

	if (!check_bytes)
		return SROCE_MEM_OK;
	sroce_mr_ref_init(&mr_ref, range->mem, range->pd, range->qp_serial);
	mr_ref.wait = range->wait;
	status = open_range(&mr_ref, range->key, range->va, check_bytes, range->access);
	if (status == SROCE_MEM_OK)
		status = copy_region(&mr_ref, range->va, from, NULL, bytes);
	sroce_mr_ref_put(&mr_ref);
	return status;
}

/**
 * sroce_memory_fetch() - read the payload of READ responses
 * @mr_ref: reference kept across packets
 * @rkey: R_Key; must permit SROCE_ACCESS_REMOTE_READ
 * @va: first byte
 * @writer: destination
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
	status = open_range(mr_ref, rkey, va, bytes, SROCE_ACCESS_REMOTE_READ);
	if (status == SROCE_MEM_OK)
		status = copy_region(mr_ref, va, NULL, writer, bytes);
	return status;
}

/* A CPU instruction, so that it is atomic against all CPUs, not only against RDMA atomics. */
static u64 do_atomic(void *at, enum sroce_opcode op, u64 compare, u64 swap_add)
{
	if (op == SROCE_OP_COMPARE_SWAP)
		return cmpxchg64((u64 *)at, compare, swap_add);
	if (op == SROCE_OP_ATOMIC_WRITE) {
		/* A process that reads it also sees what was written before. */
		smp_store_release((u64 *)at, swap_add);
		return 0;
	}
	return atomic64_fetch_add(swap_add, (atomic64_t *)at);
}

/**
 * sroce_memory_atomic() - execute an atomic on 8 bytes
 * @range: the 8 bytes; the address must be a multiple of 8
 * @op: SROCE_OP_COMPARE_SWAP, SROCE_OP_FETCH_ADD or SROCE_OP_ATOMIC_WRITE
 * @compare: COMPARE_SWAP: value that is replaced
 * @swap_add: COMPARE_SWAP and ATOMIC_WRITE: new value; FETCH_ADD: addend
 * @original: set to the previous value, in host order; ATOMIC_WRITE: to 0
 *
 * Return: enum sroce_mem_status.
 */
enum sroce_mem_status sroce_memory_atomic(const struct sroce_mr_range *range,
					  enum sroce_opcode op, u64 compare, u64 swap_add,
					  u64 *original)
{
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;
	void *at;
	u32 contiguous;

	if (!IS_ALIGNED(range->va, sizeof(u64)))
		return SROCE_MEM_MISALIGNED;
	sroce_mr_ref_init(&mr_ref, range->mem, range->pd, range->qp_serial);
	mr_ref.wait = range->wait;
	status = open_range(&mr_ref, range->key, range->va, sizeof(u64), range->access);
	if (status == SROCE_MEM_OK) {
		at = region_bytes_at(mr_ref.region, range->va, sizeof(u64), true, &contiguous);
		if (!at) {
			status = note_missing(&mr_ref, range->va, sizeof(u64), true);
		} else if (!IS_ALIGNED((uintptr_t)at, sizeof(u64))) {
			status = SROCE_MEM_MISALIGNED;	/* the iova is aligned, its memory is not */
		} else {
			*original = do_atomic(at, op, compare, swap_add);
			sroce_pmem_write_back(mr_ref.region, at, sizeof(u64));
		}
	}
	sroce_mr_ref_put(&mr_ref);
	return status;
}

/**
 * sroce_memory_flush() - check a range of a peer, and make what was written visible to everybody
 * @range: 0 bytes stand for the whole region; the key must be valid all the same
 *
 * The copies are stores of CPUs, whose caches are coherent, so a barrier is enough. If the range
 * permits a FLUSH for persistence, they are persistent already, see pmem.h.
 *
 * Return: enum sroce_mem_status.
 */
enum sroce_mem_status sroce_memory_flush(const struct sroce_mr_range *range)
{
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;

	sroce_mr_ref_init(&mr_ref, range->mem, range->pd, range->qp_serial);
	status = open_range(&mr_ref, range->key, range->va, range->bytes, range->access);
	sroce_mr_ref_put(&mr_ref);
	/* Before the response, which lets the peer tell others to look. */
	wmb();
	return status;
}

/* Checks only the elements that the copy touches. An empty element needs no key. */
static enum sroce_mem_status copy_sges(struct sroce_mr_ref *mr_ref, const struct sroce_sge *sge,
				       u32 num_sge, u32 offset, struct sroce_payload *from,
				       struct sroce_crc_writer *writer, u32 bytes)
{
	u32 access = writer ? 0 : SROCE_ACCESS_LOCAL_WRITE;
	enum sroce_mem_status status;

	for (; bytes && num_sge; sge++, num_sge--) {
		u64 va = sge->addr + offset;
		u32 contiguous;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		contiguous = min(bytes, sge->length - offset);
		status = open_range(mr_ref, sge->lkey, va, contiguous, access);
		if (status == SROCE_MEM_OK)
			status = copy_region(mr_ref, va, from, writer, contiguous);
		if (status == SROCE_MEM_NOT_PRESENT)
			return status;
		if (status != SROCE_MEM_OK) {
			mr_ref->fault = status;
			return status == SROCE_MEM_BAD_PAYLOAD ? status : SROCE_MEM_BAD_LOCAL;
		}
		offset = 0;
		bytes -= contiguous;
	}
	if (!bytes)
		return SROCE_MEM_OK;
	mr_ref->fault = SROCE_MEM_BAD_LOCAL;
	return SROCE_MEM_BAD_LOCAL;
}

/**
 * sroce_memory_scatter() - write bytes to a scatter list
 * @mem: key table
 * @pd: protection domain of the QP
 * @sge: the list, in kernel memory
 * @num_sge: elements in it
 * @offset: bytes of the list to skip
 * @from: the bytes; its fault is set
 * @bytes: how many
 *
 * Return: SROCE_MEM_OK; SROCE_MEM_BAD_LOCAL if the list is too short or names memory that may not
 * be written; SROCE_MEM_BAD_PAYLOAD if only the first @from->pieces pieces are correct;
 * SROCE_MEM_NOT_PRESENT.
 */
enum sroce_mem_status sroce_memory_scatter(struct sroce_memory *mem, const void *pd,
					   const struct sroce_sge *sge, u32 num_sge, u32 offset,
					   struct sroce_payload *from, u32 bytes)
{
	enum sroce_mem_status status;
	struct sroce_mr_ref mr_ref;

	sroce_mr_ref_init(&mr_ref, mem, pd, 0);
	mr_ref.wait = from->wait;
	status = copy_sges(&mr_ref, sge, num_sge, offset, from, NULL, bytes);
	sroce_mr_ref_put(&mr_ref);
	from->fault = mr_ref.fault;
	return status;
}

/**
 * sroce_memory_gather() - read a gather list
 * @mr_ref: reference kept across packets
 * @sge: the list, in kernel memory
 * @num_sge: elements in it
 * @offset: bytes of the list to skip
 * @writer: destination
 * @bytes: how many
 *
 * Return: SROCE_MEM_OK, SROCE_MEM_BAD_LOCAL or SROCE_MEM_NOT_PRESENT.
 */
enum sroce_mem_status sroce_memory_gather(struct sroce_mr_ref *mr_ref, const struct sroce_sge *sge,
					  u32 num_sge, u32 offset, struct sroce_crc_writer *writer,
					  u32 bytes)
{
	return copy_sges(mr_ref, sge, num_sge, offset, NULL, writer, bytes);
}

/**
 * sroce_memory_check_sges() - could a scatter list be written now?
 * @mr_ref: reference kept across calls
 * @sge: the list, in kernel memory
 * @num_sge: elements in it
 * @offset: bytes of the list to skip
 * @bytes: how many
 *
 * Return: what sroce_memory_scatter() would return.
 */
enum sroce_mem_status sroce_memory_check_sges(struct sroce_mr_ref *mr_ref,
					      const struct sroce_sge *sge, u32 num_sge,
					      u32 offset, u32 bytes)
{
	return copy_sges(mr_ref, sge, num_sge, offset, NULL, NULL, bytes);
}
