/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of datapath/tx.c. Each file that a test replaces has a file of its own here. */
#include "stand_in/datapath.h"

#include "datapath/tx.h"

void sroce_tx_init(struct sroce_tx *tx, struct sroce_qp *qp, struct sroce_wq *wq)
{
	*tx = (struct sroce_tx){ .qp = qp, .wq = wq, .dscp = SROCE_PATH_DSCP };
	tx->now_ns = ktime_get_ns();
	sroce_mr_ref_init(&tx->mr_ref, &qp->dev->memory, qp->ibqp.pd,
			  wq->type == SROCE_RQ ? qp->serial : 0);
	tx->mr_ref.wait = &wq->paging.wait;
}

void sroce_tx_finish(struct sroce_tx *tx)
{
	sroce_crc_vector_end(tx->section);
	sroce_mr_ref_put(&tx->mr_ref);
}

u32 sroce_tx_allowance(const struct sroce_tx *tx, const struct sroce_cc *cc, u64 *edt_ns)
{
	*edt_ns = stand_in_datapath.paced_ns;
	if (stand_in_datapath.paced_ns > tx->now_ns && !stand_in_datapath.edt_only)
		return 0;
	return stand_in_datapath.schedule ?: 1;
}

void sroce_tx_set_edt(struct sroce_tx *tx, struct sroce_cc *cc, u64 edt_ns)
{
	stand_in_datapath.edt_ns = edt_ns;
}

bool sroce_tx_throttle(struct sroce_tx *tx, u32 next)
{
	stand_in_datapath.largest_plan = max(stand_in_datapath.largest_plan, next);
	return stand_in_datapath.throttled;
}

void sroce_tx_relock(struct sroce_tx *tx)
{
	void (*unlocked)(void *argument) = stand_in.unlocked;

	stand_in_datapath.relocks++;
	stand_in.unlocked = NULL;
	if (unlocked)
		unlocked(stand_in.argument);
}

int sroce_tx_begin(struct sroce_tx *tx, const struct sroce_path *path,
		   const struct sroce_packet *pkt, u32 expected, struct sroce_crc_writer **writer)
{
	if (stand_in_datapath.tx_error)
		return stand_in_datapath.tx_error;
	if (stand_in_datapath.packets < ARRAY_SIZE(stand_in_datapath.expected))
		stand_in_datapath.expected[stand_in_datapath.packets] = expected;
	stand_in_datapath.packets++;
	stand_in_datapath.packet = *pkt;
	stand_in_datapath.path = *path;
	stand_in_datapath.dscp = tx->dscp;
	tx->builder.writer = (struct sroce_crc_writer){ .to = stand_in_datapath.payload };
	*writer = &tx->builder.writer;
	return 0;
}

void sroce_tx_end(struct sroce_tx *tx)
{
	__skb_queue_tail(&tx->wq->out, alloc_skb(0, 0));
	tx->builder.packets++;
}

void sroce_tx_charge(struct sroce_qp *qp, struct sroce_wq *wq)
{
	WARN_ON(!wq->lock.locked);
}
