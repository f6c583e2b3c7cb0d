// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that are no longer valid: the peer cannot use them, and a request that is queued finds its
 * region gone.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "ulp.h"

#define BYTES	5000
#define OWNERS	0x11	/* content of the owner's buffer */
#define PEERS	0x22	/* of the peer's */

/**
 * struct trial - one connection
 * @end: [0] owns the region
 * @op: requests, of either end
 */
struct trial {
	struct ulp_end *end;
	struct ulp_op op[4];
};

static int open_trial(struct trial *trial, struct ulp_end *ends)
{
	int i;

	memset(trial, 0, sizeof(*trial));
	trial->end = ends;
	for (i = 0; i < ARRAY_SIZE(trial->op); i++)
		ulp_op_init(&trial->op[i]);
	for (i = 0; i < 2; i++) {
		ends[i] = (struct ulp_end) {
			.device = ends[i].device,
			.poll = IB_POLL_WORKQUEUE,
		};
	}
	return ulp_connect(ends, trial) ?: ulp_make_memory(&ends[0], BYTES) ?:
	       ulp_make_memory(&ends[1], BYTES) ?: ulp_register_memory(&ends[0]);
}

static struct ib_sge buffer_sge(const struct ulp_end *end)
{
	return (struct ib_sge) {
		.addr = end->dma,
		.length = BYTES,
		.lkey = end->pd->local_dma_lkey,
	};
}

static int post_receive(struct ulp_end *end, struct ulp_op *op)
{
	struct ib_sge sge = buffer_sge(end);
	struct ib_recv_wr wr = {
		.wr_cqe = &op->cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	ulp_op_init(op);
	return ib_post_recv(end->qp, &wr, NULL);
}

/* Post a request without data, and wait for it. */
static int execute(struct ulp_end *end, struct ulp_op *op, enum ib_wr_opcode opcode, u32 key)
{
	struct ib_send_wr wr = {
		.wr_cqe = &op->cqe,
		.opcode = opcode,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = key,
	};
	int ret;

	ulp_op_init(op);
	ret = ib_post_send(end->qp, &wr, NULL);
	if (ret)
		return ret;
	return ulp_op_wait(op, end->qp) == IB_WC_SUCCESS ? 0 : -EIO;
}

static bool is_full_of(const u8 *buffer, u8 content)
{
	return !memchr_inv(buffer, content, BYTES);
}

/* --- the peer uses a key ---------------------------------------------------------------------- */

/* Returns the status of the peer's READ or WRITE. */
static int access_region(struct trial *trial, enum ib_wr_opcode opcode, u32 key)
{
	struct ulp_end *owner = &trial->end[0], *peer = &trial->end[1];
	struct ulp_op *op = &trial->op[0];
	struct ib_sge sge = buffer_sge(peer);
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &op->cqe,
			.opcode = opcode,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = owner->mr->iova,
		.rkey = key,
	};
	int ret;

	memset(owner->buffer, OWNERS, BYTES);
	memset(peer->buffer, PEERS, BYTES);
	ulp_op_init(op);
	ret = ib_post_send(peer->qp, &wr.wr, NULL);
	return ret ?: ulp_op_wait(op, peer->qp);
}

static bool nothing_moved(struct trial *trial)
{
	return is_full_of(trial->end[0].buffer, OWNERS) && is_full_of(trial->end[1].buffer, PEERS);
}

static bool data_moved(struct trial *trial, enum ib_wr_opcode opcode)
{
	u8 content = opcode == IB_WR_RDMA_READ ? OWNERS : PEERS;

	return is_full_of(trial->end[0].buffer, content) &&
	       is_full_of(trial->end[1].buffer, content);
}

static int invalidate_locally(struct trial *trial)
{
	return execute(&trial->end[0], &trial->op[1], IB_WR_LOCAL_INV, trial->end[0].mr->rkey);
}

static int invalidate_by_peer(struct trial *trial)
{
	u32 key = trial->end[0].mr->rkey;
	struct ulp_op *op = &trial->op[1];
	int ret;

	ret = post_receive(&trial->end[0], op) ?:
	      execute(&trial->end[1], &trial->op[2], IB_WR_SEND_WITH_INV, key);
	if (ret || ulp_op_wait(op, trial->end[0].qp) != IB_WC_SUCCESS)
		return ret ?: -EIO;
	return op->wc.wc_flags & IB_WC_WITH_INVALIDATE && op->wc.ex.invalidate_rkey == key ?
	       0 : -EBADMSG;
}

static int register_next_key(struct trial *trial)
{
	struct ib_mr *mr = trial->end[0].mr;
	int ret = invalidate_locally(trial);

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return ret ?: ulp_register_memory(&trial->end[0]);
}

static const struct {
	const char *name;
	int (*function)(struct trial *trial);
} ways[] = {
	{ "LOCAL_INV", invalidate_locally },
	{ "SEND_WITH_INV", invalidate_by_peer },
	{ "REG_MR of the next key", register_next_key },
};

