/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A cache of large pages on each CPU, for long GSO batches. */
#ifndef SROCE_NET_BATCH_PAGES_H
#define SROCE_NET_BATCH_PAGES_H

/* As long as the longest GSO batch, nearly. */
#define SROCE_CACHED_PAGE_BYTES	65536

void *sroce_batch_page_get(void);
void sroce_batch_pages_fini(void);

#endif
