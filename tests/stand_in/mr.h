/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions and windows of ib_core: a part of rdma/ib_verbs.h. */
#ifndef STAND_IN_MR_H
#define STAND_IN_MR_H

#include "stand_in/kernel.h"

struct ib_device;
struct ib_pd;

enum ib_mr_type { IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS };
enum ib_mw_type { IB_MW_TYPE_1 = 1, IB_MW_TYPE_2 };

struct ib_mr {
	struct ib_device *device;
	struct ib_pd *pd;
	u32	lkey, rkey;
	u64	iova, length;
	unsigned int page_size;
};

struct ib_mw {
	struct ib_device *device;
	struct ib_pd *pd;
	u32	rkey;
	enum ib_mw_type type;
};

#endif
