/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How kernels differ in DMA-BUFs, as compat.h does for the rest. */
#ifndef SROCE_COMPAT_DMABUF_H
#define SROCE_COMPAT_DMABUF_H

#include <linux/dma-buf.h>

#include "compat/compat.h"

/* 6.2: the caller may hold the lock of the reservation; before, it never does. */
#ifndef SROCE_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#endif

/* 7.1: an importer that only pins needs no function. Before, one is needed but never called. */
#ifdef SROCE_HAVE_DMA_BUF_MOVE_NOTIFY
static inline void compat_dma_buf_moves(struct dma_buf_attachment *attachment)
{
	WARN_ONCE(1, "%s moves a pinned dma-buf\n", attachment->dmabuf->exp_name);
}

#define COMPAT_DMA_BUF_ATTACH_OPS .move_notify = compat_dma_buf_moves
#else
#define COMPAT_DMA_BUF_ATTACH_OPS
#endif

#endif
