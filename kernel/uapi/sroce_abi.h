/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * User ABI of a process in native mode, as far as it differs from <rdma/rdma_user_rxe.h>: opening
 * a device; send, receive and shared receive queues; and arming of completion queues. In rxe mode
 * nothing differs. See Documentation/abi.md.
 */
#ifndef SROCE_UAPI_SROCE_ABI_H
#define SROCE_UAPI_SROCE_ABI_H

#include <linux/types.h>

/* A device's uverbs_abi_ver: the version that librxe supports. */
#define SROCE_ABI_VERSION_RXE	2

/* The version of this file, which /sys/class/infiniband/DEV/sroce/abi_version shows. */
#define SROCE_ABI_VERSION	103

/**
 * struct sroce_alloc_ucontext_cmd - driver part of the command that opens a device in native mode
 * @abi_version: SROCE_ABI_VERSION
 * @reserved: 0
 *
 * A process that passes no such part is in rxe mode, and so is one that gets no response.
 */
struct sroce_alloc_ucontext_cmd {
	__u32	abi_version;
	__u32	reserved;
};

/**
 * struct sroce_alloc_ucontext_resp - driver part of the response
 * @abi_version: SROCE_ABI_VERSION; left alone in rxe mode, and by rdma_rxe
 * @reserved: 0
 */
struct sroce_alloc_ucontext_resp {
	__u32	abi_version;
	__u32	reserved;
};

/*
 * vendor_err of a work completion that failed, in both modes (Documentation/abi.md). From
 * SROCE_VENDOR_NAK on, it is the syndrome of the responder's NAK, which UC and UD do not send.
 */
enum sroce_vendor_err {
	SROCE_VENDOR_UNKNOWN	= 0,
	SROCE_VENDOR_KEY	= 1,
	SROCE_VENDOR_RANGE	= 2,
	SROCE_VENDOR_ACCESS	= 3,
	SROCE_VENDOR_LIST	= 5,
	SROCE_VENDOR_LENGTH	= 0x10,
	SROCE_VENDOR_OPERATION	= 0x11,
	SROCE_VENDOR_RESPONSE	= 0x12,
	SROCE_VENDOR_TIMEOUT	= 0x13,
	SROCE_VENDOR_FLUSHED	= 0x14,
	SROCE_VENDOR_RNR	= 0x20,
	SROCE_VENDOR_NAK	= 0x60,
};

/* A cache line. Kernel and process write to different ones. */
#define SROCE_QUEUE_LINE	64

/*
 * Shared words of a send or receive queue in native mode. Indices are free-running; a queue is full
 * if producer - consumer is its number of slots.
 *
 * producer: requests posted
 * consumer: requests that the kernel has finished with; their slots may be reused
 * no_doorbell: send queue: not 0 while the kernel polls the queue, so that no doorbell is needed
 * fetched: send queue: requests that the kernel has copied
 * needs_doorbell: receive queue: not 0 in the state ERR, in which the kernel looks for requests, to
 *	flush them, only after a doorbell
 */
struct sroce_queue_head {
	__u32	producer;
	__u32	reserved[SROCE_QUEUE_LINE / 4 - 1];
	/* Written by the kernel, which never reads them. */
	__u32	consumer;
	__u32	no_doorbell;
	__u32	fetched;
	__u32	needs_doorbell;
	__u32	reserved_kernel[SROCE_QUEUE_LINE / 4 - 4];
};

/*
 * How often a process has armed a completion queue: for any completion, and for solicited ones and
 * errors only, which does not weaken an earlier arm for any. One event serves all arms before it.
 */
struct sroce_cq_arm {
	__u32	any;
	__u32	solicited;
};

/*
 * The cache line of a completion queue that the process writes in native mode: consumer_index of
 * struct rxe_queue_buf and, in the padding after it, the arm.
 */
struct sroce_cq_line {
	__u32	consumer;
	struct sroce_cq_arm arm;
	__u32	reserved[SROCE_QUEUE_LINE / 4 - 3];
};

/*
 * Where an entry of a completion queue, struct ib_uverbs_wc, has its timestamp: __u64, nanoseconds
 * of CLOCK_MONOTONIC. Native mode only, and only if the process asked for it
 * (IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION). In a time namespace the clock of the process has
 * another offset, which is not applied.
 */
#define SROCE_CQ_TIMESTAMP_AT	48

/* The frequency that the device reports for that clock, kHz. */
#define SROCE_CLOCK_KHZ		1000000

/*
 * A send request in native mode. Its elements (struct rxe_sge) or inline data follow; with one
 * element it takes a cache line.
 *
 * opcode: enum ib_uverbs_wr_opcode
 * flags: enum ib_send_flags
 * num_sge: elements that follow, 0 with inline data
 * length: bytes of the message
 *
 * A FLUSH has a length of 0; flush.length is that of the range. type is an enum ib_placement_type,
 * level an enum ib_selectivity_level.
 *
 * A memory window is bound to a range of a region: remote_addr is its first byte, rkey the present
 * key of the window, and invalidate_rkey the next one.
 *
 * XRC: xrc.srqn is the number of the peer's shared receive queue; of an atomic, it is atomic_srqn.
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
		__u32	atomic_srqn;
	};
	union {
		__u32	rkey;
		__u32	qkey;		/* datagram */
	};
	union {
		__aligned_u64 remote_addr;
		struct {
			__u32	dest_qpn;
			__u32	ah;	/* number of the address handle */
		} ud;
	};
	union {
		struct {
			__aligned_u64 compare_add;	/* atomic */
			__aligned_u64 swap;
		};
		struct {
			__aligned_u64 length;
			__u32	lkey;
			__u32	access;
		} bind;
		struct {
			__u32	length;
			__u8	type;
			__u8	level;
		} flush;
		struct {
			__u32	reserved[3];	/* of the operation */
			__u32	srqn;
		} xrc;
	};
};

/*
 * A receive request in native mode. Elements (struct rxe_sge) follow. If there are fewer than the
 * queue was created with, one of length 0 ends them.
 */
struct sroce_recv_slot {
	__aligned_u64 wr_id;
};

/*
 * The queues of a new QP in native mode, instead of struct rxe_create_qp_resp.
 *
 * offset, size: arguments for mmap()
 * send_head, recv_head: offset of struct sroce_queue_head in the mapping
 * send_slots, recv_slots: offset of the slots in the mapping
 * send_count, recv_count: number of slots, a power of two
 * send_stride, recv_stride: bytes from one slot to the next
 *
 * With a shared receive queue, everything of recv_ is 0.
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

/*
 * A shared receive queue in native mode, instead of struct rxe_create_srq_resp. A resize writes it
 * to mmap_info_addr of struct rxe_modify_srq_cmd. Its slots are struct sroce_recv_slot.
 *
 * offset, size: arguments for mmap()
 * head: offset of struct sroce_queue_head in the mapping
 * slots: offset of the slots in the mapping
 * count: number of slots, a power of two
 * stride: bytes from one slot to the next
 * number: of the queue, unique in the module
 */
struct sroce_create_srq_resp {
	__aligned_u64 offset;
	__u32	size;
	__u32	head;
	__u32	slots;
	__u32	count;
	__u32	stride;
	__u32	number;
};

/* Most inline data of a send request in native mode. */
#define SROCE_MAX_INLINE_NATIVE	1024

#endif
