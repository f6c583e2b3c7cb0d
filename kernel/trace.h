/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tracepoints: one for each kind of plan, one for packets dropped, one for page faults, two for
 * congestion control.
 * A QP number identifies the QP, because all but QP 1 are unique in the module.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sroce

#if !defined(SROCE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define SROCE_TRACE_H

#include <linux/tracepoint.h>

#include "memory/odp.h"
#include "net/counters.h"
#include "transport/completer.h"
#include "transport/requester_plan.h"
#include "transport/responder.h"
#include "transport/response.h"

#define SROCE_TRACE_NAME_BYTES	32
#define SROCE_TRACE_DETAIL_BYTES	160

void sroce_trace_cc_details(char *text, size_t size, const struct sroce_cc_events *events,
			    const struct sroce_cc_info *info);

TRACE_EVENT(sroce_send_plan,
	TP_PROTO(u32 qpn, const struct sroce_send_plan *plan),
	TP_ARGS(qpn, plan),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, index)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, offset)
		__field(u32, bytes)
		__field(u8, action)
		__field(bool, ack_req)
		__field(bool, retransmit)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->index = plan->index;
		__entry->psn = plan->first_psn;
		__entry->packets = plan->packet_count;
		__entry->offset = plan->offset;
		__entry->bytes = plan->payload_bytes;
		__entry->action = plan->action;
		__entry->ack_req = plan->ack_req;
		__entry->retransmit = plan->retransmit;
	),
	TP_printk("qpn=%u %s wqe=%u psn=%u packets=%u offset=%u bytes=%u%s%s", __entry->qpn,
		  __print_symbolic(__entry->action,
				   { SROCE_SEND_NOTHING, "nothing" },
				   { SROCE_SEND_PACKETS, "packets" },
				   { SROCE_SEND_LOCAL, "local" },
				   { SROCE_SEND_FAIL, "fail" }),
		  __entry->index, __entry->psn, __entry->packets, __entry->offset, __entry->bytes,
		  __entry->ack_req ? " ack_req" : "", __entry->retransmit ? " retransmit" : "")
);

TRACE_EVENT(sroce_ack_plan,
	TP_PROTO(u32 qpn, u32 psn, const struct sroce_ack_plan *plan),
	TP_ARGS(qpn, psn, plan),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, executed_psn)
		__field(u32, index)
		__field(u32, bytes)
		__field(u64, rnr_wait_ns)
		__field(u8, action)
		__field(u8, reason)
		__field(u8, status)
		__field(bool, rewind)
		__field(bool, rnr)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->executed_psn = plan->executed_psn;
		__entry->index = plan->index;
		__entry->bytes = plan->place_bytes;
		__entry->rnr_wait_ns = plan->rnr ? plan->rnr_wait_ns : 0;
		__entry->action = plan->action;
		__entry->reason = plan->reason;
		__entry->status = plan->status;
		__entry->rewind = plan->rewind;
		__entry->rnr = plan->rnr;
	),
	TP_printk("qpn=%u psn=%u %s reason=%u status=%u executed_psn=%u wqe=%u place=%u rnr_wait_ns=%llu%s%s",
		  __entry->qpn, __entry->psn,
		  __print_symbolic(__entry->action,
				   { SROCE_ACK_DROP, "drop" },
				   { SROCE_ACK_ACCEPT, "accept" },
				   { SROCE_ACK_FAIL, "fail" }),
		  __entry->reason, __entry->status, __entry->executed_psn, __entry->index,
		  __entry->bytes, __entry->rnr_wait_ns, __entry->rewind ? " rewind" : "",
		  __entry->rnr ? " rnr" : "")
);

TRACE_EVENT(sroce_recv_plan,
	TP_PROTO(u32 qpn, u32 psn, const struct sroce_recv_plan *plan),
	TP_ARGS(qpn, psn, plan),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, rkey)
		__field(u64, va)
		__field(u32, bytes)
		__field(u8, verdict)
		__field(u8, target)
		__field(u8, reason)
		__field(u8, syndrome)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = psn;
		__entry->rkey = plan->rkey;
		__entry->va = plan->va;
		__entry->bytes = plan->place_bytes;
		__entry->verdict = plan->verdict;
		__entry->target = plan->target;
		__entry->reason = plan->reason;
		__entry->syndrome = plan->syndrome;
	),
	TP_printk("qpn=%u psn=%u %s target=%u reason=%u syndrome=%#x rkey=%#x va=%#llx place=%u",
		  __entry->qpn, __entry->psn,
		  __print_symbolic(__entry->verdict,
				   { SROCE_RECV_DROP, "drop" },
				   { SROCE_RECV_ACK_AGAIN, "ack_again" },
				   { SROCE_RECV_NAK, "nak" },
				   { SROCE_RECV_RNR, "rnr" },
				   { SROCE_RECV_QUEUE, "queue" },
				   { SROCE_RECV_PLACE, "place" },
				   { SROCE_RECV_READ, "read" },
				   { SROCE_RECV_ATOMIC, "atomic" },
				   { SROCE_RECV_FLUSH, "flush" },
				   { SROCE_RECV_REPLAY, "replay" }),
		  __entry->target, __entry->reason, __entry->syndrome, __entry->rkey, __entry->va,
		  __entry->bytes)
);

