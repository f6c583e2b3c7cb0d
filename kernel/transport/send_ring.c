// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The storage of send WQEs may begin small and be exchanged for a larger one.
 */
#include <linux/string.h>

#include "transport/requester.h"

/**
 * sroce_requester_move() - go on in other storage
 * @req: the requester
 * @ring: of as many bytes as @slots need
 * @slots: a power of two, not less than are in use
 *
 * The requests that have not retired move along; nothing else changes. Whoever has the
 * address of a WQE asks for it again.
 */
void sroce_requester_move(struct sroce_requester *req, void *ring, u32 slots)
{
	u32 index;

	for (index = req->retired; index != req->posted; index++)
		memcpy((u8 *)ring + (size_t)(index & (slots - 1)) * req->stride,
		       sroce_requester_wqe(req, index), req->stride);
	req->ring = ring;
	req->ring_mask = slots - 1;
}
