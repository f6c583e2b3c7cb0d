// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From planned packets to skbs, and back-pressure.
 *
 * Back-pressure works as TCP small queues do. A work queue stops when too many of its packets are
 * in the stack (a slow link, a qdisc); the destructor of one of their skbs restarts it. A GSO skb
 * counts until it is sent or segmented, a list until its first packet is sent. A queued skb refers
 * to struct sroce_qp_ref only, not to the QP, so destroying a QP never waits for a qdisc. The ref
 * also keeps the socket that owns the skb, so that no packet changes a counter of the socket, which
 * all QPs share.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/smp.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/sock.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "datapath/tx.h"
#include "trace.h"
#include "transport/tsq_policy.h"

static u32 queue_limit(const struct sroce_qp *qp, const struct sroce_wq *wq)
{
	if (wq->type == SROCE_SQ)
		return sroce_tsq_limit(qp->req.attr.mtu_bytes,
				       sroce_requester_recovery_rounds(&qp->req));
	return sroce_tsq_limit(qp->resp.attr.mtu_bytes, 0);
}

/* The skb whose release leaves no more packets than the low mark restarts the queue, once. */
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

/* The ref of an skb and its packet count share the one word that an skb has for us. */
static void *pack_tsq_share(struct sroce_qp_ref *ref, u32 packets)
{
	return (void *)((uintptr_t)ref | packets);
}

static void packets_freed(struct sk_buff *skb, enum sroce_wq_type type)
{
	uintptr_t share = (uintptr_t)skb_shinfo(skb)->destructor_arg;
	struct sroce_qp_ref *ref = (void *)round_down(share, SROCE_QP_REF_ALIGNMENT);
	struct sroce_tsq *tsq = &ref->tsq[type];
	u32 queued;

	/* Keeps @ref until this function ends, after the last reference has been dropped. */
	rcu_read_lock();
	queued = (u32)atomic64_sub_return(SROCE_TSQ_SKB | share % SROCE_QP_REF_ALIGNMENT,
					  &tsq->queued);
	if (READ_ONCE(tsq->throttled) && queued <= SROCE_TSQ_PACKETS_LOW)
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
 * sroce_tx_throttle() - must the queue wait for the stack?
 * @tx: the round; the lock of its queue is held
 * @next: packets of the next plan
 *
 * Return: true if it must; it is kicked when it may go on.
 */
bool sroce_tx_throttle(struct sroce_tx *tx, u32 next)
{
	struct sroce_tsq *tsq = &tx->qp->ref->tsq[tx->wq->type];
	struct sroce_tsq *other = &tx->qp->ref->tsq[!tx->wq->type];
	u64 queued = atomic64_read(&tsq->queued);
	/* Both queues of a QP are one flow of fq. */
	u32 skbs = upper_32_bits(queued) + upper_32_bits(atomic64_read(&other->queued)) +
		   skb_queue_len(&tx->wq->out);

	if (!sroce_tsq_is_full(lower_32_bits(queued) + tx->builder.packets, skbs,
			       next, queue_limit(tx->qp, tx->wq)))
		return false;
	if (tx->builder.packets) {
		/* Decide again once they are in the stack. */
		tx->wq->again = true;
		return true;
	}
	WRITE_ONCE(tsq->throttled, true);
	/* Pairs with atomic64_sub_return(): the last packet sees the flag, or we see it freed. */
	smp_mb();
	return (u32)atomic64_read(&tsq->queued) > SROCE_TSQ_PACKETS_LOW;
}

/**
 * sroce_tx_init() - start a round of building skbs
 * @tx: filled in
 * @qp: the QP
 * @wq: the work queue, its lock held until the round is over
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
	sroce_builder_init(&tx->builder, &qp->dev->ep, &wq->out);
	/* Requests name L_Keys; responses use R_Keys that the peer has named. */
	sroce_mr_ref_init(&tx->mr_ref, &qp->dev->memory, qp->ibqp.pd,
			  wq->type == SROCE_RQ ? qp->serial : 0);
	tx->mr_ref.wait = &wq->paging.wait;
	tx->section = false;
}

