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
 * 128 KiB in the stack stop a wq, or 64 packets that have more, during repairs less; few left
 * restart it.
 */
#define QUEUED_BYTES_HIGH	(128 * 1024)
#define QUEUED_PACKETS_MIN	64
#define QUEUED_PACKETS_MAX	256
#define QUEUED_PACKETS_LOW	16
/* fq drops what a flow, both halves and perhaps others, has in it beyond 100 skbs; a plan is 64. */
#define EDT_SKBS_MAX		24

static u32 queue_limit(const struct sroce_qp *qp, const struct sroce_wq *wq)
{
	u32 mtu_bytes = wq->type == SROCE_SQ ? qp->req.attr.mtu_bytes :
							qp->resp.attr.mtu_bytes;
	u32 packets = clamp_t(u32, QUEUED_BYTES_HIGH / max(mtu_bytes, 256u), QUEUED_PACKETS_MIN,
			      QUEUED_PACKETS_MAX);

	/* What is sent again stands behind them, and the peer holds all that comes meanwhile. */
	if (wq->type == SROCE_SQ)
		packets >>= sroce_requester_recovery_rounds(&qp->req);
	return max(packets, 2u * QUEUED_PACKETS_LOW);
}

/* The last packets before the low mark restart the wq, once. */
static void restart_wq(struct sroce_qp_ref *ref, enum sroce_wq_type type)
{
	struct sroce_qp *qp;

	if (!xchg(&ref->tsq[type].throttled, false))
		return;
	if (!refcount_inc_not_zero(&ref->users))
		return;
	qp = ref->qp;
	sroce_wq_kick(type == SROCE_SQ ? &qp->sq : &qp->rq);
	sroce_qp_put(qp);
}

/* What an skb holds of @ref, and how many packets it has, in the one word there is for it. */
static void *pack_tsq_share(struct sroce_qp_ref *ref, u32 packets)
{
	return (void *)((uintptr_t)ref | packets);
}

static void packets_freed(struct sk_buff *skb, enum sroce_wq_type type)
{
	uintptr_t share = (uintptr_t)skb_shinfo(skb)->destructor_arg;
	struct sroce_qp_ref *ref = (void *)round_down(share, SROCE_QP_REF_ALIGNMENT);
	struct sroce_tsq *tsq = &ref->tsq[type];
	int queued;

	/* Covers this function until its last share in @ref has been given up. */
	rcu_read_lock();
	queued = atomic_sub_return(share % SROCE_QP_REF_ALIGNMENT, &tsq->queued);
	if (READ_ONCE(tsq->throttled) && queued <= QUEUED_PACKETS_LOW)
		restart_wq(ref, type);
	sroce_qp_ref_put(ref);
	rcu_read_unlock();
}

static void send_packets_freed(struct sk_buff *skb)
{
	packets_freed(skb, SROCE_SQ);
}

static void recv_packets_freed(struct sk_buff *skb)
{
	packets_freed(skb, SROCE_RQ);
}

/**
 * sroce_wq_is_throttled() - must the half wait for the stack?
 * @qp: the QP
 * @wq: the wq, its lock held
 * @pending: packets in @wq->out
 *
 * Return: whether it must; then it is kicked when it may go on.
 */
bool sroce_wq_is_throttled(struct sroce_qp *qp, struct sroce_wq *wq, u32 pending)
{
	struct sroce_tsq *tsq = &qp->ref->tsq[wq->type];

	if (atomic_read(&tsq->queued) + pending < queue_limit(qp, wq))
		return false;
	if (pending) {
		/* Once they are in the stack, it will be seen. */
		wq->again = true;
		return true;
	}
	WRITE_ONCE(tsq->throttled, true);
	/* Pairs with atomic_sub_return(): the last of them sees the flag, or we see it gone. */
	smp_mb();
	return atomic_read(&tsq->queued) > QUEUED_PACKETS_LOW;
}

/**
 * sroce_tx_init() - begin to put packets together
 * @tx: filled in
 * @qp: the QP
 * @wq: the half that sends them, its lock held until they are in @wq->out
 */
