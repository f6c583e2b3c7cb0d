// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that came before their turn, kept until it comes.
 *
 * The engine knows their PSNs and when the turn of each comes; here they lie, as
 * its set of PSNs does: a place for each PSN of a span, in shelves of 64 that are there
 * while something lies on them. A tree would cost more than all else that keeping does, where
 * one packet in a hundred is lost and nearly all others come before their turn. Whatever the
 * engine does not count any more is trimmed. A QP, and a device, keep so much memory and no
 * more: what does not fit is a lost packet, and its sender will send it again.
 */
#include <linux/bitops.h>
#include <linux/prefetch.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "datapath/qp.h"
#include "transport/psn.h"
#include "transport/wire.h"

/* 2,000 packets of MTU 4096 have about as much; a map's span are 2,048. */
#define HELD_BYTES_OF_QP	(16 * 1024 * 1024)
#define HELD_BYTES_OF_DEVICE	(128 * 1024 * 1024)
#define SHARE_BYTES		(16u * 1024)

/* As long as an skb, or a packet. */
#define ROW_BYTES_MAX		65536u

/* A shelf is a word of the engine's set. */
static_assert(SROCE_SHELF_PLACES == 64);

/**
 * struct held - in the control block of a held skb: struct sroce_rx is too large for it
 * @offset: of its BTH from skb->data
 * @is_ipv4: as in struct sroce_rx
 * @vlan_id: as in struct sroce_rx
 */
struct held {
	u32	offset;
	bool	is_ipv4;
	u16	vlan_id;
};

static struct held *held_of(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct held) > sizeof(skb->cb));
	return (struct held *)skb->cb;
}

/* What is left over goes back with the last packet. */
static void drop_share(struct sroce_qp *qp, const struct sk_buff *skb)
{
	struct sroce_hold *hold = qp->hold;

	hold->bytes -= skb->truesize;
	if (hold->bytes)
		return;
	atomic_sub(hold->share_bytes, &qp->dev->held_bytes);
	hold->share_bytes = 0;
}

/* The device's bytes are shared out in larger pieces. */
static bool take_share(struct sroce_qp *qp, const struct sk_buff *skb)
{
	struct sroce_hold *hold = qp->hold;
	u32 bytes = hold->bytes + skb->truesize, more;

	if (bytes > HELD_BYTES_OF_QP)
		return false;
	if (bytes > hold->share_bytes) {
		more = max(SHARE_BYTES, skb->truesize);
		if (atomic_add_return(more, &qp->dev->held_bytes) > HELD_BYTES_OF_DEVICE) {
			atomic_sub(more, &qp->dev->held_bytes);
			return false;
		}
		hold->share_bytes += more;
	}
	hold->bytes = bytes;
	return true;
}

/* The packet as an skb of its own: one that is left of a run would keep the memory of all. */
static struct sk_buff *skb_of(struct sroce_rx *rx, u32 *offset)
{
	struct sk_buff *skb;