/**
 * sroce_tx_finish() - give vector registers and region back at the end of a round
 * @tx: the round
 */
void sroce_tx_finish(struct sroce_tx *tx)
{
	sroce_crc_vector_end(tx->section);
	sroce_mr_ref_put(&tx->mr_ref);
}

/**
 * sroce_tx_allowance() - how many packets may be sent next, and when do they depart?
 * @tx: the round
 * @cc: congestion control, which paces them
 * @edt_ns: set to the departure time, see sroce_tx_set_edt()
 *
 * Return: packets of the path MTU; 0: none before @edt_ns.
 */
u32 sroce_tx_allowance(const struct sroce_tx *tx, const struct sroce_cc *cc, u64 *edt_ns)
{
	u32 packets = sroce_cc_schedule_edt(cc, tx->now_ns, edt_ns);

	/* Only a paced queue needs to look at the qdisc. */
	if (*edt_ns > tx->now_ns && !sroce_path_supports_edt(tx->wq->dst))
		return sroce_cc_allowance(cc, tx->now_ns, edt_ns);
	return packets;
}

/**
 * sroce_tx_set_edt() - set the departure time of the next packets
 * @tx: the round
 * @cc: congestion control, which paces them
 * @edt_ns: the time; ignored if the qdisc does not keep it. All packets of an skb have the same
 */
void sroce_tx_set_edt(struct sroce_tx *tx, struct sroce_cc *cc, u64 edt_ns)
{
	if (edt_ns > tx->now_ns)
		sroce_cc_set_edt(cc, edt_ns);
	else
		edt_ns = tx->now_ns;
	if (edt_ns != tx->edt_ns)
		sroce_builder_close(&tx->builder);
	tx->edt_ns = edt_ns;
}

