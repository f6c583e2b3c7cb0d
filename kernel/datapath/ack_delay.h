/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Delayed and piggybacked ACKs, see ack_delay.c. */
#ifndef SROCE_DATAPATH_ACK_DELAY_H
#define SROCE_DATAPATH_ACK_DELAY_H

#include <linux/types.h>

struct sroce_cq;
struct sroce_qp;
struct sroce_response_plan;
struct sroce_tx;

void sroce_ack_delay_cancel(struct sroce_qp *qp);
void sroce_ack_delay_suspend(struct sroce_qp *qp);
bool sroce_ack_delay_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan);
void sroce_ack_delay_end(struct sroce_cq *cq);
void sroce_ack_piggyback_reserve(struct sroce_tx *tx);
void sroce_ack_piggyback(struct sroce_tx *tx);

#endif