TRACE_EVENT(sroce_response_plan,
	TP_PROTO(u32 qpn, const struct sroce_response_plan *plan),
	TP_ARGS(qpn, plan),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, psn)
		__field(u32, packets)
		__field(u32, bytes)
		__field(u8, kind)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->psn = plan->first_psn;
		__entry->packets = plan->packet_count;
		__entry->bytes = plan->payload_bytes;
		__entry->kind = plan->kind;
	),
	TP_printk("qpn=%u kind=%u psn=%u packets=%u bytes=%u", __entry->qpn, __entry->kind,
		  __entry->psn, __entry->packets, __entry->bytes)
);

/*
 * Events of a work queue's reaction point, and its rate, window and other state after them. Elapsed
 * timer periods are processed in one go: the last details count them, and the increases.
 */
TRACE_EVENT(sroce_congestion,
	TP_PROTO(u32 qpn, u8 wq_type, const struct sroce_cc_events *events,
		 const struct sroce_cc_info *info),
	TP_ARGS(qpn, wq_type, events, info),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, mask)
		__field(u64, rate)
		__field(u32, cwnd)
		__field(u8, wq_type)
		__array(char, state, SROCE_TRACE_NAME_BYTES)
		__array(char, details, SROCE_TRACE_DETAIL_BYTES)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->mask = events->mask;
		__entry->rate = info->rate;
		__entry->cwnd = info->cwnd;
		__entry->wq_type = wq_type;
		strscpy(__entry->state, info->state, SROCE_TRACE_NAME_BYTES);
		sroce_trace_cc_details(__entry->details, SROCE_TRACE_DETAIL_BYTES, events, info);
	),
	/* -1 means no limit. */
	TP_printk("qpn=%u %s events=%s state=\"%s\" rate=%lld cwnd=%d/256%s", __entry->qpn,
		  __entry->wq_type ? "recv" : "send",
		  __print_flags(__entry->mask, "|",
				{ SROCE_CC_EV_BY_CNP, "cnp" },
				{ SROCE_CC_EV_BY_DELAY, "delay" },
				{ SROCE_CC_EV_BY_LOSS, "loss" },
				{ SROCE_CC_EV_BY_TIMEOUT, "timeout" },
				{ SROCE_CC_EV_CUT, "cut" },
				{ SROCE_CC_EV_CUT_SKIPPED, "cut_skipped" },
				{ SROCE_CC_EV_LIMIT_BEGAN, "limit_began" },
				{ SROCE_CC_EV_LIMIT_ENDED, "limit_ended" },
				{ SROCE_CC_EV_ESTIMATED, "estimated" },
				{ SROCE_CC_EV_RAISED, "raised" },
				{ SROCE_CC_EV_TARGET_CUT, "target_cut" },
				{ SROCE_CC_EV_WINDOW_RAISED, "window_raised" },
				{ SROCE_CC_EV_SLOW_START_ENDED, "slow_start_ended" },
				{ SROCE_CC_EV_ADAPTED, "adapted" }),
		  __entry->state, (long long)__entry->rate, (int)__entry->cwnd, __entry->details)
);

/* The notification point has received a marked packet, and may send a CNP to its sender. */
TRACE_EVENT(sroce_marked,
	TP_PROTO(u32 qpn, u32 sender_qpn, bool cnp),
	TP_ARGS(qpn, sender_qpn, cnp),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, sender_qpn)
		__field(bool, cnp)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->sender_qpn = sender_qpn;
		__entry->cnp = cnp;
	),
	TP_printk("qpn=%u sender_qpn=%u %s", __entry->qpn, __entry->sender_qpn,
		  __entry->cnp ? "cnp" : "too_soon")
);

/* Pages that a queue waited for have been faulted in, or could not be. */
TRACE_EVENT(sroce_page_fault,
	TP_PROTO(u32 qpn, const struct sroce_page_range *range, int err),
	TP_ARGS(qpn, range, err),
	TP_STRUCT__entry(
		__field(u32, qpn)
		__field(u32, key)
		__field(u64, va)
		__field(u32, bytes)
		__field(bool, write)
		__field(int, err)
	),
	TP_fast_assign(
		__entry->qpn = qpn;
		__entry->key = range->key;
		__entry->va = range->va;
		__entry->bytes = range->bytes;
		__entry->write = range->write;
		__entry->err = err;
	),
	TP_printk("qpn=%u key=%#x va=%#llx bytes=%u %s err=%d", __entry->qpn, __entry->key,
		  __entry->va, __entry->bytes, __entry->write ? "write" : "read", __entry->err)
);

/* The name is copied, so that perf and trace-cmd can print it. */
TRACE_EVENT(sroce_drop,
	TP_PROTO(int ifindex, u32 dest_qpn, enum sroce_counter why),
	TP_ARGS(ifindex, dest_qpn, why),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, dest_qpn)
		__array(char, why, SROCE_TRACE_NAME_BYTES)
	),
	TP_fast_assign(
		__entry->ifindex = ifindex;
		__entry->dest_qpn = dest_qpn;
		strscpy(__entry->why, sroce_counter_descs[why].name, SROCE_TRACE_NAME_BYTES);
	),
	TP_printk("ifindex=%d dest_qpn=%u why=%s", __entry->ifindex, __entry->dest_qpn,
		  __entry->why)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
