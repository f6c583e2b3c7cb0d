/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Pinned memory of a process, and lists of memory for fast registration. */
#ifndef STAND_IN_UMEM_H
#define STAND_IN_UMEM_H

#include "stand_in/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ib_mr_rereg_flags {
	IB_MR_REREG_TRANS = 1, IB_MR_REREG_PD = 1 << 1, IB_MR_REREG_ACCESS = 1 << 2,
};

static inline bool ib_access_writable(int access)
{
	return access & 0x1b;
}

struct scatterlist {
	u64	address;
	u32	length;
	bool	is_ram;
};

struct sg_table {
	struct scatterlist *sgl;
	u32	nents;
};

/**
 * struct ib_umem - pinned memory; the one that a test fills in gives @pages and @error to those
 *                  that ib_umem_get_va() returns
 * @pages: kernel address of each page
 * @sgt_append: the physical addresses of the same, which may be others
 * @error: from ib_umem_get_va()
 * @address: what ib_umem_get_va() was given
 * @length: as @address
 * @access: as @address
 * @ibdev: as @address
 * @writable: it was pinned for writing
 * @owning_mm: the process that has pinned it
 * @pinned: calls of ib_umem_get_va() that succeeded
 */
struct ib_umem {
	const u64 *pages;
	struct { struct sg_table sgt; } sgt_append;
	int	error;
	u64	address;
	u64	length;
	int	access;
	struct ib_device *ibdev;
	bool	writable;
	void	*owning_mm;
	u32	pinned;
};

extern struct ib_umem stand_in_umem;

struct ib_block_iter {
	const struct ib_umem *umem;
	unsigned long bytes;
	u64	next;
	u64	address;
};

struct ib_umem *ib_umem_get_va(struct ib_device *device, u64 address, size_t length, int access);
unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem, unsigned long sizes, u64 va);
size_t ib_umem_num_dma_blocks(const struct ib_umem *umem, unsigned long bytes);
bool stand_in_next_block(struct ib_block_iter *block);
int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sg, int entries, unsigned int *offset,
		   int (*set_page)(struct ib_mr *mr, u64 address));

#define rdma_umem_for_each_dma_block(from, block, size)				\
	for (*(block) = (struct ib_block_iter){ .umem = (from), .bytes = (size) };	\
	     stand_in_next_block(block);)
#define rdma_block_iter_dma_address(block)	((block)->address)

#ifdef __cplusplus
}
#endif

#endif
