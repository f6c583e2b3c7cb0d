// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Modifying a queue pair: checks transition and values, and prepares path and resources.
 *
 * modify_lock serialises calls. The checks come first and change nothing. Then the responder
 * resources and the path are replaced, each under the lock of its work queue. sroce_qp_set_state()
 * applies the rest under both locks, unless the QP has meanwhile moved to ERR on an error.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/dst.h>
#include <rdma/ib_cache.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "datapath/route_release.h"
#include "verbs/verbs.h"

#define MAX_24_BITS		0xffffff
#define MAX_5_BITS		31
#define MAX_3_BITS		7

/* rdma_cm permits both kinds of FLUSH if a device has one; the region decides. */
#define QP_ACCESS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
				 IB_ACCESS_MW_BIND | IB_ACCESS_FLUSH_GLOBAL | \
				 IB_ACCESS_FLUSH_PERSISTENT | IB_ACCESS_ON_DEMAND | \
				 IB_ACCESS_OPTIONAL)

static int reject_attr(const struct sroce_qp *qp, const char *what, u64 value)
{
	ibdev_dbg(qp->ibqp.device, "qp %u: bad %s: %llu\n", qp->ibqp.qp_num, what, value);
	return -EINVAL;
}

static int check_transition(const struct sroce_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
			    const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != from)
		return reject_attr(qp, "current state", attr->cur_qp_state);
	/* IBTA 10.3.1: from any state. ib_core's table lacks RESET, but ib_drain_qp() needs it. */
	if (to == IB_QPS_ERR && from == IB_QPS_RESET && !(mask & ~IB_QP_STATE))
		return 0;
	if (ib_modify_qp_is_ok(from, to, qp->ibqp.qp_type, mask))
		return 0;
	ibdev_dbg(qp->ibqp.device, "qp %u: no transition from state %d to %d with mask %#x\n",
		  qp->ibqp.qp_num, from, to, mask);
	return -EINVAL;
}

/* Checks port, partition and path. */
static int check_path(const struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_mtu active_mtu = sroce_active_mtu(qp->dev->ep.netdev);

	if (mask & IB_QP_PORT && attr->port_num != SROCE_PORT)
		return reject_attr(qp, "port", attr->port_num);
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= SROCE_PKEY_TABLE_LEN)
		return reject_attr(qp, "P_Key index", attr->pkey_index);
	/* IP would fragment packets that are larger than the MTU of the netdev. */
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 || attr->path_mtu > active_mtu))
		return reject_attr(qp, "path MTU", attr->path_mtu);
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num > MAX_24_BITS)
		return reject_attr(qp, "destination QP", attr->dest_qp_num);
	/* Path migration is not supported. */
	if (mask & IB_QP_ALT_PATH)
		return reject_attr(qp, "alternate path on port", attr->alt_port_num);
	if (mask & IB_QP_PATH_MIG_STATE && attr->path_mig_state != IB_MIG_MIGRATED)
		return reject_attr(qp, "migration state", attr->path_mig_state);
	return 0;
}

/* Checks access flags, timers and retry counts. */
static int check_limits(const struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~QP_ACCESS)
		return reject_attr(qp, "access flags", attr->qp_access_flags);
	if (mask & IB_QP_TIMEOUT && attr->timeout > MAX_5_BITS)
		return reject_attr(qp, "timeout", attr->timeout);
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > MAX_5_BITS)
		return reject_attr(qp, "RNR timer", attr->min_rnr_timer);
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > MAX_3_BITS)
		return reject_attr(qp, "retry count", attr->retry_cnt);
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > MAX_3_BITS)
		return reject_attr(qp, "RNR retry count", attr->rnr_retry);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SROCE_MAX_RD_ATOMIC)
		return reject_attr(qp, "max_rd_atomic", attr->max_rd_atomic);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SROCE_MAX_RD_ATOMIC)
		return reject_attr(qp, "max_dest_rd_atomic", attr->max_dest_rd_atomic);
	return 0;
}

static void install_wq_path(struct sroce_wq *wq, const struct sroce_path *path)
{
	spin_lock_bh(&wq->lock);
	wq->path = *path;
	wq->path_changed = true;
	sroce_wq_release_route(wq);
	spin_unlock_bh(&wq->lock);
}

