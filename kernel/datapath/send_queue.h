/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The send ring of a QP: fetch, check, retire, grow. See send_queue.c. */
#ifndef SROCE_DATAPATH_SEND_QUEUE_H
#define SROCE_DATAPATH_SEND_QUEUE_H

#include "transport/wqe.h"

struct sroce_qp;

/* Slots that the requests of a process have in kernel memory at first. */
#define SROCE_FIRST_SLOTS	8u

/* Flags of a WQE that a consumer may set. */
#define SROCE_SEND_FLAGS	(SROCE_SEND_FENCE | SROCE_SEND_SIGNALED | SROCE_SEND_SOLICITED | \
				 SROCE_SEND_INLINE)

enum sroce_wc_status sroce_send_queue_check(const struct sroce_qp *qp,
					    const struct sroce_send_wqe *wqe);
bool sroce_send_queue_has_posted(const struct sroce_qp *qp);
void sroce_send_queue_fetch(struct sroce_qp *qp);
void sroce_send_queue_discard(struct sroce_qp *qp);
void sroce_send_queue_retire(struct sroce_qp *qp, u32 from);
void sroce_send_queue_grow(struct sroce_qp *qp);

#endif
