/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions of ib_core, and the regions of memory/ behind them. */
#ifndef SROCE_DATAPATH_MR_H
#define SROCE_DATAPATH_MR_H

#include <rdma/ib_verbs.h>

#include "memory/region.h"

/**
 * struct sroce_mr - a memory region as ib_core knows it
 * @ibmr: first
 * @region: the region
 */
struct sroce_mr {
	struct ib_mr ibmr;
	struct sroce_region *region;
};

static inline struct sroce_mr *to_sroce_mr(struct ib_mr *ibmr)
{
	return container_of(ibmr, struct sroce_mr, ibmr);
}

#endif
