/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel consumer of two RDMA devices, to measure what verbs cost without the
 * system calls of user space. Completions are taken in softirq, as nvme-rdma and
 * its kin do; nothing spins, so a provider with a work queue of its own is not put
 * at a disadvantage.
 */
#ifndef ULP_BENCH_H
#define ULP_BENCH_H

#include <rdma/ib_verbs.h>

#define ULP_DEPTH	128	/* messages in flight, at most */
#define ULP_RECV_DEPTH	(2 * ULP_DEPTH)
#define ULP_CHAIN_MAX	32	/* messages per call of ib_post_send() */
#define ULP_BYTES_MAX	(1 << 20)
#define ULP_SECONDS	20	/* that a run may take */
#define ULP_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

/**
 * struct ulp_end - one device's half
 * @device: stays for the time of the run
 * @pd: protection domain
 * @cq: of both queues
 * @qp: RC
 * @mr: @buffer, for the peer to write and read
 * @buffer: @bytes long, sent from and received to
 * @dma: its address for the device
 * @gid: the device's RoCE v2 address of IPv4 form
 * @gid_index: its index
 * @mac: of the interface behind it
 * @receive: completion of receives
 * @sent: completion of what ends a chain
 * @on_receive: what a message is answered with, if anything
 */
struct ulp_end {
	struct ib_device *device;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
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
 * @end: the two halves; [0] begins
 * @opcode: IB_WR_SEND, IB_WR_RDMA_WRITE or IB_WR_RDMA_READ
 * @bytes: of a message
 * @chain: messages per call of ib_post_send()
 * @total: messages in all
 * @lock: of @posted and @completed
 * @posted: messages posted
 * @completed: messages completed
 * @error: why it stopped, 0 if it did not
 * @over: it has stopped
 * @sge: the buffer
 * @wr: the chain that is posted again and again
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

int ulp_pair_open(struct ulp_run *run);
void ulp_pair_close(struct ulp_run *run);

int ulp_post_receive(struct ulp_end *end, u32 bytes);
void ulp_stop(struct ulp_run *run, int error);
void ulp_received(struct ib_cq *cq, struct ib_wc *wc);
void ulp_sent(struct ib_cq *cq, struct ib_wc *wc);
int ulp_ping_pong(struct ulp_run *run, u64 *ns);
int ulp_stream(struct ulp_run *run, u64 *ns);

#endif
