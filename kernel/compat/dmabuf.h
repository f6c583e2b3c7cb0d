/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How kernels differ in DMA-BUFs, as compat.h does for the rest. */
#ifndef SROCE_COMPAT_DMABUF_H
#define SROCE_COMPAT_DMABUF_H

#include <linux/dma-buf.h>

#include "compat/compat.h"

/*
 * 6.12: reg_user_mr_dmabuf() gets more than the ib_udata. 6.17: and a DMA handle, as reg_user_mr().
 * As SROCE_COMPAT_REG_USER_MR(), for:
 * struct ib_mr *fn(struct ib_pd *pd, u64 offset, u64 length, u64 va, int fd, int access,
 *		    struct ib_dmah *dmah);
 */
#if defined(SROCE_HAVE_REG_USER_MR_DMAH)
#define COMPAT_DMABUF_ARGS(args...) (args, struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs)
#define COMPAT_DMABUF_DMAH dmah
#elif defined(SROCE_HAVE_REG_DMABUF_ATTRS)
#define COMPAT_DMABUF_ARGS(args...) (args, struct uverbs_attr_bundle *attrs)
#define COMPAT_DMABUF_DMAH NULL
#else
#define COMPAT_DMABUF_ARGS(args...) (args, struct ib_udata *udata)
#define COMPAT_DMABUF_DMAH NULL
#endif
#define SROCE_COMPAT_REG_USER_MR_DMABUF(fn)					\
static struct ib_mr *compat_reg_user_mr_dmabuf					\
COMPAT_DMABUF_ARGS(struct ib_pd *pd, u64 offset, u64 length, u64 va, int fd, int access)	\
{										\
	return fn(pd, offset, length, va, fd, access, COMPAT_DMABUF_DMAH);	\
}

/* 6.2: the caller may hold the lock of the reservation; before, it never does. */
#ifndef SROCE_HAVE_DMA_BUF_VMAP_UNLOCKED
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#endif

/*
 * In 7.2 an importer that only pins needs no function. In 6.12 it has one, which may be called
 * while the buffer moves to the place where it is pinned. Nothing is mapped then.
 */
#ifdef SROCE_HAVE_DMA_BUF_MOVE_NOTIFY
static inline void compat_dma_buf_moves(struct dma_buf_attachment *attachment)
{
}

#define COMPAT_DMA_BUF_ATTACH_OPS .move_notify = compat_dma_buf_moves
#else
#define COMPAT_DMA_BUF_ATTACH_OPS
#endif

#endif
