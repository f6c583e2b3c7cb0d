/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How much memory the packets of a reorder queue may take, and for how long. The pool of the device
 * is shared, but a part of it that is guaranteed to each QP does not depend on what other QPs have
 * queued.
 */
#ifndef SROCE_TRANSPORT_REORDER_POLICY_H
#define SROCE_TRANSPORT_REORDER_POLICY_H

#include <linux/types.h>

/* A queue charges a piece at a time, so that it does not touch the device for each packet. */
#define SROCE_REORDER_PIECE_BYTES	(16u * 1024)
/* Seven packets of MTU 4096: more than cause the first SACK. */
#define SROCE_REORDER_GUARANTEED_BYTES	(64u * 1024)
/* About 2,000 packets of MTU 4096; the span of the bitmap is 2,048. */
#define SROCE_REORDER_QP_BYTES		(16u * 1024 * 1024)
#define SROCE_REORDER_DEVICE_BYTES	(128u * 1024 * 1024)

/*
 * How long packets wait. Longer than a peer takes to send six probes, which are at most 1 s apart.
 * With the sixth it stops relying on SACKs (tlp.c). If packets were dropped before that, it would
 * resend each only after another probe timeout.
 */
#define SROCE_REORDER_MAX_AGE_NS	8000000000ull

/**
 * sroce_reorder_may_queue() - may a QP queue one more packet?
 * @qp_bytes: what it has charged, with the packet
 * @device_bytes: what all QPs of the device have charged, with the packet
 *
 * Return: whether it may; else the packet is dropped.
 */
static inline bool sroce_reorder_may_queue(u32 qp_bytes, u64 device_bytes)
{
	return qp_bytes <= SROCE_REORDER_GUARANTEED_BYTES ||
	       (qp_bytes <= SROCE_REORDER_QP_BYTES && device_bytes <= SROCE_REORDER_DEVICE_BYTES);
}

#endif
