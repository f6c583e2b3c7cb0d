// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder's part of READs, atomics, FLUSH and ATOMIC WRITE: the requests that get a response
 * of their own. Each takes an entry of the ring of responder_resources.c, which also serves its
 * duplicates. A duplicate READ reads the memory again; the others are never executed twice, because
 * others may have written to the memory since.
 *
 * The response to a FLUSH or ATOMIC WRITE is a READ response without data (IBTA annex A19).
 * Requests are executed in order, and payload is in memory when its request has been executed. So a
 * FLUSH finds everything that came before it, and an ATOMIC WRITE is written last.
 */
#include "transport/opcode.h"
#include "transport/psn.h"
#include "transport/responder_internal.h"
#include "transport/responder_resources.h"

/**
 * sroce_rd_atomic_flush_access() - access that a FLUSH needs, of the QP and of the region
 * @pkt: the request
 *
 * Return: SROCE_ACCESS_*.
 */
u32 sroce_rd_atomic_flush_access(const struct sroce_packet *pkt)
{
	u32 access = 0;

	if (pkt->placement & SROCE_FLUSH_GLOBAL)
		access |= SROCE_ACCESS_FLUSH_GLOBAL;
	if (pkt->placement & SROCE_FLUSH_PERSISTENT)
		access |= SROCE_ACCESS_FLUSH_PERSISTENT;
	return access;
}

/**
 * sroce_rd_atomic_length_is_valid() - is the length one that the operation permits?
 * @pkt: a READ, FLUSH, ATOMIC WRITE or atomic
 *
 * Return: false if it must get a NAK, invalid request.
 */
bool sroce_rd_atomic_length_is_valid(const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_READ)
		return pkt->dma_length <= SROCE_MAX_MESSAGE_BYTES;
	if (flags & SROCE_OPF_ATOMIC_WRITE)
		return pkt->payload_bytes == sizeof(u64) && pkt->dma_length == sizeof(u64);
	if (flags & SROCE_OPF_FLUSH)
		return sroce_flush_length_is_valid(pkt->level, pkt->dma_length);
	return true;
}

/**
 * sroce_rd_atomic_plan() - plan a request that comes in its turn
 * @pkt: the request
 * @plan: zeroed; filled in
 */
void sroce_rd_atomic_plan(const struct sroce_packet *pkt, struct sroce_recv_plan *plan)
{
	u32 flags = pkt->info->flags;

	plan->va = pkt->va;
	plan->rkey = pkt->rkey;
	plan->access = sroce_responder_needed_access(pkt);
	if (flags & SROCE_OPF_READ) {
		plan->verdict = SROCE_RECV_READ;
		plan->check_bytes = pkt->dma_length;
		return;
	}
	if (flags & SROCE_OPF_FLUSH) {
		plan->verdict = SROCE_RECV_FLUSH;
		plan->check_bytes = pkt->level == SROCE_FLUSH_RANGE ? pkt->dma_length : 0;
		return;
	}
	plan->verdict = SROCE_RECV_ATOMIC;
	plan->check_bytes = sizeof(u64);
	plan->atomic_op = pkt->opcode & ~SROCE_SERVICE_MASK;
	plan->compare = pkt->compare;
	plan->swap_add = pkt->swap_add;
}

static enum sroce_resource_kind resource_kind(const struct sroce_packet *pkt)
{
	if (pkt->info->flags & SROCE_OPF_READ)
		return SROCE_RESOURCE_READ;
	return pkt->info->flags & SROCE_OPF_ATOMIC ? SROCE_RESOURCE_ATOMIC : SROCE_RESOURCE_EMPTY;
}

/* A duplicate READ must lie in the range of the original; it often requests all the rest. */
static void plan_read_again(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			    struct sroce_recv_plan *plan)
{
	const struct sroce_resource *res = sroce_resources_at(&resp->resources, plan->resource);
	u32 offset = ((pkt->psn - res->first_psn) & SROCE_PSN_MASK) * resp->attr.mtu_bytes;

	if (res->kind != SROCE_RESOURCE_READ || pkt->rkey != res->rkey || pkt->srqn != res->srqn ||
	    pkt->va != res->va + offset || pkt->dma_length > res->length - offset) {
		plan_request_drop(plan, SROCE_DROP_REPLAY);
		return;
	}
	plan->verdict = SROCE_RECV_REPLAY;
	plan->va = pkt->va;
	plan->rkey = pkt->rkey;
	plan->check_bytes = pkt->dma_length;
	plan->access = SROCE_ACCESS_REMOTE_READ;
}

