// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From planned packets to skbs, and back-pressure.
 *
 * A half stops when too many of its packets sit in the stack (a slow link, a
 * qdisc) and is restarted by the destructor of one of them; that of a run is called
 * when it is sent, or segmented. A queued skb keeps only struct sroce_qp_ref, not
 * the QP: destroying a QP never waits for a qdisc.
 */
#include <linux/err.h>
#include <linux/ktime.h>
#include <net/inet_ecn.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "trace.h"

/*
 * 128 KiB in the stack stop a half, or 64 packets that have more, during repairs less; few left
 * restart it.
 */
#define QUEUED_BYTES_HIGH	(128 * 1024)
#define QUEUED_PACKETS_MIN	64
#define QUEUED_PACKETS_MAX	256
#define QUEUED_PACKETS_LOW	16
/* fq drops what a flow, both halves and perhaps others, has in it beyond 100 skbs; a plan is 64. */
#define AHEAD_SKBS		24

static u32 queue_limit(const struct sroce_qp *qp, const struct sroce_half *half)
{
	u32 mtu_bytes = half->side == SROCE_SEND_SIDE ? qp->req.attr.mtu_bytes :
							qp->resp.attr.mtu_bytes;
	u32 packets = clamp_t(u32, QUEUED_BYTES_HIGH / max(mtu_bytes, 256u), QUEUED_PACKETS_MIN,
			      QUEUED_PACKETS_MAX);

	/* What is sent again stands behind them, and the peer holds all that comes meanwhile. */
	if (half->side == SROCE_SEND_SIDE)
		packets >>= sroce_requester_repairing(&qp->req);
	return max(packets, 2u * QUEUED_PACKETS_LOW);
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

/* What an skb holds of @ref, and how many packets it has, in the one word there is for it. */
static void *share_of(struct sroce_qp_ref *ref, u32 packets)
{
	return (void *)((uintptr_t)ref | packets);
}

static void packets_freed(struct sk_buff *skb, enum sroce_side side)
{
	uintptr_t share = (uintptr_t)skb_shinfo(skb)->destructor_arg;
	struct sroce_qp_ref *ref = (void *)round_down(share, SROCE_QP_REF_ALIGNMENT);
	struct sroce_gate *gate = &ref->gates[side];
	int queued;

	/* Covers this function until its last share in @ref has been given up. */
	rcu_read_lock();
	queued = atomic_sub_return(share % SROCE_QP_REF_ALIGNMENT, &gate->queued);
	if (READ_ONCE(gate->throttled) && queued <= QUEUED_PACKETS_LOW)
		restart(ref, side);
	sroce_qp_ref_put(ref);
	rcu_read_unlock();
}

static void send_packets_freed(struct sk_buff *skb)
{
	packets_freed(skb, SROCE_SEND_SIDE);
}

static void recv_packets_freed(struct sk_buff *skb)
{
	packets_freed(skb, SROCE_RECV_SIDE);
}

/**
 * sroce_half_is_throttled() - must the half wait for the stack?
 * @qp: the QP
 * @half: the half, its lock held
 * @pending: packets in @half->out
 *
 * Return: whether it must; then it is kicked when it may go on.
 */
bool sroce_half_is_throttled(struct sroce_qp *qp, struct sroce_half *half, u32 pending)
{
	struct sroce_gate *gate = &qp->ref->gates[half->side];

	if (atomic_read(&gate->queued) + pending < queue_limit(qp, half))
		return false;
	if (pending) {
		/* Once they are in the stack, it will be seen. */
		half->again = true;
		return true;
	}
	WRITE_ONCE(gate->throttled, true);
	/* Pairs with atomic_sub_return(): the last of them sees the flag, or we see it gone. */
	smp_mb();
	return atomic_read(&gate->queued) > QUEUED_PACKETS_LOW;
}

/**
 * sroce_burst_init() - begin to put packets together
 * @burst: filled in
 * @qp: the QP
 * @half: the half that sends them, its lock held until they are in @half->out
 */
void sroce_burst_init(struct sroce_burst *burst, struct sroce_qp *qp, struct sroce_half *half)
{
	burst->qp = qp;
	burst->half = half;
	burst->dscp = SROCE_PATH_DSCP;
	burst->now_ns = half->now_ns ?: ktime_get_ns();
	burst->depart_ns = burst->now_ns;
	half->now_ns = 0;
	burst->bytes = 0;
	sroce_run_init(&burst->run, &half->out);
	sroce_lease_init(&burst->lease, &qp->dev->memory, qp->ibqp.pd);
}

/**
 * sroce_burst_schedule() - how many packets may be sent next, and when do they leave?
 * @burst: the burst
 * @cc: what paces them
 * @depart_ns: set to when they leave, see sroce_burst_leave()
 *
 * Return: packets of the path MTU; 0: none before @depart_ns.
 */
u32 sroce_burst_schedule(const struct sroce_burst *burst, const struct sroce_cc *cc,
			 u64 *depart_ns)
{
	u32 packets = sroce_cc_schedule(cc, burst->now_ns, true, depart_ns);

	if (*depart_ns <= burst->now_ns)
		return packets;
	/* The qdisc is looked at only by who is paced. */
	if (!sroce_path_keeps_times(burst->half->dst))
		return sroce_cc_schedule(cc, burst->now_ns, false, depart_ns);
	if (cc->depart_ns <= burst->now_ns)
		burst->half->ahead = 0;
	if (burst->half->ahead < AHEAD_SKBS)
		return packets;
	/* What bears no time would overtake what is ahead. */
	*depart_ns = cc->depart_ns;
	return 0;
}

/**
 * sroce_burst_leave() - when the next packets leave
 * @burst: the burst
 * @cc: what paces them
 * @depart_ns: when; at once if nobody sees to that. No skb has packets of two times.
 */
void sroce_burst_leave(struct sroce_burst *burst, struct sroce_cc *cc, u64 depart_ns)
{
	if (depart_ns > burst->now_ns && sroce_path_keeps_times(burst->half->dst))
		sroce_cc_leave(cc, depart_ns);
	else
		depart_ns = burst->now_ns;
	if (depart_ns != burst->depart_ns)
		sroce_run_close(&burst->run);
	burst->depart_ns = depart_ns;
}

static int count_loss(struct sroce_qp *qp, enum sroce_counter why, int err)
{
	sroce_count(qp->dev->ep.counters, why);
	return err;
}

static u8 tos_of(const struct sroce_burst *burst, const struct sroce_path *path)
{
	if (burst->dscp != SROCE_PATH_DSCP)
		return (u8)(burst->dscp << 2);
	if (READ_ONCE(burst->qp->dev->ecn) && !(path->tos & INET_ECN_MASK))
		return path->tos | INET_ECN_ECT_0;
	return path->tos;
}

/* Connected halves cache the route of their own path. */
static int open_skb(struct sroce_burst *burst, const struct sroce_path *path, u32 bytes,
		    u32 expected)
{
	struct sroce_half *half = burst->half;
	struct sroce_qp *qp = burst->qp;
	const struct sroce_endpoint *ep = &qp->dev->ep;
	bool cached = path == &half->path;
	struct dst_entry *dst;
	int err;

	dst = cached ? sroce_path_route_cached(ep, path, &half->dst, &half->dst_cookie) :
		       sroce_path_route(ep, path);
	if (IS_ERR(dst))
		return count_loss(qp, SROCE_CTR_DROP_NO_ROUTE, PTR_ERR(dst));
	err = sroce_run_open(&burst->run, path, dst, tos_of(burst, path), bytes, expected);
	if (!cached)
		dst_release(dst);
	if (!err && burst->depart_ns > burst->now_ns) {
		skb_set_delivery_time(burst->run.skb, ns_to_ktime(burst->depart_ns),
				      SKB_CLOCK_MONOTONIC);
		half->leaving = true;
		half->ahead++;
	}
	return err && err != -ENOMEM ? count_loss(qp, SROCE_CTR_SEND_ERR, err) : err;
}

/* Memory for a whole run may be short where that for a packet is not. */
static u8 *room_for(struct sroce_burst *burst, const struct sroce_path *path, u32 bytes,
		    u32 expected)
{
	int err = 0;
	u8 *at;

	if (!sroce_run_continues(&burst->run, path, bytes))
		err = open_skb(burst, path, bytes, expected);
	if (err)
		return ERR_PTR(err);
	at = sroce_run_begin(&burst->run, bytes, expected);
	if (at)
		return at;
	err = open_skb(burst, path, bytes, 1);
	return err ? ERR_PTR(err) : sroce_run_begin(&burst->run, bytes, 1);
}

/**
 * sroce_burst_begin() - room for a packet, and its headers
 * @burst: the burst
 * @path: where to: the half's own, or a datagram's
 * @pkt: headers and sizes
 * @expected: how many packets of this size follow, with this one; a hint. 1: it begins no run
 * @sink: set to where the payload goes
 *
 * Return: 0: the payload is to be put there, then sroce_burst_end(); -ENOMEM when it should be
 * tried again; another errno when this packet cannot go out (no route, larger than its MTU),
 * which is counted and then a lost packet.
 */
int sroce_burst_begin(struct sroce_burst *burst, const struct sroce_path *path,
		      const struct sroce_packet *pkt, u32 expected,
		      struct sroce_crc_sink **sink)
{
	u32 bytes = pkt->header_bytes + pkt->payload_bytes + pkt->pad_bytes + SROCE_ICRC_BYTES;
	u8 *at = room_for(burst, path, bytes, expected);

	if (IS_ERR(at)) {
		/* What comes next does not follow what is in there. */
		sroce_run_close(&burst->run);
		if (PTR_ERR(at) == -ENOMEM)
			count_loss(burst->qp, SROCE_CTR_DROP_NO_MEMORY, 0);
		return PTR_ERR(at);
	}
	sroce_packet_write(pkt, at);
	burst->pad_bytes = pkt->pad_bytes;
	*sink = sroce_run_headed(&burst->run, burst->half->path.ip_id, pkt->header_bytes);
	return 0;
}

/**
 * sroce_burst_end() - the packet begun is complete but for pad and ICRC
 * @burst: the burst
 */
void sroce_burst_end(struct sroce_burst *burst)
{
	static const u8 zeros[3];

	if (burst->pad_bytes)
		sroce_sink_put(&burst->run.sink, zeros, burst->pad_bytes);
	sroce_run_end(&burst->run, &burst->half->path.ip_id);
}

/**
 * sroce_burst_repeat() - room for packets that are as the last one, but for PSN and payload
 * @burst: the burst
 * @count: how many are wanted
 * @psn: of the first
 * @sink: set to where their payload goes
 *
 * Return: how many there is room for; when their payload has been put there,
 * sroce_burst_repeated(). Maybe none: not all packets have others like them in one skb.
 */
u32 sroce_burst_repeat(struct sroce_burst *burst, u32 count, u32 psn, struct sroce_crc_sink **sink)
{
	*sink = &burst->run.sink;
	return sroce_run_repeat(&burst->run, count, psn, burst->half->path.ip_id);
}

/**
 * sroce_burst_repeated() - the packets of sroce_burst_repeat() are complete
 * @burst: the burst
 */
void sroce_burst_repeated(struct sroce_burst *burst)
{
	sroce_run_repeated(&burst->run, &burst->half->path.ip_id);
}

/**
 * sroce_half_charge() - the half answers for its packets until the stack frees them
 * @qp: the QP
 * @half: the half, its lock held: what is in @half->out is about to be handed over
 */
void sroce_half_charge(struct sroce_qp *qp, struct sroce_half *half)
{
	struct sk_buff *skb;

	skb_queue_walk(&half->out, skb) {
		u32 packets = sroce_run_packets(skb);

		refcount_inc(&qp->ref->holders);
		atomic_add(packets, &qp->ref->gates[half->side].queued);
		half->sent += packets;
		skb_shinfo(skb)->destructor_arg = share_of(qp->ref, packets);
		skb->destructor = half->side == SROCE_SEND_SIDE ? send_packets_freed :
								  recv_packets_freed;
	}
}
