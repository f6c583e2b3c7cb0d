// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of a queue pair, for SROCE_CMD_QP_GET. Each work queue is copied
 * under its lock, one after the other, and the message is written from the
 * copy. So a reader costs the datapath no more than a copy.
 */
#include "compat/compat.h"
#include "control/netlink.h"
#include "datapath/qp.h"
#include "datapath/reorder_queue.h"
#include "transport/psn.h"
#include "transport/requester.h"

static_assert((int)SROCE_NL_SELECTIVE_OFFERED == SROCE_SELECTIVE_OFFERED);
static_assert((int)SROCE_NL_SELECTIVE_ON == SROCE_SELECTIVE_ON);
static_assert((int)SROCE_NL_SELECTIVE_OFF == SROCE_SELECTIVE_OFF);

static_assert((int)SROCE_NL_CC_NUMBER == SROCE_CC_AS_NUMBER);
static_assert((int)SROCE_NL_CC_RATE == SROCE_CC_AS_RATE);
static_assert((int)SROCE_NL_CC_NS == SROCE_CC_AS_NS);
static_assert((int)SROCE_NL_CC_FRACTION == SROCE_CC_AS_FRACTION);
static_assert(SROCE_NL_CC_ONE == SROCE_CC_ONE);

/**
 * struct pace - congestion control of a work queue
 * @info: for display
 * @started: it has an algorithm
 * @cnp_handled: CNPs
 * @cuts: decreases
 */
struct pace {
	struct sroce_cc_info info;
	bool	started;
	u64	cnp_handled;
	u64	cuts;
};

/**
 * struct snapshot - copy of a queue pair
 * @qpn: its number
 * @type: enum ib_qp_type
 * @state: enum ib_qp_state
 * @connected: RC with a peer
 * @peer_qpn: the peer's number
 * @saddr: our address
 * @daddr: the peer's
 * @sq: congestion control of the send queue
 * @req: statistics of the requester
 * @rq: congestion control of the receive queue
 * @reorder_packets: queued out of order
 * @reorder_bytes: their memory
 * @np: notification point
 */
struct snapshot {
	u32	qpn;
	u8	type;
	u8	state;
	bool	connected;
	u32	peer_qpn;
	struct in6_addr saddr;
	struct in6_addr daddr;

	struct pace sq;
	struct sroce_requester_stats req;

	struct pace rq;
	u32	reorder_packets;
	u32	reorder_bytes;
	struct sroce_np np;
};

static void copy_pace(struct pace *pace, const struct sroce_cc *cc)
{
	sroce_cc_get_info(cc, ktime_get_ns(), &pace->info);
	pace->started = cc->ops;
	pace->cnp_handled = cc->cnp_handled;
	pace->cuts = cc->cuts;
}

static void copy_sq(struct snapshot *copy, struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->req;

	spin_lock_bh(&qp->sq.lock);
	copy->state = qp->state;
	copy->connected = qp->service == SROCE_SERVICE_RC &&
			  (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD ||
			   qp->state == IB_QPS_RTR);
	copy->peer_qpn = req->attr.dest_qpn;
	copy->saddr = qp->sq.path.saddr;
	copy->daddr = qp->sq.path.daddr;
	copy_pace(&copy->sq, &req->cc);
	sroce_requester_get_stats(req, &copy->req);
	spin_unlock_bh(&qp->sq.lock);
}

static void copy_rq(struct snapshot *copy, struct sroce_qp *qp)
{
	spin_lock_bh(&qp->rq.lock);
	copy_pace(&copy->rq, &qp->resp.cc);
	copy->reorder_packets = sroce_responder_queued(&qp->resp);
	copy->reorder_bytes = qp->reorder_queue ? qp->reorder_queue->bytes : 0;
	copy->np = qp->np;
	spin_unlock_bh(&qp->rq.lock);
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, SROCE_A_WQ_PAD);
}

static int put_known_u32(struct sk_buff *skb, int type, u32 value)
{
	return value ? nla_put_u32(skb, type, value) : 0;
}

