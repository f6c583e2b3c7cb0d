/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CONTROL_QP_COUNTER_H
#define SROCE_CONTROL_QP_COUNTER_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

struct sroce_device;

/* A counter of ib_core. An older ib_core allocates it without asking for its size. */
struct sroce_qp_counter {
	struct rdma_counter counter;
};

int sroce_qp_counter_bind(struct rdma_counter *counter, struct ib_qp *ibqp);
int sroce_qp_counter_unbind(struct ib_qp *ibqp);
int sroce_qp_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *sroce_qp_counter_alloc_stats(struct rdma_counter *counter);
int sroce_qp_counter_update_stats(struct rdma_counter *counter);
void sroce_qp_counters_fini(struct sroce_device *dev);

#endif