static int try_stale_key(struct trial *trial, u32 way, enum ib_wr_opcode opcode)
{
	u32 key = trial->end[0].mr->rkey;
	int ret;

	ret = access_region(trial, opcode, key);
	if (ret || !data_moved(trial, opcode)) {
		pr_notice("ulp: opcode %u with a valid key: %d\n", opcode, ret);
		return -EIO;
	}
	ret = ways[way].function(trial);
	if (ret) {
		pr_notice("ulp: %s: %d\n", ways[way].name, ret);
		return ret;
	}
	ret = access_region(trial, opcode, key);
	if (ret == IB_WC_REM_ACCESS_ERR && nothing_moved(trial))
		return 0;
	pr_notice("ulp: opcode %u after %s: %d\n", opcode, ways[way].name, ret);
	return -EIO;
}

/**
 * ulp_stale_keys() - the peer uses keys that have been invalidated
 * @ends: zeros but for the devices; [0] is the owner of the region
 * @rounds: how often
 *
 * Return: 0 or an error code; what went wrong is logged
 */
int ulp_stale_keys(struct ulp_end *ends, u32 rounds)
{
	struct trial *trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	u32 i;
	int ret = trial ? 0 : -ENOMEM;

	for (i = 0; i < rounds * ARRAY_SIZE(ways) * 2 && !ret; i++) {
		ret = open_trial(trial, ends) ?:
		      try_stale_key(trial, i / 2 % ARRAY_SIZE(ways),
				    i & 1 ? IB_WR_RDMA_READ : IB_WR_RDMA_WRITE);
		ulp_close(ends);
	}
	kfree(trial);
	return ret;
}

/* --- the region of a queued request goes away ------------------------------------------------- */

/* A region is freed after a grace period; some kernels collect such frees for seconds. */
static void wait_for_frees(void)
{
#ifdef HAVE_KVFREE_RCU_BARRIER
	kvfree_rcu_barrier();
#endif
	rcu_barrier();
}

/*
 * A SEND that finds no receive, a READ behind it, and @last, which waits for the READ: it is
 * executed only after the peer has posted a receive.
 */
static int post_queued(struct trial *trial, struct ib_send_wr *last)
{
	struct ulp_end *owner = &trial->end[0], *peer = &trial->end[1];
	struct ib_sge sge = buffer_sge(owner);
	struct ib_rdma_wr read = {
		.wr = {
			.next = last,
			.wr_cqe = &trial->op[1].cqe,
			.opcode = IB_WR_RDMA_READ,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = peer->mr->iova,
		.rkey = peer->mr->rkey,
	};
	struct ib_send_wr send = {
		.next = &read.wr,
		.wr_cqe = &trial->op[0].cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	last->wr_cqe = &trial->op[2].cqe;
	last->send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE;
	return ib_post_send(owner->qp, &send, NULL);
}

static int post_local(struct trial *trial, enum ib_wr_opcode opcode)
{
	struct ib_mr *mr = trial->end[0].mr;
	struct ib_send_wr inv = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = mr->rkey,
	};
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.access = ULP_ACCESS,
	};

	if (opcode == IB_WR_LOCAL_INV)
		return post_queued(trial, &inv);
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	return post_queued(trial, &reg.wr);
}

static int deregister_queued(struct trial *trial, enum ib_wr_opcode opcode)
{
	struct ulp_end *owner = &trial->end[0], *peer = &trial->end[1];
	int ret, status[3], i;

	ret = ulp_register_memory(peer);
	if (!ret && opcode == IB_WR_REG_MR)
		ret = invalidate_locally(trial);
	for (i = 0; i < 3; i++)
		ulp_op_init(&trial->op[i]);
	ret = ret ?: post_local(trial, opcode);
	if (ret)
		return ret;
	/* Some RNR NAKs. */
	msleep(20);
	ib_dereg_mr(owner->mr);
	owner->mr = NULL;
	wait_for_frees();
	if (completion_done(&trial->op[0].done) || completion_done(&trial->op[2].done))
		return -EALREADY;

	ret = post_receive(peer, &trial->op[3]);
	if (ret)
		return ret;
	for (i = 0; i < 3; i++)
		status[i] = ulp_op_wait(&trial->op[i], owner->qp);
	if (!status[0] && !status[1] && status[2] == IB_WC_MW_BIND_ERR)
		return 0;
	pr_notice("ulp: SEND %d, READ %d, opcode %u %d\n", status[0], status[1], opcode, status[2]);
	return -EIO;
}

/**
 * ulp_deregister_queued() - deregister regions that queued requests are about
 * @ends: zeros but for the devices; [0] owns the regions
 * @rounds: how often
 *
 * Return: 0 or an error code; what went wrong is logged
 */
int ulp_deregister_queued(struct ulp_end *ends, u32 rounds)
{
	struct trial *trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	u32 i;
	int ret = trial ? 0 : -ENOMEM;

	for (i = 0; i < rounds * 2 && !ret; i++) {
		ret = open_trial(trial, ends) ?:
		      deregister_queued(trial, i & 1 ? IB_WR_LOCAL_INV : IB_WR_REG_MR);
		ulp_close(ends);
	}
	kfree(trial);
	return ret;
}