/* Never executed again. A duplicate has the operation, address and key of the original. */
static void plan_result_again(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			      struct sroce_recv_plan *plan)
{
	const struct sroce_resource *res = sroce_resources_at(&resp->resources, plan->resource);

	if (pkt->opcode == res->opcode && pkt->va == res->va && pkt->rkey == res->rkey &&
	    pkt->srqn == res->srqn)
		plan->verdict = SROCE_RECV_REPLAY;
	else
		plan_request_drop(plan, SROCE_DROP_REPLAY);
}

/**
 * sroce_rd_atomic_plan_again() - plan a duplicate
 * @resp: the responder
 * @pkt: the request
 * @plan: zeroed; filled in
 */
void sroce_rd_atomic_plan_again(const struct sroce_responder *resp,
				const struct sroce_packet *pkt, struct sroce_recv_plan *plan)
{
	if (!sroce_resources_find(&resp->resources, pkt->psn, &plan->resource))
		plan_request_drop(plan, SROCE_DROP_REPLAY);
	else if (pkt->info->flags & SROCE_OPF_READ)
		plan_read_again(resp, pkt, plan);
	else
		plan_result_again(resp, pkt, plan);
}

/* Response packets of a READ of @bytes; one even if it is empty. */
static u32 response_count(const struct sroce_responder *resp, u32 bytes)
{
	u32 mtu_bytes = resp->attr.mtu_bytes;

	return bytes > mtu_bytes ? bytes / mtu_bytes + !!(bytes % mtu_bytes) : 1;
}

/**
 * sroce_rd_atomic_remember() - a request has been executed: it gets its response, and again when it
 * is repeated
 * @resp: the responder
 * @pkt: the request
 * @result: of its execution
 *
 * Return: PSNs that its response takes.
 */
u32 sroce_rd_atomic_remember(struct sroce_responder *resp, const struct sroce_packet *pkt,
			     const struct sroce_recv_result *result)
{
	struct sroce_resource *res = sroce_resources_add(&resp->resources);

	res->first_psn = pkt->psn;
	res->kind = resource_kind(pkt);
	res->opcode = pkt->opcode;
	res->va = pkt->va;
	res->rkey = pkt->rkey;
	res->srqn = pkt->srqn;
	res->psn_count = 1;
	if (res->kind == SROCE_RESOURCE_READ) {
		res->psn_count = response_count(resp, pkt->dma_length);
		res->end_bytes = pkt->dma_length;
		res->length = pkt->dma_length;
	} else if (res->kind == SROCE_RESOURCE_ATOMIC) {
		res->original = result->atomic_original;
	}
	res->end_count = res->psn_count;
	WRITE_ONCE(resp->msn, psn_add(resp->msn, 1));
	res->msn = resp->msn;
	return res->psn_count;
}

/**
 * sroce_rd_atomic_replay() - respond to a duplicate
 * @resp: the responder
 * @pkt: the request
 * @plan: its plan
 * @result: READ: may the range still be read?
 */
void sroce_rd_atomic_replay(struct sroce_responder *resp, const struct sroce_packet *pkt,
			    const struct sroce_recv_plan *plan,
			    const struct sroce_recv_result *result)
{
	struct sroce_resource *res = sroce_resources_at(&resp->resources, plan->resource);
	u32 from = (pkt->psn - res->first_psn) & SROCE_PSN_MASK;
	u32 to = from + response_count(resp, pkt->dma_length);

	if (result->status != SROCE_MEM_OK) {
		sroce_responder_nak_duplicate(resp, pkt->psn);
		return;
	}
	if (res->kind != SROCE_RESOURCE_READ) {
		sroce_resources_replay(&resp->resources, plan->resource, 0, 1);
		return;
	}
	/* A hole is filled in addition; a request up to the end restarts the READ there. */
	if (to < res->psn_count) {
		struct sroce_replay replay = {
			.slot = plan->resource,
			.base = from,
			.sent = from,
			.end = to,
			.end_bytes = from * resp->attr.mtu_bytes + pkt->dma_length,
		};

		sroce_resources_fill_hole(&resp->resources, &replay);
		return;
	}
	res->end_bytes = from * resp->attr.mtu_bytes + pkt->dma_length;
	sroce_resources_replay(&resp->resources, plan->resource, from, to);
}

/**
 * sroce_responder_nak_duplicate() - a duplicate READ cannot be replayed: its region is gone
 * @resp: the responder
 * @psn: of the request
 *
 * Once the peer has the response, the region may be deregistered, and a late duplicate of the
 * request may still arrive. So the NAK does not end the connection here: a peer that still needs
 * the response ends it, another ignores the NAK. Only one NAK is pending at a time; the peer
 * requests others again.
 */
void sroce_responder_nak_duplicate(struct sroce_responder *resp, u32 psn)
{
	if (resp->dup_nak_pending)
		return;
	resp->dup_nak_pending = true;
	resp->dup_nak_psn = psn;
}
