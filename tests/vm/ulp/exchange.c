// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast registration as NVMe over Fabrics and NFS over RDMA use it. Commands are under way in
 * parallel, each with a region of its own:
 *
 *   initiator                                     target
 *   map pages, REG_MR with the next key,
 *   SEND the command with that key         ---->
 *                                          <----  READ or WRITE the pages, SEND a reply, mostly
 *                                                 with invalidate
 *   else LOCAL_INV; check every byte
 *
 * The target posts a receive again when its reply is complete, so at times it has none.
 */
#include <linux/slab.h>

#include "ulp.h"

#define COMMANDS	8	/* of the initiator */
#define TASKS		16	/* of the target: commands, and replies that are not acknowledged */
#define PAGES		8
#define REGION_BYTES	(PAGES * PAGE_SIZE)
#define UNTOUCHED	0x5a

struct message {
	u32 command;
	u32 round;
	u32 rkey;
	u32 length;
	u64 addr;
};

struct exchange;

/**
 * struct command - one command of the initiator; only the initiator's completions use it
 * @exchange: its owner
 * @round: number of the command, from 1; it decides all that differs between commands
 * @parts: completions to come
 * @mr: the region
 * @pages: its memory, not contiguous
 * @sg: the part of it that is registered
 * @offset: of the first byte, in the first page
 * @length: bytes
 * @message: sent to the target
 * @message_dma: its address
 * @registered: completion of REG_MR, only if it fails
 * @sent: completion of the SEND
 * @invalidated: completion of LOCAL_INV
 */
struct command {
	struct exchange *exchange;
	u32 round;
	u32 parts;
	struct ib_mr *mr;
	struct page *pages[PAGES];
	struct scatterlist sg[PAGES];
	u32 offset;
	u32 length;
	struct message message;
	u64 message_dma;
	struct ib_cqe registered;
	struct ib_cqe sent;
	struct ib_cqe invalidated;
};

/**
 * struct reply - one receive of the initiator
 * @exchange: its owner
 * @message: the reply
 * @message_dma: its address
 * @received: completion of the receive
 */
struct reply {
	struct exchange *exchange;
	struct message message;
	u64 message_dma;
	struct ib_cqe received;
};

/**
 * struct task - one command at the target; only the target's completions use it
 * @exchange: its owner
 * @message: the command, then the reply
 * @message_dma: its address
 * @data: read or to write
 * @data_dma: its address
 * @received: completion of the receive
 * @moved: completion of the READ; of the WRITE only if it fails
 * @replied: completion of the reply
 */
struct task {
	struct exchange *exchange;
	struct message message;
	u64 message_dma;
	u8 *data;
	u64 data_dma;
	struct ib_cqe received;
	struct ib_cqe moved;
	struct ib_cqe replied;
};

/**
 * struct exchange - the test
 * @end: [0] is the initiator
 * @rounds: commands to do
 * @started: commands started
 * @active: entries of @command in use
 * @error: why it stopped, or 0
 * @over: completed when it has stopped
 * @command: of the initiator
 * @reply: receives of the initiator
 * @task: of the target
 */
struct exchange {
	struct ulp_end *end;
	u32 rounds;
	atomic_t started;
	atomic_t active;
	int error;
	struct completion over;
	struct command command[COMMANDS];
	struct reply reply[2 * COMMANDS];
	struct task task[TASKS];
};

static bool target_reads(u32 round)
{
	return round & 1;
}

static bool target_invalidates(u32 round)
{
	return round % 3;
}

static u8 data_byte(u32 round, u32 i)
{
	return round * 31 + i * 7 + (i >> 8);
}

static void fail(struct exchange *x, u32 round, const char *what, int number)
{
	if (!cmpxchg(&x->error, 0, -EIO))
		pr_notice("ulp: round %u: %s: %d\n", round, what, number);
	complete(&x->over);
}

/* Requests are flushed at the end. */
static bool has_failed(struct exchange *x, const struct ib_wc *wc, u32 round, const char *what)
{
	if (wc->status == IB_WC_SUCCESS)
		return false;
	if (wc->status != IB_WC_WR_FLUSH_ERR)
		fail(x, round, what, wc->status);
	return true;
}

