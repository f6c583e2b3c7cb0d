// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages between the two ends, sent from completion callbacks.
 */
#include "ulp.h"

static struct ulp_run *run_of(struct ulp_end *end)
{
	return end->qp->qp_context;
}

static struct ib_sge message_sge(const struct ulp_end *end, u32 bytes)
{
	return (struct ib_sge) {
		.addr = end->dma,
		.length = bytes,
		.lkey = end->pd->local_dma_lkey,
	};
}

/**
 * ulp_post_receive() - post one receive
 * @end: owner of the receive queue
 * @bytes: length of the message
 *
 * Return: 0 or an error code
 */
int ulp_post_receive(struct ulp_end *end, u32 bytes)
{
	struct ib_sge sge = message_sge(end, bytes);
	struct ib_recv_wr wr = {
		.wr_cqe = &end->receive,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(end->qp, &wr, NULL);
}

/**
 * ulp_stop() - end a run
 * @run: the run
 * @error: 0 or an error code; the first error is kept
 */
void ulp_stop(struct ulp_run *run, int error)
{
	if (error && !run->error)
		run->error = error;
	complete(&run->over);
}

/**
 * ulp_received() - handle the completion of a receive
 * @cq: of the end that received the message
 * @wc: its completion
 */
void ulp_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ulp_end *end = cq->cq_context;
	struct ulp_run *run = run_of(end);

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			ulp_stop(run, -EIO);
		return;
	}
	if (ulp_post_receive(end, run->bytes))
		ulp_stop(run, -ENOBUFS);
	else if (end->on_receive)
		end->on_receive(end);
}

/* Builds the chain to be posted. Only its last request is signaled. */
static void make_chain(struct ulp_run *run)
{
	struct ulp_end *end = &run->end[0];
	struct ib_rdma_wr *wr;
	u32 i;

	run->sge = message_sge(end, run->bytes);
	for (i = 0; i < run->chain; i++) {
		wr = &run->wr[i];
		wr->wr.next = i + 1 < run->chain ? &run->wr[i + 1].wr : NULL;
		wr->wr.wr_cqe = &end->sent;
		wr->wr.sg_list = &run->sge;
		wr->wr.num_sge = 1;
		wr->wr.opcode = run->opcode;
		wr->wr.send_flags = i + 1 < run->chain ? 0 : IB_SEND_SIGNALED;
		wr->remote_addr = run->end[1].mr->iova;
		wr->rkey = run->end[1].mr->rkey;
	}
}

/* Posts as many chains as may be in flight. */
static void pump(struct ulp_run *run)
{
	int ret = 0;

	spin_lock_bh(&run->lock);
	while (!ret && run->posted < run->total &&
	       run->posted - run->completed + run->chain <= ULP_DEPTH) {
		run->posted += run->chain;
		ret = ib_post_send(run->end[0].qp, &run->wr[0].wr, NULL);
	}
	spin_unlock_bh(&run->lock);
	if (ret)
		ulp_stop(run, ret);
}

/**
 * ulp_sent() - handle the completion of a chain, or of one message of a ping-pong
 * @cq: of the end that sent it
 * @wc: its completion
 */
void ulp_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct ulp_end *end = cq->cq_context;
	struct ulp_run *run = run_of(end);

	if (wc->status != IB_WC_SUCCESS) {
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			ulp_stop(run, -EIO);
		return;
	}
	if (end->on_receive)
		return;
	spin_lock_bh(&run->lock);
	run->completed += run->chain;
	spin_unlock_bh(&run->lock);
	if (run->completed >= run->total)
		ulp_stop(run, 0);
	else
		pump(run);
}

static int send_one(struct ulp_end *end, u32 bytes)
{
	struct ib_sge sge = message_sge(end, bytes);
	struct ib_send_wr wr = {
		.wr_cqe = &end->sent,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(end->qp, &wr, NULL);
}

static void play_back(struct ulp_end *end)
{
	struct ulp_run *run = run_of(end);
	int ret;

	if (end == &run->end[0] && ++run->completed == run->total) {
		ulp_stop(run, 0);
		return;
	}
	ret = send_one(end, run->bytes);
	if (ret)
		ulp_stop(run, ret);
}

static int wait_for_it(struct ulp_run *run, u64 start, u64 *ns)
{
	if (!wait_for_completion_timeout(&run->over, ULP_SECONDS * HZ))
		return -ETIMEDOUT;
	*ns = ktime_get_ns() - start;
	return run->error;
}

/**
 * ulp_ping_pong() - exchange one message at a time
 * @run: with open ends
 * @ns: the time of all round trips
 *
 * Return: 0 or an error code
 */
int ulp_ping_pong(struct ulp_run *run, u64 *ns)
{
	u64 start = ktime_get_ns();
	int ret;

	run->end[0].on_receive = play_back;
	run->end[1].on_receive = play_back;
	ret = send_one(&run->end[0], run->bytes);
	return ret ?: wait_for_it(run, start, ns);
}

/**
 * ulp_stream() - send messages in one direction, as many at a time as permitted
 * @run: with open ends
 * @ns: the time of all messages
 *
 * Return: 0 or an error code
 */
int ulp_stream(struct ulp_run *run, u64 *ns)
{
	u64 start = ktime_get_ns();

	make_chain(run);
	pump(run);
	return wait_for_it(run, start, ns);
}
