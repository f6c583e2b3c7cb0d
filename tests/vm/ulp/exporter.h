/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* /dev/test_exporter makes DMA-BUFs, see exporter.c. For programs, too. */
#ifndef TESTS_VM_ULP_EXPORTER_H
#define TESTS_VM_ULP_EXPORTER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define EXPORTER_PATH "/dev/test_exporter"

/* How a buffer differs from memory that does not move, which everybody may map and write. */
enum exporter_flags {
	EXPORTER_MOVES = 1 << 0,	/* unless it is pinned */
	EXPORTER_IS_FULL = 1 << 1,	/* nothing can be pinned */
	EXPORTER_NO_VMAP = 1 << 2,	/* the kernel cannot map it */
	EXPORTER_IOMEM = 1 << 3,	/* it is memory of a device */
	EXPORTER_SKEWED = 1 << 4,	/* its mapping is not aligned to a page */
	EXPORTER_BUSY = 1 << 5,		/* the CPU gets no access */
	EXPORTER_READ_ONLY = 1 << 6,	/* its file is */
	EXPORTER_ATTACH_PINS = 1 << 7,	/* moves unless a device is attached */
};

struct exporter_request {
	__u32	pages;
	__u32	flags;
};

/* Returns a file descriptor. */
#define EXPORTER_EXPORT _IOW('E', 1, struct exporter_request)

#endif
