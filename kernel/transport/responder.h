/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder: requests in, responses out, completions of the receive queue.
 *
 * The caller holds the lock of the QP's receive queue. It handles each packet in these steps:
 *
 *   sroce_responder_wants_wqe()  Would the packet consume a receive WQE? If so, the datapath
 *                                fetches one into @recv, if one is posted.
 *   sroce_responder_plan()       What does the packet mean? Changes nothing.
 *   (the datapath does what the plan says with memory)
 *   sroce_responder_commit()     Applies the plan and its outcome; cannot fail.
 *
 * Then it pulls a completion from here, and responses from response.h in the order that the peer
 * must see them. UC and UD queue pairs have a plan and a commit of their own in uc.h and ud.h.
 */
#ifndef SROCE_TRANSPORT_RESPONDER_H
#define SROCE_TRANSPORT_RESPONDER_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "transport/access.h"
#include "transport/cc.h"
#include "transport/packet.h"
#include "transport/reorder.h"
#include "transport/responder_resources.h"
#include "transport/wqe.h"

enum sroce_rq_state {
	SROCE_RQ_IDLE,		/* RESET, INIT: packets are dropped */
	SROCE_RQ_READY,		/* RTR and later */
	SROCE_RQ_FAILED,	/* RC: a fatal NAK is on its way out; then ERR */
	SROCE_RQ_ERROR,		/* ERR: packets are dropped, receives flushed */
};

/* Asynchronous event that a packet calls for. */
enum sroce_rq_event {
	SROCE_EVENT_NONE,
	SROCE_EVENT_COMM_EST,	/* first packet in RTR */
	SROCE_EVENT_REQ_ERR,	/* IB_EVENT_QP_REQ_ERR */
	SROCE_EVENT_ACCESS_ERR,	/* IB_EVENT_QP_ACCESS_ERR */
	SROCE_EVENT_FATAL,	/* IB_EVENT_QP_FATAL */
};

/**
 * struct sroce_responder_attr - what modify_qp sets
 * @dest_qpn: the peer's QP number
 * @pkey: partition key of every packet
 * @mad_bytes: GSI: the length of each datagram (IBTA 13.4.2); else 0
 * @mtu_bytes: path MTU
 * @qkey: Q_Key datagrams must carry
 * @access: access flags as set; the engine looks at SROCE_ACCESS_REMOTE_* and _FLUSH_*
 * @min_rnr_timer: code sent in RNR NAKs
 * @rnr_delay_ns: how long a request that finds no receive WQE waits for the RNR NAK; or 0
 * @reorder_packets: limit of the reorder queue, at most a PSN map's span; 0 for no queue
 * @selective: send selective ACKs to a peer that speaks selective repeat
 * @shares_rwqes: receive WQEs come from a shared queue
 */
struct sroce_responder_attr {
	u32	dest_qpn;
	u16	pkey;
	u16	mad_bytes;
	u32	mtu_bytes;
	u32	qkey;
	u32	access;
	u8	min_rnr_timer;
	u64	rnr_delay_ns;
	u32	reorder_packets;
	bool	selective;
	bool	shares_rwqes;
};

/**
 * struct sroce_responder - one receive queue and its conversation
 * @service: enum sroce_service
 * @state: enum sroce_rq_state
 * @message: what the message in progress is: SROCE_OPF_SEND, SROCE_OPF_WRITE, 0 for none
 * @srqn: XRC: shared receive queue of the message in progress
 * @nak_scheduled: a NAK (sequence, RNR) is due or was sent for @epsn, which has not arrived since
 * @ack_pending: an ACK up to @ack_psn is due
 * @nak_pending: a NAK with @nak_syndrome for @nak_psn is due
 * @dup_nak_pending: a NAK is due because a duplicate READ, @dup_nak_psn, cannot be replayed
 * @established: a packet was accepted since RTR
 * @event: enum sroce_rq_event, taken by the datapath after a commit
 * @has_recv_wqe: @recv holds a WQE
 * @wc_pending: @wc holds a completion
 * @nak_syndrome: AETH syndrome of the pending NAK
 * @attr: see struct sroce_responder_attr
 * @epsn: expected PSN
 * @msn: messages completed, 24 bits
 * @ack_psn: PSN of the pending ACK
 * @nak_psn: PSN of the pending NAK
 * @dup_nak_psn: see @dup_nak_pending
 * @received_bytes: bytes of the message in progress
 * @write_va: WRITE in progress: address of its next byte
 * @write_rkey: its key
 * @write_left: its bytes still to come
 * @reorder: see struct sroce_reorder
 * @cc: congestion control of READ responses; the datapath starts it and obeys its pace
 * @resources: READs and atomics, for replay
 * @recv: storage of the current receive WQE
 * @wc: the completion to be pulled
 */
