// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The READs and atomics that the responder has accepted: a ring in PSN order, for responses and
 * replays.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/psn.h"
#include "transport/responder_resources.h"

/* Slot of the entry that is @age entries younger than the oldest. */
static u32 entry_slot(const struct sroce_resources *res, u32 age)
{
	return (res->next + res->capacity - res->count + age) % res->capacity;
}

static bool is_pending(const struct sroce_resource *entry)
{
	return entry->sent_count < entry->end_count;
}

/* The entry at first_pending may have been responded to, or removed: find the next one. */
static void advance_first_pending(struct sroce_resources *res)
{
	while (res->first_pending < res->count &&
	       !is_pending(sroce_resources_at(res, entry_slot(res, res->first_pending))))
		res->first_pending++;
}

/**
 * sroce_resources_init() - set up an empty ring
 * @res: the ring
 * @storage: owned by the datapath
 * @capacity: entries in it; 0 when the QP takes neither READs nor atomics
 */
void sroce_resources_init(struct sroce_resources *res, struct sroce_resource_storage *storage,
			  u32 capacity)
{
	memset(res, 0, sizeof(*res));
	res->storage = storage;
	res->capacity = capacity;
}

/**
 * sroce_resources_resize() - move the entries to storage of another size
 * @res: the ring
 * @storage: its new storage
 * @capacity: entries in it
 *
 * A smaller ring keeps the youngest entries. Parts of READs that wait to be replayed are forgotten,
 * and the peer requests them again.
 *
 * Return: false if an entry whose response is still to be sent does not fit; the ring is unchanged
 * then.
 */
bool sroce_resources_resize(struct sroce_resources *res, struct sroce_resource_storage *storage,
			    u32 capacity)
{
	u32 keep = min(res->count, capacity);
	struct sroce_resources to;
	u32 age;

	sroce_resources_init(&to, storage, capacity);
	for (age = res->count - keep; age < res->count; age++) {
		const struct sroce_resource *entry = sroce_resources_at(res, entry_slot(res, age));

		storage->entries[to.count++] = *entry;
		to.pending += is_pending(entry);
	}
	to.next = capacity ? to.count % capacity : 0;
	advance_first_pending(&to);
	if (to.pending != res->pending)
		return false;
	*res = to;
	return true;
}

/**
 * sroce_resources_have_room() - is there an entry for another READ or atomic?
 * @res: the ring
 *
 * Return: false if not all responses of the entry to be overwritten have been sent: the peer
 * exceeded max_dest_rd_atomic.
 */
bool sroce_resources_have_room(const struct sroce_resources *res)
{
	if (res->count < res->capacity)
		return true;
	return res->capacity && sroce_resources_at(res, res->next)->responded;
}

static void remove_replay(struct sroce_resources *res, u32 at)
{
	struct sroce_replay *replays = res->storage->replays;

	res->replay_count--;
	memmove(&replays[at], &replays[at + 1], (res->replay_count - at) * sizeof(*replays));
}

static void drop_replays(struct sroce_resources *res, u32 slot)
{
	u32 at = 0;

	while (at < res->replay_count)
		if (res->storage->replays[at].slot == slot)
			remove_replay(res, at);
		else
			at++;
}

/**
 * sroce_resources_fill_hole() - replay a part of a READ
 * @res: the ring
 * @replay: the part; pending responses of the READ stay pending
 *
 * Return: false if too many replays wait already.
 */
bool sroce_resources_fill_hole(struct sroce_resources *res, const struct sroce_replay *replay)
{
	if (res->replay_count == SROCE_MAX_REPLAYS)
		return false;
	res->storage->replays[res->replay_count++] = *replay;
	return true;
}

/**
 * sroce_resources_replay_sent() - responses of the first replay have been sent
 * @res: the ring
 * @count: how many
 */
void sroce_resources_replay_sent(struct sroce_resources *res, u32 count)
{
	struct sroce_replay *replay = &res->storage->replays[0];

	replay->sent += count;
	if (replay->sent >= replay->end)
		remove_replay(res, 0);
}

static void remove_oldest(struct sroce_resources *res)
{
	u32 slot = entry_slot(res, 0);

	drop_replays(res, slot);
	if (is_pending(sroce_resources_at(res, slot)))
		res->pending--;
	res->count--;
	if (res->first_pending)
		res->first_pending--;
	advance_first_pending(res);
}

