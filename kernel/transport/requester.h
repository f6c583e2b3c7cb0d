/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester: requests out, responses in, completions of the send queue.
 *
 * The caller holds the lock of the QP's send queue. Positions in the queue are free-running
 * counters, taken modulo the ring:
 *
 *     retired <= acked <= send <= sent <= posted
 *       |          |        |       |       |
 *       |          |        |       |       next slot to fill
 *       |          |        |       one past the last request that was sent, at least in part
 *       |          |        request that the next packet belongs to, maybe that at sent
 *       |          oldest request not completely acknowledged
 *       oldest request whose completion has not been pulled
 *
 * and in PSNs:  unacked_psn <= next_psn <= sent_psn <= post_psn.
 * A retransmission moves next_psn (and `send`) back; sent_psn stays.
 *
 * The other parts of the requester have headers of their own: requester_plan.h (which packets
 * next), requester_state.h, completer.h, scoreboard.h, tlp.h, rtt.h. They share
 * requester_internal.h.
 */
#ifndef SROCE_TRANSPORT_REQUESTER_H
#define SROCE_TRANSPORT_REQUESTER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "transport/cc.h"
#include "transport/packet.h"
#include "transport/psn.h"
#include "transport/rtt.h"
#include "transport/scoreboard.h"
#include "transport/time.h"
#include "transport/tlp.h"
#include "transport/window_policy.h"
#include "transport/wqe.h"

/* A retry count of 7 means unlimited, for RNR retries only (IBTA 9.7.5.2.8). */
#define SROCE_RNR_RETRY_INFINITE 7

enum sroce_sq_state {
	SROCE_SQ_IDLE,		/* RESET, INIT, RTR: nothing is sent */
	SROCE_SQ_READY,		/* RTS */
	SROCE_SQ_DRAINING,	/* SQD: messages under way are finished, none is begun */
	SROCE_SQ_ERROR,		/* SQE, ERR: everything left is flushed */
};

/* Events of sroce_requester_timeout() and sroce_completer_commit(), for counters. */
#define SROCE_REQ_EV_ACK_TIMEOUT	BIT(0)	/* the ACK timer expired */
#define SROCE_REQ_EV_PROBE		BIT(1)	/* the probe timer expired */
#define SROCE_REQ_EV_ACCEPTED		BIT(2)	/* the peer has accepted selective repeat */
#define SROCE_REQ_EV_WITHDRAWN		BIT(3)	/* selective repeat is not offered any more */

/**
 * struct sroce_requester_attr - what modify_qp sets
 * @qpn: our QP number (source QP of datagrams)
 * @dest_qpn: the peer's QP number
 * @pkey: partition key of every packet
 * @mtu_bytes: path MTU
 * @window_packets: SEND and WRITE packets that may be unacknowledged
 * @max_rd_atomic: READs and atomics that may be outstanding
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries, 7 for unlimited
 * @ack_timeout_ns: local ACK timeout, 0 for none
 * @adaptive: use the measured round trip: send tail-loss probes long before the ACK timeout,
 *            and keep no more packets in flight than the path holds; off only in tests, which
 *            then see the ACK timer alone
 * @selective: offer the peer selective repeat (see scoreboard.c)
 */
struct sroce_requester_attr {
	u32	qpn;
	u32	dest_qpn;
	u16	pkey;
	u32	mtu_bytes;
	u32	window_packets;
	u8	max_rd_atomic;
	u8	retry_cnt;
	u8	rnr_retry;
	u64	ack_timeout_ns;
	bool	adaptive;
	bool	selective;
};

/**
 * struct sroce_requester - one send queue and its conversation
 * @ring: storage of the send WQEs, @stride bytes each
 * @stride: bytes of a slot
 * @ring_mask: slots - 1
 * @service: enum sroce_service
 * @state: enum sroce_sq_state
 * @error_status: why the queue is in error; status of WQE @error_index
 * @retry_left: transport retries left
 * @rnr_retry_left: RNR retries left
 * @timeout_shift: doublings of the ACK timeout, one for each expiry in a row (see tlp.c)
 * @kept_shift: the least shift of the ACK timeout until an RTT sample that is no upper bound
 * @responded: the peer has responded since the last progress or ACK timeout, with nothing new
 * @free_timeouts: ACK timeouts since the last progress that used up no retry
 * @rnr_waiting: an RNR wait runs until @rnr_until_ns
 * @attr: see struct sroce_requester_attr
 * @posted: position, see above
 * @sent: position
 * @send: position
 * @acked: position
 * @retired: position
 * @error_index: position of the WQE that failed
 * @post_psn: PSN of the next WQE posted
 * @next_psn: PSN of the next packet to send
 * @sent_psn: one past the highest PSN ever sent
 * @unacked_psn: oldest PSN not acknowledged
 * @data_inflight: SEND and WRITE packets between unacked_psn and next_psn
 * @window: limit of @data_inflight that protects a slow peer
 * @rd_inflight: READs and atomics requested and not complete
 * @rd_limit: limit of @rd_inflight: one after a rewind, lest each retry start a storm of READ
 *            responses, and doubled by each that completes, up to max_rd_atomic
 * @since_ack_req: packets sent since the last one with AckReq
 * @ack_deadline_ns: when the ACK timer expires, SROCE_NEVER when it is off
 * @rnr_until_ns: end of the RNR wait
 * @gone_back: nothing has been acknowledged since the last rewind
 * @retransmits: packets retransmitted
 * @timeouts: ACK timer expiries
 * @rtt: round-trip time
 * @cc: congestion control; the datapath starts it and obeys its pace
 * @probe: see struct sroce_probe
 * @sb: see struct sroce_scoreboard
 */
struct sroce_requester {
	void	*ring;
	u32	stride;
	u32	ring_mask;
	u8	service;
	u8	state;
	u8	error_status;
	u8	retry_left;
	u8	rnr_retry_left;
	u8	timeout_shift;
	u8	kept_shift;
	bool	responded;
	u8	free_timeouts;
	bool	rnr_waiting;
	struct sroce_requester_attr attr;
	u32	posted;
	u32	sent;
	u32	send;
	u32	acked;
	u32	retired;
	u32	error_index;
	u32	post_psn;
	u32	next_psn;
	u32	sent_psn;
	u32	unacked_psn;
	u32	data_inflight;
	struct sroce_window window;
	u32	rd_inflight;
	u32	rd_limit;
	u32	since_ack_req;
	u64	ack_deadline_ns;
	u64	rnr_until_ns;
	bool	gone_back;
	u64	retransmits;
	u64	timeouts;
	struct sroce_rtt rtt;
	struct sroce_cc cc;
	struct sroce_probe probe;
	struct sroce_scoreboard sb;
};

/* The WQE at position @index. */
static inline struct sroce_send_wqe *sroce_requester_wqe(const struct sroce_requester *req,
							 u32 index)
{
	return (struct sroce_send_wqe *)((u8 *)req->ring +
					 (size_t)(index & req->ring_mask) * req->stride);
}

/* Slots free for sroce_requester_post(). */
static inline u32 sroce_requester_room(const struct sroce_requester *req)
{
	return req->ring_mask + 1 - (req->posted - req->retired);
}

void sroce_requester_init(struct sroce_requester *req, enum sroce_service service, void *ring,
			  u32 stride, u32 slots);
void sroce_requester_reset(struct sroce_requester *req);
void sroce_requester_set_storage(struct sroce_requester *req, void *ring, u32 slots);

void sroce_requester_post(struct sroce_requester *req);
bool sroce_requester_next_completion(struct sroce_requester *req, struct sroce_completion *wc);

#endif
