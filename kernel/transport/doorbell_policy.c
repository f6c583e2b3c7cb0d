// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * When a process may post without a doorbell.
 *
 * While suppression is active the kernel polls the send ring by a timer, which costs an interrupt.
 * It pays for processes that post several requests for each time they poll completions: these
 * ring the doorbell when they run out of completions, so no request waits for the timer.
 *
 *              posts ahead, no CQ armed, no pause
 *   inactive ------------------------------------> active (poll_until_ns)
 *      ^                                             |  extended while requests come or ACKs move
 *      +---------------------------------------------+
 *         timer found nothing to extend it for; or the ring in kernel memory is full
 *
 * A request whose process waits for the timer is late. It costs what 64 requests without a doorbell
 * save; at a cost of 256 suppression pauses. After a grant that was not used the next one needs one
 * more doorbell, otherwise each of many QPs used in turn would have a timer for nothing.
 */
#include <linux/minmax.h>

#include "transport/time.h"
#include "transport/doorbell_policy.h"

/*
 * How long the kernel polls, and so how long a request may wait: 50 us, and an eighth more each
 * time the timer finds no late request. The limit is 250 us. It is 1 ms while responses are due,
 * because they run the queue as well.
 */
#define POLL_NS			50000ull
#define POLL_NS_MAX		1000000ull
#define IDLE_POLL_NS_MAX	250000ull
/* Cost of a late request, in requests without a doorbell; and the cost that starts a pause. */
#define LATE_REQUEST_COST	64u
#define LATE_COST_MAX		(4 * LATE_REQUEST_COST)
/* The length of a pause, in which every post needs a doorbell. */
#define PAUSE_NS		4000000ull

static bool grant_has_expired(const struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	return db->active && in->now_ns >= db->poll_until_ns;
}

static u64 grant_ns(const struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	return in->responses_due ? db->poll_ns : min(db->poll_ns, IDLE_POLL_NS_MAX);
}

/*
 * Does the process post ahead of its polling? Yes if it brings several requests, or leaves
 * completions unread, or wants none and the peer has sent nothing since its last request, so that
 * it cannot have waited for anything.
 */
static bool posts_ahead(const struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	return db->found > 1 || in->cq_behind || (!db->signaled && db->epsn == in->epsn);
}

/**
 * sroce_db_may_grant() - can sroce_db_decide() grant suppression, if no CQ is armed?
 * @db: the state
 * @in: the input, but for @in->cq_armed
 *
 * To look whether a CQ is armed takes its lock, so it is not done in vain.
 *
 * Return: whether it can.
 */
bool sroce_db_may_grant(const struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	bool moves = db->unacked_psn != in->unacked_psn && in->responses_due;

	if (in->now_ns < db->pause_until_ns || in->storage_full)
		return false;
	return (db->found && posts_ahead(db, in)) || (grant_has_expired(db, in) && moves);
}

/*
 * Has the process waited for the timer? It has not if it is busy with other queue pairs: they bring
 * requests too, it leaves completions unread, and the peer of this one has sent nothing. Without
 * the last condition, a process that reaps rarely and polls memory for responses would wait.
 */
static bool process_has_waited(const struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	return !in->cq_behind || db->cq_fetches == in->cq_fetches || db->epsn != in->epsn;
}

/* Requests found without a doorbell pay for those that had to wait for the timer. */
static void charge_late_request(struct sroce_db_suppress *db, bool late, u64 now_ns)
{
	db->late_cost -= min(db->late_cost, db->found);
	if (!late)
		return;
	db->late_cost += LATE_REQUEST_COST;
	if (db->late_cost < LATE_COST_MAX)
		return;
	db->late_cost = 0;
	db->pause_until_ns = now_ns + PAUSE_NS;
}

/* Begin to count what comes until the next decision. */
static void begin_count(struct sroce_db_suppress *db, u32 epsn, u32 cq_fetches)
{
	if (db->found) {
		db->epsn = epsn;
		db->cq_fetches = cq_fetches + 1;
	}
	db->found = 0;
	db->doorbell_seen = false;
	db->signaled = false;
}

/**
 * sroce_db_settle() - do what sroce_db_decide() does if sroce_db_is_settled(), without giving
 *		       poll_ns its limits
 * @db: the state
 * @epsn: as in struct sroce_db_input
 * @cq_fetches: as @epsn
 */
void sroce_db_settle(struct sroce_db_suppress *db, u32 epsn, u32 cq_fetches)
{
	charge_late_request(db, false, 0);
	begin_count(db, epsn, cq_fetches);
}

static enum sroce_db_action grant_if_useful(struct sroce_db_suppress *db,
					    const struct sroce_db_input *in)
{
	/* The last grant was not used: wait for a second doorbell within the time of a grant. */
	if (!db->active && db->unused && in->now_ns >= db->poll_until_ns && !in->is_busy) {
		db->poll_until_ns = in->now_ns + grant_ns(db, in);
		return SROCE_DB_KEEP;
	}
	db->unused |= !db->active;
	db->active = true;
	db->poll_until_ns = in->now_ns + grant_ns(db, in);
	db->unacked_psn = in->unacked_psn;
	return SROCE_DB_GRANT;
}

static enum sroce_db_action revoke_grant(struct sroce_db_suppress *db)
{
	db->active = false;
	db->poll_until_ns = 0;
	return SROCE_DB_REVOKE;
}

/**
 * sroce_db_decide() - grant, extend or revoke suppression
 * @db: the state, of which @found, @signaled and @doorbell_seen say what has come
 * @in: the input
 *
 * Return: what to do with the word in the ring.
 */
enum sroce_db_action sroce_db_decide(struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	bool expired = grant_has_expired(db, in);
	bool late = expired && db->found && !db->doorbell_seen && process_has_waited(db, in);
	bool may_grant = sroce_db_may_grant(db, in) && !in->cq_armed;
	enum sroce_db_action action = SROCE_DB_KEEP;

	if (db->active && db->found && !db->doorbell_seen)
		db->unused = false;
	if (late)
		db->poll_ns = 0;
	db->poll_ns = clamp(db->poll_ns + (expired ? db->poll_ns / 8 : 0), POLL_NS, POLL_NS_MAX);
	charge_late_request(db, late, in->now_ns);
	/* Requests wait in the process's ring for memory, which only a doorbell can get. */
	if (db->active && in->storage_full)
		action = revoke_grant(db);
	else if (may_grant)
		action = grant_if_useful(db, in);
	else if (expired)
		action = revoke_grant(db);
	begin_count(db, in->epsn, in->cq_fetches);
	return action;
}

/**
 * sroce_db_deadline() - when the timer must poll the ring
 * @db: the state, after sroce_db_decide()
 * @in: the same input
 *
 * Return: monotonic nanoseconds, SROCE_NEVER if it need not.
 */
u64 sroce_db_deadline(struct sroce_db_suppress *db, const struct sroce_db_input *in)
{
	if (!db->active)
		return SROCE_NEVER;
	db->poll_until_ns = in->is_busy ? SROCE_NEVER :
					  min(db->poll_until_ns, in->now_ns + grant_ns(db, in));
	return db->poll_until_ns;
}
