/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Delayed and piggybacked ACKs, see ack_delay.c. */
#ifndef SROCE_DATAPATH_ACK_DELAY_H
#define SROCE_DATAPATH_ACK_DELAY_H

#include <linux/types.h>

struct sroce_cq;
struct sroce_qp;
struct sroce_response_plan;
struct sroce_tx;

/**
 * struct sroce_delayed_ack - the ACK that a QP may delay
 * @pending: an ACK is due and has not been sent; set with @rq.lock held
 * @consumer_replies: the consumer has sent something since an ACK was last delayed; a hint, read
 *                    without a lock
 * @pause: number of ACKs that are not delayed, although they could be
 */
struct sroce_delayed_ack {
	bool	pending;
	bool	consumer_replies;
	u8	pause;
};

void sroce_ack_delay_cancel(struct sroce_qp *qp);
void sroce_ack_delay_suspend(struct sroce_qp *qp);
bool sroce_ack_delay_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan);
void sroce_ack_delay_flush(struct sroce_cq *cq);
void sroce_ack_piggyback_reserve(struct sroce_tx *tx);
void sroce_ack_piggyback(struct sroce_tx *tx);

#endif
