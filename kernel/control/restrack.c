// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Our part of ib_core's list of resources, which `rdma resource show -dd` prints. Everybody may
 * read it, so it has no address, neither of a peer nor of a process's memory; `sroce qp` has more.
 *
 * ib_core keeps the memory of an object that it lists, but may list a QP, CQ or SRQ that is being
 * destroyed (before 7.2 and its stable backports). Nothing is written about what has gone.
 */
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>

#include "control/restrack.h"
#include "datapath/qp.h"
#include "datapath/qp_stats.h"

static int put_sq_details(struct sk_buff *msg, const struct sroce_sq_stats *stats)
{
	const struct sroce_requester_stats *requester = &stats->requester;

	return rdma_nl_put_driver_u32(msg, "sq_wqes", stats->wqes) ?:
	       rdma_nl_put_driver_u32(msg, "unacked_psn", requester->unacked_psn) ?:
	       rdma_nl_put_driver_u32(msg, "sent_psn", requester->sent_psn) ?:
	       rdma_nl_put_driver_u32(msg, "inflight", requester->inflight_psns) ?:
	       rdma_nl_put_driver_u32(msg, "window", requester->window_packets) ?:
	       rdma_nl_put_driver_u32(msg, "srtt_ns", requester->rtt.srtt_ns) ?:
	       rdma_nl_put_driver_u32(msg, "min_rtt_ns", requester->rtt.min_ns) ?:
	       rdma_nl_put_driver_u64(msg, "retransmits", requester->retransmits) ?:
	       rdma_nl_put_driver_u64(msg, "timeouts", requester->timeouts) ?:
	       rdma_nl_put_driver_u64(msg, "probes", requester->probes);
}

static int put_rq_details(struct sk_buff *msg, const struct sroce_rq_stats *stats,
			  bool has_receives)
{
	return (has_receives ? rdma_nl_put_driver_u32(msg, "rq_wqes", stats->wqes) : 0) ?:
	       rdma_nl_put_driver_u32(msg, "expected_psn", stats->epsn) ?:
	       rdma_nl_put_driver_u32(msg, "reorder_packets", stats->reorder_packets);
}

/* The nest is open: close it, or cut it off. */
static int end_details(struct sk_buff *msg, struct nlattr *nest, int err)
{
	if (err)
		nla_nest_cancel(msg, nest);
	else
		nla_nest_end(msg, nest);
	return err;
}

/**
 * sroce_restrack_put_qp() - ib_device_ops.fill_res_qp_entry
 * @msg: the message about the QP
 * @ibqp: the QP; being destroyed, perhaps
 *
 * May sleep.
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_restrack_put_qp(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct sroce_qp *qp = sroce_qp_get_listed(ibqp);
	struct sroce_qp_stats stats;
	struct nlattr *nest;
	bool has_receives;

	if (!qp)
		return 0;
	sroce_qp_get_stats(qp, &stats);
	has_receives = sroce_qp_has_receives(qp);
	sroce_qp_put(qp);
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	return end_details(msg, nest, put_sq_details(msg, &stats.sq) ?:
			   put_rq_details(msg, &stats.rq, has_receives));
}

/**
 * sroce_restrack_put_cq() - ib_device_ops.fill_res_cq_entry
 * @msg: the message about the CQ
 * @ibcq: the CQ; being destroyed, perhaps
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_restrack_put_cq(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct sroce_cq_stats stats;
	struct nlattr *nest;

	if (!sroce_cq_get_stats(to_sroce_cq(ibcq), &stats))
		return 0;
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	return end_details(msg, nest, rdma_nl_put_driver_u32(msg, "unread", stats.unread) ?:
			   rdma_nl_put_driver_u32(msg, "overflowed", stats.overflowed) ?:
			   rdma_nl_put_driver_u32(msg, "event_count", stats.event_count) ?:
			   rdma_nl_put_driver_u32(msg, "event_period_us", stats.event_period_us));
}

/**
 * sroce_restrack_put_srq() - ib_device_ops.fill_res_srq_entry
 * @msg: the message about the SRQ
 * @ibsrq: the SRQ; being destroyed, perhaps
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_restrack_put_srq(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct sroce_srq_stats stats;
	struct nlattr *nest;

	if (!sroce_srq_get_stats(to_sroce_srq(ibsrq), &stats))
		return 0;
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	return end_details(msg, nest, rdma_nl_put_driver_u32(msg, "wqes", stats.wqes) ?:
			   rdma_nl_put_driver_u32(msg, "max_wr", stats.max_wr) ?:
			   rdma_nl_put_driver_u32(msg, "limit", stats.limit));
}

/**
 * sroce_restrack_put_mr() - ib_device_ops.fill_res_mr_entry
 * @msg: the message about the region
 * @ibmr: the region; ib_core lists it while it is re-registered, too, but no longer once it has
 *        asked to deregister it, even if a memory window prevents that
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_restrack_put_mr(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct sroce_region_info info;
	struct nlattr *nest;

	if (!sroce_region_get_info(&to_sroce_device(ibmr->device)->memory, ibmr->lkey, &info))
		return 0;
	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	return end_details(msg, nest, rdma_nl_put_driver_u32(msg, "valid", info.valid) ?:
			   rdma_nl_put_driver_u32(msg, "windows", info.windows));
}
