// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of a queue pair, for SROCE_CMD_QP_GET. Each work queue is written into
 * the message under its lock, one after the other. The skb has its memory already,
 * so this costs the datapath some thirty small copies.
 */
#include "control/netlink.h"
#include "datapath/qp.h"
#include "datapath/reorder_queue.h"

static_assert((int)SROCE_NL_SELECTIVE_OFFERED == SROCE_SELECTIVE_OFFERED);
static_assert((int)SROCE_NL_SELECTIVE_ON == SROCE_SELECTIVE_ON);
static_assert((int)SROCE_NL_SELECTIVE_OFF == SROCE_SELECTIVE_OFF);
static_assert((int)SROCE_NL_SELECTIVE_WITHDRAWN == SROCE_SELECTIVE_WITHDRAWN);

static_assert((int)SROCE_NL_CC_NUMBER == SROCE_CC_AS_NUMBER);
static_assert((int)SROCE_NL_CC_RATE == SROCE_CC_AS_RATE);
static_assert((int)SROCE_NL_CC_NS == SROCE_CC_AS_NS);
static_assert((int)SROCE_NL_CC_FRACTION == SROCE_CC_AS_FRACTION);
static_assert(SROCE_NL_CC_ONE == SROCE_CC_ONE);

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

static int put_cc(struct sk_buff *skb, const struct sroce_cc *cc)
{
	struct sroce_cc_info info;
	u32 i;

	sroce_cc_get_info(cc, ktime_get_ns(), &info);
	if (!info.started)
		return 0;
	if (nla_put_string(skb, SROCE_A_WQ_CC, info.algorithm) ||
	    nla_put_string(skb, SROCE_A_WQ_CC_STATE, info.state))
		return -EMSGSIZE;
	if (info.rate != SROCE_CC_UNLIMITED && put_u64(skb, SROCE_A_WQ_RATE, info.rate))
		return -EMSGSIZE;
	if (info.cwnd != SROCE_CC_NO_WINDOW && nla_put_u32(skb, SROCE_A_WQ_CWND, info.cwnd))
		return -EMSGSIZE;
	for (i = 0; i < info.detail_count; i++)
		if (put_detail(skb, &info.details[i]))
			return -EMSGSIZE;
	return put_u64(skb, SROCE_A_WQ_CNP_HANDLED, info.cnp_handled) ?:
	       put_u64(skb, SROCE_A_WQ_CUTS, info.cuts);
}

static int put_peer(struct sk_buff *skb, const struct sroce_qp *qp, u8 selective)
{
	if (!sroce_qp_is_connected(qp) || (qp->state != IB_QPS_RTR && qp->state != IB_QPS_RTS &&
					   qp->state != IB_QPS_SQD))
		return 0;
	/* UC does not offer selective repeat. */
	if (!sroce_qp_is_acked(qp))
		selective = SROCE_NL_SELECTIVE_OFF;
	return nla_put_u32(skb, SROCE_A_PEER_QPN, qp->req.attr.dest_qpn) ?:
	       nla_put_in6_addr(skb, SROCE_A_LOCAL_ADDRESS, &qp->sq.path.saddr) ?:
	       nla_put_in6_addr(skb, SROCE_A_PEER_ADDRESS, &qp->sq.path.daddr) ?:
	       nla_put_u8(skb, SROCE_A_SELECTIVE, selective);
}

static int put_sq(struct sk_buff *skb, const struct sroce_qp *qp,
		  const struct sroce_requester_stats *stats)
{
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_SQ);

	if (!nest || put_cc(skb, &qp->req.cc) ||
	    put_known_u32(skb, SROCE_A_WQ_SRTT_NS, stats->rtt.srtt_ns) ||
	    put_known_u32(skb, SROCE_A_WQ_RTTVAR_NS, stats->rtt.var_ns) ||
	    put_known_u32(skb, SROCE_A_WQ_MIN_RTT_NS, stats->rtt.min_ns) ||
	    nla_put_u32(skb, SROCE_A_WQ_INFLIGHT, stats->inflight_psns) ||
	    put_u64(skb, SROCE_A_WQ_RETRANSMITS, stats->retransmits) ||
	    put_u64(skb, SROCE_A_WQ_TIMEOUTS, stats->timeouts) ||
	    put_u64(skb, SROCE_A_WQ_PROBES, stats->probes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_rq(struct sk_buff *skb, const struct sroce_qp *qp)
{
	const struct sroce_reorder_queue *queue = qp->reorder_queue;
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_RQ);

	if (!nest || put_cc(skb, &qp->resp.cc) ||
	    nla_put_u32(skb, SROCE_A_WQ_REORDER_PACKETS, sroce_responder_queued(&qp->resp)) ||
	    nla_put_u32(skb, SROCE_A_WQ_REORDER_BYTES, queue ? queue->bytes : 0) ||
	    put_u64(skb, SROCE_A_WQ_ECN_MARKED, qp->np.ecn_marked) ||
	    put_u64(skb, SROCE_A_WQ_CNP_SENT, qp->np.cnps))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_locked_sq(struct sk_buff *skb, struct sroce_qp *qp)
{
	struct sroce_requester_stats stats;
	int err;

	spin_lock_bh(&qp->sq.lock);
	sroce_requester_get_stats(&qp->req, &stats);
	err = nla_put_u8(skb, SROCE_A_QP_STATE, qp->state) ?: put_peer(skb, qp, stats.selective) ?:
	      put_sq(skb, qp, &stats);
	spin_unlock_bh(&qp->sq.lock);
	return err;
}

static int put_locked_rq(struct sk_buff *skb, struct sroce_qp *qp)
{
	int err;

	spin_lock_bh(&qp->rq.lock);
	err = put_rq(skb, qp);
	spin_unlock_bh(&qp->rq.lock);
	return err;
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
	int err;

	if (!qp)
		return -ENOENT;
	err = sroce_netlink_put_device(skb, dev) ?: nla_put_u32(skb, SROCE_A_QPN, *qpn) ?:
	      nla_put_u8(skb, SROCE_A_QP_TYPE, qp->ibqp.qp_type) ?: put_locked_sq(skb, qp) ?:
	      put_locked_rq(skb, qp);
	sroce_qp_put(qp);
	return err;
}
