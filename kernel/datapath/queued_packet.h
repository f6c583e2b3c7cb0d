/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A received packet in an skb of its own, in the reorder queue or the backlog of a QP. */
#ifndef SROCE_DATAPATH_QUEUED_PACKET_H
#define SROCE_DATAPATH_QUEUED_PACKET_H

#include <linux/build_bug.h>
#include <linux/skbuff.h>

#include "datapath/qp.h"
#include "net/rx_cursor.h"

/* Not GFP_ATOMIC, whose charges a memory cgroup accepts beyond its limit. */
#define SROCE_QUEUED_GFP	(GFP_NOWAIT | __GFP_ACCOUNT | __GFP_NOWARN)

/**
 * struct sroce_queued_packet - in the control block of the skb, where struct sroce_rx does not fit
 * @is_ipv4: as in struct sroce_rx
 * @is_v1: as in struct sroce_rx
 * @vlan_id: as in struct sroce_rx
 * @arrived_ns: when it came in, monotonic
 */
struct sroce_queued_packet {
	bool	is_ipv4;
	bool	is_v1;
	u16	vlan_id;
	u64	arrived_ns;
};

static inline struct sroce_queued_packet *sroce_queued_packet_of(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct sroce_queued_packet) > sizeof(skb->cb));
	return (struct sroce_queued_packet *)skb->cb;
}

/* Remember what the skb itself does not say. */
static inline void sroce_queued_packet_set(struct sk_buff *skb, const struct sroce_rx *rx)
{
	*sroce_queued_packet_of(skb) = (struct sroce_queued_packet) {
		.is_ipv4 = rx->is_ipv4,
		.is_v1 = rx->is_v1,
		.vlan_id = rx->vlan_id,
		.arrived_ns = rx->now_ns,
	};
}

/* Set up @rx for the packet. Returns false if it is malformed, although it was parsed before. */
static inline bool sroce_queued_packet_get(struct sroce_qp *qp, struct sk_buff *skb, u64 now_ns,
					   struct sroce_rx *rx)
{
	const struct sroce_queued_packet *queued = sroce_queued_packet_of(skb);

	sroce_rx_begin(rx, skb, skb->len, 0);
	rx->ep = &qp->dev->ep;
	rx->is_ipv4 = queued->is_ipv4;
	rx->is_v1 = queued->is_v1;
	rx->vlan_id = queued->vlan_id;
	rx->now_ns = now_ns;
	if (WARN_ON_ONCE(!sroce_rx_next(rx)))
		return false;
	rx->pkt.was_queued = true;
	return true;
}

#endif
