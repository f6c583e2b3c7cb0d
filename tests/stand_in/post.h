/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests of a consumer in the kernel, and the scheduler. */
#ifndef STAND_IN_POST_H
#define STAND_IN_POST_H

#include "stand_in/two_cpus.h"
#include "stand_in/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE = IB_UVERBS_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM = IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_WR_SEND = IB_UVERBS_WR_SEND,
	IB_WR_SEND_WITH_IMM = IB_UVERBS_WR_SEND_WITH_IMM,
	IB_WR_RDMA_READ = IB_UVERBS_WR_RDMA_READ,
	IB_WR_ATOMIC_CMP_AND_SWP = IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
	IB_WR_ATOMIC_FETCH_AND_ADD = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	IB_WR_LOCAL_INV = IB_UVERBS_WR_LOCAL_INV,
	IB_WR_SEND_WITH_INV = IB_UVERBS_WR_SEND_WITH_INV,
	IB_WR_REG_MR = 0x40,
};

struct ib_send_wr {
	struct ib_send_wr *next;
	u64	wr_id;
	struct ib_sge *sg_list;
	int	num_sge;
	enum ib_wr_opcode opcode;
	int	send_flags;
	union {
		__be32	imm_data;
		u32	invalidate_rkey;
	} ex;
};

struct ib_rdma_wr {
	struct ib_send_wr wr;
	u64	remote_addr;
	u32	rkey;
};

struct ib_atomic_wr {
	struct ib_send_wr wr;
	u64	remote_addr, compare_add, swap;
	u32	rkey;
};

struct ib_ud_wr {
	struct ib_send_wr wr;
	struct ib_ah *ah;
	u32	remote_qpn, remote_qkey;
};

struct ib_reg_wr {
	struct ib_send_wr wr;
	struct ib_mr *mr;
	u32	key;
	int	access;
};

#define rdma_wr(request)	container_of(request, const struct ib_rdma_wr, wr)
#define atomic_wr(request)	container_of(request, const struct ib_atomic_wr, wr)
#define ud_wr(request)		container_of(request, const struct ib_ud_wr, wr)
#define reg_wr(request)		container_of(request, const struct ib_reg_wr, wr)

/**
 * struct stand_in_sched - what a test tells the scheduler, and what it tells the test
 * @is_alone: no other task waits for this CPU
 * @yields: calls of yield()
 * @yielded: called by each of them: another task runs
 * @argument: of it
 */
struct stand_in_sched {
	bool	is_alone;
	u32	yields;
	void	(*yielded)(void *argument);
	void	*argument;
};

extern struct stand_in_sched stand_in_sched;

#define MAX_RT_PRIO			100
#define single_task_running()		(stand_in_sched.is_alone)
#define yield()				stand_in_yield()
void stand_in_yield(void);

#ifdef __cplusplus
}
#endif

#endif
