/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The range and permission check of a memory region: the only place where addresses and lengths
 * of a peer or a user are compared with a region. The check is in checks.c.
 */
#ifndef SROCE_TRANSPORT_ACCESS_H
#define SROCE_TRANSPORT_ACCESS_H

#include <linux/types.h>

#include "transport/wqe.h"

/* Permissions of a region or a QP; enum ib_access_flags. */
#define SROCE_ACCESS_LOCAL_WRITE	BIT(0)
#define SROCE_ACCESS_REMOTE_WRITE	BIT(1)
#define SROCE_ACCESS_REMOTE_READ	BIT(2)
#define SROCE_ACCESS_REMOTE_ATOMIC	BIT(3)
#define SROCE_ACCESS_MW_BIND		BIT(4)

/**
 * struct sroce_access_range - what a region covers and permits
 * @iova: address of its first byte for peers and users
 * @length: bytes
 * @access: SROCE_ACCESS_* it permits
 */
struct sroce_access_range {
	u64	iova;
	u64	length;
	u32	access;
};

enum sroce_mem_status sroce_access_check(const struct sroce_access_range *range, u64 va,
					 u64 bytes, u32 needed);

#endif
