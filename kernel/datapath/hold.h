/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets that came before their turn, see hold.c. */
#ifndef SROCE_DATAPATH_HOLD_H
#define SROCE_DATAPATH_HOLD_H

#include <linux/types.h>

#include "transport/psn_map.h"

struct sk_buff;
struct sroce_qp;
struct sroce_rx;

#define SROCE_SHELF_PLACES	64
#define SROCE_SHELVES		(SROCE_PSN_MAP_SPAN / SROCE_SHELF_PLACES)

/**
 * struct sroce_hold - requests that came before their turn; with the receive lock
 * @count: how many
 * @bytes: their memory, part of
 * @share_bytes: what the device counts for it
 * @counts: how many lie on each shelf
 * @shelves: each of places for 64 PSNs, or NULL
 */
struct sroce_hold {
	u32	count;
	u32	bytes;
	u32	share_bytes;
	u8	counts[SROCE_SHELVES];
	struct sk_buff **shelves[SROCE_SHELVES];
};

bool sroce_hold_keep(struct sroce_qp *qp, struct sroce_rx *rx);
bool sroce_hold_take(struct sroce_qp *qp, u32 psn, u64 now_ns, struct sroce_rx *rx);
void sroce_hold_merge(const struct sroce_hold *hold, struct sroce_rx *rx, u32 behind);
const u8 *sroce_hold_bth(const struct sroce_hold *hold, u32 psn);
void sroce_hold_shed(struct sroce_qp *qp, u32 psn, u32 count);
void sroce_hold_trim(struct sroce_qp *qp);

#endif
