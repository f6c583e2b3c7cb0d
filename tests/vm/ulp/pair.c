// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two connected queue pairs, each on its own device.
 */
#include <linux/slab.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>

#include "ulp.h"

/* Finds the RoCE v2 address of IPv4 form, which every device here has. */
int ulp_find_gid(struct ulp_end *end)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < 16; i++) {
		attr = rdma_get_gid_attr(end->device, 1, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_v4mapped((const struct in6_addr *)&attr->gid)) {
			end->gid = attr->gid;
			end->gid_index = i;
			rdma_read_gid_l2_fields(attr, NULL, end->mac);
			rdma_put_gid_attr(attr);
			return 0;
		}
		rdma_put_gid_attr(attr);
	}
	return -EADDRNOTAVAIL;
}

static void count_limit_event(struct ib_event *event, void *end)
{
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		((struct ulp_end *)end)->limit_events++;
}

static int make_srq(struct ulp_end *end)
{
	struct ib_srq_init_attr init = {
		.event_handler = count_limit_event,
		.srq_context = end,
		.attr = { .max_wr = end->srq_wr, .max_sge = 1 },
		.srq_type = IB_SRQT_BASIC,
	};

	end->srq = ib_create_srq(end->pd, &init);
	return PTR_ERR_OR_ZERO(end->srq);
}

