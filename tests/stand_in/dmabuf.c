/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/dmabuf.h"

struct stand_in_dmabuf stand_in_dmabuf;

static int pin(struct dma_buf_attachment *attachment)
{
	return 0;
}

static int vmap(struct dma_buf *buffer, struct iosys_map *map)
{
	return 0;
}

static const struct dma_buf_ops ops[] = {
	{}, { .vmap = vmap }, { .pin = pin }, { .pin = pin, .vmap = vmap },
};

static struct file file;
static struct dma_resv resv;
static struct dma_buf the_buffer = { .file = &file, .resv = &resv, .exp_name = "test" };
static struct dma_buf_attachment the_attachment = { .dmabuf = &the_buffer };

static void expect(bool is_right)
{
	stand_in_dmabuf.misused |= !is_right;
}

struct dma_buf *dma_buf_get(int fd)
{
	if (fd != STAND_IN_DMABUF_FD)
		return ERR_PTR(-EBADF);
	file.f_mode = stand_in_dmabuf.mode;
	the_buffer.size = stand_in_dmabuf.size;
	the_buffer.ops = &ops[2 * stand_in_dmabuf.moves + stand_in_dmabuf.has_vmap];
	stand_in_dmabuf.refs++;
	return &the_buffer;
}

void dma_buf_put(struct dma_buf *buffer)
{
	expect(!stand_in_dmabuf.attachments && !stand_in_dmabuf.maps);
	stand_in_dmabuf.refs--;
}

static struct dma_buf_attachment *attach(struct dma_buf *buffer, struct device *dev, bool dynamic)
{
	expect(!resv.is_locked && stand_in_dmabuf.refs && dev && dynamic == !!buffer->ops->pin);
	if (stand_in_dmabuf.attach_error)
		return ERR_PTR(stand_in_dmabuf.attach_error);
	stand_in_dmabuf.attachments++;
	return &the_attachment;
}

struct dma_buf_attachment *dma_buf_attach(struct dma_buf *buffer, struct device *dev)
{
	return attach(buffer, dev, false);
}

struct dma_buf_attachment *dma_buf_dynamic_attach(struct dma_buf *buffer, struct device *dev,
						  const struct dma_buf_attach_ops *attach_ops,
						  void *private_data)
{
	expect(attach_ops);
	return attach(buffer, dev, true);
}

void dma_buf_detach(struct dma_buf *buffer, struct dma_buf_attachment *attachment)
{
	expect(!resv.is_locked && !stand_in_dmabuf.pins && !stand_in_dmabuf.maps);
	stand_in_dmabuf.attachments--;
}

int dma_buf_pin(struct dma_buf_attachment *attachment)
{
	expect(resv.is_locked);
	stand_in_dmabuf.pins += !stand_in_dmabuf.pin_error;
	return stand_in_dmabuf.pin_error;
}

void dma_buf_unpin(struct dma_buf_attachment *attachment)
{
	expect(resv.is_locked && !stand_in_dmabuf.maps);
	stand_in_dmabuf.pins--;
}

int dma_buf_vmap_unlocked(struct dma_buf *buffer, struct iosys_map *map)
{
	expect(!resv.is_locked && buffer->ops->vmap);
	expect(stand_in_dmabuf.attachments && (!buffer->ops->pin || stand_in_dmabuf.pins));
	if (stand_in_dmabuf.vmap_error)
		return stand_in_dmabuf.vmap_error;
	*map = stand_in_dmabuf.map;
	stand_in_dmabuf.maps++;
	return 0;
}

void dma_buf_vunmap_unlocked(struct dma_buf *buffer, struct iosys_map *map)
{
	expect(!resv.is_locked && !stand_in_dmabuf.accesses);
	stand_in_dmabuf.maps--;
}

int dma_buf_begin_cpu_access(struct dma_buf *buffer, enum dma_data_direction direction)
{
	expect(!resv.is_locked && stand_in_dmabuf.maps);
	stand_in_dmabuf.accesses += !stand_in_dmabuf.access_error;
	return stand_in_dmabuf.access_error;
}

int dma_buf_end_cpu_access(struct dma_buf *buffer, enum dma_data_direction direction)
{
	stand_in_dmabuf.accesses--;
	return 0;
}
