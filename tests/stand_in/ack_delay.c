/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of datapath/ack_delay.c. */
#include "datapath/ack_delay.h"
#include "stand_in/datapath.h"

void sroce_ack_delay_suspend(struct sroce_qp *qp)
{
}

void sroce_ack_delay_cancel(struct sroce_qp *qp)
{
}

bool sroce_ack_delay_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan)
{
	return false;
}

void sroce_ack_piggyback_reserve(struct sroce_tx *tx)
{
}

void sroce_ack_piggyback(struct sroce_tx *tx)
{
	stand_in_datapath.piggybacked++;
}

void sroce_ack_delay_end(struct sroce_cq *cq)
{
	stand_in_datapath.turns++;
}
