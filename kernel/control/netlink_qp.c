// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The state of a queue pair, for SROCE_CMD_QP_GET. */
#include "control/netlink.h"
#include "datapath/qp.h"
#include "datapath/qp_stats.h"

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

static int put_cc(struct sk_buff *skb, const struct sroce_cc_info *info)
{
	u32 i;

	if (!info->started)
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
	return put_u64(skb, SROCE_A_WQ_CNP_HANDLED, info->cnp_handled) ?:
	       put_u64(skb, SROCE_A_WQ_CUTS, info->cuts);
}

static int put_peer(struct sk_buff *skb, const struct sroce_qp *qp,
		    const struct sroce_qp_stats *stats)
{
	u8 selective = stats->sq.requester.selective;

	if (!stats->has_peer)
		return 0;
	/* UC does not offer selective repeat. */
	if (!sroce_qp_is_acked(qp))
		selective = SROCE_NL_SELECTIVE_OFF;
	return nla_put_u32(skb, SROCE_A_PEER_QPN, stats->dest_qpn) ?:
	       nla_put_in6_addr(skb, SROCE_A_LOCAL_ADDRESS, &stats->saddr) ?:
	       nla_put_in6_addr(skb, SROCE_A_PEER_ADDRESS, &stats->daddr) ?:
	       nla_put_u8(skb, SROCE_A_SELECTIVE, selective);
}

static int put_sq(struct sk_buff *skb, const struct sroce_sq_stats *stats)
{
	const struct sroce_requester_stats *requester = &stats->requester;
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_SQ);

	if (!nest || put_cc(skb, &stats->cc) ||
	    put_known_u32(skb, SROCE_A_WQ_SRTT_NS, requester->rtt.srtt_ns) ||
	    put_known_u32(skb, SROCE_A_WQ_RTTVAR_NS, requester->rtt.var_ns) ||
	    put_known_u32(skb, SROCE_A_WQ_MIN_RTT_NS, requester->rtt.min_ns) ||
	    nla_put_u32(skb, SROCE_A_WQ_INFLIGHT, requester->inflight_psns) ||
	    put_u64(skb, SROCE_A_WQ_RETRANSMITS, requester->retransmits) ||
	    put_u64(skb, SROCE_A_WQ_TIMEOUTS, requester->timeouts) ||
	    put_u64(skb, SROCE_A_WQ_PROBES, requester->probes) ||
	    nla_put_u32(skb, SROCE_A_WQ_WQES, stats->wqes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_rq(struct sk_buff *skb, const struct sroce_rq_stats *stats, bool has_receives)
{
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_RQ);

	if (!nest || put_cc(skb, &stats->cc) ||
	    nla_put_u32(skb, SROCE_A_WQ_REORDER_PACKETS, stats->reorder_packets) ||
	    nla_put_u32(skb, SROCE_A_WQ_REORDER_BYTES, stats->reorder_bytes) ||
	    put_u64(skb, SROCE_A_WQ_ECN_MARKED, stats->ecn_marked) ||
	    put_u64(skb, SROCE_A_WQ_CNP_SENT, stats->cnp_sent))
		return -EMSGSIZE;
	if (has_receives && nla_put_u32(skb, SROCE_A_WQ_WQES, stats->wqes))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, struct sroce_qp *qp)
{
	struct sroce_qp_stats stats;
	int err;

	sroce_qp_get_stats(qp, &stats);
	err = nla_put_u8(skb, SROCE_A_QP_STATE, stats.state) ?: put_peer(skb, qp, &stats) ?:
	      put_sq(skb, &stats.sq) ?: put_rq(skb, &stats.rq, sroce_qp_has_receives(qp));
	if (!err && qp->srq)
		err = nla_put_u32(skb, SROCE_A_SRQN, qp->srq->ibsrq.res.id);
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
	      nla_put_u8(skb, SROCE_A_QP_TYPE, qp->ibqp.qp_type) ?: put_stats(skb, qp);
	sroce_qp_put(qp);
	return err;
}
