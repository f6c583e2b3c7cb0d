/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The requester: requests out, responses in, completions of the send queue.
 *
 * All of it belongs to whoever holds the QP's send lock. Positions in the
 * send queue are free-running counters, taken modulo the ring:
 *
 *     retired <= acked <= send <= posted
 *       |          |        |        |
 *       |          |        |        next slot to fill
 *       |          |        request that the next packet belongs to
 *       |          oldest request not wholly acknowledged
 *       oldest request whose completion has not been pulled
 *
 * and in PSNs:  unacked_psn <= next_psn <= sent_psn <= post_psn.
 * A retransmission moves next_psn (and `send`) back; sent_psn stays.
 */
#ifndef SROCE_TRANSPORT_REQUESTER_H
#define SROCE_TRANSPORT_REQUESTER_H

#include <linux/types.h>

#include "transport/ack_plan.h"
#include "transport/cc.h"
#include "transport/deadline.h"
#include "transport/packet.h"
#include "transport/psn.h"
#include "transport/rtt.h"
#include "transport/scoreboard.h"
#include "transport/wqe.h"

/* retry count 7 means "for ever" for RNR only (IBTA 9.7.5.2.8). */
#define SROCE_RNR_RETRY_INFINITE 7

enum sroce_sq_state {
	SROCE_SQ_IDLE,		/* RESET, INIT, RTR: nothing is sent */
	SROCE_SQ_READY,		/* RTS */
	SROCE_SQ_DRAINING,	/* SQD: what was begun is finished */
	SROCE_SQ_ERROR,		/* SQE, ERR: everything left is flushed */
};

/**
 * struct sroce_requester_attr - what modify_qp sets
 * @qpn: our QP number (source QP of datagrams)
 * @dest_qpn: the peer's QP number
 * @pkey: partition key of every packet
 * @mtu_bytes: path MTU
 * @window_packets: SEND and WRITE packets that may be unacknowledged
 * @max_rd_atomic: READs and atomics that may be outstanding
 * @retry_cnt: transport retries
 * @rnr_retry: RNR retries, 7 for ever
 * @ack_timeout_ns: local ACK timeout, 0 for none
 * @adaptive: go by what is measured: ask again when an answer is late, long
 *            before the ACK timeout; send no more than the path can hold
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
 * @timeout_shift: the ACK timeout is doubled for each expiry in a row, up to
 *                 four times, the most that IBTA 9.7.6.1.3 allows
 * @rnr_waiting: an RNR wait runs until @rnr_until_ns
 * @attr: see struct sroce_requester_attr
 * @posted: position, see above
 * @send: position
 * @acked: position
 * @retired: position
 * @error_index: position of the WQE that failed
 * @post_psn: PSN of the next WQE posted
 * @next_psn: PSN of the next packet to send
 * @sent_psn: one past the highest PSN ever sent
 * @unacked_psn: oldest PSN not acknowledged
 * @data_inflight: SEND and WRITE packets between unacked_psn and next_psn
 * @data_limit: how many may be, up to window_packets: less after a retry, one more
 *              for each that is acknowledged; else a peer slower than the ACK
 *              timeout is buried under repetitions
 * @rd_inflight: READs and atomics requested and not complete
 * @rd_limit: how many may be: one after a retry, doubled by each that completes,
 *            up to max_rd_atomic; else a path that reorders turns every retry
 *            into a storm of responses that nobody can take
 * @since_ack_req: packets sent since the last one with AckReq
 * @ack_deadline_ns: when the ACK timer expires, SROCE_NEVER when it is off
 * @rnr_until_ns: end of the RNR wait
 * @gone_back: nothing has been acknowledged since the last rewind
 * @retransmits: packets sent again
 * @timeouts: ACK timer expiries
 * @rtt: round-trip time
 * @cc: congestion control; the shell starts it, and keeps its pace
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
	bool	rnr_waiting;
	struct sroce_requester_attr attr;
	u32	posted;
	u32	send;
	u32	acked;
	u32	retired;
	u32	error_index;
	u32	post_psn;
	u32	next_psn;
	u32	sent_psn;
	u32	unacked_psn;
	u32	data_inflight;
	u32	data_limit;
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

enum sroce_send_action {
	SROCE_SEND_NOTHING,	/* nothing posted, or waiting for an answer or a timer */
	SROCE_SEND_PACKETS,	/* a burst of packets of one WQE */
	SROCE_SEND_LOCAL,	/* carry out a local operation */
	SROCE_SEND_FAIL,	/* the WQE was refused on arrival: its turn to fail */
};

/**
 * struct sroce_send_plan - what to do next on the send queue
 * @action: enum sroce_send_action
 * @index: position of the WQE
 * @first_psn: PSN of the first packet
 * @packet_count: packets in the burst
 * @offset: where in the message the burst's payload starts
 * @payload_bytes: payload of the burst (0 for READ and atomics)
 * @payload_end: READ: where in the message the part asked for ends
 * @ack_req: the last packet of the burst asks for an ACK
 * @retransmit: these PSNs were sent before
 * @fills_hole: they are sent out of their turn, by themselves
 */
