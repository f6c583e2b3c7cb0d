/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The range and permission checks of memory regions and windows: the only place where addresses
 * and lengths of a peer or a user are compared with a region. The checks are in checks.c.
 */
#ifndef SROCE_TRANSPORT_ACCESS_H
#define SROCE_TRANSPORT_ACCESS_H

#include <linux/bits.h>
#include <linux/types.h>

/* Permissions of a region or a QP; enum ib_access_flags. */
#define SROCE_ACCESS_LOCAL_WRITE	BIT(0)
#define SROCE_ACCESS_REMOTE_WRITE	BIT(1)
#define SROCE_ACCESS_REMOTE_READ	BIT(2)
#define SROCE_ACCESS_REMOTE_ATOMIC	BIT(3)
#define SROCE_ACCESS_MW_BIND		BIT(4)
#define SROCE_ACCESS_ZERO_BASED		BIT(5)	/* of a memory window: addresses begin at 0 */
#define SROCE_ACCESS_FLUSH_GLOBAL	BIT(8)
#define SROCE_ACCESS_FLUSH_PERSISTENT	BIT(9)
#define SROCE_ACCESS_FLUSH		(SROCE_ACCESS_FLUSH_GLOBAL | SROCE_ACCESS_FLUSH_PERSISTENT)
#define SROCE_ACCESS_OPTIONAL		GENMASK(29, 20)	/* hints, which have no effect here */

#define SROCE_ACCESS_REMOTE		(SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ | \
					 SROCE_ACCESS_REMOTE_ATOMIC | SROCE_ACCESS_FLUSH)

/* The outcome of a key lookup, a range check, or a copy. */
enum sroce_mem_status {
	SROCE_MEM_OK,
	SROCE_MEM_BAD_KEY,	/* no such key, other PD or QP, or invalidated */
	SROCE_MEM_BAD_RANGE,	/* outside of the region */
	SROCE_MEM_BAD_ACCESS,	/* permission missing */
	SROCE_MEM_MISALIGNED,	/* atomic not on 8 bytes */
	SROCE_MEM_BAD_LOCAL,	/* the local scatter/gather list is at fault */
	SROCE_MEM_BAD_PAYLOAD,	/* the ICRC was wrong after the payload was written */
	SROCE_MEM_NOT_PRESENT,	/* a page must be faulted in first */
};

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

/**
 * struct sroce_bind_mw - what a BIND_MW request asks for
 * @addr: first byte of the range, as an address of the region
 * @rkey: present R_Key of the memory window; of a type 2 window also any before
 * @new_rkey: its next R_Key; only the lowest 8 bits may differ
 * @length: bytes of the range; of a type 1 window also 0: unbind
 * @lkey: L_Key of the region
 * @access: SROCE_ACCESS_* of the window
 */
struct sroce_bind_mw {
	u64	addr;
	u32	rkey;
	u32	new_rkey;
	u64	length;
	u32	lkey;
	u32	access;
};

enum sroce_mem_status sroce_access_check(const struct sroce_access_range *range, u64 va,
					 u64 bytes, u32 needed);
enum sroce_mem_status sroce_bind_check(const struct sroce_bind_mw *bind,
				       const struct sroce_access_range *range, bool is_type_2);

#endif
