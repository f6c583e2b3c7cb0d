// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The order of responses. READ and atomic responses are sent first, the oldest before the others,
 * then a NAK or an ACK. So an ACK never overtakes a response, and ACKs that become due in the
 * meantime become one ACK.
 *
 * Two kinds overtake pending responses. Holes of a READ are filled first, because the peer waits
 * for them. A selective ACK acknowledges only what arrived and no response; if it waited, the peer
 * would learn of a lost READ request only after all responses to others.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/opcode.h"
#include "transport/psn.h"
#include "transport/reorder.h"
#include "transport/responder_resources.h"
#include "transport/responder_internal.h"
#include "transport/response.h"

/* Responses from @plan->number on, to @plan->end at most. */
static void plan_read(const struct sroce_responder *resp, const struct sroce_resource *res,
		      u32 end_bytes, u32 max_packets, struct sroce_response_plan *plan)
{
	u32 left = plan->end - plan->number, mtu_bytes = resp->attr.mtu_bytes;

	plan->kind = SROCE_RESPONSE_READ;
	plan->packet_count = min(left, max_packets);
	plan->offset = plan->number * mtu_bytes;
	plan->payload_bytes = plan->packet_count == left ? end_bytes - plan->offset :
							   plan->packet_count * mtu_bytes;
	plan->va = res->va + plan->offset;
	plan->rkey = res->rkey;
	plan->srqn = res->srqn;
}

static void plan_replay(const struct sroce_responder *resp, u32 max_packets,
			struct sroce_response_plan *plan)
{
	const struct sroce_replay *replay = &resp->resources.storage->replays[0];
	const struct sroce_resource *res = sroce_resources_at(&resp->resources, replay->slot);

	plan->resource = replay->slot;
	plan->msn = res->msn;
	plan->syndrome = SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID;
	plan->first_psn = psn_add(res->first_psn, replay->sent);
	plan->replay = true;
	plan->number = replay->sent;
	plan->base = replay->base;
	plan->end = replay->end;
	plan_read(resp, res, replay->end_bytes, max_packets, plan);
}

static void plan_resource(const struct sroce_responder *resp, u32 index, u32 max_packets,
			  struct sroce_response_plan *plan)
{
	const struct sroce_resource *res = sroce_resources_at(&resp->resources, index);

	plan->resource = index;
	/* Not that of requests executed since. */
	plan->msn = res->msn;
	plan->syndrome = SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID;
	plan->first_psn = psn_add(res->first_psn, res->sent_count);
	if (res->kind == SROCE_RESOURCE_ATOMIC) {
		plan->kind = SROCE_RESPONSE_ATOMIC;
		plan->packet_count = 1;
		return;
	}
	plan->number = res->sent_count;
	plan->base = res->base_count;
	plan->end = res->end_count;
	plan_read(resp, res, res->end_bytes, max_packets, plan);
}

/*
 * After a sequence NAK the peer goes back, and skips what it knows to be queued. So a selective ACK
 * goes first, also if packets have been queued since the NAK became due. One that has no packet as
 * queued waits for its turn, as an ACK does.
 */
static bool sack_is_next(const struct sroce_responder *resp)
{
	bool before_nak = resp->nak_pending && resp->nak_syndrome == SROCE_NAK_PSN_SEQUENCE &&
			  resp->reorder.unsacked;

	if (!sroce_reorder_can_sack(&resp->reorder))
		return false;
	if (!resp->reorder.count)
		return resp->ack_pending && !resp->nak_pending && !resp->resources.pending;
	return resp->ack_pending || before_nak;
}

static void plan_sack(const struct sroce_responder *resp, struct sroce_response_plan *plan)
{
	plan->kind = SROCE_RESPONSE_SACK;
	plan->packet_count = 1;
	plan->syndrome = SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID;
	plan->first_psn = psn_add(resp->epsn, SROCE_PSN_MASK);
	plan->payload_bytes = sroce_reorder_sack_bytes(resp);
}

/**
 * sroce_response_plan_next() - decide what to send back; changes nothing
 * @resp: the responder
 * @max_packets: the longest burst that the datapath can send now, not 0
 * @plan: filled in when true is returned
 *
 * Return: whether there is anything to send.
 */