void sroce_tx_init(struct sroce_tx *tx, struct sroce_qp *qp, struct sroce_wq *wq)
{
	tx->qp = qp;
	tx->wq = wq;
	tx->dscp = SROCE_PATH_DSCP;
	tx->now_ns = wq->now_ns ?: ktime_get_ns();
	tx->edt_ns = tx->now_ns;
	wq->now_ns = 0;
	tx->bytes = 0;
	sroce_gso_init(&tx->gso, &wq->out);
	sroce_mr_ref_init(&tx->mr_ref, &qp->dev->memory, qp->ibqp.pd);
}

/**
 * sroce_tx_schedule() - how many packets may be sent next, and when do they leave?
 * @tx: the burst
 * @cc: what paces them
 * @edt_ns: set to when they leave, see sroce_tx_set_edt()
 *
 * Return: packets of the path MTU; 0: none before @edt_ns.
 */
u32 sroce_tx_schedule(const struct sroce_tx *tx, const struct sroce_cc *cc,
		      u64 *edt_ns)
{
	u32 packets = sroce_cc_schedule(cc, tx->now_ns, true, edt_ns);

	if (*edt_ns <= tx->now_ns)
		return packets;
	/* The qdisc is looked at only by who is paced. */
	if (!sroce_path_supports_edt(tx->wq->dst))
		return sroce_cc_schedule(cc, tx->now_ns, false, edt_ns);
	if (cc->edt_ns <= tx->now_ns)
		tx->wq->edt_skbs = 0;
	if (tx->wq->edt_skbs < EDT_SKBS_MAX)
		return packets;
	/* What bears no time would overtake what is ahead. */
	*edt_ns = cc->edt_ns;
	return 0;
}

/**
 * sroce_tx_set_edt() - when the next packets leave
 * @tx: the burst
 * @cc: what paces them
 * @edt_ns: when; at once if nobody sees to that. No skb has packets of two times.
 */
void sroce_tx_set_edt(struct sroce_tx *tx, struct sroce_cc *cc, u64 edt_ns)
{
	if (edt_ns > tx->now_ns && sroce_path_supports_edt(tx->wq->dst))
		sroce_cc_set_edt(cc, edt_ns);
	else
		edt_ns = tx->now_ns;
	if (edt_ns != tx->edt_ns)
		sroce_gso_close(&tx->gso);
	tx->edt_ns = edt_ns;
}

static int count_loss(struct sroce_qp *qp, enum sroce_counter why, int err)
{
	sroce_count(qp->dev->ep.counters, why);
	return err;
}

static u8 tos_of(const struct sroce_tx *tx, const struct sroce_path *path)
{
	if (tx->dscp != SROCE_PATH_DSCP)
		return (u8)(tx->dscp << 2);
	if (READ_ONCE(tx->qp->dev->ecn) && !(path->tos & INET_ECN_MASK))
		return path->tos | INET_ECN_ECT_0;
	return path->tos;
}

/* Connected halves cache the route of their own path. */
static int open_skb(struct sroce_tx *tx, const struct sroce_path *path, u32 bytes,
		    u32 expected)
{
	struct sroce_wq *wq = tx->wq;
	struct sroce_qp *qp = tx->qp;
	const struct sroce_endpoint *ep = &qp->dev->ep;
	bool cached = path == &wq->path;
	struct dst_entry *dst;
	int err;

	dst = cached ? sroce_path_route_cached(ep, path, &wq->dst, &wq->dst_cookie) :
		       sroce_path_route(ep, path);
	if (IS_ERR(dst))
		return count_loss(qp, SROCE_CTR_DROP_NO_ROUTE, PTR_ERR(dst));
	err = sroce_gso_open(&tx->gso, path, dst, tos_of(tx, path), bytes, expected);
	if (!cached)
		dst_release(dst);
	if (!err && tx->edt_ns > tx->now_ns) {
		skb_set_delivery_time(tx->gso.skb, ns_to_ktime(tx->edt_ns),
				      SKB_CLOCK_MONOTONIC);
		wq->edt_pending = true;
		wq->edt_skbs++;
	}
	return err && err != -ENOMEM ? count_loss(qp, SROCE_CTR_SEND_ERR, err) : err;
}