struct sroce_responder {
	u8	service;
	u8	state;
	bool	dup_nak_pending;
	u8	message;
	u32	srqn;
	bool	nak_scheduled;
	bool	ack_pending;
	bool	nak_pending;
	bool	established;
	bool	has_recv_wqe;
	bool	wc_pending;
	u8	event;
	u8	nak_syndrome;
	struct sroce_responder_attr attr;
	u32	epsn;
	u32	msn;
	u32	ack_psn;
	u32	nak_psn;
	u32	dup_nak_psn;
	u32	received_bytes;
	u64	write_va;
	u32	write_rkey;
	u32	write_left;
	struct sroce_reorder reorder;
	struct sroce_cc cc;
	struct sroce_resources resources;
	struct sroce_recv_wqe *recv;
	struct sroce_completion wc;
};

/* The work of the datapath between plan and commit. */
enum sroce_verdict {
	SROCE_RECV_DROP,	/* @reason; nothing to do */
	SROCE_RECV_ACK_AGAIN,	/* duplicate SEND or WRITE: acknowledge, do not execute */
	SROCE_RECV_NAK,		/* @syndrome; nothing to do */
	SROCE_RECV_RNR,		/* no receive WQE; nothing to do */
	SROCE_RECV_QUEUE,	/* too early: put it in the reorder queue, unless @queued */
	SROCE_RECV_PLACE,	/* place the payload as @target says */
	SROCE_RECV_READ,	/* check that @va, @check_bytes may be read */
	SROCE_RECV_ATOMIC,	/* perform the atomic, hand its old value to commit */
	SROCE_RECV_FLUSH,	/* make what was written visible, or persistent: see @access */
	SROCE_RECV_REPLAY,	/* duplicate READ (check as for READ) or another one (nothing) */
};

enum sroce_target {
	SROCE_TARGET_NONE,	/* no payload */
	SROCE_TARGET_RECV,	/* the receive WQE's scatter list at @offset */
	SROCE_TARGET_REGION,	/* remote-write at @va of the region @rkey */
};

/**
 * struct sroce_recv_plan - what a request means
 * @verdict: enum sroce_verdict
 * @target: enum sroce_target of SROCE_RECV_PLACE
 * @reason: enum sroce_drop_reason of SROCE_RECV_DROP
 * @syndrome: AETH syndrome of SROCE_RECV_NAK
 * @wc_status: of the receive completion that goes with a NAK; SUCCESS when there is no receive WQE
 * @queued: SROCE_RECV_QUEUE: the packet is in the reorder queue already
 * @waits_rwqe: SROCE_RECV_QUEUE: it is the expected packet, and waits for a receive WQE or a page
 * @invalidate: after placing, invalidate @inv_rkey (SEND with invalidate)
 * @atomic_op: enum sroce_opcode of SROCE_RECV_ATOMIC; ATOMIC_WRITE: the payload is the new value
 * @resource: slot to replay
 * @access: SROCE_ACCESS_* needed
 * @rkey: key of the region
 * @inv_rkey: key to invalidate
 * @offset: offset into the receive WQE
 * @place_bytes: payload to place
 * @check_bytes: range that must lie in the region as a whole (first packet of a WRITE: the whole
 *               message, so that no byte of a bad one lands); 0 for a FLUSH of the whole region
 * @va: address in the region
 * @compare: atomic compare value
 * @swap_add: atomic swap or addend
 */
