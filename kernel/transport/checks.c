// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Checks of a send work request, of an access to a region, and of a memory window to be bound. A
 * work request is checked once, on the kernel's own copy.
 */
#include "transport/access.h"
#include "transport/opcode.h"
#include "transport/wire.h"
#include "transport/wqe.h"

static bool opcode_is_known(u8 opcode)
{
	switch (opcode) {
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
	case SROCE_WR_SEND:
	case SROCE_WR_SEND_IMM:
	case SROCE_WR_READ:
	case SROCE_WR_COMPARE_SWAP:
	case SROCE_WR_FETCH_ADD:
	case SROCE_WR_SEND_INV:
	case SROCE_WR_FLUSH:
	case SROCE_WR_ATOMIC_WRITE:
		return true;
	default:
		return wqe_is_local(opcode);
	}
}

static bool service_allows(u8 service, u8 opcode)
{
	if (!sroce_service_is_connected(service))
		return opcode == SROCE_WR_SEND || opcode == SROCE_WR_SEND_IMM;
	/* UC has neither responses nor SEND with invalidate (IBTA table 38). */
	if (!sroce_service_is_acked(service))
		return !wqe_is_rd_atomic(opcode) && opcode != SROCE_WR_SEND_INV;
	return true;
}

/* Does the operation permit the length of the message, or of the range of a FLUSH? */
static bool length_is_valid(const struct sroce_send_wqe *wqe)
{
	if (wqe_is_atomic(wqe->opcode) || wqe->opcode == SROCE_WR_ATOMIC_WRITE)
		return wqe->length == sizeof(u64);
	return wqe->opcode != SROCE_WR_FLUSH ||
	       (!wqe->length && sroce_flush_length_is_valid(wqe->flush.level, wqe->flush.length));
}

/* The scatter/gather list must add up to the length of the message. */
static bool sges_add_up(const struct sroce_send_wqe *wqe)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		sum += wqe->sge[i].length;
	return sum == wqe->length;
}

/**
 * sroce_wqe_check() - check a send work request copied from its poster
 * @wqe: the copy; its elements have been copied if @wqe->num_sge is at most @limits->max_sge
 * @limits: what the QP accepts
 *
 * Return: SROCE_WC_SUCCESS, or the status it must complete with: SROCE_WC_LOC_QP_OP_ERR for an
 * operation that the QP does not support, SROCE_WC_LOC_LEN_ERR for a length out of bounds.
 */
enum sroce_wc_status sroce_wqe_check(const struct sroce_send_wqe *wqe,
				     const struct sroce_wqe_limits *limits)
{
	if (!opcode_is_known(wqe->opcode) || !service_allows(limits->service, wqe->opcode))
		return SROCE_WC_LOC_QP_OP_ERR;
	if (wqe_is_local(wqe->opcode))
		return SROCE_WC_SUCCESS;
	/* A number that is too long must not become that of another queue. */
	if (limits->service == SROCE_SERVICE_XRC && wqe->srqn & ~SROCE_SRQN_MASK)
		return SROCE_WC_LOC_QP_OP_ERR;
	if (wqe->opcode == SROCE_WR_FLUSH &&
	    !sroce_flush_is_valid(wqe->flush.placement, wqe->flush.level))
		return SROCE_WC_LOC_QP_OP_ERR;
	if (wqe->length > SROCE_MAX_MESSAGE_BYTES)
		return SROCE_WC_LOC_LEN_ERR;
	if (!sroce_service_is_connected(limits->service) && wqe->length > limits->mtu_bytes)
		return SROCE_WC_LOC_LEN_ERR;

	if (wqe->flags & SROCE_SEND_INLINE) {
		/* A READ or an atomic needs a buffer for its response. */
		if (wqe_is_rd_atomic(wqe->opcode) && wqe->opcode != SROCE_WR_ATOMIC_WRITE)
			return SROCE_WC_LOC_QP_OP_ERR;
		return wqe->length <= limits->max_inline_bytes && length_is_valid(wqe) ?
		       SROCE_WC_SUCCESS : SROCE_WC_LOC_LEN_ERR;
	}
	if (wqe->num_sge > limits->max_sge)
		return SROCE_WC_LOC_QP_OP_ERR;
	return sges_add_up(wqe) && length_is_valid(wqe) ? SROCE_WC_SUCCESS : SROCE_WC_LOC_LEN_ERR;
}

/**
 * sroce_access_check() - is an access inside of the region, and permitted?
 * @range: what the region covers and permits
 * @va: address of the first byte
 * @bytes: how many; 0 needs no range, as for the FLUSH of a whole region, but permission. READs and
 *         WRITEs of 0 bytes need not even a key (IBTA 9.7.5.1.1), so their callers do not call this
 * @needed: SROCE_ACCESS_*, all of which must be permitted
 *
 * A region may end at the last address, so the check only subtracts and cannot overflow.
 *
 * Return: SROCE_MEM_OK, SROCE_MEM_BAD_ACCESS or SROCE_MEM_BAD_RANGE.
 */
enum sroce_mem_status sroce_access_check(const struct sroce_access_range *range, u64 va,
					 u64 bytes, u32 needed)
{
	if ((range->access & needed) != needed)
		return SROCE_MEM_BAD_ACCESS;
	if (!bytes)
		return SROCE_MEM_OK;
	if (va < range->iova || bytes > range->length || va - range->iova > range->length - bytes)
		return SROCE_MEM_BAD_RANGE;
	return SROCE_MEM_OK;
}

/* Consumers also ask for local writes, for which a window has no key. */
#define WINDOW_ACCESS	(SROCE_ACCESS_REMOTE | SROCE_ACCESS_LOCAL_WRITE | \
			 SROCE_ACCESS_ZERO_BASED | SROCE_ACCESS_OPTIONAL)

/**
 * sroce_bind_check() - may a memory window be bound to this range of a region?
 * @bind: the request
 * @range: what the region covers and permits
 * @is_type_2: of the window
 *
 * The region must permit windows (IBTA C10-73), and local writes if the window permits remote
 * writes or atomics (C10-74). The range must lie in the region (C10-75). A type 1 window is not
 * zero-based, and a type 2 window not empty (o10-37.2.40). A window permits a FLUSH only if the
 * region does, which says whether its memory can be flushed (annex A19).
 *
 * Return: SROCE_MEM_OK, SROCE_MEM_BAD_ACCESS or SROCE_MEM_BAD_RANGE.
 */
enum sroce_mem_status sroce_bind_check(const struct sroce_bind_mw *bind,
				       const struct sroce_access_range *range, bool is_type_2)
{
	u32 needed = SROCE_ACCESS_MW_BIND;

	if (bind->access & ~WINDOW_ACCESS)
		return SROCE_MEM_BAD_ACCESS;
	if ((bind->access & SROCE_ACCESS_ZERO_BASED) && !is_type_2)
		return SROCE_MEM_BAD_ACCESS;
	if (!bind->length)
		return SROCE_MEM_BAD_RANGE;
	if (bind->access & (SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_ATOMIC))
		needed |= SROCE_ACCESS_LOCAL_WRITE;
	needed |= bind->access & SROCE_ACCESS_FLUSH;
	return sroce_access_check(range, bind->addr, bind->length, needed);
}