/* Memory for a whole run may be short where that for a packet is not. */
static u8 *room_for(struct sroce_tx *tx, const struct sroce_path *path, u32 bytes,
		    u32 expected)
{
	int err = 0;
	u8 *at;

	if (!sroce_gso_can_append(&tx->gso, path, bytes))
		err = open_skb(tx, path, bytes, expected);
	if (err)
		return ERR_PTR(err);
	at = sroce_gso_begin(&tx->gso, bytes, expected);
	if (at)
		return at;
	err = open_skb(tx, path, bytes, 1);
	return err ? ERR_PTR(err) : sroce_gso_begin(&tx->gso, bytes, 1);
}

/**
 * sroce_tx_begin() - room for a packet, and its headers
 * @tx: the burst
 * @path: where to: the half's own, or a datagram's
 * @pkt: headers and sizes
 * @expected: how many packets of this size follow, with this one; a hint. 1: it begins no run
 * @writer: set to where the payload goes
 *
 * Return: 0: the payload is to be put there, then sroce_tx_end(); -ENOMEM when it should be
 * tried again; another errno when this packet cannot go out (no route, larger than its MTU),
 * which is counted and then a lost packet.
 */
int sroce_tx_begin(struct sroce_tx *tx, const struct sroce_path *path,
		   const struct sroce_packet *pkt, u32 expected,
		   struct sroce_crc_writer **writer)
{
	u32 bytes = pkt->header_bytes + pkt->payload_bytes + pkt->pad_bytes + SROCE_ICRC_BYTES;
	u8 *at = room_for(tx, path, bytes, expected);

	if (IS_ERR(at)) {
		/* What comes next does not follow what is in there. */
		sroce_gso_close(&tx->gso);
		if (PTR_ERR(at) == -ENOMEM)
			count_loss(tx->qp, SROCE_CTR_DROP_NO_MEMORY, 0);
		return PTR_ERR(at);
	}
	sroce_packet_write(pkt, at);
	tx->pad_bytes = pkt->pad_bytes;
	*writer = sroce_gso_start_crc(&tx->gso, tx->wq->path.ip_id, pkt->header_bytes);
	return 0;
}

/**
 * sroce_tx_end() - the packet begun is complete but for pad and ICRC
 * @tx: the burst
 */
void sroce_tx_end(struct sroce_tx *tx)
{
	static const u8 zeros[3];

	if (tx->pad_bytes)
		sroce_crc_write(&tx->gso.writer, zeros, tx->pad_bytes);
	sroce_gso_end(&tx->gso, &tx->wq->path.ip_id);
}

/**
 * sroce_tx_repeat_begin() - room for packets that are as the last one, but for PSN and payload
 * @tx: the burst
 * @count: how many are wanted
 * @psn: of the first
 * @writer: set to where their payload goes
 *
 * Return: how many there is room for; when their payload has been put there,
 * sroce_tx_repeat_end(). Maybe none: not all packets have others like them in one skb.
 */
u32 sroce_tx_repeat_begin(struct sroce_tx *tx, u32 count, u32 psn, struct sroce_crc_writer **writer)
{
	*writer = &tx->gso.writer;
	return sroce_gso_repeat_begin(&tx->gso, count, psn, tx->wq->path.ip_id);
}

/**
 * sroce_tx_repeat_end() - the packets of sroce_tx_repeat_begin() are complete
 * @tx: the burst
 */
void sroce_tx_repeat_end(struct sroce_tx *tx)
{
	sroce_gso_repeat_end(&tx->gso, &tx->wq->path.ip_id);
}

/**
 * sroce_wq_charge() - the half answers for its packets until the stack frees them
 * @qp: the QP
 * @wq: the wq, its lock held: what is in @wq->out is about to be handed over
 */
void sroce_wq_charge(struct sroce_qp *qp, struct sroce_wq *wq)
{
	struct sk_buff *skb;

	skb_queue_walk(&wq->out, skb) {
		u32 packets = sroce_gso_packets(skb);

		refcount_inc(&qp->ref->holders);
		atomic_add(packets, &qp->ref->tsq[wq->type].queued);
		wq->sent += packets;
		skb_shinfo(skb)->destructor_arg = pack_tsq_share(qp->ref, packets);
		skb->destructor = wq->type == SROCE_SQ ? send_packets_freed :
								  recv_packets_freed;
	}
}
