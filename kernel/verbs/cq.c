// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creating, resizing and destroying completion queues. datapath/cq.c writes and polls entries.
 */
#include <linux/sched.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_ioctl.h>

#include "datapath/ack_delay.h"
#include "datapath/cq.h"
#include "datapath/device.h"
#include "verbs/verbs.h"

/*
 * Entries (16 KiB) that a resize moves at a time, with interrupts off; less than the pages that
 * sroce_ring_add_ahead() provides.
 */
#define BATCH_ENTRIES	256

/*
 * The minimum is a page. With a single entry, a consumer that does not poll after each send
 * (perftest with events) would overflow the CQ as soon as an acknowledgement is late. A resize has
 * no such minimum.
 */
#define MIN_CQE	63u

static int check_cqe(const struct ib_cq *ibcq, unsigned int cqe)
{
	if (cqe >= 1 && cqe <= SROCE_MAX_CQE)
		return 0;
	ibdev_dbg(ibcq->device, "cq: %u entries, the limit is %u\n", cqe, SROCE_MAX_CQE);
	return -EINVAL;
}

static int init_ring(struct sroce_ring *ring, unsigned int cqe, bool is_user)
{
	return sroce_ring_init_cq(ring, cqe,
				  is_user ? sizeof(struct ib_uverbs_wc) : sizeof(struct ib_wc),
				  is_user);
}

/* Make the ring mappable and tell the process where. */
static struct sroce_mmap_entry *offer_cq_ring(const struct sroce_ring *ring, struct ib_udata *udata)
{
	struct rxe_create_cq_resp resp = {};
	struct sroce_mmap_entry *entry;
	int err;

	BUILD_BUG_ON(sizeof(struct rxe_resize_cq_resp) != sizeof(resp));
	if (udata->outlen < sizeof(resp))
		return ERR_PTR(-EINVAL);
	entry = sroce_mmap_insert(udata, ring, &resp.mi);
	if (IS_ERR(entry))
		return entry;
	err = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (err) {
		sroce_mmap_remove(entry);
		return ERR_PTR(err);
	}
	return entry;
}

/**
 * sroce_create_cq() - create a completion queue
 * @ibcq: zeroed except for its device
 * @attr: size wanted; in native mode perhaps timestamps
 * @attrs: has the struct ib_udata, which is NULL for kernel consumers
 *
 * Return: 0 or a negative errno.
 */
int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct compat_cq_attrs *attrs)
{
	struct ib_udata *udata = compat_cq_udata(attrs);
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	bool is_native;
	int err;

	BUILD_BUG_ON(offsetof(struct rxe_queue_buf, consumer_index) + sizeof(struct sroce_cq_line) >
		     sizeof(struct rxe_queue_buf));
	is_native = sroce_is_native(udata);
	if (attr->flags & ~(is_native ? IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION : 0)) {
		ibdev_dbg(ibcq->device, "cq: flags %#x\n", attr->flags);
		return -EOPNOTSUPP;
	}
	err = check_cqe(ibcq, attr->cqe);
	if (err)
		return err;

	sroce_cq_init(cq);
	cq->is_user = udata;
	cq->user_arms = is_native && ibcq->cq_context;
	cq->stamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	err = init_ring(&cq->ring, max_t(u32, attr->cqe, MIN_CQE), cq->is_user);
	if (err)
		return err;
	if (udata) {
		cq->mmap = offer_cq_ring(&cq->ring, udata);
		if (IS_ERR(cq->mmap)) {
			sroce_ring_fini(&cq->ring);
			return PTR_ERR(cq->mmap);
		}
	}
	ibcq->cqe = cq->ring.mask;
	return 0;
}

/*
 * Copies a batch of entries from @next on, oldest first, to @ring, which was empty before the first
 * batch. Does not interpret entries, because the process may have changed them. Returns the number
 * of entries left, or -EINVAL if they do not fit.
 */