struct sroce_recv_plan {
	u8	verdict;
	u8	target;
	u8	reason;
	u8	syndrome;
	u8	wc_status;
	bool	queued;
	bool	waits_rwqe;
	bool	invalidate;
	u8	atomic_op;
	u32	access;
	u32	resource;
	u32	rkey;
	u32	inv_rkey;
	u32	offset;
	u32	place_bytes;
	u32	check_bytes;
	u64	va;
	u64	compare;
	u64	swap_add;
};

/**
 * struct sroce_recv_result - what became of a plan
 * @status: outcome of placing, checking, the atomic, or queueing the packet
 * @invalidated: outcome of the invalidation, if the plan asked for one
 * @atomic_original: value before the atomic
 */
struct sroce_recv_result {
	enum sroce_mem_status status;
	enum sroce_mem_status invalidated;
	u64	atomic_original;
};

/* Questions of the datapath. */
static inline bool sroce_responder_is_ready(const struct sroce_responder *resp)
{
	return resp->state == SROCE_RQ_READY;
}

static inline bool sroce_responder_has_failed(const struct sroce_responder *resp)
{
	return resp->state == SROCE_RQ_FAILED;
}

/* The expected PSN; without the lock, one of the recent past. */
static inline u32 sroce_responder_epsn(const struct sroce_responder *resp)
{
	return READ_ONCE(resp->epsn);
}

/* Messages completed since the start, modulo 2^24; without the lock, of the recent past. */
static inline u32 sroce_responder_messages(const struct sroce_responder *resp)
{
	return READ_ONCE(resp->msn);
}

/* READs and atomics with responses still to be sent. */
static inline u32 sroce_responder_pending(const struct sroce_responder *resp)
{
	return resp->resources.pending;
}

/* Would a plan find nothing to send back? Costs less than the plan. */
static inline bool sroce_responder_is_idle(const struct sroce_responder *resp)
{
	return !resp->ack_pending && !resp->nak_pending && !resp->dup_nak_pending &&
	       !resp->resources.replay_count && !resp->resources.pending;
}

/* Does the expected request wait for a receive WQE or a page? See sroce_reorder_rwqe_posted(). */
static inline bool sroce_responder_waits_rwqe(const struct sroce_responder *resp)
{
	return resp->reorder.waiting_rwqe;
}

/* Packets in the reorder queue. */
static inline u32 sroce_responder_queued(const struct sroce_responder *resp)
{
	return resp->reorder.count;
}

void sroce_responder_init(struct sroce_responder *resp, enum sroce_service service,
			  struct sroce_recv_wqe *recv);
void sroce_responder_reset(struct sroce_responder *resp);
void sroce_responder_start_psn(struct sroce_responder *resp, u32 psn);
void sroce_responder_set_state(struct sroce_responder *resp, enum sroce_rq_state state);
void sroce_responder_nak_duplicate(struct sroce_responder *resp, u32 psn);

bool sroce_responder_can_coalesce(const struct sroce_responder *resp,
				  const struct sroce_packet *pkt);
bool sroce_responder_wants_wqe(const struct sroce_responder *resp, const struct sroce_packet *pkt);
void sroce_responder_take_wqe(struct sroce_responder *resp);
void sroce_responder_return_wqe(struct sroce_responder *resp);
void sroce_responder_plan(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			  struct sroce_recv_plan *plan);
void sroce_responder_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
			    const struct sroce_recv_plan *plan,
			    const struct sroce_recv_result *result, u64 now_ns);
bool sroce_responder_next_completion(struct sroce_responder *resp, struct sroce_completion *wc);
enum sroce_rq_event sroce_responder_take_event(struct sroce_responder *resp);

#endif
