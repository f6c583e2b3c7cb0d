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
 * @offset: of its BTH from skb->data
 * @is_ipv4: as in struct sroce_rx
 * @vlan_id: as in struct sroce_rx
 */
struct held {
	u32	psn;
	u32	offset;
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

/* The packet as an skb of its own: one that is left of many would keep the memory of all. */
static struct sk_buff *skb_of(const struct sroce_rx *rx, u32 *offset)
{
	struct sk_buff *skb;

	if (rx->packet_bytes >= rx->skb->len - rx->offset && !rx->number) {
		*offset = rx->offset;
		return skb_get(rx->skb);
	}
	skb = alloc_skb(rx->bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;
	if (skb_copy_bits(rx->skb, rx->offset, skb_put(skb, rx->bytes), rx->bytes)) {
		kfree_skb(skb);
		return NULL;
	}
	*offset = 0;
	return skb;
}

static void insert(struct sroce_qp *qp, struct sk_buff *skb)
{
	struct rb_node **link = &qp->held.rb_node, *parent = rb_last(&qp->held);

	/* Behind a hole most come in order. */
	if (parent && psn_before(held_of(rb_to_skb(parent))->psn, held_of(skb)->psn))
		link = &parent->rb_right;
	else
		parent = NULL;
	while (*link) {
		parent = *link;
		link = psn_before(held_of(skb)->psn, held_of(rb_to_skb(parent))->psn) ?
		       &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&skb->rbnode, parent, link);
	rb_insert_color(&skb->rbnode, &qp->held);
}

/**
 * sroce_hold_keep() - keep a packet
 * @qp: the QP, its receive lock held
 * @rx: the packet; nothing of its skb may be used afterwards but its reference
 *
 * Return: whether there is room for it.
 */
bool sroce_hold_keep(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sk_buff *skb;
	u32 offset;

	skb = skb_of(rx, &offset);
	if (!skb)
		return false;
	if (!take_share(qp, skb)) {
		kfree_skb(skb);
		return false;
	}
	/* Its sender may be on this host, and waits for it to leave. */
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	*held_of(skb) = (struct held) {
		.psn = rx->pkt.psn,
		.offset = offset,
		.is_ipv4 = rx->is_ipv4,
		.vlan_id = rx->vlan_id,
	};
	insert(qp, skb);
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
 * @now_ns: monotonic time
 * @rx: filled in; the caller owns the skb when true is returned
 *
 * Return: whether it is there, which the engine says it is.
 */
bool sroce_hold_take(struct sroce_qp *qp, u32 psn, u64 now_ns, struct sroce_rx *rx)
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
		.packet_bytes = skb->len,
		.offset = held->offset,
		.frag_offset = skb_headlen(skb),
		.is_ipv4 = held->is_ipv4,
		.vlan_id = held->vlan_id,
		.now_ns = now_ns,
	};
	if (sroce_rx_next(rx))
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