bool sroce_response_plan_next(const struct sroce_responder *resp, u32 max_packets,
			      struct sroce_response_plan *plan)
{
	u32 index;

	memset(plan, 0, sizeof(*plan));
	plan->msn = resp->msn;
	if (resp->state != SROCE_RQ_READY && resp->state != SROCE_RQ_FAILED)
		return false;
	if (resp->resources.replay_count) {
		plan_replay(resp, max_packets, plan);
		return true;
	}
	if (sack_is_next(resp)) {
		plan_sack(resp, plan);
		return true;
	}
	if (sroce_resources_first_pending(&resp->resources, &index)) {
		plan_resource(resp, index, max_packets, plan);
		return true;
	}
	plan->kind = SROCE_RESPONSE_ACK;
	plan->packet_count = 1;
	if (resp->dup_nak_pending) {
		plan->syndrome = SROCE_NAK_REMOTE_ACCESS;
		plan->first_psn = resp->dup_nak_psn;
		return true;
	}
	if (resp->nak_pending) {
		plan->syndrome = resp->nak_syndrome;
		plan->first_psn = resp->nak_psn;
		return true;
	}
	plan->syndrome = SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID;
	plan->first_psn = resp->ack_psn;
	return resp->ack_pending;
}

/**
 * sroce_response_is_dead() - has a fatal NAK been sent, and is nothing left to send?
 * @resp: the responder
 *
 * Return: true when the QP must move to ERR.
 */
bool sroce_response_is_dead(const struct sroce_responder *resp)
{
	return resp->state == SROCE_RQ_FAILED && !resp->nak_pending && !resp->resources.pending;
}

/**
 * sroce_response_may_be_delayed() - may a response wait to be piggybacked on a request?
 * @resp: the responder
 * @plan: what is to be sent next
 *
 * A plain ACK only opens the peer's window. NAKs, READ responses and selective ACKs are urgent,
 * because the peer cannot go on, or recover from a loss, without them.
 *
 * Return: whether it is a plain ACK.
 */
bool sroce_response_may_be_delayed(const struct sroce_responder *resp,
				   const struct sroce_response_plan *plan)
{
	return plan->kind == SROCE_RESPONSE_ACK && resp->state == SROCE_RQ_READY &&
	       !resp->nak_pending && !resp->dup_nak_pending;
}

static u8 read_response_opcode(const struct sroce_response_plan *plan, u32 i)
{
	bool first = plan->number + i == plan->base, last = plan->number + i == plan->end - 1;

	if (last)
		return first ? SROCE_OP_READ_RESPONSE_ONLY : SROCE_OP_READ_RESPONSE_LAST;
	return first ? SROCE_OP_READ_RESPONSE_FIRST : SROCE_OP_READ_RESPONSE_MIDDLE;
}

/**
 * sroce_response_plan_packet() - the headers of one packet of a response
 * @resp: the responder
 * @plan: the plan
 * @i: 0 .. @plan->packet_count - 1
 * @pkt: filled in; the payload of a READ response starts @i * MTU bytes into
 *       the burst's
 */
void sroce_response_plan_packet(const struct sroce_responder *resp,
				const struct sroce_response_plan *plan, u32 i,
				struct sroce_packet *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->count = 1;
	pkt->migreq = true;
	pkt->pkey = resp->attr.pkey;
	pkt->dest_qpn = resp->attr.dest_qpn;
	pkt->psn = psn_add(plan->first_psn, i);
	pkt->syndrome = plan->syndrome;
	pkt->msn = plan->msn;
	pkt->selective = sroce_reorder_accepts_offer(&resp->reorder);
	if (plan->kind == SROCE_RESPONSE_READ) {
		pkt->opcode = read_response_opcode(plan, i);
		if (plan->payload_bytes)
			pkt->payload_bytes = min(resp->attr.mtu_bytes,
						 plan->payload_bytes - i * resp->attr.mtu_bytes);
	} else if (plan->kind == SROCE_RESPONSE_ATOMIC) {
		pkt->opcode = SROCE_OP_ATOMIC_ACK;
		pkt->atomic_original = sroce_resources_at(&resp->resources,
							  plan->resource)->original;
	} else if (plan->kind == SROCE_RESPONSE_SACK) {
		pkt->opcode = SROCE_OP_SACK;
		pkt->payload_bytes = plan->payload_bytes;
	} else {
		pkt->opcode = SROCE_OP_ACK;
	}
	if (plan->kind != SROCE_RESPONSE_SACK)
		pkt->opcode |= resp->service;
	pkt->info = sroce_opcode_lookup(pkt->opcode);
	pkt->header_bytes = pkt->info->header_bytes;
	pkt->pad_bytes = -pkt->payload_bytes & 3;
}

