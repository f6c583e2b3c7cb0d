// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From a planned packet to an skb, and back-pressure.
 *
 * A half stops when too many of its packets sit in the stack (a slow link, a
 * qdisc) and is restarted by the destructor of one of them. A queued skb keeps
 * only struct sroce_qp_ref, not the QP: destroying a QP never waits for a qdisc.
 */
#include <linux/err.h>
#include <net/inet_ecn.h>

#include "datapath/qp.h"
#include "trace.h"

/* About 256 KiB in the stack stop a half, a few packets left restart it. */
#define QUEUED_BYTES_HIGH	(256 * 1024)
#define QUEUED_PACKETS_MIN	64
#define QUEUED_PACKETS_MAX	256
#define QUEUED_PACKETS_LOW	32

static u32 queue_limit(const struct sroce_qp *qp, const struct sroce_half *half)
{
	u32 mtu_bytes = half->side == SROCE_SEND_SIDE ? qp->req.attr.mtu_bytes :
							qp->resp.attr.mtu_bytes;

	return clamp_t(u32, QUEUED_BYTES_HIGH / max(mtu_bytes, 256u), QUEUED_PACKETS_MIN,
		       QUEUED_PACKETS_MAX);
}

/* The last packets before the low mark restart the half, once. */
static void restart(struct sroce_qp_ref *ref, enum sroce_side side)
{
	struct sroce_qp *qp;

	if (!xchg(&ref->gates[side].throttled, false))
		return;
	if (!refcount_inc_not_zero(&ref->users))
		return;
	qp = ref->qp;
	sroce_half_kick(side == SROCE_SEND_SIDE ? &qp->send : &qp->recv);
	sroce_qp_put(qp);
}

static void packet_freed(struct sk_buff *skb, enum sroce_side side)
{
	struct sroce_qp_ref *ref = skb_shinfo(skb)->destructor_arg;
	struct sroce_gate *gate = &ref->gates[side];
	int queued;

	/* Covers this function until its last share in @ref has been given up. */
	rcu_read_lock();
	queued = atomic_dec_return(&gate->queued);
	if (READ_ONCE(gate->throttled) && queued <= QUEUED_PACKETS_LOW)
		restart(ref, side);
	sroce_qp_ref_put(ref);
	rcu_read_unlock();
}

static void send_packet_freed(struct sk_buff *skb)
{
	packet_freed(skb, SROCE_SEND_SIDE);
}

static void recv_packet_freed(struct sk_buff *skb)
{
	packet_freed(skb, SROCE_RECV_SIDE);
}

/**
 * sroce_half_is_throttled() - must the half wait for the stack?
 * @qp: the QP
 * @half: the half, its lock held
 *
 * Return: whether it must; then it is kicked when it may go on.
 */
bool sroce_half_is_throttled(struct sroce_qp *qp, struct sroce_half *half)
{
	struct sroce_gate *gate = &qp->ref->gates[half->side];

	if (atomic_read(&gate->queued) < queue_limit(qp, half))
		return false;
	WRITE_ONCE(gate->throttled, true);
	/* Pairs with atomic_dec_return(): the last of them sees the flag, or we see it gone. */
	smp_mb();
	return atomic_read(&gate->queued) > QUEUED_PACKETS_LOW;
}

static struct sk_buff *count_loss(struct sroce_qp *qp, enum sroce_counter why, int err)
{
	sroce_count(qp->dev->ep.counters, why);
	return ERR_PTR(err);
}

/* Connected halves cache the route of their own path. */
static struct sk_buff *alloc_routed(struct sroce_qp *qp, struct sroce_half *half,
				    const struct sroce_path *path, u32 bytes)
{
	const struct sroce_endpoint *ep = &qp->dev->ep;
	bool cached = path == &half->path;
	struct dst_entry *dst;
	struct sk_buff *skb;

	dst = cached ? sroce_path_route_cached(ep, path, &half->dst, &half->dst_cookie) :
		       sroce_path_route(ep, path);
	if (IS_ERR(dst))
		return count_loss(qp, SROCE_CTR_DROP_NO_ROUTE, PTR_ERR(dst));
	skb = sroce_skb_alloc(path, dst, bytes);
	if (!cached)
		dst_release(dst);
	if (IS_ERR(skb))
		return count_loss(qp, SROCE_CTR_SEND_ERR, PTR_ERR(skb));
	if (!skb)
		return count_loss(qp, SROCE_CTR_DROP_NO_MEMORY, -ENOMEM);
	return skb;
}

/**
 * sroce_packet_alloc() - an skb with all headers of a packet
 * @qp: the QP
 * @half: the half that sends it, its lock held
 * @path: where to: @half->path, or a datagram's
 * @pkt: headers and sizes
 * @payload: set to where the payload goes
 *
 * Return: the skb, which lacks the payload and the ICRC; ERR_PTR(-ENOMEM) when
 * it should be tried again; another ERR_PTR when this packet cannot go out (no
 * route, larger than its MTU), which is counted and then a lost packet.
 */
struct sk_buff *sroce_packet_alloc(struct sroce_qp *qp, struct sroce_half *half,
				   const struct sroce_path *path, const struct sroce_packet *pkt,
				   u8 **payload)
{
	u32 bytes = pkt->header_bytes + pkt->payload_bytes + pkt->pad_bytes;
	struct sk_buff *skb = alloc_routed(qp, half, path, bytes);
	u8 *transport;

	if (IS_ERR(skb))
		return skb;
	if (READ_ONCE(qp->dev->ecn) && !(path->tos & INET_ECN_MASK))
		sroce_skb_set_tos(skb, path->tos | INET_ECN_ECT_0);
	transport = skb_transport_header(skb) + sizeof(struct udphdr);
	sroce_packet_write(pkt, transport);
	*payload = transport + pkt->header_bytes;
	memset(*payload + pkt->payload_bytes, 0, pkt->pad_bytes);
	return skb;
}

/**
 * sroce_packet_queue() - a packet is complete but for its ICRC
 * @qp: the QP
 * @half: the half that sends it, its lock held
 * @skb: from sroce_packet_alloc(), payload written
 * @burst: where it goes, at the end
 */
void sroce_packet_queue(struct sroce_qp *qp, struct sroce_half *half, struct sk_buff *skb,
			struct sk_buff_head *burst)
{
	sroce_skb_finish(skb, &half->path.ip_id);
	refcount_inc(&qp->ref->holders);
	atomic_inc(&qp->ref->gates[half->side].queued);
	half->sent++;
	skb_shinfo(skb)->destructor_arg = qp->ref;
	skb->destructor = half->side == SROCE_SEND_SIDE ? send_packet_freed : recv_packet_freed;
	__skb_queue_tail(burst, skb);
}
