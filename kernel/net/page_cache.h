/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory for long runs, which each processor uses again and again. */
#ifndef SROCE_NET_PAGE_CACHE_H
#define SROCE_NET_PAGE_CACHE_H

/* Nearly the longest run. */
#define SROCE_CACHED_PAGE_BYTES	65536

void *sroce_page_cache_get(void);
void sroce_page_cache_fini(void);

#endif