static int make_qp(struct ulp_end *end, void *context)
{
	struct ib_qp_init_attr init = {
		.qp_context = context,
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = {
			.max_send_wr = ULP_DEPTH + 4,
			.max_recv_wr = ULP_RECV_DEPTH + 4,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};

	int ret;

	if (end->srq_wr) {
		ret = make_srq(end);
		if (ret)
			return ret;
		init.srq = end->srq;
	}
	end->cq = ib_alloc_cq(end->device, end, 2 * ULP_RECV_DEPTH, 0, end->poll);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	init.send_cq = end->cq;
	init.recv_cq = end->cq;
	end->qp = ib_create_qp(end->pd, &init);
	return PTR_ERR_OR_ZERO(end->qp);
}

static int open_end(struct ulp_end *end, void *context)
{
	int ret;

	ret = ulp_find_gid(end);
	if (ret)
		return ret;
	end->pd = ib_alloc_pd(end->device, 0);
	if (IS_ERR(end->pd))
		return PTR_ERR(end->pd);
	return make_qp(end, context);
}

static int connect(struct ulp_end *end, const struct ulp_end *peer)
{
	u8 reads = min3(end->device->attrs.max_qp_init_rd_atom, peer->device->attrs.max_qp_rd_atom,
			ULP_DEPTH);
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = ULP_ACCESS,
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = 1000,
		.sq_psn = 1000,
		.min_rnr_timer = 8,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = reads,
		.max_dest_rd_atomic = reads,
	};
	int ret;

	ret = ib_modify_qp(end->qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(&attr.ah_attr, 1);
	rdma_ah_set_grh(&attr.ah_attr, NULL, 0, end->gid_index, 64, 0);
	rdma_ah_set_dgid_raw(&attr.ah_attr, (void *)peer->gid.raw);
	memcpy(attr.ah_attr.roce.dmac, peer->mac, ETH_ALEN);
	ret = ib_modify_qp(end->qp, &attr,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
			   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(end->qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
			    IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

/**
 * ulp_connect() - make and connect two queue pairs
 * @ends: both ends; their devices and contexts are set. To be closed even if this fails
 * @context: qp_context of the queue pairs
 *
 * Return: 0 or an error code
 */
int ulp_connect(struct ulp_end *ends, void *context)
{
	int ret;

	ret = open_end(&ends[0], context) ?: open_end(&ends[1], context);
	return ret ?: connect(&ends[0], &ends[1]) ?: connect(&ends[1], &ends[0]);
}

static void op_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ulp_op *op = container_of(wc->wr_cqe, struct ulp_op, cqe);

	op->wc = *wc;
	complete(&op->done);
}

/**
 * ulp_op_init() - prepare to wait for a request
 * @op: its @op->cqe is to be the request's
 */
void ulp_op_init(struct ulp_op *op)
{
	op->cqe.done = op_done;
	init_completion(&op->done);
}

/**
 * ulp_op_wait() - wait for a request
 * @op: the request, which has been posted
 * @qp: where; if it takes too long, the queue pair ends
 *
 * Return: the status of its completion
 */
enum ib_wc_status ulp_op_wait(struct ulp_op *op, struct ib_qp *qp)
{
	if (!wait_for_completion_timeout(&op->done, ULP_SECONDS * HZ)) {
		ib_drain_qp(qp);
		wait_for_completion(&op->done);
	}
	return op->wc.status;
}

/**
 * ulp_make_memory() - make a buffer, and a region that can be registered for it
 * @end: of an open connection
 * @bytes: length of the buffer
 *
 * Return: 0 or an error code
 */
int ulp_make_memory(struct ulp_end *end, u32 bytes)
{
	struct scatterlist sg;

	end->buffer = kzalloc(PAGE_ALIGN(bytes), GFP_KERNEL);
	if (!end->buffer)
		return -ENOMEM;
	end->dma = ib_dma_map_single(end->device, end->buffer, bytes, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(end->device, end->dma))
		return -EIO;
	end->mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, PAGE_ALIGN(bytes) >> PAGE_SHIFT);
	if (IS_ERR(end->mr))
		return PTR_ERR(end->mr);
	sg_init_one(&sg, end->buffer, bytes);
	if (ib_dma_map_sg(end->device, &sg, 1, DMA_BIDIRECTIONAL) != 1)
		return -EIO;
	return ib_map_mr_sg(end->mr, &sg, 1, NULL, PAGE_SIZE) == 1 ? 0 : -EINVAL;
}

/**
 * ulp_register_memory() - register an end's buffer, with the key of its region
 * @end: of a connection; registration is a work request
 *
 * Return: 0 or an error code
 */
int ulp_register_memory(struct ulp_end *end)
{
	struct ulp_op op;
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &op.cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = end->mr,
		.key = end->mr->rkey,
		.access = ULP_ACCESS,
	};
	int ret;

	ulp_op_init(&op);
	ret = ib_post_send(end->qp, &wr.wr, NULL);
	if (ret)
		return ret;
	return ulp_op_wait(&op, end->qp) == IB_WC_SUCCESS ? 0 : -EIO;
}

/**
 * ulp_pair_open() - connect two ends for a measurement, and post receives
 * @run: has bytes, opcode and devices; must be closed even if this fails
 *
 * Return: 0 or an error code
 */
int ulp_pair_open(struct ulp_run *run)
{
	struct ulp_end *end;
	int ret, n;

	for (end = run->end; end < run->end + 2; end++) {
		end->poll = IB_POLL_SOFTIRQ;	/* as nvme-rdma does */
		end->receive.done = ulp_received;
		end->sent.done = ulp_sent;
	}
	ret = ulp_connect(run->end, run);
	for (end = run->end; end < run->end + 2 && !ret; end++) {
		ret = ulp_make_memory(end, run->bytes);
		for (n = 0; n < ULP_RECV_DEPTH && !ret; n++)
			ret = ulp_post_receive(end, run->bytes);
	}
	for (end = run->end; end < run->end + 2 && !ret; end++)
		ret = ulp_register_memory(end);
	return ret;
}

/**
 * ulp_disconnect() - end both queue pairs; then no request is under way
 * @ends: both ends
 */
void ulp_disconnect(struct ulp_end *ends)
{
	int i;

	for (i = 0; i < 2; i++) {
		if (IS_ERR_OR_NULL(ends[i].qp))
			continue;
		ib_drain_qp(ends[i].qp);
		ib_destroy_qp(ends[i].qp);
		ends[i].qp = NULL;
	}
}

static void close_end(struct ulp_end *end)
{
	if (!IS_ERR_OR_NULL(end->mr))
		ib_dereg_mr(end->mr);
	kfree(end->buffer);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	if (!IS_ERR_OR_NULL(end->srq))
		ib_destroy_srq(end->srq);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
}

/**
 * ulp_close() - undo ulp_connect() and ulp_make_memory(), even if they failed
 * @ends: both ends, with zeros for objects that were not created
 */
void ulp_close(struct ulp_end *ends)
{
	ulp_disconnect(ends);
	close_end(&ends[0]);
	close_end(&ends[1]);
}
