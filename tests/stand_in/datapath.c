/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/datapath.h"

#include "control/netlink.h"
#include "datapath/ack_delay.h"
#include "datapath/tx.h"
#include "net/mcast.h"

struct stand_in_datapath stand_in_datapath;

void sroce_tx_init(struct sroce_tx *tx, struct sroce_qp *qp, struct sroce_wq *wq)
{
	*tx = (struct sroce_tx){ .qp = qp, .wq = wq, .dscp = SROCE_PATH_DSCP };
	tx->now_ns = ktime_get_ns();
}

u32 sroce_tx_schedule(const struct sroce_tx *tx, const struct sroce_cc *cc, u64 *edt_ns)
{
	*edt_ns = 0;
	return 1;
}

void sroce_tx_set_edt(struct sroce_tx *tx, struct sroce_cc *cc, u64 edt_ns)
{
}

bool sroce_tx_throttle(struct sroce_tx *tx, u32 next)
{
	return false;
}

void sroce_tx_relock(struct sroce_tx *tx)
{
}

void sroce_gso_mark(const struct sroce_gso *gso, struct sroce_gso_mark *mark)
{
}

void sroce_gso_rewind(struct sroce_gso *gso, const struct sroce_gso_mark *mark)
{
}

u32 sroce_gso_repeat_begin(struct sroce_gso *gso, u32 count, u32 psn, u16 ip_id)
{
	return 0;
}

void sroce_gso_repeat_end(struct sroce_gso *gso, u16 *ip_id)
{
}

int sroce_tx_begin(struct sroce_tx *tx, const struct sroce_path *path,
		   const struct sroce_packet *pkt, u32 expected, struct sroce_crc_writer **writer)
{
	static u8 payload[64];

	if (stand_in_datapath.tx_error)
		return stand_in_datapath.tx_error;
	stand_in_datapath.packets++;
	stand_in_datapath.packet = *pkt;
	stand_in_datapath.path = *path;
	stand_in_datapath.dscp = tx->dscp;
	tx->gso.writer = (struct sroce_crc_writer){ .to = payload };
	*writer = &tx->gso.writer;
	return 0;
}

void sroce_tx_end(struct sroce_tx *tx)
{
	__skb_queue_tail(&tx->wq->out, alloc_skb(0, 0));
}

void sroce_tx_charge(struct sroce_qp *qp, struct sroce_wq *wq)
{
	WARN_ON(!wq->lock.locked);
}

int sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb)
{
	stand_in_datapath.skbs++;
	stand_in_datapath.priority = skb->priority;
	kfree_skb(skb);
	return 0;
}

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

void sroce_send_count_events(struct sroce_qp *qp, u32 events)
{
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
