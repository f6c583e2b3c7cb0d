/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Responder resources (IBTA 9.4.1.2): a ring of the last READs, atomics and the like, so that
 * responses are sent in order and duplicate requests can be replayed. It has max_dest_rd_atomic
 * entries. A new entry overwrites the oldest, which is also dropped before its PSNs are used again.
 */
#ifndef SROCE_TRANSPORT_RESPONDER_RESOURCES_H
#define SROCE_TRANSPORT_RESPONDER_RESOURCES_H

#include <linux/types.h>

#include "transport/packet.h"

#define SROCE_MAX_RESOURCES	128

/* The response that an entry stands for. */
enum sroce_resource_kind {
	SROCE_RESOURCE_READ,
	SROCE_RESOURCE_ATOMIC,
	SROCE_RESOURCE_EMPTY,	/* FLUSH, ATOMIC WRITE: a READ response without data */
};

/**
 * struct sroce_resource - one READ, atomic, FLUSH or ATOMIC WRITE
 * @kind: enum sroce_resource_kind
 * @first_psn: PSN of the request
 * @psn_count: PSNs of its responses
 * @msn: of the request, in all its responses, however late
 * @base_count: response that the (repeated) request began with: the FIRST
 * @sent_count: response to send next
 * @end_count: response that the (repeated) request ends before; equal to
 *             @sent_count when nothing is pending
 * @end_bytes: READ: where in the range the (repeated) request ends
 * @responded: all responses have been sent once; the peer has them if it sends a READ or atomic
 *             beyond the number that it may have outstanding
 * @opcode: of the request
 * @va: its address
 * @rkey: its key
 * @srqn: XRC: the shared receive queue that it names
 * @length: READ: bytes requested
 * @original: atomic: value before the operation
 */
struct sroce_resource {
	u32	first_psn;
	u32	psn_count;
	u32	msn;
	u32	base_count;
	u32	sent_count;
	u32	end_count;
	u32	end_bytes;
	bool	responded;
	u8	kind;
	u8	opcode;
	u64	va;
	u32	rkey;
	u32	srqn;
	u32	length;
	u64	original;
};

/* Holes that wait to be replayed. If a peer has more of them, it requests the rest again. */
#define SROCE_MAX_REPLAYS	16

/**
 * struct sroce_replay - part of a READ to be replayed
 * @slot: its entry
 * @base: response that the request began with: the FIRST
 * @sent: response to send next
 * @end: response that it ends before
 * @end_bytes: where in the range it ends
 */
struct sroce_replay {
	u32	slot;
	u32	base;
	u32	sent;
	u32	end;
	u32	end_bytes;
};

/**
 * struct sroce_resource_storage - allocated by the datapath for a QP that takes READs or atomics
 * @replays: holes to be filled before all other responses, because the peer waits for them
 * @entries: as many as the ring has
 */
struct sroce_resource_storage {
	struct sroce_replay replays[SROCE_MAX_REPLAYS];
	struct sroce_resource entries[];
};

/**
 * struct sroce_resources - the ring
 * @storage: NULL if @capacity is 0
 * @capacity: entries in it: max_dest_rd_atomic
 * @count: entries in use, up to @capacity
 * @next: slot of the next entry
 * @pending: entries with responses still to be sent
 * @first_pending: age of the oldest of them, @count if there is none. Searching for it took a tenth
 *	of the instructions of a small READ
 * @replay_count: holes to be replayed
 */
struct sroce_resources {
	struct sroce_resource_storage *storage;
	u32	capacity;
	u32	count;
	u32	next;
	u32	pending;
	u32	first_pending;
	u32	replay_count;
};

/* How many READs and atomics the peer may have outstanding. */
static inline u32 sroce_resources_capacity(const struct sroce_resources *res)
{
	return res->capacity;
}

void sroce_resources_init(struct sroce_resources *res, struct sroce_resource_storage *storage,
			  u32 capacity);
bool sroce_resources_resize(struct sroce_resources *res, struct sroce_resource_storage *storage,
			    u32 capacity);
bool sroce_resources_have_room(const struct sroce_resources *res);
struct sroce_resource *sroce_resources_add(struct sroce_resources *res);
void sroce_resources_forget(struct sroce_resources *res, u32 epsn);
bool sroce_resources_find(const struct sroce_resources *res, u32 psn, u32 *index);
bool sroce_resources_first_pending(const struct sroce_resources *res, u32 *index);
bool sroce_resources_first_between(const struct sroce_resources *res, u32 psn, u32 epsn,
				   u32 *first_psn);
void sroce_resources_replay(struct sroce_resources *res, u32 index, u32 from, u32 to);
bool sroce_resources_fill_hole(struct sroce_resources *res, const struct sroce_replay *replay);
void sroce_resources_replay_sent(struct sroce_resources *res, u32 count);
void sroce_resources_sent(struct sroce_resources *res, u32 index, u32 count);

/* The entry in slot @index. */
static inline struct sroce_resource *sroce_resources_at(const struct sroce_resources *res,
							u32 index)
{
	return &res->storage->entries[index];
}

#endif
