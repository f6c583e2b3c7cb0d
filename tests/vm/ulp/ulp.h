/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel consumer of two RDMA devices. It measures verbs without the system calls of user space,
 * and tests fast registration, which processes do not have. It never spins, which would be unfair
 * to a provider that needs the CPU for its workqueue.
 *
 * The devices are software: a DMA address is a kernel address, and a mapping needs no end.
 */
#ifndef ULP_H
#define ULP_H

#include <rdma/ib_verbs.h>

#define ULP_DEPTH	128	/* maximum messages in flight */
#define ULP_RECV_DEPTH	(2 * ULP_DEPTH)
#define ULP_CHAIN_MAX	32	/* messages per call of ib_post_send() */
#define ULP_BYTES_MAX	(1 << 20)
#define ULP_SECONDS	20	/* limit of a run, or of one request of a test */
#define ULP_TEST_SECONDS 60	/* limit of a test */
#define ULP_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

/**
 * struct ulp_op - a request that the caller waits for
 * @cqe: of the request
 * @done: completed with it
 * @wc: its completion
 */
struct ulp_op {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/**
 * struct ulp_end - one end of the connection
 * @device: is not removed during the run
 * @poll: context of completions
 * @pd: protection domain
 * @cq: for both queues
 * @qp: RC
 * @srq_wr: size of the shared receive queue that @qp is to use, or 0
 * @srq: that queue, or NULL
 * @limit_events: of @srq
 * @mr: @buffer, for the peer to write and read
 * @buffer: data to send and receive
 * @dma: DMA address of @buffer
 * @gid: the device's RoCE v2 address of IPv4 form
 * @gid_index: its index
 * @mac: of its interface
 * @receive: completion of receives
 * @sent: completion of a chain's last request
 * @on_receive: called for each message, or NULL
 */
struct ulp_end {
	struct ib_device *device;
	enum ib_poll_context poll;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u32 srq_wr;
	struct ib_srq *srq;
	u32 limit_events;
	struct ib_mr *mr;
	void *buffer;
	u64 dma;
	union ib_gid gid;
	int gid_index;
	u8 mac[ETH_ALEN];
	struct ib_cqe receive;
	struct ib_cqe sent;
	void (*on_receive)(struct ulp_end *end);
};

/**
 * struct ulp_run - one measurement
 * @end: the two ends; [0] begins
 * @opcode: IB_WR_SEND, IB_WR_RDMA_WRITE or IB_WR_RDMA_READ
 * @bytes: length of a message
 * @chain: messages per call of ib_post_send()
 * @total: messages in all
 * @lock: protects @posted and @completed
 * @posted: messages posted
 * @completed: messages completed
 * @error: why it stopped, or 0
 * @over: completed when it has stopped
 * @sge: the buffer
 * @wr: the chain, which is posted repeatedly
 */
struct ulp_run {
	struct ulp_end end[2];
	enum ib_wr_opcode opcode;
	u32 bytes;
	u32 chain;
	u32 total;
	spinlock_t lock;	/* see above */
	u32 posted;
	u32 completed;
	int error;
	struct completion over;
	struct ib_sge sge;
	struct ib_rdma_wr wr[ULP_CHAIN_MAX];
};

void ulp_op_init(struct ulp_op *op);
enum ib_wc_status ulp_op_wait(struct ulp_op *op, struct ib_qp *qp);

int ulp_find_gid(struct ulp_end *end);
int ulp_connect(struct ulp_end *ends, void *context);
void ulp_disconnect(struct ulp_end *ends);
void ulp_close(struct ulp_end *ends);
int ulp_make_memory(struct ulp_end *end, u32 bytes);
int ulp_register_memory(struct ulp_end *end);
int ulp_pair_open(struct ulp_run *run);

int ulp_exchange(struct ulp_end *ends, u32 rounds);
int ulp_exchange_shared(struct ulp_end *ends, u32 rounds);
int ulp_stale_keys(struct ulp_end *ends, u32 rounds);
int ulp_deregister_queued(struct ulp_end *ends, u32 rounds);
int ulp_modify(struct ulp_end *ends, u32 rounds);

int ulp_post_receive(struct ulp_end *end, u32 bytes);
void ulp_stop(struct ulp_run *run, int error);
void ulp_received(struct ib_cq *cq, struct ib_wc *wc);
void ulp_sent(struct ib_cq *cq, struct ib_wc *wc);
int ulp_ping_pong(struct ulp_run *run, u64 *ns);
int ulp_stream(struct ulp_run *run, u64 *ns);

#endif
