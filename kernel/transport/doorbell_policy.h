/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When a process may post without a doorbell. See doorbell_policy.c. */
#ifndef SROCE_TRANSPORT_DOORBELL_POLICY_H
#define SROCE_TRANSPORT_DOORBELL_POLICY_H

#include <linux/types.h>

/**
 * struct sroce_db_suppress - whether a process needs doorbells
 * @supported: the QP belongs to a process in native mode
 * @active: the kernel polls the send ring: by @poll_until_ns, or when other events run the queue
 * @unused: no request has come without a doorbell since suppression was last granted
 * @doorbell_seen: there was a doorbell since the last decision
 * @signaled: one of the requests found asks for a completion
 * @found: requests fetched since the last decision
 * @unacked_psn: of the requester when suppression was granted
 * @late_cost: how much requests have waited for the timer lately
 * @epsn: of the responder when requests were last fetched
 * @cq_fetches: of the CQ, after that fetch
 * @poll_ns: for how long suppression is granted, at most, while responses are due
 * @poll_until_ns: when the timer polls the ring; SROCE_NEVER while other events run the queue.
 *                 While not active: if @unused, until when a second doorbell earns a grant; else 0
 * @pause_until_ns: suppression is not granted before this time
 */
struct sroce_db_suppress {
	bool	supported;
	bool	active;
	bool	unused;
	bool	doorbell_seen;
	bool	signaled;
	u32	found;
	u32	unacked_psn;
	u32	late_cost;
	u32	epsn;
	u32	cq_fetches;
	u64	poll_ns;
	u64	poll_until_ns;
	u64	pause_until_ns;
};

/**
 * struct sroce_db_input - what a decision depends on, at the end of a round of the send queue
 * @now_ns: monotonic time
 * @unacked_psn: of the requester
 * @epsn: expected PSN of the responder: it moves when the peer has sent something
 * @cq_fetches: how often requests were fetched for queue pairs whose send CQ it is, before this one
 * @responses_due: packets are not acknowledged
 * @is_busy: other events run the queue in any case: requests are being sent, or fill the ring
 * @storage_full: requests wait in the process's ring, and a doorbell would get memory for them
 * @cq_behind: the process leaves completions unread
 * @cq_armed: the process sleeps until the next completion; needed if sroce_db_may_grant()
 */
struct sroce_db_input {
	u64	now_ns;
	u32	unacked_psn;
	u32	epsn;
	u32	cq_fetches;
	bool	responses_due;
	bool	is_busy;
	bool	storage_full;
	bool	cq_behind;
	bool	cq_armed;
};

enum sroce_db_action {
	SROCE_DB_KEEP,		/* leave the word in the ring as it is */
	SROCE_DB_GRANT,		/* no doorbell is needed from now on */
	SROCE_DB_REVOKE,	/* doorbells are needed; look at the ring once more */
};

/* A request has been fetched from the process's ring. */
static inline void sroce_db_fetched(struct sroce_db_suppress *db, bool is_signaled)
{
	db->found++;
	db->signaled |= is_signaled;
}

/* The process has rung its doorbell. */
static inline void sroce_db_rung(struct sroce_db_suppress *db)
{
	db->doorbell_seen = true;
}

/**
 * sroce_db_is_settled() - is there nothing to decide?
 * @db: the state
 * @cq_behind: the process leaves completions unread
 *
 * So it is with a process that posts one request and waits for its completion.
 *
 * Return: true if sroce_db_decide() would return SROCE_DB_KEEP whatever else its input is.
 */
static inline bool sroce_db_is_settled(const struct sroce_db_suppress *db, bool cq_behind)
{
	return !db->active && db->found == 1 && db->signaled && !cq_behind;
}

void sroce_db_settle(struct sroce_db_suppress *db, u32 epsn, u32 cq_fetches);
bool sroce_db_may_grant(const struct sroce_db_suppress *db, const struct sroce_db_input *in);
enum sroce_db_action sroce_db_decide(struct sroce_db_suppress *db,
				     const struct sroce_db_input *in);
u64 sroce_db_deadline(struct sroce_db_suppress *db, const struct sroce_db_input *in);

#endif