static int move_batch(const struct sroce_ring *old, struct sroce_ring *ring, u32 *next)
{
	u32 left = (old->cursor - *next) & old->mask;
	u32 i, count = min_t(u32, left, BATCH_ENTRIES);
	const void *entry;

	if (left > ring->mask - ring->cursor)
		return -EINVAL;
	for (i = 0; i < count; i++) {
		/* A wrong index of the process may lead to an entry that was never written. */
		entry = sroce_ring_entry(old, *next);
		if (entry)
			memcpy(sroce_ring_next_entry(ring), entry, old->stride);
		sroce_ring_publish(ring);
		++*next;
	}
	return left - count;
}

/*
 * Moves the pending entries in batches. Meanwhile completions go to the old ring. The last batch
 * replaces it by the new ring. On success @ring is the old one.
 */
static int switch_ring(struct sroce_cq *cq, struct sroce_ring *ring, struct sroce_mmap_entry **mmap)
{
	struct sroce_ring *old = &cq->ring;
	unsigned long flags;
	u32 next;
	int left;

	mutex_lock(&cq->resize_lock);
	/* Pairs with the consumer's release: entries that it has read are not moved. */
	next = smp_load_acquire(old->consumer);
	do {
		left = sroce_ring_add_ahead(ring);
		if (left)
			break;
		spin_lock_irqsave(&cq->lock, flags);
		left = move_batch(old, ring, &next);
		if (!left) {
			sroce_cq_swap_ring(cq, ring);
			swap(cq->mmap, *mmap);
			cq->ibcq.cqe = old->mask;
		}
		spin_unlock_irqrestore(&cq->lock, flags);
		cond_resched();
	} while (left > 0);
	mutex_unlock(&cq->resize_lock);
	return left;
}

/**
 * sroce_resize_cq() - change the size of a completion queue
 * @ibcq: completion queue
 * @cqe: entries wanted
 * @udata: NULL for kernel consumers, which cannot resize
 *
 * The process does not poll meanwhile, and maps the new ring before it polls again.
 *
 * Return: 0; -EINVAL if the pending entries do not fit; another negative errno. On error nothing
 * has changed.
 */
int sroce_resize_cq(struct ib_cq *ibcq, compat_cqe cqe, struct ib_udata *udata)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	struct sroce_mmap_entry *mmap;
	struct sroce_ring ring;
	int err;

	/* A kernel consumer may poll at any time, even the old ring. */
	if (!udata)
		return -EOPNOTSUPP;
	err = check_cqe(ibcq, cqe);
	if (err)
		return err;
	err = init_ring(&ring, cqe, true);
	if (err)
		return err;
	mmap = offer_cq_ring(&ring, udata);
	if (IS_ERR(mmap)) {
		sroce_ring_fini(&ring);
		return PTR_ERR(mmap);
	}
	err = switch_ring(cq, &ring, &mmap);
	sroce_mmap_remove(mmap);
	sroce_ring_fini(&ring);
	return err;
}

/**
 * sroce_modify_cq() - set the moderation of a completion queue
 * @ibcq: completion queue
 * @count: completions for one event
 * @period_us: time from the first of them to the event
 *
 * Only for a CQ of a process: ib_core stops the work of a kernel consumer's CQ before it destroys
 * the CQ, and a timer might start it again.
 *
 * Return: 0 or -EOPNOTSUPP.
 */
int sroce_modify_cq(struct ib_cq *ibcq, u16 count, u16 period_us)
{
	if (!to_sroce_cq(ibcq)->is_user)
		return -EOPNOTSUPP;
	sroce_cq_moderate(to_sroce_cq(ibcq), count, period_us);
	return 0;
}

/**
 * sroce_destroy_cq() - destroy a completion queue
 * @ibcq: completion queue; no QP uses it
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);

	sroce_mmap_remove(cq->mmap);
	sroce_cq_fini(cq);
	return 0;
}

/**
 * sroce_req_notify_cq() - ib_device_ops.req_notify_cq
 * @ibcq: the completion queue
 * @flags: which completions to wake for; whether to report entries already there
 *
 * Any context. A consumer that arms has had its turn, so an ACK that was delayed for it is sent.
 *
 * Return: 1 if asked to report and there are entries already, else 0.
 */
int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	int missed = sroce_cq_req_notify(ibcq, flags);

	sroce_ack_delay_end(to_sroce_cq(ibcq));
	return missed;
}
