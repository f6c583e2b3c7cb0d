/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* XArrays. */
#ifndef STAND_IN_XARRAY_H
#define STAND_IN_XARRAY_H

#include "stand_in/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A list, whose entries are charged to a memory cgroup with XA_FLAGS_ACCOUNT only. */
struct xarray {
	struct stand_in_entry *entries;
	gfp_t	xa_flags;
};

struct xa_limit {
	u32	max;
	u32	min;
};

#define XA_LIMIT(lower, upper)		(struct xa_limit){ .max = (upper), .min = (lower) }
#define XA_FLAGS_ALLOC			4u
#define XA_FLAGS_ALLOC1			8u
#define XA_FLAGS_ACCOUNT		32u
#define XA_PRESENT			0
#define DEFINE_XARRAY_FLAGS(name, flags)	struct xarray name = { NULL, flags }
#define xa_init_flags(array, flags)	((array)->entries = NULL, (array)->xa_flags = (flags))
#define xa_empty(array)			(!(array)->entries)
#define xa_err(entry)			(IS_ERR(entry) ? (int)PTR_ERR(entry) : 0)

void xa_destroy(struct xarray *array);
void *xa_load(struct xarray *array, unsigned long index);
void *xa_store(struct xarray *array, unsigned long index, void *entry, gfp_t gfp);
void *xa_erase(struct xarray *array, unsigned long index);
void *xa_find_after(struct xarray *array, unsigned long *index, unsigned long max, int filter);
int xa_alloc_cyclic(struct xarray *array, u32 *index, void *entry, struct xa_limit limit,
		    u32 *next, gfp_t gfp);

#ifdef __cplusplus
}
#endif

#endif