/**
 * sroce_responder_cnp_packet() - the headers of a CNP to the peer
 * @resp: the responder of a connected queue pair
 * @pkt: filled in; the payload is zero
 *
 * As hardware sends it (IBTA annex A17): PSN 0, MigReq 0.
 */
void sroce_responder_cnp_packet(const struct sroce_responder *resp, struct sroce_packet *pkt)
{
	memset(pkt, 0, sizeof(*pkt));
	pkt->count = 1;
	pkt->opcode = SROCE_OP_CNP;
	pkt->info = sroce_opcode_lookup(pkt->opcode);
	pkt->header_bytes = pkt->info->header_bytes;
	pkt->becn = true;
	pkt->pkey = resp->attr.pkey;
	pkt->dest_qpn = resp->attr.dest_qpn;
	pkt->payload_bytes = SROCE_CNP_RESERVED_BYTES;
}

static void reject_rest(struct sroce_responder *resp, const struct sroce_response_plan *plan)
{
	if (plan->replay)
		sroce_resources_replay_sent(&resp->resources, plan->end - plan->number);
	else
		sroce_resources_sent(&resp->resources, plan->resource, plan->end - plan->number);
	sroce_responder_nak_duplicate(resp, plan->first_psn);
}

/* The region of a READ was deregistered before the READ had been responded to once. */
static void fail_read(struct sroce_responder *resp, u32 psn)
{
	u32 index;

	while (sroce_resources_first_pending(&resp->resources, &index)) {
		const struct sroce_resource *res = sroce_resources_at(&resp->resources, index);

		sroce_resources_sent(&resp->resources, index, res->end_count - res->sent_count);
	}
	resp->resources.replay_count = 0;
	sroce_reorder_clear(resp);
	resp->state = SROCE_RQ_FAILED;
	resp->event = SROCE_EVENT_ACCESS_ERR;
	sroce_responder_schedule_nak(resp, SROCE_NAK_REMOTE_ACCESS, psn);
}

/**
 * sroce_response_commit() - the response has been built
 * @resp: the responder, unchanged since the plan was made
 * @plan: the plan
 * @fetched: READ: whether its payload could be read; others: SROCE_MEM_OK
 */
void sroce_response_commit(struct sroce_responder *resp,
			   const struct sroce_response_plan *plan,
			   enum sroce_mem_status fetched)
{
	if (plan->kind == SROCE_RESPONSE_READ || plan->kind == SROCE_RESPONSE_ATOMIC) {
		bool again = plan->replay ||
			     sroce_resources_at(&resp->resources, plan->resource)->responded;

		if (fetched != SROCE_MEM_OK && again)
			reject_rest(resp, plan);
		else if (fetched != SROCE_MEM_OK)
			fail_read(resp, plan->first_psn);
		else if (plan->replay)
			sroce_resources_replay_sent(&resp->resources, plan->packet_count);
		else
			sroce_resources_sent(&resp->resources, plan->resource, plan->packet_count);
	} else if (plan->kind == SROCE_RESPONSE_ACK && resp->dup_nak_pending) {
		resp->dup_nak_pending = false;
	} else if (plan->kind == SROCE_RESPONSE_ACK && resp->nak_pending) {
		resp->nak_pending = false;
	} else {
		resp->ack_pending = false;
		resp->reorder.unsacked = 0;
	}
}
