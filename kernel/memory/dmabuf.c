// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions whose memory is a DMA-BUF, a buffer of another driver that a process has as a file.
 *
 * The CPU copies, so the buffer is not mapped for a device but for the kernel, as a whole and as
 * long as the region exists. Regions of one buffer share its mapping. The exporter is told once
 * that the CPU accesses the buffer, and once that this has ended. In between, processes that use
 * the buffer by other means synchronise with DMA_BUF_IOCTL_SYNC, as they do for a hardware RNIC.
 *
 * The region has an attachment, though nobody asks for a DMA address, because an exporter may move
 * or free the pages of a buffer to which no device is attached. Some exporters pin the buffer in
 * their attach(). Others have a pin(), which is called, too.
 *
 * dma_buf_vmap() warns once (WARN_ON_ONCE) if the exporter cannot map a buffer. So a process with
 * access to such an exporter can cause this warning, and a panic with panic_on_warn.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "compat/dmabuf.h"
#include "memory/dmabuf.h"
#include "memory/region.h"

/* Spelled out, because MODULE_IMPORT_NS() takes a name or, since 6.13, a string. */
MODULE_INFO(import_ns, "DMA_BUF");

/**
 * struct sroce_dmabuf - the memory of a region
 * @buffer: with a reference
 * @attachment: keeps the buffer where it is, pinned if its exporter has a pin()
 * @map: the mapping
 */
struct sroce_dmabuf {
	struct dma_buf *buffer;
	struct dma_buf_attachment *attachment;
	struct iosys_map map;
};

static const struct dma_buf_attach_ops attach_ops = { COMPAT_DMA_BUF_ATTACH_OPS };

/* As mmap() of the file would: a process that may only read it must not write by an RNIC. */
static int check_mode(const struct dma_buf *buffer, int access)
{
	fmode_t needed = FMODE_READ | (ib_access_writable(access) ? FMODE_WRITE : 0);

	return (buffer->file->f_mode & needed) == needed ? 0 : -EACCES;
}

static int check_buffer_range(const struct dma_buf *buffer, u64 offset, u64 length)
{
	u64 end;

	return check_add_overflow(offset, length, &end) || end > buffer->size ? -EINVAL : 0;
}

/*
 * The attachment is dynamic if and only if the exporter is. If they differ, 6.1 and 6.12 map the
 * buffer for the device at once.
 */
static struct dma_buf_attachment *make_attachment(struct dma_buf *buffer, struct device *dev)
{
	return buffer->ops->pin ? dma_buf_dynamic_attach(buffer, dev, &attach_ops, NULL) :
				  dma_buf_attach(buffer, dev);
}

static int pin_buffer(struct dma_buf_attachment *attachment)
{
	struct dma_buf *buffer = attachment->dmabuf;
	int err;

	if (!buffer->ops->pin)
		return 0;
	dma_resv_lock(buffer->resv, NULL);
	err = dma_buf_pin(attachment);
	dma_resv_unlock(buffer->resv);
	return err;
}

static void detach_buffer(struct sroce_dmabuf *memory)
{
	struct dma_buf *buffer = memory->buffer;

	if (buffer->ops->pin) {
		dma_resv_lock(buffer->resv, NULL);
		dma_buf_unpin(memory->attachment);
		dma_resv_unlock(buffer->resv);
	}
	dma_buf_detach(buffer, memory->attachment);
}

static int attach_buffer(struct sroce_dmabuf *memory, struct device *dev)
{
	struct dma_buf_attachment *attachment = make_attachment(memory->buffer, dev);
	int err;

	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	err = pin_buffer(attachment);
	if (err)
		dma_buf_detach(memory->buffer, attachment);
	else
		memory->attachment = attachment;
	return err;
}

/* Memory that copies and atomics can use as they use pages. */
static int map_buffer(struct sroce_dmabuf *memory)
{
	int err;

	if (!memory->buffer->ops->vmap)
		return -EOPNOTSUPP;
	err = dma_buf_vmap_unlocked(memory->buffer, &memory->map);
	if (err)
		return err;
	if (!memory->map.is_iomem && PAGE_ALIGNED(memory->map.vaddr))
		err = dma_buf_begin_cpu_access(memory->buffer, DMA_BIDIRECTIONAL);
	else
		err = -EOPNOTSUPP;
	if (err)
		dma_buf_vunmap_unlocked(memory->buffer, &memory->map);
	return err;
}

static void put_buffer(struct sroce_dmabuf *memory)
{
	dma_buf_put(memory->buffer);
	kfree(memory);
}

static void release_buffer(struct sroce_region *region)
{
	struct sroce_dmabuf *memory = region->dmabuf;

	dma_buf_end_cpu_access(memory->buffer, DMA_BIDIRECTIONAL);
	dma_buf_vunmap_unlocked(memory->buffer, &memory->map);
	detach_buffer(memory);
	put_buffer(memory);
}

static int attach_and_map(struct sroce_dmabuf *memory, struct ib_device *ibdev)
{
	int err = attach_buffer(memory, &ibdev->dev);

	if (err)
		return err;
	err = map_buffer(memory);
	if (err)
		detach_buffer(memory);
	return err;
}

static struct sroce_dmabuf *get_memory(int fd)
{
	struct sroce_dmabuf *memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	struct dma_buf *buffer;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	buffer = dma_buf_get(fd);
	if (IS_ERR(buffer)) {
		kfree(memory);
		return ERR_CAST(buffer);
	}
	memory->buffer = buffer;
	return memory;
}

/* One block from the first byte on, because the mapping is contiguous. */
static int list_block(struct sroce_region *region, u64 offset)
{
	struct sroce_page_list *pages = &region->pages;
	int err = sroce_page_list_alloc(pages, 1);

	if (err)
		return err;
	pages->blocks[pages->count++] = region->dmabuf->map.vaddr + offset;
	pages->shift = order_base_2(region->range.length);
	return 0;
}

/**
 * sroce_dmabuf_init() - give a region the memory of a DMA-BUF
 * @region: USER, with its range, without memory and key
 * @ibdev: device
 * @fd: file of the buffer, which the caller may close afterwards
 * @offset: of the first byte of the region in the buffer
 * @access: IB_ACCESS_*
 *
 * Keeps the buffer until the region is destroyed. May sleep.
 *
 * Return: 0; -EBADF or -EINVAL if @fd is no such file; -EINVAL if the range is not in the buffer;
 * -EACCES if the file does not permit @access; -EOPNOTSUPP if the buffer is not memory of the CPU,
 * or its exporter cannot map it for the kernel; or an error of the exporter.
 */
int sroce_dmabuf_init(struct sroce_region *region, struct ib_device *ibdev, int fd, u64 offset,
		      int access)
{
	struct sroce_dmabuf *memory = get_memory(fd);
	int err;

	if (IS_ERR(memory)) {
		ibdev_dbg(ibdev, "mr: file %d is no dma-buf\n", fd);
		return PTR_ERR(memory);
	}
	err = check_buffer_range(memory->buffer, offset, region->range.length) ?:
	      check_mode(memory->buffer, access) ?:
	      attach_and_map(memory, ibdev);
	if (err) {
		ibdev_dbg(ibdev, "mr: dma-buf of %s, %zu bytes, access %#x: %d\n",
			  memory->buffer->exp_name, memory->buffer->size, access, err);
		put_buffer(memory);
		return err;
	}
	region->dmabuf = memory;
	region->release = release_buffer;
	return list_block(region, offset);
}
