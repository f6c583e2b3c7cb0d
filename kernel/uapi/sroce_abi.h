/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * What sroce adds to the user ABI. Rings and commands are those of
 * <rdma/rdma_user_rxe.h>; a device in native mode differs from one in rxe mode
 * by the two numbers below, so that our own provider binds instead of librxe.
 */
#ifndef SROCE_UAPI_SROCE_ABI_H
#define SROCE_UAPI_SROCE_ABI_H

/* "SROC": far above the kernel's own numbers, which grow one by one. */
#define SROCE_DRIVER_ID		0x53524f43

/* In rxe mode: what librxe was written for. */
#define SROCE_ABI_VERSION_RXE	2

/* At least 100: librxe, should a device's name mislead it, declines anything over 2. */
#define SROCE_ABI_VERSION	100

/*
 * In native mode the kernel writes two words into the header of a send ring, in
 * rxe_queue_buf.pad_3, beside its consumer_index. Documentation/abi.md has the protocol.
 *
 * Not 0 while the kernel will look at the ring again soon, without a doorbell:
 */
#define SROCE_RING_WATCHED	0
/* Up to where the kernel has taken requests out of the ring, an index as the others are: */
#define SROCE_RING_FETCHED	1

/* Inline data of a send request, in native mode. */
#define SROCE_MAX_INLINE_NATIVE	1024

#endif
