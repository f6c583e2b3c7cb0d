/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The send ring of a QP: fetch, check, retire, grow. See send_queue.c. */
#ifndef SROCE_DATAPATH_SEND_QUEUE_H
#define SROCE_DATAPATH_SEND_QUEUE_H

#include <linux/types.h>

struct sroce_qp;

/* Slots that the requests of a process have in kernel memory at first. */
#define SROCE_FIRST_SLOTS	8u

void sroce_send_queue_fetch(struct sroce_qp *qp);
void sroce_send_queue_discard(struct sroce_qp *qp);
void sroce_send_queue_retire(struct sroce_qp *qp, u32 from);
void sroce_send_queue_grow(struct sroce_qp *qp);

#endif
