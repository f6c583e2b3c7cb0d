/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory for long runs, which each processor uses again and again. */
#ifndef SROCE_NET_BLOCK_H
#define SROCE_NET_BLOCK_H

/* Nearly the longest run. */
#define SROCE_BLOCK_BYTES	65536

void *sroce_block_get(void);
void sroce_blocks_fini(void);

#endif