static int put_detail(struct sk_buff *skb, const struct sroce_cc_detail *detail)
{
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_WQ_CC_INFO);

	if (!nest || nla_put_string(skb, SROCE_A_CC_INFO_KEY, detail->key) ||
	    nla_put_u64_64bit(skb, SROCE_A_CC_INFO_VALUE, detail->value, SROCE_A_CC_INFO_PAD) ||
	    nla_put_u8(skb, SROCE_A_CC_INFO_FORMAT, detail->format))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_pace(struct sk_buff *skb, const struct pace *pace)
{
	const struct sroce_cc_info *info = &pace->info;
	u32 i;

	if (!pace->started)
		return 0;
	if (nla_put_string(skb, SROCE_A_WQ_CC, info->algorithm) ||
	    nla_put_string(skb, SROCE_A_WQ_CC_STATE, info->state))
		return -EMSGSIZE;
	if (info->rate != SROCE_CC_UNLIMITED && put_u64(skb, SROCE_A_WQ_RATE, info->rate))
		return -EMSGSIZE;
	if (info->cwnd != SROCE_CC_NO_WINDOW && nla_put_u32(skb, SROCE_A_WQ_CWND, info->cwnd))
		return -EMSGSIZE;
	for (i = 0; i < info->detail_count; i++)
		if (put_detail(skb, &info->details[i]))
			return -EMSGSIZE;
	if (put_u64(skb, SROCE_A_WQ_CNP_HANDLED, pace->cnp_handled) ||
	    put_u64(skb, SROCE_A_WQ_CUTS, pace->cuts))
		return -EMSGSIZE;
	return 0;
}

static int put_sq(struct sk_buff *skb, const struct snapshot *copy)
{
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_SQ);

	if (!nest || put_pace(skb, &copy->sq) ||
	    put_known_u32(skb, SROCE_A_WQ_SRTT_NS, copy->req.rtt.srtt_ns) ||
	    put_known_u32(skb, SROCE_A_WQ_RTTVAR_NS, copy->req.rtt.var_ns) ||
	    put_known_u32(skb, SROCE_A_WQ_MIN_RTT_NS, copy->req.rtt.min_ns) ||
	    nla_put_u32(skb, SROCE_A_WQ_INFLIGHT, copy->req.inflight_psns) ||
	    put_u64(skb, SROCE_A_WQ_RETRANSMITS, copy->req.retransmits) ||
	    put_u64(skb, SROCE_A_WQ_TIMEOUTS, copy->req.timeouts) ||
	    put_u64(skb, SROCE_A_WQ_PROBES, copy->req.probes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_rq(struct sk_buff *skb, const struct snapshot *copy)
{
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_RQ);

	if (!nest || put_pace(skb, &copy->rq) ||
	    nla_put_u32(skb, SROCE_A_WQ_REORDER_PACKETS, copy->reorder_packets) ||
	    nla_put_u32(skb, SROCE_A_WQ_REORDER_BYTES, copy->reorder_bytes) ||
	    put_u64(skb, SROCE_A_WQ_ECN_MARKED, copy->np.ecn_marked) ||
	    put_u64(skb, SROCE_A_WQ_CNP_SENT, copy->np.cnps))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_peer(struct sk_buff *skb, const struct snapshot *copy)
{
	if (!copy->connected)
		return 0;
	if (nla_put_u32(skb, SROCE_A_PEER_QPN, copy->peer_qpn) ||
	    nla_put_in6_addr(skb, SROCE_A_LOCAL_ADDRESS, &copy->saddr) ||
	    nla_put_in6_addr(skb, SROCE_A_PEER_ADDRESS, &copy->daddr) ||
	    nla_put_u8(skb, SROCE_A_SELECTIVE, copy->req.selective))
		return -EMSGSIZE;
	return 0;
}

/**
 * sroce_netlink_put_qp() - write a queue pair into a message
 * @skb: the message
 * @dev: device
 * @qpn: smallest number to look for; set to the number of the QP found
 *
 * Return: 0, -ENOENT if there is none, or -EMSGSIZE, after which the caller must
 * cancel the message.
 */
int sroce_netlink_put_qp(struct sk_buff *skb, struct sroce_device *dev, u32 *qpn)
{
	struct sroce_qp *qp = sroce_qp_get_next(&dev->ep, qpn);
	struct snapshot copy = {};

	if (!qp)
		return -ENOENT;
	copy.qpn = *qpn;
	copy.type = qp->ibqp.qp_type;
	copy_sq(&copy, qp);
	copy_rq(&copy, qp);
	sroce_qp_put(qp);

	if (sroce_netlink_put_device(skb, dev) ||
	    nla_put_u32(skb, SROCE_A_QPN, copy.qpn) ||
	    nla_put_u8(skb, SROCE_A_QP_TYPE, copy.type) ||
	    nla_put_u8(skb, SROCE_A_QP_STATE, copy.state) ||
	    put_peer(skb, &copy) || put_sq(skb, &copy) || put_rq(skb, &copy))
		return -EMSGSIZE;
	return 0;
}