struct sroce_send_plan {
	u8	action;
	bool	ack_req;
	bool	retransmit;
	bool	fills_hole;
	u32	index;
	u32	first_psn;
	u32	packet_count;
	u32	offset;
	u32	payload_bytes;
	u32	payload_end;
};

/* The WQE at position @index. */
static inline struct sroce_send_wqe *sroce_requester_wqe(const struct sroce_requester *req,
							 u32 index)
{
	return (struct sroce_send_wqe *)((u8 *)req->ring +
					 (size_t)(index & req->ring_mask) * req->stride);
}

/* Slots that are free for sroce_requester_post(). */
static inline u32 sroce_requester_room(const struct sroce_requester *req)
{
	return req->ring_mask + 1 - (req->posted - req->retired);
}

void sroce_requester_init(struct sroce_requester *req, enum sroce_service service, void *ring,
			  u32 stride, u32 slots);
void sroce_requester_reset(struct sroce_requester *req);
void sroce_requester_start_psn(struct sroce_requester *req, u32 psn);
void sroce_requester_set_state(struct sroce_requester *req, enum sroce_sq_state state);
bool sroce_requester_is_drained(const struct sroce_requester *req);

void sroce_requester_post(struct sroce_requester *req);
void sroce_requester_plan(const struct sroce_requester *req, u32 max_packets,
			  struct sroce_send_plan *plan);
void sroce_send_plan_packet(const struct sroce_requester *req, const struct sroce_send_plan *plan,
			    u32 i, struct sroce_packet *pkt);
void sroce_requester_commit(struct sroce_requester *req, const struct sroce_send_plan *plan,
			    enum sroce_wc_status status, u64 now_ns);

u64 sroce_requester_deadline(const struct sroce_requester *req);
void sroce_requester_timeout(struct sroce_requester *req, u64 now_ns);
void sroce_requester_fail(struct sroce_requester *req, u32 index, enum sroce_wc_status status);
bool sroce_requester_next_completion(struct sroce_requester *req, struct sroce_completion *wc);

/* send_ring.c */
void sroce_requester_move(struct sroce_requester *req, void *ring, u32 slots);

/* completer.c */
bool sroce_completer_can_coalesce(const struct sroce_requester *req, const struct sroce_packet *pkt,
				  u32 count);
void sroce_completer_plan(const struct sroce_requester *req, const struct sroce_packet *pkt,
			  struct sroce_ack_plan *plan);
void sroce_completer_commit(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			    enum sroce_mem_status placed, u64 now_ns);

/*
 * What the files of the requester share: requester.c, requester_plan.c, completer.c,
 * scoreboard.c.
 */

/* How far @psn lies beyond the oldest that is not acknowledged. */
static inline u32 sroce_requester_forward(const struct sroce_requester *req, u32 psn)
{
	return (psn - req->unacked_psn) & SROCE_PSN_MASK;
}

static inline u32 wqe_end_psn(const struct sroce_send_wqe *wqe)
{
	return psn_add(wqe->first_psn, wqe->psn_count);
}

/* SEND, WRITE: what takes room in the window. */
static inline bool wqe_is_data(const struct sroce_send_wqe *wqe)
{
	return wqe->psn_count && !wqe_is_rd_atomic(wqe->opcode);
}

static inline bool sroce_requester_is_selective(const struct sroce_requester *req)
{
	return req->sb.mode == SROCE_SELECTIVE_ON;
}

/*
 * For how many round trips in a row, about, up to two, has something been sent again out of its
 * turn? A READ that is spared that (struct sroce_response_time) counts, too.
 */
static inline u32 sroce_requester_recovery_rounds(const struct sroce_requester *req)
{
	if (req->unacked_psn == req->sent_psn)
		return 0;
	return req->sb.rtx[0].any + req->sb.rtx[1].any;
}

void sroce_requester_acked(struct sroce_requester *req, u32 packets, u32 rtt_ns, u64 now_ns);
void sroce_requester_advance(struct sroce_requester *req, u32 unacked_psn, u64 now_ns);
void sroce_requester_rewind(struct sroce_requester *req, u32 psn);
void sroce_requester_move_cursor(struct sroce_requester *req, u32 psn);
void sroce_requester_start_timer(struct sroce_requester *req, u64 now_ns);
void sroce_requester_arm_probe(struct sroce_requester *req, u64 now_ns);
void sroce_requester_progress(struct sroce_requester *req, u64 now_ns);
void sroce_requester_request_ack(struct sroce_requester *req, u32 end_psn);
bool sroce_requester_probe_acked(struct sroce_requester *req, u64 now_ns);
bool sroce_requester_locate(const struct sroce_requester *req, u32 psn, u32 *index);

#endif
