/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Doorbell suppression, see doorbell.c. */
#ifndef SROCE_DATAPATH_DOORBELL_H
#define SROCE_DATAPATH_DOORBELL_H

#include <linux/types.h>

struct sroce_qp;

/**
 * struct sroce_db_suppress - whether a process needs doorbells; all of it under the send lock
 * @supported: the QP belongs to a process, on a device in native mode
 * @active: the kernel polls the send ring: by @poll_until_ns, or when other events run the queue
 * @unused: no request has come without a doorbell since suppression was last granted
 * @doorbell_seen: there was a doorbell since the last look
 * @signaled: one of the requests found asks for a completion
 * @found: work requests fetched since the last look
 * @unacked_psn: of the requester when suppression was granted: have responses come since?
 * @late_cost: how much requests have waited for the timer lately, see doorbell.c
 * @epsn: of the responder at the last look: has the peer sent something since?
 * @poll_ns: for how long suppression is granted, at most, while responses are due
 * @poll_until_ns: when it may be revoked; SROCE_NEVER while other events run the queue. While it
 *                 is not active and @unused: until when it would have been of use, else 0
 * @pause_until_ns: none is granted before, because the process waited for the timer too often
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
	u64	poll_ns;
	u64	poll_until_ns;
	u64	pause_until_ns;
};

u64 sroce_doorbell_update(struct sroce_qp *qp, u64 deadline_ns);

#endif
