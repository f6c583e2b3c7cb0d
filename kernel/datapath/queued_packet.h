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

/*
 * The skb is a copy of the packet; what it does not say is kept in its control block. Returns false
 * if it has become another packet: a sender on this host may have spliced its pages into a socket,
 * and write to them.
 */
static inline bool sroce_queued_packet_init(struct sk_buff *skb, const struct sroce_rx *rx)
{
	struct sroce_packet copy;

	if (sroce_packet_parse(skb->data, skb->len, skb->len, &copy) != SROCE_PARSE_OK ||
	    copy.opcode != rx->pkt.opcode || copy.psn != rx->pkt.psn)
		return false;
	*sroce_queued_packet_of(skb) = (struct sroce_queued_packet) {
		.is_ipv4 = rx->is_ipv4,
		.is_v1 = rx->is_v1,
		.vlan_id = rx->vlan_id,
		.arrived_ns = rx->now_ns,
	};
	return true;
}

/*
 * The cursor is put on the packet. Returns false if it is malformed, which cannot be after
 * sroce_queued_packet_init().
 */
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
