/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Regions whose memory is a DMA-BUF. See dmabuf.c. */
#ifndef SROCE_MEMORY_DMABUF_H
#define SROCE_MEMORY_DMABUF_H

#include <linux/types.h>

struct ib_device;
struct sroce_region;

int sroce_dmabuf_init(struct sroce_region *region, struct ib_device *ibdev, int fd, u64 offset,
		      int access);

#endif
