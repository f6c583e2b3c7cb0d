/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests beyond the expected PSN, see reorder_queue.c. */
#ifndef SROCE_DATAPATH_REORDER_QUEUE_H
#define SROCE_DATAPATH_REORDER_QUEUE_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "transport/psn_map.h"

struct sroce_qp;
struct sroce_rx;

#define SROCE_REORDER_CHUNK_SLOTS	64
#define SROCE_REORDER_CHUNKS		(SROCE_PSN_MAP_SPAN / SROCE_REORDER_CHUNK_SLOTS)

/**
 * struct sroce_reorder_queue - skbs of requests beyond the expected PSN; under the receive lock
 * @bytes: their memory, 0 if there are none
 * @share_bytes: bytes charged to the device, at least @bytes and @spare_bytes
 * @spares: skbs whose packets have been handled, to be used again
 * @spare_bytes: memory of @spares, and of a packet that is being handled
 * @spares_until_ns: when to free @spares, if no packet is queued until then
 * @chunks: arrays of 64 slots, one slot for each PSN, or NULL
 */
struct sroce_reorder_queue {
	u32	bytes;
	u32	share_bytes;
	struct sk_buff_head spares;
	u32	spare_bytes;
	u64	spares_until_ns;
	struct sk_buff **chunks[SROCE_REORDER_CHUNKS];
};

bool sroce_reorder_queue_add(struct sroce_qp *qp, const struct sroce_rx *rx);
bool sroce_reorder_queue_pop(struct sroce_qp *qp, u32 psn, u64 now_ns, struct sroce_rx *rx);
void sroce_reorder_queue_coalesce(const struct sroce_reorder_queue *queue, struct sroce_rx *rx,
				  u32 behind);
const u8 *sroce_reorder_queue_bth(const struct sroce_reorder_queue *queue, u32 psn);
void sroce_reorder_queue_advance(struct sroce_qp *qp, u32 from_psn);
void sroce_reorder_queue_flush(struct sroce_qp *qp);
void sroce_reorder_queue_done(struct sroce_qp *qp, const struct sroce_rx *rx);
void sroce_reorder_queue_trim(struct sroce_qp *qp, u64 now_ns);
u64 sroce_reorder_queue_deadline(const struct sroce_qp *qp);
void sroce_reorder_queue_purge(struct sroce_qp *qp);

#endif
