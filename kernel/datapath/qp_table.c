// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From QP number to QP, and the references that keep a QP alive.
 *
 * Numbers are unique in the module. They are handed out cyclically from a random start, so that a
 * number is not reused soon. Indices in the table count from there, which keeps it shallow.
 * The GSI QP of each device is number 1 and belongs to the device. The table holds struct
 * sroce_qp_ref, which is freed by RCU, so a lookup needs no lock. `users` of a QP that is being
 * destroyed is zero.
 */
#undef pr_fmt
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <net/sock.h>

#include "datapath/qp.h"

/* 0 is never used, 1 is the GSI QP, and a few more are reserved, as in other drivers. */
#define FIRST_QPN	16
/* The random part of the first number. All numbers are below SROCE_QPN_MULTICAST. */
#define RANDOM_BITS	(BIT(22) - 1)
#define MAX_INDEX	(BIT(23) - 1)

/* After this time, unloading says why it takes long. */
#define REPORT_WAIT	(2 * HZ)

static_assert(FIRST_QPN + RANDOM_BITS + MAX_INDEX < SROCE_QPN_MULTICAST);

static DEFINE_XARRAY_FLAGS(qp_table, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
static u32 next_index;
/* The number at index 0, which is not used; 0 before the first QP. */
static u32 first_qpn;

/* Objects not freed yet. The module cannot go before them: it has the destructors of their skbs. */
atomic_t sroce_live_qp_refs = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(no_live_refs);

/**
 * sroce_qp_ref_create() - a reference object for a QP
 * @qp: the QP
 *
 * May sleep.
 *
 * Return: the object with one user and one holder, or NULL.
 */
struct sroce_qp_ref *sroce_qp_ref_create(struct sroce_qp *qp)
{
	struct sroce_qp_ref *ref;

	/* kmalloc() aligns objects whose size is a power of two to that size. */
	ref = kzalloc(max(roundup_pow_of_two(sizeof(*ref)), SROCE_QP_REF_ALIGNMENT),
		      GFP_KERNEL_ACCOUNT);
	if (!ref)
		return NULL;
	refcount_set(&ref->users, 1);
	refcount_set(&ref->holders, 1);
	init_completion(&ref->released);
	ref->qp = qp;
	ref->ipv4_sk = sroce_endpoint_get_sock(&qp->dev->ep, true);
	ref->ipv6_sk = sroce_endpoint_get_sock(&qp->dev->ep, false);
	atomic_inc(&sroce_live_qp_refs);
	return ref;
}

static void free_ref(struct rcu_head *rcu)
{
	struct sroce_qp_ref *ref = container_of(rcu, struct sroce_qp_ref, rcu);

	if (ref->ipv4_sk)
		sock_put(ref->ipv4_sk);
	if (ref->ipv6_sk)
		sock_put(ref->ipv6_sk);
	kfree(ref);
	if (atomic_dec_and_test(&sroce_live_qp_refs))
		wake_up(&no_live_refs);
}

/**
 * sroce_qp_ref_put() - drop a reference to the memory of the object
 * @ref: the object; any context
 */
void sroce_qp_ref_put(struct sroce_qp_ref *ref)
{
	if (refcount_dec_and_test(&ref->holders))
		call_rcu(&ref->rcu, free_ref);
}

/**
 * sroce_qp_refs_wait() - wait until the stack has freed our last packet
 *
 * For module unload: no QP is left, but packets may still be in a qdisc. No signal ends the wait,
 * because unloading cannot fail. May sleep.
 */
void sroce_qp_refs_wait(void)
{
	if (!wait_event_idle_timeout(no_live_refs, !sroce_qp_count(), REPORT_WAIT))
		pr_info("unloading waits until qdiscs and drivers have freed the packets of %llu queue pairs\n",
			sroce_qp_count());
	wait_event_idle(no_live_refs, !sroce_qp_count());
	rcu_barrier();
}

/* Above MAX_INDEX if no QP gets this number. */
static u32 index_of_qpn(u32 qpn)
{
	return qpn - READ_ONCE(first_qpn);
}

static int publish_gsi(struct sroce_qp *qp)
{
	struct sroce_qp_ref *none = NULL;

	/* A packet that finds the QP reads its number. */
	qp->ibqp.qp_num = SROCE_QPN_GSI;
	/* The pointer is NULL or another GSI QP; the compare-and-exchange needs no lock. */
	if (try_cmpxchg((struct sroce_qp_ref **)&qp->dev->gsi, &none, qp->ref))
		return 0;
	qp->ibqp.qp_num = 0;
	return -EBUSY;
}

/**
 * sroce_qp_table_add() - publish a QP, so that packets find it
 * @qp: completely set up, sroce_qp_datapath_init() included
 *
 * Sets @qp->ibqp.qp_num. May sleep.
 *
 * Return: 0, -EBUSY for a second GSI QP, or another errno.
 */
int sroce_qp_table_add(struct sroce_qp *qp)
{
	static const struct xa_limit limit = XA_LIMIT(1, MAX_INDEX);
	u32 index;
	int err;

	if (qp->ibqp.qp_type == IB_QPT_GSI)
		return publish_gsi(qp);
	if (!READ_ONCE(first_qpn))
		cmpxchg(&first_qpn, 0, FIRST_QPN + (get_random_u32() & RANDOM_BITS));
	err = xa_alloc_cyclic(&qp_table, &index, qp->ref, limit, &next_index, GFP_KERNEL);
	if (err < 0)
		return err;
	/* A packet may guess the number and come first. In RESET the QP drops it. */
	qp->ibqp.qp_num = first_qpn + index;
	return 0;
}

/**
 * sroce_qp_table_remove() - unpublish a QP, so that no packet finds it any more
 * @qp: the QP
 *
 * Packets that found it before may still use it, see sroce_qp_quiesce().
 */
void sroce_qp_table_remove(struct sroce_qp *qp)
{
	if (qp->ibqp.qp_type == IB_QPT_GSI)
		RCU_INIT_POINTER(qp->dev->gsi, NULL);
	else
		xa_erase(&qp_table, index_of_qpn(qp->ibqp.qp_num));
}

/**
 * sroce_qp_get() - find a QP for a packet
 * @ep: the endpoint the packet came in on
 * @qpn: destination QP number
 *
 * Any context.
 *
 * Return: the QP, to be released with sroce_qp_put(), or NULL.
 */
struct sroce_qp *sroce_qp_get(struct sroce_endpoint *ep, u32 qpn)
{
	struct sroce_device *dev = container_of(ep, struct sroce_device, ep);
	struct sroce_qp_ref *ref;
	struct sroce_qp *qp = NULL;

	rcu_read_lock();
	ref = qpn == SROCE_QPN_GSI ? rcu_dereference(dev->gsi) :
				     xa_load(&qp_table, index_of_qpn(qpn));
	if (ref && refcount_inc_not_zero(&ref->users))
		qp = ref->qp;
	rcu_read_unlock();
	if (qp && qp->dev != dev) {
		sroce_qp_put(qp);
		qp = NULL;
	}
	return qp;
}

/**
 * sroce_qp_get_listed() - use a QP that ib_core may be destroying
 * @ibqp: the QP, from ib_core's list of resources, which keeps its memory
 *
 * Before Linux 7.2 and its stable backports, ib_core takes a QP off the list only when the driver
 * has destroyed it. Any context.
 *
 * Return: the QP, to be released with sroce_qp_put(), or NULL if its destruction has begun.
 */
struct sroce_qp *sroce_qp_get_listed(const struct ib_qp *ibqp)
{
	struct sroce_qp *qp = sroce_qp_get(&to_sroce_device(ibqp->device)->ep, ibqp->qp_num);

	/* Another one may have got the number. */
	if (qp && &qp->ibqp != ibqp) {
		sroce_qp_put(qp);
		qp = NULL;
	}
	return qp;
}

/**
 * sroce_qp_get_next() - iterate over the QPs of an endpoint
 * @ep: the endpoint
 * @qpn: the first number to look at; set to the number of the QP found
 *
 * May sleep. QPs that come or go meanwhile may be found or not.
 *
 * Return: the QP, to be released with sroce_qp_put(), or NULL if there is none left.
 */
struct sroce_qp *sroce_qp_get_next(struct sroce_endpoint *ep, u32 *qpn)
{
	u32 number = max_t(u32, *qpn, SROCE_QPN_GSI);
	u32 first = READ_ONCE(first_qpn);
	unsigned long index = max(number, first) - first;
	struct sroce_qp *qp;
	bool is_last;

	do {
		qp = sroce_qp_get(ep, number);
		if (qp) {
			*qpn = number;
			break;
		}
		cond_resched();
		is_last = !xa_find_after(&qp_table, &index, MAX_INDEX, XA_PRESENT);
		number = first + index;
	} while (!is_last);
	return qp;
}

/**
 * sroce_qp_put() - done with a QP
 * @qp: from sroce_qp_get(); may be gone afterwards
 *
 * Any context.
 */
void sroce_qp_put(struct sroce_qp *qp)
{
	struct sroce_qp_ref *ref = qp->ref;

	if (refcount_dec_and_test(&ref->users))
		complete(&ref->released);
}
