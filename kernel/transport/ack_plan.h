/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a packet from the peer means for the requester; and why packets, of
 * either half, are not acted upon.
 */
#ifndef SROCE_TRANSPORT_ACK_PLAN_H
#define SROCE_TRANSPORT_ACK_PLAN_H

#include <linux/types.h>

enum sroce_ack_action {
	SROCE_ACK_DROP,		/* @reason says why; commit changes nothing */
	SROCE_ACK_ACCEPT,	/* acknowledges, places data, or retries */
	SROCE_ACK_FAIL,		/* the queue goes to error with @status */
};

/* Why a packet was not acted upon; each has a counter. */
enum sroce_drop_reason {
	SROCE_DROP_NONE,
	SROCE_DROP_STATE,	/* the QP does not receive */
	SROCE_DROP_OPCODE,	/* not for this kind of QP */
	SROCE_DROP_DUPLICATE,	/* already acknowledged or answered */
	SROCE_DROP_UNSENT,	/* acknowledges what was never sent */
	SROCE_DROP_SEQUENCE,	/* a gap that was already reported */
	SROCE_DROP_GAP,		/* an answer far ahead of what is missing */
	SROCE_DROP_SYNDROME,	/* reserved AETH syndrome */
	SROCE_DROP_LENGTH,	/* datagram longer than the buffer or the MTU */
	SROCE_DROP_QKEY,	/* Q_Key violation */
	SROCE_DROP_NO_WQE,	/* datagram and no receive WQE */
	SROCE_DROP_REPLAY,	/* duplicate READ or atomic with no saved resource */
};

/**
 * struct sroce_ack_plan - what a response means
 * @action: enum sroce_ack_action
 * @reason: enum sroce_drop_reason of SROCE_ACK_DROP
 * @status: enum sroce_wc_status of SROCE_ACK_FAIL
 * @early_nak: the peer has refused @index with @status, and its turn has not come
 * @rewind: send again from @executed_psn
 * @rnr: wait @rnr_wait_ns before sending again
 * @place_atomic: place the packet's atomic_original, in host order, at offset 0
 * @selective: the peer is, see scoreboard.c
 * @first_response: it is the peer's first answer, which tells whether it is selective
 * @has_response: @response_psn and so many packets as @count says have their response
 * @index: WQE whose data is placed, or which failed
 * @place_offset: where in the message the payload goes
 * @place_bytes: payload to place, 0 for none
 * @count: packets that the response is made of, see sroce_completer_can_coalesce()
 * @rnr_wait_ns: how long to wait after an RNR NAK
 * @executed_psn: the peer has executed everything before it
 * @response_psn: see @has_response
 * @sack: bitmap of a selective acknowledgement, the packet's
 * @sack_bytes: its length, 0 when there is none
 */
struct sroce_ack_plan {
	u8	action;
	u8	reason;
	u8	status;
	bool	early_nak;
	bool	rewind;
	bool	rnr;
	bool	place_atomic;
	bool	selective;
	bool	first_response;
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

#endif
