/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ACK timer and the tail-loss probe of a requester. See tlp.c.
 */
#ifndef SROCE_TRANSPORT_TLP_H
#define SROCE_TRANSPORT_TLP_H

#include <linux/types.h>

struct sroce_requester;

/**
 * struct sroce_probe - the tail-loss probe
 * @deadline_ns: when the probe timeout (PTO) expires, SROCE_NEVER when it does not run
 * @sent_count: probe timeouts since the QP left RESET
 * @ack_requests: packets with AckReq since the last progress
 * @pto_backoff: probes in a row without progress, or with an ambiguous one only
 * @due: the next packet to send is a probe
 * @sent: a probe is out; packets that its ACK does not cover were lost
 * @timed_out: the ACK timer made the probe due
 * @overdue: it did, round trips are shorter than its timeout, and the peer was silent meanwhile
 * @unacked: a probe was sent since the last progress
 * @newest: it repeated the newest packet, and that was not the oldest one; to a standard peer,
 *          another one may have repeated the oldest since
 * @spurious_alone: probes in a row whose ACK came within a round trip and covered only the probe,
 *                  or after an ACK timeout, and was followed by no other
 * @spurious: probes in a row that were followed by progress within a round trip
 * @ambiguous: on a path that reorders, packets that the ACK of the probe did not cover may be
 *             late instead of lost; the next timeout decides
 * @pto_slack_ns: added to the PTO, because responses took that long and were not lost
 * @psn: PSN of the probe, the last one if there were two
 * @newest_psn: PSN of the one that repeated the newest packet, if @newest
 * @end_psn: one past the newest PSN sent before it, before the first one if there were two
 * @at_ns: when it was sent, the first one if there were two
 */
struct sroce_probe {
	u64	deadline_ns;
	u64	sent_count;
	u32	ack_requests;
	u8	pto_backoff;
	bool	due;
	bool	sent;
	bool	timed_out;
	bool	overdue;
	bool	unacked;
	bool	newest;
	bool	ambiguous;
	u8	spurious_alone;
	u8	spurious;
	u64	pto_slack_ns;
	u32	psn;
	u32	newest_psn;
	u32	end_psn;
	u64	at_ns;
};

void sroce_tlp_start_ack_timer(struct sroce_requester *req, u64 now_ns);
void sroce_tlp_arm(struct sroce_requester *req, u64 now_ns);
void sroce_tlp_progress(struct sroce_requester *req, u64 now_ns);
void sroce_tlp_acked(struct sroce_requester *req, u32 unacked_psn, u64 now_ns);
void sroce_tlp_go_back(struct sroce_requester *req, u32 psn);
void sroce_tlp_nak(struct sroce_requester *req, bool rnr);
void sroce_tlp_request_ack(struct sroce_requester *req, u32 end_psn);
u32 sroce_tlp_probe_psn(const struct sroce_requester *req);
void sroce_tlp_probe_sent(struct sroce_requester *req, u32 psn, u64 now_ns);
bool sroce_tlp_probe_newest(struct sroce_requester *req);
bool sroce_tlp_probe_acked(struct sroce_requester *req, u64 now_ns);
u32 sroce_tlp_timeout(struct sroce_requester *req, u64 now_ns);

#endif
