/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A cache of large pages on each CPU, for long GSO batches. */
#ifndef SROCE_NET_PAGE_CACHE_H
#define SROCE_NET_PAGE_CACHE_H

/* As long as the longest GSO batch, nearly. */
#define SROCE_CACHED_PAGE_BYTES	65536

void *sroce_page_cache_get(void);
void sroce_page_cache_fini(void);

#endif