/**
 * sroce_resources_add() - take the next entry for a new READ or atomic
 * @res: the ring; sroce_resources_have_room() must be true
 *
 * The caller sets end_count > sent_count: the entry counts as pending at once.
 *
 * Return: the entry, zeroed.
 */
struct sroce_resource *sroce_resources_add(struct sroce_resources *res)
{
	struct sroce_resource *entry = sroce_resources_at(res, res->next);

	/* Nobody waits any more for the replay of the entry that is overwritten. */
	if (res->count == res->capacity)
		remove_oldest(res);
	memset(entry, 0, sizeof(*entry));
	res->next = (res->next + 1) % res->capacity;
	res->count++;
	res->pending++;
	return entry;
}

/**
 * sroce_resources_forget() - drop entries that no duplicate can ask for any more
 * @res: the ring
 * @epsn: expected PSN, moved by at most half of the circle since the last call
 *
 * A requester has at most half of the circle outstanding. Entries further behind would match new
 * requests when their PSNs are used again.
 */
void sroce_resources_forget(struct sroce_resources *res, u32 epsn)
{
	while (res->count) {
		const struct sroce_resource *oldest = sroce_resources_at(res, entry_slot(res, 0));
		u32 end_psn = psn_add(oldest->first_psn, oldest->psn_count);

		if (((epsn - end_psn) & SROCE_PSN_MASK) < SROCE_PSN_SPAN)
			return;
		remove_oldest(res);
	}
}

/**
 * sroce_resources_find() - the entry a PSN belongs to
 * @res: the ring
 * @psn: PSN of a duplicate request
 * @index: set to the entry's slot
 *
 * Return: whether one is left.
 */
bool sroce_resources_find(const struct sroce_resources *res, u32 psn, u32 *index)
{
	u32 age;

	/* Youngest first: its response is lost most often. */
	for (age = res->count; age--;) {
		u32 slot = entry_slot(res, age);
		const struct sroce_resource *entry = sroce_resources_at(res, slot);

		if (((psn - entry->first_psn) & SROCE_PSN_MASK) < entry->psn_count) {
			*index = slot;
			return true;
		}
	}
	return false;
}

/**
 * sroce_resources_first_pending() - the entry whose response is due next
 * @res: the ring
 * @index: set to its slot
 *
 * Return: whether there is one.
 */
bool sroce_resources_first_pending(const struct sroce_resources *res, u32 *index)
{
	if (!res->pending)
		return false;
	*index = entry_slot(res, res->first_pending);
	return true;
}

/**
 * sroce_resources_first_between() - the first READ or atomic between two PSNs
 * @res: the ring
 * @psn: a duplicate's PSN
 * @epsn: expected PSN
 * @first_psn: set to the request's PSN
 *
 * An ACK beyond it would claim that its response has been sent.
 *
 * Return: whether there is one.
 */
bool sroce_resources_first_between(const struct sroce_resources *res, u32 psn, u32 epsn,
				   u32 *first_psn)
{
	u32 age, span = (epsn - psn) & SROCE_PSN_MASK;

	for (age = 0; age < res->count; age++) {
		const struct sroce_resource *entry = sroce_resources_at(res, entry_slot(res, age));

		if (((entry->first_psn - psn) & SROCE_PSN_MASK) < span) {
			*first_psn = entry->first_psn;
			return true;
		}
	}
	return false;
}

/**
 * sroce_resources_replay() - send the responses of an entry again
 * @res: the ring
 * @index: its slot
 * @from: first response to be sent
 * @to: one past the last
 *
 * Pending responses of younger entries stay pending: the peer requests those again only if it
 * went back, not if the network duplicated a packet.
 */
void sroce_resources_replay(struct sroce_resources *res, u32 index, u32 from, u32 to)
{
	struct sroce_resource *entry = sroce_resources_at(res, index);
	u32 age = (index + res->capacity - entry_slot(res, 0)) % res->capacity;

	if (!is_pending(entry))
		res->pending++;
	res->first_pending = min(res->first_pending, age);
	entry->base_count = from;
	entry->sent_count = from;
	entry->end_count = to;
	advance_first_pending(res);
}

/**
 * sroce_resources_sent() - responses of an entry have been sent
 * @res: the ring
 * @index: its slot
 * @count: how many
 */
void sroce_resources_sent(struct sroce_resources *res, u32 index, u32 count)
{
	struct sroce_resource *entry = sroce_resources_at(res, index);

	entry->sent_count += count;
	if (entry->sent_count == entry->psn_count)
		entry->responded = true;
	if (is_pending(entry))
		return;
	res->pending--;
	advance_first_pending(res);
}
