// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Range and permission check of a region.
 */
#include "transport/access.h"

/**
 * sroce_access_check() - is an access inside of the region, and permitted?
 * @range: what the region covers and permits
 * @va: address of the first byte
 * @bytes: how many; 0 needs no range (IBTA 9.7.5.1.1: zero-length operations are not checked),
 *         and callers then skip the key lookup
 * @needed: SROCE_ACCESS_*, all of which must be permitted
 *
 * No sum here can overflow, because a region may end at the last address.
 *
 * Return: SROCE_MEM_OK, SROCE_MEM_BAD_ACCESS or SROCE_MEM_BAD_RANGE.
 */
enum sroce_mem_status sroce_access_check(const struct sroce_access_range *range, u64 va,
					 u64 bytes, u32 needed)
{
	if ((range->access & needed) != needed)
		return SROCE_MEM_BAD_ACCESS;
	if (!bytes)
		return SROCE_MEM_OK;
	if (va < range->iova || bytes > range->length || va - range->iova > range->length - bytes)
		return SROCE_MEM_BAD_RANGE;
	return SROCE_MEM_OK;
}
