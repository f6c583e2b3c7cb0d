/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/datapath.h"

#include "control/netlink.h"
#include "datapath/ack_delay.h"
#include "net/mcast.h"

struct stand_in_datapath stand_in_datapath;

struct sroce_qp *sroce_qp_get(struct sroce_endpoint *ep, u32 qpn)
{
	struct sroce_qp *qp = stand_in_datapath.qp;

	if (!qp || qp->ibqp.qp_num != qpn)
		return NULL;
	stand_in_datapath.users++;
	return qp;
}

struct sroce_qp *sroce_qp_get_next(struct sroce_endpoint *ep, u32 *qpn)
{
	struct sroce_qp *qp = stand_in_datapath.qp;

	if (!qp || qp->ibqp.qp_num < *qpn)
		return NULL;
	*qpn = qp->ibqp.qp_num;
	return sroce_qp_get(ep, *qpn);
}

void sroce_qp_put(struct sroce_qp *qp)
{
	if (qp->ref)
		WARN_ON(refcount_dec_and_test(&qp->ref->users));
	else
		stand_in_datapath.users--;
}

void sroce_qp_ref_put(struct sroce_qp_ref *ref)
{
	if (refcount_dec_and_test(&ref->holders))
		stand_in_datapath.refs_freed++;
}

int sroce_membership_join(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			  const struct in6_addr *group)
{
	if (stand_in_datapath.join_error)
		return stand_in_datapath.join_error;
	stand_in_datapath.memberships++;
	stand_in_datapath.group = *group;
	return 0;
}

void sroce_membership_leave(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group)
{
	stand_in_datapath.memberships--;
	stand_in_datapath.group = *group;
}

atomic_t sroce_live_qp_refs;

void sroce_ack_delay_suspend(struct sroce_qp *qp)
{
}

void sroce_ack_delay_cancel(struct sroce_qp *qp)
{
}

bool sroce_ack_delay_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan)
{
	return false;
}

void sroce_ack_piggyback_reserve(struct sroce_tx *tx)
{
}

void sroce_ack_piggyback(struct sroce_tx *tx)
{
	stand_in_datapath.piggybacked++;
}

int sroce_qp_set_state(struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
		       const struct ib_qp_attr *attr, int mask)
{
	stand_in_datapath.state_changes++;
	stand_in_datapath.from = from;
	stand_in_datapath.to = to;
	if (!stand_in_datapath.state_error)
		qp->state = to;
	return stand_in_datapath.state_error;
}

int sroce_netlink_put_device(struct sk_buff *skb, const struct sroce_device *dev)
{
	return nla_put_u32(skb, SROCE_A_DEV_INDEX, STAND_IN_DEV_INDEX);
}
