/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One DMA-BUF, which a process has as file STAND_IN_DMABUF_FD. The test says what it is like. */
#ifndef STAND_IN_DMABUF_H
#define STAND_IN_DMABUF_H

#include "stand_in/sync.h"
#include "stand_in/umem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STAND_IN_DMABUF_FD	7

typedef u32 fmode_t;
#define FMODE_READ		1u
#define FMODE_WRITE		2u

struct address_space;

/* @release: called when @refs becomes 0; NULL for a file that nobody counts */
struct file {
	fmode_t	f_mode;
	void	*private_data;
	struct address_space *f_mapping;
	int	refs;
	void	(*release)(struct file *file);
};

struct iosys_map {
	void	*vaddr;
	bool	is_iomem;
};

struct dma_resv {
	bool	is_locked;
};

struct dma_buf;

struct dma_buf_attachment {
	struct dma_buf *dmabuf;
};

struct dma_buf_attach_ops {
	int	unused;
};

struct dma_buf_ops {
	int (*pin)(struct dma_buf_attachment *attachment);
	int (*vmap)(struct dma_buf *buffer, struct iosys_map *map);
};

struct dma_buf {
	const struct dma_buf_ops *ops;
	struct file *file;
	struct dma_resv *resv;
	size_t	size;
	const char *exp_name;
};

enum dma_data_direction { DMA_BIDIRECTIONAL };

/**
 * struct stand_in_dmabuf - the buffer, and what happened to it
 * @map: from dma_buf_vmap_unlocked()
 * @size: of the buffer
 * @mode: of its file
 * @moves: it must be pinned
 * @has_vmap: its exporter can map it
 * @attach_error: from dma_buf_attach() and dma_buf_dynamic_attach()
 * @pin_error: from dma_buf_pin()
 * @vmap_error: from dma_buf_vmap_unlocked()
 * @access_error: from dma_buf_begin_cpu_access()
 * @refs: references that are held
 * @attachments: that are held
 * @pins: that are held
 * @maps: that are held
 * @accesses: begun, less ended
 * @misused: a call without the lock, out of order, or not for such a buffer
 */
struct stand_in_dmabuf {
	struct iosys_map map;
	size_t	size;
	fmode_t	mode;
	bool	moves;
	bool	has_vmap;
	int	attach_error;
	int	pin_error;
	int	vmap_error;
	int	access_error;
	int	refs;
	int	attachments;
	int	pins;
	int	maps;
	int	accesses;
	bool	misused;
};

extern struct stand_in_dmabuf stand_in_dmabuf;

struct dma_buf *dma_buf_get(int fd);
void dma_buf_put(struct dma_buf *buffer);
struct dma_buf_attachment *dma_buf_attach(struct dma_buf *buffer, struct device *dev);
struct dma_buf_attachment *dma_buf_dynamic_attach(struct dma_buf *buffer, struct device *dev,
						  const struct dma_buf_attach_ops *ops,
						  void *private_data);
void dma_buf_detach(struct dma_buf *buffer, struct dma_buf_attachment *attachment);
int dma_buf_pin(struct dma_buf_attachment *attachment);
void dma_buf_unpin(struct dma_buf_attachment *attachment);
int dma_buf_vmap_unlocked(struct dma_buf *buffer, struct iosys_map *map);
void dma_buf_vunmap_unlocked(struct dma_buf *buffer, struct iosys_map *map);
int dma_buf_begin_cpu_access(struct dma_buf *buffer, enum dma_data_direction direction);
int dma_buf_end_cpu_access(struct dma_buf *buffer, enum dma_data_direction direction);

#define dma_resv_lock(resv, context)	((resv)->is_locked = true)
#define dma_resv_unlock(resv)		((resv)->is_locked = false)
#define PAGE_ALIGNED(pointer)		IS_ALIGNED((uintptr_t)(pointer), PAGE_SIZE)
#define MODULE_INFO(tag, text)		struct sroce_nothing
#define COMPAT_DMA_BUF_ATTACH_OPS	0

#ifdef __cplusplus
}
#endif

#endif
