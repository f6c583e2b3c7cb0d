/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The completer applies responses to the requester. See completer.c.
 */
#ifndef SROCE_TRANSPORT_COMPLETER_H
#define SROCE_TRANSPORT_COMPLETER_H

#include <linux/types.h>

#include "transport/packet.h"
#include "transport/requester.h"
#include "transport/wqe.h"

enum sroce_ack_action {
	SROCE_ACK_DROP,		/* @reason says why; commit notes at most that the peer is alive */
	SROCE_ACK_ACCEPT,	/* acknowledges, places data, or retries */
	SROCE_ACK_FAIL,		/* the queue goes to error with @status */
};

/**
 * struct sroce_ack_plan - what a response means
 * @action: enum sroce_ack_action
 * @reason: enum sroce_drop_reason of SROCE_ACK_DROP
 * @status: enum sroce_wc_status of SROCE_ACK_FAIL
 * @early_nak: the peer rejected @index with @status before the requests posted earlier completed
 * @rewind: send again from @executed_psn
 * @rnr: wait @rnr_wait_ns before sending again
 * @place_atomic: place the packet's atomic_original, in host order, at offset 0
 * @mode: enum sroce_selective_mode of the requester, which the response may change
 * @has_response: @count PSNs from @response_psn have their READ or atomic response
 * @index: WQE whose data is placed, or which failed
 * @place_offset: where in the message the payload goes
 * @place_bytes: payload to place, 0 for none
 * @count: packets coalesced into the response, see sroce_completer_can_coalesce()
 * @rnr_wait_ns: how long to wait after an RNR NAK
 * @executed_psn: the peer has executed everything before it
 * @response_psn: see @has_response
 * @sack: the packet's SACK bitmap
 * @sack_bytes: its length, 0 when there is none
 */
struct sroce_ack_plan {
	u8	action;
	u8	reason;
	u8	status;
	u8	mode;
	bool	early_nak;
	bool	rewind;
	bool	rnr;
	bool	place_atomic;
	bool	has_response;
	u32	index;
	u32	place_offset;
	u32	place_bytes;
	u32	count;
	u64	rnr_wait_ns;
	u32	executed_psn;
	u32	response_psn;
	const u8 *sack;
	u32	sack_bytes;
};

bool sroce_completer_can_coalesce(const struct sroce_requester *req, const struct sroce_packet *pkt,
				  u32 count);
void sroce_completer_plan(const struct sroce_requester *req, const struct sroce_packet *pkt,
			  struct sroce_ack_plan *plan);
u32 sroce_completer_commit(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			   enum sroce_mem_status placed, u64 now_ns);

#endif