static int count_loss(struct sroce_qp *qp, enum sroce_counter why, int err)
{
	sroce_count(sroce_qp_counters(qp), why);
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

/*
 * A datagram's port does not depend on its destination QP, so those of a QP to one address handle
 * share a flow, and may share an skb.
 */
static __be16 sport_of(const struct sroce_tx *tx, const struct sroce_path *path)
{
	return path->sport ?: htons(rdma_get_udp_sport(0, tx->qp->ibqp.qp_num, 1));
}

/* RoCE v1 has no route, and no ECN. */
static int open_v1_skb(struct sroce_tx *tx, const struct sroce_path *path, __be16 sport, u32 bytes)
{
	int err = sroce_builder_open_v1(&tx->builder, path, sport, bytes);

	if (err == -ENETUNREACH)
		count_loss(tx->qp, SROCE_CTR_DROP_NO_ROUTE, err);
	else if (err && err != -ENOMEM)
		sroce_count(tx->qp->dev->ep.counters, SROCE_CTR_SEND_ERR);
	return err;
}

/* A connected queue caches the route of its own path. */
static int open_skb(struct sroce_tx *tx, const struct sroce_path *path, u32 bytes,
		    u32 expected)
{
	struct sroce_wq *wq = tx->wq;
	struct sroce_qp *qp = tx->qp;
	const struct sroce_endpoint *ep = &qp->dev->ep;
	bool cached = path == &wq->path;
	__be16 sport = sport_of(tx, path);
	struct dst_entry *dst;
	int err;

	/* sroce_qp_stop() has released the route for good. */
	if (wq->dying)
		return -ESHUTDOWN;
	if (path->is_v1)
		return open_v1_skb(tx, path, sport, bytes);
	dst = cached ? sroce_path_route_cached(ep, path, &wq->dst, &wq->dst_cookie) :
		       sroce_path_route(ep, path, sport);
	if (IS_ERR(dst))
		return count_loss(qp, SROCE_CTR_DROP_NO_ROUTE, PTR_ERR(dst));
	err = sroce_builder_open(&tx->builder, path, dst, sport, tos_of(tx, path), bytes, expected);
	if (!cached)
		dst_release(dst);
	if (!err && tx->edt_ns > tx->now_ns)
		skb_set_delivery_time(tx->builder.skb, ns_to_ktime(tx->edt_ns),
				      SKB_CLOCK_MONOTONIC);
	/* Of the port, also if the QP has a counter: see control/pma.c. */
	if (err && err != -ENOMEM)
		sroce_count(ep->counters, SROCE_CTR_SEND_ERR);
	return err;
}

/* Without memory for a whole GSO batch there may be enough for one packet. */
static u8 *reserve_packet(struct sroce_tx *tx, const struct sroce_path *path, u32 bytes,
			  u32 expected)
{
	int err = 0;
	u8 *at;

	if (!sroce_builder_can_append(&tx->builder, path, bytes))
		err = open_skb(tx, path, bytes, expected);
	if (err)
		return ERR_PTR(err);
	at = sroce_builder_begin(&tx->builder, bytes, expected);
	if (at)
		return at;
	err = open_skb(tx, path, bytes, 1);
	return err ? ERR_PTR(err) : sroce_builder_begin(&tx->builder, bytes, 1);
}

/**
 * sroce_tx_begin() - reserve space for a packet and write its headers
 * @tx: the round
 * @path: where it goes: the queue's own path, or a datagram's
 * @pkt: headers and sizes
 * @expected: number of packets of this size, with this one; a hint. 1: it starts no batch
 * @writer: set to where the payload goes
 *
 * Return: 0: write the payload, then call sroce_tx_end(); -ENOMEM: try again later; another errno
 * if this packet cannot go out (no route, larger than the route's MTU), which is counted and then
 * is a lost packet.
 */
int sroce_tx_begin(struct sroce_tx *tx, const struct sroce_path *path,
		   const struct sroce_packet *pkt, u32 expected,
		   struct sroce_crc_writer **writer)
{
	u32 bytes = pkt->header_bytes + pkt->payload_bytes + pkt->pad_bytes + SROCE_ICRC_BYTES;
	u8 *at = reserve_packet(tx, path, bytes, expected);

	if (IS_ERR(at)) {
		/* The next packet must not be appended to this skb. */
		sroce_builder_close(&tx->builder);
		if (PTR_ERR(at) == -ENOMEM)
			count_loss(tx->qp, SROCE_CTR_DROP_NO_MEMORY, 0);
		return PTR_ERR(at);
	}
	sroce_packet_write(pkt, at);
	tx->pad_bytes = pkt->pad_bytes;
	*writer = sroce_builder_start_crc(&tx->builder, tx->wq->path.ip_id, pkt->header_bytes);
	return 0;
}

/**
 * sroce_tx_end() - the payload of the packet begun is complete: add pad and ICRC
 * @tx: the round
 */
void sroce_tx_end(struct sroce_tx *tx)
{
	static const u8 zeros[3];

	if (tx->pad_bytes)
		sroce_crc_write(&tx->builder.writer, zeros, tx->pad_bytes);
	sroce_builder_end(&tx->builder, &tx->wq->path.ip_id);
}

/*
 * Without an owner, fq would orphan the skb at once, and egress programs would not see it.
 * But ESP adds its trailer to the owner's sk_wmem_alloc and relies on sock_wfree() to subtract it.
 * An ESP that comes later, below an overlay, still does so: then the socket is never freed.
 */
static struct sock *owner_of(const struct sroce_qp_ref *ref, const struct sk_buff *skb)
{
	struct sock *sk = skb->protocol == htons(ETH_P_IPV6) ? ref->ipv6_sk : ref->ipv4_sk;
	const struct dst_entry *dst = skb_dst(skb);

	/* The namespace of a closed socket may have ended. RoCE v1 has no route. */
	return sk && !sock_flag(sk, SOCK_DEAD) && !(dst && dst_xfrm(dst)) ? sk : NULL;
}

/**
 * sroce_tx_relock() - between two bursts: let another CPU have the lock if it waits
 * @tx: the round; the lock of its queue is held, and dropped for a moment
 *
 * The state is that between two plans. The engine may change it while the lock is dropped. BH stays
 * disabled, so the address vector of the open skb stays valid. A new path closes the skb
 * (path_changed). So does a CNP, because the IPv4 identifications of a batch are consecutive. After
 * RESET or an error nothing more is planned. No pointer into the storage of WQEs or responder
 * resources is kept.
 */
void sroce_tx_relock(struct sroce_tx *tx)
{
	struct sroce_wq *wq = tx->wq;
	u16 ip_id = wq->path.ip_id;

	if (!spin_is_contended(&wq->lock))
		return;
	wq->path_changed = false;
	spin_unlock(&wq->lock);
	spin_lock(&wq->lock);
	/* The open skb has the old addresses, or a CNP has taken the next identification. */
	if (wq->path_changed || wq->path.ip_id != ip_id)
		sroce_builder_close(&tx->builder);
}

static bool has_packets_in_stack(const struct sroce_qp_ref *ref)
{
	return atomic64_read(&ref->tsq[SROCE_SQ].queued) ||
	       atomic64_read(&ref->tsq[SROCE_RQ].queued);
}

/*
 * XPS chooses the transmit queue of the interface by the CPU, and many CPUs run the queues of a QP:
 * one that posts, one that ACKs interrupt, one whose timer expires. Another transmit queue could
 * overtake, so all stay with the first while it has packets of the QP. TCP does the same
 * (ooo_okay). Packets in the ring of the driver may not count any more, so the QP must also have
 * sent nothing for a tick.
 */
static u32 choose_sender_cpu(struct sroce_qp_ref *ref)
{
	unsigned long now = jiffies, sent_at = READ_ONCE(ref->sent_at);
	u32 sender_cpu = READ_ONCE(ref->sender_cpu);

	if (!sender_cpu || (time_after(now, sent_at + 1) && !has_packets_in_stack(ref))) {
		u32 own = raw_smp_processor_id() + 1;
		u32 other = cmpxchg(&ref->sender_cpu, sender_cpu, own);

		/* The other queue of the QP may have chosen meanwhile. */
		sender_cpu = other == sender_cpu ? own : other;
	}
	if (sent_at != now)
		WRITE_ONCE(ref->sent_at, now);
	return sender_cpu;
}

static void set_sender_cpu(struct sk_buff *skb, u32 sender_cpu)
{
#ifdef CONFIG_XPS
	skb->sender_cpu = sender_cpu;
#endif
}

/**
 * sroce_tx_charge() - account for skbs that are about to be handed to the stack
 * @qp: the QP
 * @wq: the work queue, its lock held; the skbs in @wq->out are charged until they are freed
 */
void sroce_tx_charge(struct sroce_qp *qp, struct sroce_wq *wq)
{
	struct sk_buff *skb;
	u32 sender_cpu;

	if (skb_queue_empty(&wq->out))
		return;
	sender_cpu = choose_sender_cpu(qp->ref);
	skb_queue_walk(&wq->out, skb) {
		u32 packets = sroce_builder_packets(skb);

		set_sender_cpu(skb, sender_cpu);
		refcount_inc(&qp->ref->holders);
		atomic64_add(SROCE_TSQ_SKB | packets, &qp->ref->tsq[wq->type].queued);
		wq->sent += packets;
		skb->sk = owner_of(qp->ref, skb);
		skb_shinfo(skb)->destructor_arg = pack_tsq_share(qp->ref, packets);
		skb->destructor = wq->type == SROCE_SQ ? send_packets_freed :
								  recv_packets_freed;
	}
}