static int post_receive(struct ulp_end *end, u64 message_dma, struct ib_cqe *cqe)
{
	struct ib_sge sge = {
		.addr = message_dma,
		.length = sizeof(struct message),
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return end->srq ? ib_post_srq_recv(end->srq, &wr, NULL) :
			  ib_post_recv(end->qp, &wr, NULL);
}

/* --- the initiator ---------------------------------------------------------------------------- */

static u8 *region_byte(struct command *command, u32 i)
{
	return (u8 *)page_address(command->pages[i / PAGE_SIZE]) + i % PAGE_SIZE;
}

static void fill_pages(struct command *command)
{
	u32 i;

	for (i = 0; i < PAGES; i++)
		memset(page_address(command->pages[i]), UNTOUCHED, PAGE_SIZE);
	if (!target_reads(command->round))
		return;
	for (i = 0; i < command->length; i++)
		*region_byte(command, command->offset + i) = data_byte(command->round, i);
}

/* The target has written the registered bytes, and no byte beside them. */
static bool pages_are_right(struct command *command)
{
	u32 i, end = command->offset + command->length;
	u8 wanted;

	for (i = 0; i < REGION_BYTES; i++) {
		wanted = UNTOUCHED;
		if (i >= command->offset && i < end)
			wanted = data_byte(command->round, i - command->offset);
		if (*region_byte(command, i) != wanted)
			return false;
	}
	return true;
}

static int map_pages(struct command *command)
{
	struct ib_device *device = command->mr->device;
	u32 left = command->length, offset = command->offset, bytes, n;

	sg_init_table(command->sg, PAGES);
	for (n = 0; left; n++, left -= bytes, offset = 0) {
		bytes = min_t(u32, left, PAGE_SIZE - offset);
		sg_set_page(&command->sg[n], command->pages[n], bytes, offset);
	}
	sg_mark_end(&command->sg[n - 1]);
	if (ib_dma_map_sg(device, command->sg, n, DMA_BIDIRECTIONAL) != n)
		return -EIO;
	return ib_map_mr_sg(command->mr, command->sg, n, NULL, PAGE_SIZE) == n ? 0 : -EINVAL;
}

static int post_command(struct command *command)
{
	struct ulp_end *end = &command->exchange->end[0];
	struct ib_sge sge = {
		.addr = command->message_dma,
		.length = sizeof(command->message),
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_send_wr send = {
		.wr_cqe = &command->sent,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_reg_wr reg = {
		.wr = {
			.next = &send,
			.wr_cqe = &command->registered,
			.opcode = IB_WR_REG_MR,
		},
		.mr = command->mr,
		.key = command->mr->rkey,
		.access = target_reads(command->round) ? IB_ACCESS_REMOTE_READ :
				IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	command->message = (struct message) {
		.command = command - command->exchange->command,
		.round = command->round,
		.rkey = command->mr->rkey,
		.length = command->length,
		.addr = command->mr->iova,
	};
	command->parts = 2;
	return ib_post_send(end->qp, &reg.wr, NULL);
}

static void start_command(struct command *command)
{
	struct exchange *x = command->exchange;
	int ret;

	command->round = atomic_inc_return(&x->started);
	if (READ_ONCE(x->error) || command->round > x->rounds) {
		if (atomic_dec_and_test(&x->active))
			complete(&x->over);
		return;
	}
	command->offset = command->round * 36 % PAGE_SIZE;
	command->length = 1 + command->round * 7919 % (REGION_BYTES - command->offset);
	fill_pages(command);
	ib_update_fast_reg_key(command->mr, ib_inc_rkey(command->mr->rkey));
	ret = map_pages(command) ?: post_command(command);
	if (ret)
		fail(x, command->round, "cannot start", ret);
}

/* The SEND is complete, and so are the reply and the invalidation. */
static void end_part(struct command *command)
{
	if (--command->parts)
		return;
	if (!target_reads(command->round) && !pages_are_right(command)) {
		fail(command->exchange, command->round, "the target wrote wrong bytes", 0);
		return;
	}
	start_command(command);
}

static void registered(struct ib_cq *cq, struct ib_wc *wc)
{
	struct command *command = container_of(wc->wr_cqe, struct command, registered);

	has_failed(command->exchange, wc, command->round, "REG_MR");
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct command *command = container_of(wc->wr_cqe, struct command, sent);

	if (!has_failed(command->exchange, wc, command->round, "SEND of the command"))
		end_part(command);
}

static void invalidated(struct ib_cq *cq, struct ib_wc *wc)
{
	struct command *command = container_of(wc->wr_cqe, struct command, invalidated);

	if (!has_failed(command->exchange, wc, command->round, "LOCAL_INV"))
		end_part(command);
}

static int invalidate(struct command *command)
{
	struct ib_send_wr wr = {
		.wr_cqe = &command->invalidated,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = command->mr->rkey,
	};

	return ib_post_send(command->exchange->end[0].qp, &wr, NULL);
}

static void reply_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct reply *reply = container_of(wc->wr_cqe, struct reply, received);
	struct exchange *x = reply->exchange;
	struct command *command = &x->command[reply->message.command % COMMANDS];
	bool expected = target_invalidates(command->round);
	u32 round = reply->message.round;
	int ret;

	if (has_failed(x, wc, x->rounds, "receive of a reply"))
		return;
	ret = post_receive(&x->end[0], reply->message_dma, &reply->received);
	if (ret || round != command->round)
		fail(x, command->round, "reply to another round", round);
	else if (!!(wc->wc_flags & IB_WC_WITH_INVALIDATE) != expected)
		fail(x, round, "flags of the reply", wc->wc_flags);
	else if (expected && wc->ex.invalidate_rkey != command->mr->rkey)
		fail(x, round, "another key was invalidated", wc->ex.invalidate_rkey);
	else if (expected)
		end_part(command);
	else if (invalidate(command))
		fail(x, round, "cannot post LOCAL_INV", 0);
}

/* --- the target ------------------------------------------------------------------------------- */

static void write_reply(struct task *task, struct ib_send_wr *wr, struct ib_sge *sge)
{
	sge->addr = task->message_dma;
	sge->length = sizeof(task->message);
	sge->lkey = task->exchange->end[1].pd->local_dma_lkey;
	wr->wr_cqe = &task->replied;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->send_flags = IB_SEND_SIGNALED;
	wr->opcode = IB_WR_SEND;
	if (target_invalidates(task->message.round)) {
		wr->opcode = IB_WR_SEND_WITH_INV;
		wr->ex.invalidate_rkey = task->message.rkey;
	}
}

/* Post the READ, or the WRITE and the reply behind it. */
static int move_data(struct task *task)
{
	struct ulp_end *end = &task->exchange->end[1];
	struct ib_sge data = {
		.addr = task->data_dma,
		.length = task->message.length,
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &task->moved,
			.opcode = IB_WR_RDMA_READ,
			.send_flags = IB_SEND_SIGNALED,
			.sg_list = &data,
			.num_sge = 1,
		},
		.remote_addr = task->message.addr,
		.rkey = task->message.rkey,
	};
	struct ib_send_wr reply = {};
	struct ib_sge message;

	if (!target_reads(task->message.round)) {
		wr.wr.opcode = IB_WR_RDMA_WRITE;
		wr.wr.send_flags = 0;
		wr.wr.next = &reply;
		write_reply(task, &reply, &message);
	}
	return ib_post_send(end->qp, &wr.wr, NULL);
}

static void command_received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct task *task = container_of(wc->wr_cqe, struct task, received);
	u32 i, length, round = task->message.round;
	struct exchange *x = task->exchange;

	if (has_failed(x, wc, x->rounds, "receive of a command"))
		return;
	length = min_t(u32, task->message.length, REGION_BYTES);
	for (i = 0; i < length; i++)
		task->data[i] = target_reads(round) ? UNTOUCHED : data_byte(round, i);
	if (move_data(task))
		fail(x, round, "cannot post READ or WRITE", 0);
}

static void moved(struct ib_cq *cq, struct ib_wc *wc)
{
	struct task *task = container_of(wc->wr_cqe, struct task, moved);
	u32 i, round = task->message.round;
	struct ib_send_wr reply = {};
	struct ib_sge message;

	if (has_failed(task->exchange, wc, round, "READ or WRITE"))
		return;
	for (i = 0; i < task->message.length; i++) {
		if (task->data[i] != data_byte(round, i)) {
			fail(task->exchange, round, "the target read a wrong byte", i);
			return;
		}
	}
	write_reply(task, &reply, &message);
	if (ib_post_send(task->exchange->end[1].qp, &reply, NULL))
		fail(task->exchange, round, "cannot post the reply", 0);
}

static void replied(struct ib_cq *cq, struct ib_wc *wc)
{
	struct task *task = container_of(wc->wr_cqe, struct task, replied);
	struct exchange *x = task->exchange;

	if (has_failed(x, wc, task->message.round, "SEND of the reply"))
		return;
	if (post_receive(&x->end[1], task->message_dma, &task->received))
		fail(x, task->message.round, "cannot post a receive", 0);
}

/* --- the test --------------------------------------------------------------------------------- */

static int make_command(struct exchange *x, struct command *command)
{
	struct ulp_end *end = &x->end[0];
	u32 i;

	command->exchange = x;
	command->registered.done = registered;
	command->sent.done = sent;
	command->invalidated.done = invalidated;
	command->message_dma = ib_dma_map_single(end->device, &command->message,
						 sizeof(command->message), DMA_TO_DEVICE);
	for (i = 0; i < PAGES; i++) {
		command->pages[i] = alloc_page(GFP_KERNEL);
		if (!command->pages[i])
			return -ENOMEM;
	}
	command->mr = ib_alloc_mr(end->pd, IB_MR_TYPE_MEM_REG, PAGES);
	return PTR_ERR_OR_ZERO(command->mr);
}

static void free_command(struct command *command)
{
	u32 i;

	if (!IS_ERR_OR_NULL(command->mr))
		ib_dereg_mr(command->mr);
	for (i = 0; i < PAGES; i++) {
		if (command->pages[i])
			__free_page(command->pages[i]);
	}
}

static int make_reply(struct exchange *x, struct reply *reply)
{
	struct ulp_end *end = &x->end[0];

	reply->exchange = x;
	reply->received.done = reply_received;
	reply->message_dma = ib_dma_map_single(end->device, &reply->message,
					       sizeof(reply->message), DMA_FROM_DEVICE);
	return post_receive(end, reply->message_dma, &reply->received);
}

static int make_task(struct exchange *x, struct task *task)
{
	struct ulp_end *end = &x->end[1];

	task->exchange = x;
	task->received.done = command_received;
	task->moved.done = moved;
	task->replied.done = replied;
	task->data = kmalloc(REGION_BYTES, GFP_KERNEL);
	if (!task->data)
		return -ENOMEM;
	task->data_dma = ib_dma_map_single(end->device, task->data, REGION_BYTES,
					   DMA_BIDIRECTIONAL);
	task->message_dma = ib_dma_map_single(end->device, &task->message, sizeof(task->message),
					      DMA_BIDIRECTIONAL);
	return post_receive(end, task->message_dma, &task->received);
}

static int make_all(struct exchange *x)
{
	int ret = 0, i;

	for (i = 0; i < ARRAY_SIZE(x->command) && !ret; i++)
		ret = make_command(x, &x->command[i]);
	for (i = 0; i < ARRAY_SIZE(x->reply) && !ret; i++)
		ret = make_reply(x, &x->reply[i]);
	for (i = 0; i < ARRAY_SIZE(x->task) && !ret; i++)
		ret = make_task(x, &x->task[i]);
	return ret;
}

static int run_commands(struct exchange *x)
{
	u32 i;

	for (i = 0; i < COMMANDS; i++)
		start_command(&x->command[i]);
	if (!wait_for_completion_timeout(&x->over, ULP_TEST_SECONDS * HZ))
		fail(x, atomic_read(&x->started), "hangs", 0);
	return x->error;
}

/* All receives are posted. The first command is to cause the event. */
static int change_srq(struct ulp_end *end)
{
	struct ib_srq_attr attr = { .max_wr = 20 * TASKS, .srq_limit = TASKS };

	return end->srq ? ib_modify_srq(end->srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT) : 0;
}

/* ib_drain_qp() waits up to a minute for IB_EVENT_QP_LAST_WQE_REACHED. */
static int check_srq(const struct ulp_end *end, unsigned long disconnecting)
{
	if (!end->srq)
		return 0;
	if (time_after(jiffies, disconnecting + ULP_SECONDS * HZ)) {
		pr_err("ulp: the queue pair does not report its last receive\n");
		return -ETIMEDOUT;
	}
	if (end->limit_events == 1)
		return 0;
	pr_err("ulp: %u limit events\n", end->limit_events);
	return -EPROTO;
}

/**
 * ulp_exchange() - do many commands
 * @ends: zeros but for the devices; [0] is the initiator
 * @rounds: how many
 *
 * Return: 0 or an error code; what went wrong is logged
 */
int ulp_exchange(struct ulp_end *ends, u32 rounds)
{
	struct exchange *x = kzalloc(sizeof(*x), GFP_KERNEL);
	unsigned long disconnecting;
	u32 i;
	int ret;

	if (!x)
		return -ENOMEM;
	x->end = ends;
	x->rounds = rounds;
	atomic_set(&x->active, COMMANDS);
	init_completion(&x->over);
	ends[0].poll = IB_POLL_WORKQUEUE;
	ends[1].poll = IB_POLL_WORKQUEUE;
	ret = ulp_connect(ends, x) ?: make_all(x) ?: change_srq(&ends[1]) ?: run_commands(x);
	disconnecting = jiffies;
	ulp_disconnect(ends);
	ret = ret ?: check_srq(&ends[1], disconnecting);
	for (i = 0; i < ARRAY_SIZE(x->command); i++)
		free_command(&x->command[i]);
	for (i = 0; i < ARRAY_SIZE(x->task); i++)
		kfree(x->task[i].data);
	ulp_close(ends);
	kfree(x);
	return ret;
}

/**
 * ulp_exchange_shared() - do many commands, which arrive in a shared receive queue
 * @ends: zeros but for the devices; [0] is the initiator
 * @rounds: how many
 *
 * Return: 0 or an error code; what went wrong is logged
 */
int ulp_exchange_shared(struct ulp_end *ends, u32 rounds)
{
	ends[1].srq_wr = TASKS;
	return ulp_exchange(ends, rounds);
}
