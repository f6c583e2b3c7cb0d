/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues of ib_core: a part of rdma/ib_verbs.h. */
#ifndef STAND_IN_SRQ_H
#define STAND_IN_SRQ_H

#include "stand_in/kernel.h"

struct ib_cq;
struct ib_device;
struct ib_event;
struct ib_pd;
struct ib_xrcd;

struct rdma_restrack_entry {
	u32	id;
};

enum ib_srq_attr_mask { IB_SRQ_MAX_WR = 1 << 0, IB_SRQ_LIMIT = 1 << 1 };
enum ib_srq_type { IB_SRQT_BASIC, IB_SRQT_XRC, IB_SRQT_TM };

struct ib_srq {
	struct ib_device *device;
	struct ib_pd *pd;
	struct rdma_restrack_entry res;
	enum ib_srq_type srq_type;
	void	(*event_handler)(struct ib_event *event, void *context);
	void	*srq_context;
	struct {
		struct ib_cq *cq;
		struct {
			struct ib_xrcd *xrcd;
			u32	srq_num;
		} xrc;
	} ext;
};

struct ib_srq_attr {
	u32	max_wr, max_sge, srq_limit;
};

struct ib_srq_init_attr {
	struct ib_srq_attr attr;
	enum ib_srq_type srq_type;
};

#endif