	if (rx->packet_bytes >= rx->skb->len - rx->offset && !rx->number &&
	    !skb_is_nonlinear(rx->skb)) {
		*offset = rx->offset;
		skb = rx->skb;
		rx->skb = NULL;
		return skb;
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

static u32 shelf_of(u32 psn)
{
	return psn / SROCE_SHELF_PLACES % SROCE_SHELVES;
}

/* The place of a PSN, on a shelf that is there; else NULL. */
static struct sk_buff **place_of(const struct sroce_hold *hold, u32 psn)
{
	struct sk_buff **shelf = hold->shelves[shelf_of(psn)];

	return shelf ? &shelf[psn % SROCE_SHELF_PLACES] : NULL;
}

static bool be_ready(struct sroce_qp *qp)
{
	if (!qp->hold)
		qp->hold = kzalloc(sizeof(*qp->hold), GFP_ATOMIC | __GFP_NOWARN);
	return qp->hold;
}

static struct sk_buff **make_place(struct sroce_hold *hold, u32 psn)
{
	struct sk_buff ***shelf = &hold->shelves[shelf_of(psn)];

	if (!*shelf)
		*shelf = kcalloc(SROCE_SHELF_PLACES, sizeof(**shelf), GFP_ATOMIC | __GFP_NOWARN);
	return place_of(hold, psn);
}

static void clear_away(struct sroce_hold *hold, u32 index)
{
	if (hold->counts[index])
		return;
	kfree(hold->shelves[index]);
	hold->shelves[index] = NULL;
}

static struct sk_buff *take_out(struct sroce_qp *qp, u32 index, struct sk_buff **place)
{
	struct sk_buff *skb = *place;

	*place = NULL;
	qp->hold->counts[index]--;
	qp->hold->count--;
	drop_share(qp, skb);
	clear_away(qp->hold, index);
	return skb;
}

/**
 * sroce_hold_keep() - keep a packet
 * @qp: the QP, its receive lock held
 * @rx: the packet; if it has a linear skb for itself, that is taken from it
 *
 * Return: whether there is room for it.
 */
bool sroce_hold_keep(struct sroce_qp *qp, struct sroce_rx *rx)
{
	struct sk_buff **place, *skb;
	u32 offset;

	if (!be_ready(qp))
		return false;
	skb = skb_of(rx, &offset);
	if (!skb || !take_share(qp, skb)) {
		kfree_skb(skb);
		return false;
	}
	place = make_place(qp->hold, rx->pkt.psn);
	if (!place || WARN_ON_ONCE(*place)) {
		drop_share(qp, skb);
		kfree_skb(skb);
		return false;
	}
	/* Its sender may be on this host, and waits for it to leave. */
	skb_orphan(skb);
	skb_dst_drop(skb);
	nf_reset_ct(skb);
	skb->dev = NULL;
	*held_of(skb) = (struct held) {
		.offset = offset,
		.is_ipv4 = rx->is_ipv4,
		.vlan_id = rx->vlan_id,
	};
	*place = skb;
	qp->hold->counts[shelf_of(rx->pkt.psn)]++;
	qp->hold->count++;
	return true;
}

/* The next ones have lain for long: they are out of the caches. */
static void fetch_ahead(const struct sroce_hold *hold, u32 psn)
{
	struct sk_buff **place = place_of(hold, psn + 1);

	if (place && *place)
		prefetch((*place)->data);
	place = place_of(hold, psn + 2);
	if (place && *place)
		prefetch(&(*place)->data);
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
	struct sk_buff **place = qp->hold ? place_of(qp->hold, psn) : NULL, *skb;
	struct held *held;

	if (WARN_ON_ONCE(!place || !*place))
		return false;
	fetch_ahead(qp->hold, psn);
	skb = take_out(qp, shelf_of(psn), place);
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
		.was_held = true,
	};
	if (sroce_rx_next(rx))
		return true;
	/* It was parsed before. */
	WARN_ON_ONCE(1);
	kfree_skb(skb);
	return false;
}

/**
 * sroce_hold_bth() - the BTH of a packet that is held
 * @hold: what is held, with it
 * @psn: which
 *
 * Return: where it is; all of a packet that sroce_hold_merge() takes in lies there in one piece.
 */
const u8 *sroce_hold_bth(const struct sroce_hold *hold, u32 psn)
{
	const struct sk_buff *skb = *place_of(hold, psn);

	return skb->data + held_of(skb)->offset;
}

/* Is a packet in one piece, as long as that of @rx and one of several alike? */
static bool is_alike(const struct sroce_hold *hold, const struct sroce_rx *rx, u32 psn)
{
	struct sk_buff **place = place_of(hold, psn);

	return place && *place && (*place)->len - held_of(*place)->offset == rx->bytes &&
	       sroce_bth_continues(rx->at, sroce_hold_bth(hold, psn), psn);
}

/**
 * sroce_hold_merge() - take what is held behind a packet, and is alike, together with it
 * @hold: what is held
 * @rx: from sroce_hold_take(); @rx->pkt.count and its payload grow
 * @behind: how many may be, all of which the engine counts as held
 *
 * They stay here, until sroce_hold_shed(). What is done for a packet, but for copying it, is then
 * done once for them all. No more than an skb can have: so long a region is held.
 */
void sroce_hold_merge(const struct sroce_hold *hold, struct sroce_rx *rx, u32 behind)
{
	u32 count = 1, most;

	if (rx->pkt.header_bytes != sizeof(struct sroce_bth) || rx->pkt.pad_bytes || !rx->at)
		return;
	most = min(1 + behind, ROW_BYTES_MAX / rx->bytes);
	while (count < most && is_alike(hold, rx, psn_add(rx->pkt.psn, count))) {
		fetch_ahead(hold, psn_add(rx->pkt.psn, count));
		count++;
	}
	rx->pkt.payload_bytes *= count;
	rx->pkt.count = count;
}

/**
 * sroce_hold_shed() - let go of packets that were merged with another
 * @qp: the QP, its receive lock held
 * @psn: the first of them
 * @count: how many; those that the engine still counts as held stay
 *
 * What sroce_hold_trim() would do by looking at all.
 */
void sroce_hold_shed(struct sroce_qp *qp, u32 psn, u32 count)
{
	for (; count && !psn_map_has(&qp->resp.reorder.held, psn); count--) {
		struct sk_buff **place = place_of(qp->hold, psn);

		if (WARN_ON_ONCE(!place || !*place))
			return;
		napi_consume_skb(take_out(qp, shelf_of(psn), place), 1);
		psn = psn_add(psn, 1);
	}
}

static void trim_shelf(struct sroce_qp *qp, u32 index)
{
	const struct sroce_reorder *reorder = &qp->resp.reorder;
	u64 counted = reorder->count ? reorder->held.words[index] : 0;
	struct sk_buff **shelf = qp->hold->shelves[index];
	u32 i;

	if (hweight64(counted) == qp->hold->counts[index])
		return;
	/* The shelf goes with the last that lies there. */
	for (i = 0; i < SROCE_SHELF_PLACES && qp->hold->shelves[index]; i++)
		if (shelf[i] && !(counted >> i & 1))
			kfree_skb(take_out(qp, index, &shelf[i]));
}

/**
 * sroce_hold_trim() - drop what the engine does not count as held any more
 * @qp: the QP, its receive lock held
 *
 * It counts nothing that is not here: as many are the same ones, of all or of a shelf.
 */
void sroce_hold_trim(struct sroce_qp *qp)
{
	u32 i;

	if (!qp->hold || qp->hold->count == qp->resp.reorder.count)
		return;
	for (i = 0; i < SROCE_SHELVES; i++)
		trim_shelf(qp, i);
}
