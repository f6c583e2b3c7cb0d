/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * What sroce adds to the user ABI. Commands, the entries of completion queues and,
 * in rxe mode, everything else are those of <rdma/rdma_user_rxe.h>. A device in
 * native mode differs by the two numbers below, so that our own provider binds
 * instead of librxe, by the send and receive queues, and by how a process says that
 * it wants to be woken: see Documentation/abi.md.
 */
#ifndef SROCE_UAPI_SROCE_ABI_H
#define SROCE_UAPI_SROCE_ABI_H

#include <linux/types.h>

/* "SROC": far above the kernel's own numbers, which grow one by one. */
#define SROCE_DRIVER_ID		0x53524f43

/* In rxe mode: what librxe was written for. */
#define SROCE_ABI_VERSION_RXE	2

/* At least 100: librxe, should a device's name mislead it, declines anything over 2. */
#define SROCE_ABI_VERSION	102

/* Bytes that only one side writes, so that it does not disturb the other. */
#define SROCE_QUEUE_LINE	64

/*
 * The words of a send or receive queue in native mode. Indices count on for ever; a
 * queue is full when they differ by the number of its slots.
 *
 * producer: requests posted
 * consumer: requests that the kernel is done with: their slots may be filled again
 * no_doorbell: send queue: not 0 while the kernel will look again soon, without a doorbell
 * fetched: send queue: requests that the kernel has taken out
 */
struct sroce_queue_head {
	__u32	producer;
	__u32	reserved[SROCE_QUEUE_LINE / 4 - 1];
	/* Written by the kernel, never read. */
	__u32	consumer;
	__u32	no_doorbell;
	__u32	fetched;
	__u32	reserved_kernel[SROCE_QUEUE_LINE / 4 - 3];
};

/*
 * How often a process has wished to be told of the next completion: of any, and of
 * solicited ones (and errors) only. A wish is answered once, with all before it.
 */
struct sroce_cq_arm {
	__u32	any;
	__u32	solicited;
};

/*
 * What the process writes of a completion queue in native mode: consumer_index of
 * struct rxe_queue_buf, and behind it, in what is padding there, its arm.
 */
struct sroce_cq_line {
	__u32	consumer;
	struct sroce_cq_arm arm;
	__u32	reserved[SROCE_QUEUE_LINE / 4 - 3];
};

/*
 * A send request in native mode: a cache line with one element (struct rxe_sge). Its
 * elements, or its inline data, follow.
 *
 * opcode: enum ib_uverbs_wr_opcode
 * flags: enum ib_send_flags
 * num_sge: elements that follow, 0 with inline data
 * length: bytes of the message
 */
struct sroce_send_slot {
	__aligned_u64 wr_id;
	__u8	opcode;
	__u8	flags;
	__u16	num_sge;
	__u32	length;
	union {
		__be32	imm_data;
		__u32	invalidate_rkey;
	};
	union {
		__u32	rkey;
		__u32	qkey;		/* datagram */
	};
	union {
		__aligned_u64 remote_addr;
		struct {
			__u32	dest_qpn;
			__u32	ah;	/* number of the handle */
		} ud;
	};
	__aligned_u64 compare_add;	/* atomic */
	__aligned_u64 swap;
};

/*
 * A receive request in native mode: struct rxe_sge follow, as many as the queue was
 * created for, or less and one without length.
 */
struct sroce_recv_slot {
	__aligned_u64 wr_id;
};

/*
 * Where the queues of a new QP are, in native mode; in place of struct rxe_create_qp_resp.
 *
 * offset, size: what to pass to mmap(); in there, from the start:
 * send_head, recv_head: struct sroce_queue_head
 * send_slots, recv_slots: the slots
 * send_count, recv_count: how many, a power of two
 * send_stride, recv_stride: bytes from one to the next
 */
struct sroce_create_qp_resp {
	__aligned_u64 offset;
	__u32	size;
	__u32	send_head;
	__u32	send_slots;
	__u32	send_count;
	__u32	send_stride;
	__u32	recv_head;
	__u32	recv_slots;
	__u32	recv_count;
	__u32	recv_stride;
	__u32	reserved;
};

/* Inline data of a send request, in native mode. */
#define SROCE_MAX_INLINE_NATIVE	1024

#endif