/* Of a connection, as it will be; 0 before it is known. */
static enum ib_mtu path_mtu_of(const struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	u32 mtu_bytes = qp->req.attr.mtu_bytes;

	if (mask & IB_QP_PATH_MTU)
		return attr->path_mtu;
	return sroce_qp_is_connected(qp) && mtu_bytes ? ib_mtu_int_to_enum(mtu_bytes) : 0;
}

/* The interface of the GID may be a VLAN with a smaller MTU than the interface of the device. */
static enum ib_mtu source_mtu(const struct ib_qp_attr *attr)
{
	enum ib_mtu mtu = IB_MTU_4096;
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(rdma_ah_read_grh(&attr->ah_attr)->sgid_attr);
	if (!IS_ERR(ndev))
		mtu = sroce_active_mtu(ndev);
	rcu_read_unlock();
	return mtu;
}

static int prepare_path(const struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
			struct sroce_path *path)
{
	u32 dest_qpn = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : qp->req.attr.dest_qpn;
	enum ib_mtu mtu = path_mtu_of(qp, attr, mask);
	int err = sroce_path_from_ah_attr(qp->ibqp.device, &attr->ah_attr, qp->ibqp.qp_num,
					  dest_qpn, path);

	if (!err && mtu > source_mtu(attr))
		err = reject_attr(qp, "path MTU on the GID's interface", mtu);
	return err;
}

/* Packets are handled meanwhile, and find the old ring or the new one. */
static int resize_resources(struct sroce_qp *qp, u32 capacity)
{
	struct sroce_resource_storage *storage = NULL;
	bool moved;

	if (capacity == sroce_resources_capacity(&qp->resp.resources))
		return 0;
	if (capacity) {
		storage = kzalloc(struct_size(storage, entries, capacity), GFP_KERNEL_ACCOUNT);
		if (!storage)
			return -ENOMEM;
	}
	spin_lock_bh(&qp->rq.lock);
	moved = sroce_resources_resize(&qp->resp.resources, storage, capacity);
	if (moved)
		swap(qp->resources, storage);
	spin_unlock_bh(&qp->rq.lock);
	kfree(storage);
	return moved ? 0 : -EBUSY;
}

/* Saves for query_qp what the engine and the path do not have. */
static void save_attr(struct sroce_qp *qp, enum ib_qp_state to, const struct ib_qp_attr *attr,
		      int mask)
{
	if (to == IB_QPS_RESET) {
		memset(&qp->ah_attr, 0, sizeof(qp->ah_attr));
		qp->timeout = 0;
	}
	if (mask & IB_QP_AV) {
		qp->ah_attr = attr->ah_attr;
		/* This reference belongs to ib_core. */
		qp->ah_attr.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_TIMEOUT)
		qp->timeout = attr->timeout;
}

static int apply_modify(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	enum ib_qp_state from, to;
	struct sroce_path path;
	int err;

	sroce_qp_settle_state(qp);
	from = READ_ONCE(qp->state);
	to = mask & IB_QP_STATE ? attr->qp_state : from;
	err = check_transition(qp, from, to, attr, mask) ?: check_path(qp, attr, mask) ?:
	      check_limits(qp, attr, mask);
	if (!err && mask & IB_QP_AV)
		err = prepare_path(qp, attr, mask, &path);
	if (!err && mask & IB_QP_MAX_DEST_RD_ATOMIC)
		err = resize_resources(qp, attr->max_dest_rd_atomic);
	if (err)
		return err;

	if (mask & IB_QP_AV) {
		install_wq_path(&qp->sq, &path);
		install_wq_path(&qp->rq, &path);
	}
	err = sroce_qp_set_state(qp, from, to, attr, mask);
	if (!err)
		save_attr(qp, to, attr, mask);
	return err;
}

/**
 * sroce_modify_qp() - change the state or attributes of a queue pair
 * @ibqp: queue pair
 * @attr: new values; ib_core has resolved the source GID of an address vector
 * @mask: IB_QP_*: the values to apply
 * @udata: unused
 *
 * May sleep.
 *
 * Return: 0 or a negative errno. -EINVAL means that the caller made a mistake, and the debug log
 * says which. On error the state has not changed, but the path may have.
 */
int sroce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	mutex_lock(&qp->modify_lock);
	err = apply_modify(qp, attr, mask);
	mutex_unlock(&qp->modify_lock);
	return err;
}
