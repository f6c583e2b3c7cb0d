/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Responses of the responder, in the order that the peer must see them. See response.c.
 *
 *   sroce_response_plan_next()  what to send back next, if anything; changes nothing
 *   (the datapath builds the packets with sroce_response_plan_packet())
 *   sroce_response_commit()     they have been built; cannot fail
 */
#ifndef SROCE_TRANSPORT_RESPONSE_H
#define SROCE_TRANSPORT_RESPONSE_H

#include <linux/types.h>

#include "transport/packet.h"
#include "transport/responder.h"
#include "transport/wqe.h"

enum sroce_response_kind {
	SROCE_RESPONSE_ACK,	/* ACK, NAK or RNR NAK: see @syndrome */
	SROCE_RESPONSE_READ,	/* a burst of READ response packets */
	SROCE_RESPONSE_ATOMIC,
	SROCE_RESPONSE_SACK,	/* an ACK with the bitmap of sroce_reorder_write_sack() */
};

/**
 * struct sroce_response_plan - the next response to send
 * @kind: enum sroce_response_kind
 * @syndrome: AETH syndrome
 * @msn: AETH message sequence number: of the READ or atomic, else of the newest request
 * @resource: slot of the READ or atomic that is responded to
 * @first_psn: PSN of the first packet
 * @packet_count: packets of the burst
 * @offset: READ: where in the requested range the burst's payload starts
 * @payload_bytes: READ: payload of the burst; SACK: length of the bitmap
 * @replay: READ: part of a struct sroce_replay, which fills a hole
 * @number: READ: response that the burst starts with
 * @base: READ: response that the request began with
 * @end: READ: response that it ends before
 * @va: READ: address of the burst's first byte
 * @rkey: READ: key of the region
 * @srqn: READ of XRC: number of the shared receive queue whose protection domain has the region
 */
struct sroce_response_plan {
	u8	kind;
	u8	syndrome;
	u32	msn;
	u32	resource;
	u32	first_psn;
	u32	packet_count;
	u32	offset;
	u32	payload_bytes;
	bool	replay;
	u32	number;
	u32	base;
	u32	end;
	u64	va;
	u32	rkey;
	u32	srqn;
};

/*
 * Is there nothing to send back, to report, to take out of the reorder queue or to wait for? So it
 * is after most packets of a message. One question then takes the place of many.
 */
static inline bool sroce_responder_is_quiet(const struct sroce_responder *resp)
{
	return sroce_responder_is_idle(resp) && resp->state == SROCE_RQ_READY && !resp->event &&
	       !resp->reorder.count;
}

bool sroce_response_plan_next(const struct sroce_responder *resp, u32 max_packets,
			      struct sroce_response_plan *plan);
bool sroce_response_may_be_delayed(const struct sroce_responder *resp,
				   const struct sroce_response_plan *plan);
void sroce_response_plan_packet(const struct sroce_responder *resp,
				const struct sroce_response_plan *plan, u32 i,
				struct sroce_packet *pkt);
void sroce_response_commit(struct sroce_responder *resp,
			   const struct sroce_response_plan *plan,
			   enum sroce_mem_status fetched);
bool sroce_response_is_dead(const struct sroce_responder *resp);
void sroce_responder_cnp_packet(const struct sroce_responder *resp, struct sroce_packet *pkt);

#endif
