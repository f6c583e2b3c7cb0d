// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Exports DMA-BUFs to processes: memory, and what an importer must reject.
 *
 * cat /sys/module/exporter/parameters/state	"buffers N attachments N pins N maps N accesses N"
 */
#include <linux/atomic.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fcntl.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "exporter.h"

MODULE_DESCRIPTION("exports DMA-BUFs for tests");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_INFO(import_ns, "DMA_BUF");

#define PAGES_MAX 4096

struct buffer {
	u32	flags;
	u32	pins;	/* with the reservation's lock */
	void	*memory;
};

static atomic_t buffers, attachments, pins, maps, accesses;

static struct sg_table *map_for_device(struct dma_buf_attachment *attachment,
				       enum dma_data_direction direction)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static void unmap_for_device(struct dma_buf_attachment *attachment, struct sg_table *table,
			     enum dma_data_direction direction)
{
}

static int pin(struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = attachment->dmabuf->priv;

	WARN_ON(!dma_resv_is_locked(attachment->dmabuf->resv));
	if (buffer->flags & EXPORTER_IS_FULL)
		return -ENOSPC;
	buffer->pins++;
	atomic_inc(&pins);
	return 0;
}

static void unpin(struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = attachment->dmabuf->priv;

	WARN_ON(!dma_resv_is_locked(attachment->dmabuf->resv));
	WARN_ON(!buffer->pins);
	buffer->pins--;
	atomic_dec(&pins);
}

static int attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = dmabuf->priv;
	int err = 0;

	if (buffer->flags & EXPORTER_ATTACH_PINS) {
		dma_resv_lock(dmabuf->resv, NULL);
		err = pin(attachment);
		dma_resv_unlock(dmabuf->resv);
	}
	if (!err)
		atomic_inc(&attachments);
	return err;
}

static void detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = dmabuf->priv;

	if (buffer->flags & EXPORTER_ATTACH_PINS) {
		dma_resv_lock(dmabuf->resv, NULL);
		unpin(attachment);
		dma_resv_unlock(dmabuf->resv);
	}
	atomic_dec(&attachments);
}

static bool can_move(const struct buffer *buffer)
{
	return buffer->flags & (EXPORTER_MOVES | EXPORTER_ATTACH_PINS) && !buffer->pins;
}

static int map_for_kernel(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct buffer *buffer = dmabuf->priv;

	WARN(can_move(buffer), "mapped but not pinned\n");
	atomic_inc(&maps);
	if (buffer->flags & EXPORTER_IOMEM)
		iosys_map_set_vaddr_iomem(map, (void __iomem __force *)buffer->memory);
	else
		iosys_map_set_vaddr(map, buffer->memory +
				    (buffer->flags & EXPORTER_SKEWED ? 8 : 0));
	return 0;
}

static void unmap_for_kernel(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct buffer *buffer = dmabuf->priv;

	WARN(can_move(buffer), "unpinned but mapped\n");
	atomic_dec(&maps);
}

static int map_for_process(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct buffer *buffer = dmabuf->priv;

	return remap_vmalloc_range(vma, buffer->memory, vma->vm_pgoff);
}

static int begin_access(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct buffer *buffer = dmabuf->priv;

	if (buffer->flags & EXPORTER_BUSY)
		return -EBUSY;
	atomic_inc(&accesses);
	return 0;
}

static int end_access(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	atomic_dec(&accesses);
	return 0;
}

/* A copy that comes after this finds an address fault. */
static void release(struct dma_buf *dmabuf)
{
	struct buffer *buffer = dmabuf->priv;

	vfree(buffer->memory);
	kfree(buffer);
	atomic_dec(&buffers);
}

#define COMMON_OPS .attach = attach, .detach = detach,				\
	.map_dma_buf = map_for_device, .unmap_dma_buf = unmap_for_device,	\
	.mmap = map_for_process, .release = release,				\
	.begin_cpu_access = begin_access, .end_cpu_access = end_access

static const struct dma_buf_ops fixed_ops = {
	COMMON_OPS, .vmap = map_for_kernel, .vunmap = unmap_for_kernel,
};

static const struct dma_buf_ops moving_ops = {
	COMMON_OPS, .vmap = map_for_kernel, .vunmap = unmap_for_kernel, .pin = pin, .unpin = unpin,
};

static const struct dma_buf_ops unmapped_ops = { COMMON_OPS };

static struct buffer *make_buffer(const struct exporter_request *request)
{
	struct buffer *buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);

	if (!buffer)
		return NULL;
	buffer->flags = request->flags;
	buffer->memory = vmalloc_user((unsigned long)request->pages * PAGE_SIZE);
	if (!buffer->memory) {
		kfree(buffer);
		return NULL;
	}
	atomic_inc(&buffers);
	return buffer;
}

static int export(const struct exporter_request *request)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct buffer *buffer = make_buffer(request);
	struct dma_buf *dmabuf;
	int fd;

	if (!buffer)
		return -ENOMEM;
	info.ops = request->flags & EXPORTER_NO_VMAP ? &unmapped_ops :
		   request->flags & EXPORTER_MOVES ? &moving_ops : &fixed_ops;
	info.size = (size_t)request->pages * PAGE_SIZE;
	info.flags = request->flags & EXPORTER_READ_ONLY ? O_RDONLY : O_RDWR;
	info.priv = buffer;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		vfree(buffer->memory);
		kfree(buffer);
		atomic_dec(&buffers);
		return PTR_ERR(dmabuf);
	}
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static long exporter_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct exporter_request request;

	if (command != EXPORTER_EXPORT)
		return -ENOTTY;
	if (copy_from_user(&request, (void __user *)argument, sizeof(request)))
		return -EFAULT;
	if (!request.pages || request.pages > PAGES_MAX)
		return -EINVAL;
	return export(&request);
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = exporter_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "test_exporter",
	.fops = &operations,
	.mode = 0666,
};

static int get_state(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "buffers %d attachments %d pins %d maps %d accesses %d\n",
			  atomic_read(&buffers), atomic_read(&attachments), atomic_read(&pins),
			  atomic_read(&maps), atomic_read(&accesses));
}

static const struct kernel_param_ops state_ops = { .get = get_state };
module_param_cb(state, &state_ops, NULL, 0444);

module_misc_device(device);
