/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/umem.h"

struct ib_umem stand_in_umem;

struct ib_umem *ib_umem_get_va(struct ib_device *device, u64 address, size_t length, int access)
{
	struct ib_umem *umem;

	if (stand_in_umem.error)
		return ERR_PTR(stand_in_umem.error);
	stand_in_umem.address = address;
	stand_in_umem.length = length;
	stand_in_umem.access = access;
	stand_in_umem.ibdev = device;
	stand_in_umem.writable = ib_access_writable(access);
	stand_in_umem.owning_mm = current->mm;
	umem = stand_in_alloc(sizeof(*umem));
	if (!umem)
		return ERR_PTR(-ENOMEM);
	*umem = stand_in_umem;
	stand_in_umem.pinned++;
	return umem;
}

void ib_umem_release(struct ib_umem *umem)
{
	if (umem)
		stand_in.umems_released++;
	free(umem);
}

/* Do blocks of this size, aligned in both spaces, list the pages? */
static bool size_fits(const struct ib_umem *umem, unsigned long bytes, u64 va)
{
	u64 first = va & ~(PAGE_SIZE - 1), offset;
	u32 i;

	for (i = 0; i * PAGE_SIZE < offset_in_page(va) + umem->length; i++) {
		offset = (first + i * PAGE_SIZE) & (bytes - 1);
		if ((umem->pages[i] & (bytes - 1)) != offset ||
		    (i && offset && umem->pages[i] != umem->pages[i - 1] + PAGE_SIZE))
			return false;
	}
	return true;
}

unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem, unsigned long sizes, u64 va)
{
	unsigned long bytes;

	for (bytes = BIT(62); bytes; bytes >>= 1)
		if (bytes & sizes && size_fits(umem, bytes, va))
			break;
	return bytes;
}

size_t ib_umem_num_dma_blocks(const struct ib_umem *umem, unsigned long bytes)
{
	return (ALIGN(umem->address + umem->length, bytes) -
		(umem->address & ~((u64)bytes - 1))) / bytes;
}

bool stand_in_next_block(struct ib_block_iter *block)
{
	const struct ib_umem *umem = block->umem;
	u64 start = umem->address & ~(PAGE_SIZE - 1);
	u64 va = block->next ?: umem->address & ~((u64)block->bytes - 1);

	if (va >= umem->address + umem->length)
		return false;
	block->next = va + block->bytes;
	block->address = umem->pages[(max(va, start) - start) / PAGE_SIZE] & ~((u64)block->bytes - 1);
	return true;
}

int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sg, int entries, unsigned int *offset,
		   int (*set_page)(struct ib_mr *mr, u64 address))
{
	u64 skip = offset ? *offset : 0, start, page, end;
	int i, err;

	if (entries <= 0 || skip > sg->length)
		return -EINVAL;
	mr->iova = sg->address + skip;
	mr->length = 0;
	for (i = 0; i < entries; i++, skip = 0) {
		start = sg[i].address + skip;
		end = sg[i].address + sg[i].length;
		for (page = start & ~((u64)mr->page_size - 1); page < end; page += mr->page_size) {
			err = set_page(mr, page);
			if (!err)
				continue;
			/* Part of an entry counts in the length only. */
			mr->length += page > start ? page - start : 0;
			return i || page > start ? i : err;
		}
		mr->length += end - start;
	}
	return entries;
}
