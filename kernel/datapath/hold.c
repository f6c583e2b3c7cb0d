// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that came before their turn, kept until it comes.
 *
 * The engine knows their PSNs and when the turn of each comes; here they lie,
 * in a tree by PSN, with their receive lock. Whatever the engine does not count
 * any more is trimmed. A QP, and a device, keep so much memory and no more:
 * what does not fit is a lost packet, and its sender will send it again.
 */
#include <linux/rbtree.h>
#include <linux/skbuff.h>

#include "datapath/qp.h"
#include "transport/psn.h"

/* A map's span of the packets of a veth with MTU 4096 have about 16 MiB. */
#define HELD_BYTES_OF_QP	(16 * 1024 * 1024)
#define HELD_BYTES_OF_DEVICE	(128 * 1024 * 1024)

/**
 * struct held - in the control block of a held skb: struct sroce_rx is too large for it
 * @psn: its PSN
 * @payload_offset: as in struct sroce_rx
 * @is_ipv4: as in struct sroce_rx
 * @vlan_id: as in struct sroce_rx
 */
struct held {
	u32	psn;
	u32	payload_offset;
	bool	is_ipv4;
	u16	vlan_id;
};

static struct held *held_of(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct held) > sizeof(skb->cb));
	return (struct held *)skb->cb;
}

static void drop_share(struct sroce_qp *qp, const struct sk_buff *skb)
{
	qp->held_bytes -= skb->truesize;
	atomic_sub(skb->truesize, &qp->dev->held_bytes);
}

static bool take_share(struct sroce_qp *qp, const struct sk_buff *skb)
{
	u32 bytes = skb->truesize;

	if (qp->held_bytes + bytes > HELD_BYTES_OF_QP)
		return false;
	if (atomic_add_return(bytes, &qp->dev->held_bytes) > HELD_BYTES_OF_DEVICE) {
		atomic_sub(bytes, &qp->dev->held_bytes);
		return false;
	}
	qp->held_bytes += bytes;
	return true;
}

/**
 * sroce_hold_keep() - keep a packet
 * @qp: the QP, its receive lock held
 * @rx: the packet; its skb belongs to the QP from now on when true is returned
 *
 * Return: whether there is room for it.
 */
bool sroce_hold_keep(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct rb_node **link = &qp->held.rb_node, *parent = NULL;
	struct sk_buff *skb = rx->skb;

	if (!take_share(qp, skb))
		return false;
	/* Its sender may be on this host, and waits for it to leave. */
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	*held_of(skb) = (struct held) {
		.psn = rx->pkt.psn,
		.payload_offset = rx->payload_offset,
		.is_ipv4 = rx->is_ipv4,
		.vlan_id = rx->vlan_id,
	};
	while (*link) {
		parent = *link;
		link = psn_before(rx->pkt.psn, held_of(rb_to_skb(parent))->psn) ?
		       &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &qp->held);
	return true;
}

static void unlink(struct sroce_qp *qp, struct sk_buff *skb)
{
	rb_erase(&skb->rbnode, &qp->held);
	/* The tree's node lies where the device was. */
	skb->dev = NULL;
	skb->next = NULL;
	skb->prev = NULL;
	drop_share(qp, skb);
}

/**
 * sroce_hold_take() - the turn of a packet has come
 * @qp: the QP, its receive lock held
 * @psn: which
 * @rx: filled in; the caller owns the skb when true is returned
 *
 * Return: whether it is there, which the engine says it is.
 */
bool sroce_hold_take(struct sroce_qp *qp, u32 psn, struct sroce_rx *rx)
{
	struct sk_buff *skb = skb_rb_first(&qp->held);
	struct held *held;

	if (WARN_ON_ONCE(!skb || held_of(skb)->psn != psn))
		return false;
	unlink(qp, skb);
	held = held_of(skb);
	*rx = (struct sroce_rx) {
		.skb = skb,
		.ep = &qp->dev->ep,
		.payload_offset = held->payload_offset,
		.is_ipv4 = held->is_ipv4,
		.vlan_id = held->vlan_id,
	};
	if (sroce_packet_parse(skb->data + sizeof(struct udphdr), skb_headlen(skb) -
			       sizeof(struct udphdr), skb->len - sizeof(struct udphdr),
			       &rx->pkt) == SROCE_PARSE_OK)
		return true;
	/* It was parsed before. */
	WARN_ON_ONCE(1);
	kfree_skb(skb);
	return false;
}

/**
 * sroce_hold_trim() - drop what the engine does not count as held any more
 * @qp: the QP, its receive lock held
 */
void sroce_hold_trim(struct sroce_qp *qp)
{
	struct sk_buff *skb;

	while ((skb = skb_rb_first(&qp->held))) {
		if (qp->resp.reorder.count && !psn_before(held_of(skb)->psn, qp->resp.epsn))
			return;
		unlink(qp, skb);
		kfree_skb(skb);
	}
}
