/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Doorbell suppression, see doorbell.c. */
#ifndef SROCE_DATAPATH_DOORBELL_H
#define SROCE_DATAPATH_DOORBELL_H

#include <linux/types.h>

struct sroce_qp;

u64 sroce_doorbell_update(struct sroce_qp *qp, u64 deadline_ns);

#endif
