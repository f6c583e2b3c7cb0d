// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ACK timer and tail-loss probes: what the requester does when no response comes; how an ACK
 * restarts them; and go-back-N.
 *
 * Two timers run while a response is due; progress restarts both.
 *
 *   ACK timer    IBTA 9.7.6.1.3. Armed when packets leave. Expiry doubles the timeout until there
 *                is an RTT sample (RFC 6298 section 5), shrinks the window, and uses up a retry
 *                unless the peer has responded. A standard peer is sent everything again that it
 *                has not executed (go-back-N); a selective one only a probe. The timeout is at
 *                least srtt + 4 * rttvar, as in RFC 6298, as far as IBTA permits.
 *   probe (PTO)  RFC 8985 section 7, TLP. Armed when a packet leaves that requests an ACK, only if
 *                attr.adaptive. Expiry costs no retry. It sends a packet again, see
 *                sroce_tlp_probe_psn(). Packets sent before the probe that its ACK does not cover
 *                were lost, and the scoreboard retransmits them.
 *
 * PTO = (srtt + max(4 * rttvar, srtt / 2) + 50 us + slack) << backoff, at most 1 s; 2 ms before
 * the first RTT sample. The formula is in rtt.c, the slack in learn_pto_slack().
 *
 * A standard peer that misses a request stays silent after its one NAK, and drops what follows. So
 * a probe alone does not help there: after a rewind, or after MANY_ACK_REQUESTS without a
 * response, or the second time in a row, the probe timeout rewinds instead. But a peer whose queue
 * has grown is silent, too, and each rewind makes the queue longer. So one RTT sample is not
 * believed for that, and an ACK of the oldest packet alone does not tell what was lost: see
 * sroce_tlp_probe_newest().
 */
#include <linux/minmax.h>

#include "transport/cc.h"
#include "transport/psn.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/rtt.h"
#include "transport/scoreboard.h"
#include "transport/time.h"
#include "transport/tlp.h"

/* IBTA 9.7.6.1.3 lets the ACK timeout grow to four times its value. */
#define MAX_TIMEOUT_SHIFT	2
/* ACK timeouts in a row that use up no retry because the peer responds. */
#define FREE_TIMEOUTS		8
/* The PTO is at most 1 s, so 2^20 times its smallest value is never reached. */
#define MAX_PTO_BACKOFF		20
#define MAX_PTO_NS		1000000000ull
/* A peer whose CPU is busy may respond this late; beyond that a probe costs little. */
#define MAX_PTO_SLACK_NS	100000000ull
/* Before the first response, ACK timeouts that withdraw the offer; the last retry does so, too. */
#define OFFER_TIMEOUTS		2
/* Three requests for an ACK without a response are more than one lost packet. */
#define MANY_ACK_REQUESTS	3
/*
 * Before the first RTT sample the path may just be long: give up after 2 + 4 + 8 + 16 = 30 ms. A
 * single sample may be older than the queue at the peer, so give up after as many timeouts then.
 */
#define FIRST_PROBES		4
/* After three spurious probes in a row the smoothed RTT is wrong: the next one corrects it. */
#define SPURIOUS_PROBES		3
/* After five probes without progress the peer may have dropped SACKed packets (RFC 2018, 8). */
#define RENEGE_PROBES		5

/*
 * Is there an RTT sample that is no upper bound only? Until then the path may be longer than any
 * guess, so the backoff of the PTO lasts and go-back-N repeats few packets. The ACK timeout ignores
 * an upper bound, because it may include the wait for a packet that was lost.
 */
static bool rtt_is_known(const struct sroce_requester *req)
{
	return req->rtt.srtt_ns && !req->rtt.rough;
}

/* The longest round trip to be expected (RFC 6298), 0 before there is a sample. */
static u64 longest_rtt_ns(const struct sroce_requester *req)
{
	return rtt_is_known(req) ? req->rtt.srtt_ns + 4ull * req->rtt.var_ns : 0;
}

/* Progress ends a backoff only once a round trip shows how long the timeout must be. */
static u8 timeout_shift_in_use(const struct sroce_requester *req)
{
	return max(req->timeout_shift, req->kept_shift);
}

static u64 ack_deadline_after(const struct sroce_requester *req, u64 now_ns)
{
	u64 timeout_ns = req->attr.ack_timeout_ns;
	u64 rtt_ns = longest_rtt_ns(req);
	u8 shift = timeout_shift_in_use(req);

	if (!timeout_ns)
		return SROCE_NEVER;
	return now_ns + clamp(rtt_ns, timeout_ns << shift, timeout_ns << MAX_TIMEOUT_SHIFT);
}

/**
 * sroce_tlp_start_ack_timer() - packets have been sent: start the ACK timer unless it runs
 * @req: the requester
 * @now_ns: monotonic time, or when the packets leave
 */
void sroce_tlp_start_ack_timer(struct sroce_requester *req, u64 now_ns)
{
	if (req->ack_deadline_ns == SROCE_NEVER)
		req->ack_deadline_ns = ack_deadline_after(req, now_ns);
}

static u64 pto_ns(const struct sroce_requester *req)
{
	/* After a NAK the peer is known to be alive: wait one round trip only. */
	u64 wait_ns = req->gone_back ? sroce_rtt_rtx_ns(&req->rtt) :
				       sroce_rtt_probe_ns(&req->rtt);
	u8 shift = req->probe.pto_backoff;

	/*
	 * A probe to a selective peer is one packet, so back off at every other one only. With 20 %
	 * loss in each direction one probe in three stays without an ACK, and in a thousand probes
	 * a doubled PTO would soon exceed the ACK timeout. Before the first RTT sample the path
	 * may be longer than the guess.
	 */
	if (req->rtt.srtt_ns && sroce_requester_is_selective(req))
		shift /= 2;
	return min((wait_ns + req->probe.pto_slack_ns) << shift, MAX_PTO_NS);
}

/* A round trip is known now. The probe timer was set when it was not. */
static void restart_probe_timer(struct sroce_requester *req, u64 now_ns)
{
	req->probe.pto_backoff = 0;
	if (req->probe.deadline_ns != SROCE_NEVER)
		req->probe.deadline_ns = max(now_ns, req->cc.edt_ns) + pto_ns(req);
}

/**
 * sroce_tlp_arm() - a packet that requests a response has been sent
 * @req: the requester
 * @now_ns: monotonic time, or when the packet leaves
 */
void sroce_tlp_arm(struct sroce_requester *req, u64 now_ns)
{
	sroce_tlp_start_ack_timer(req, now_ns);
	req->probe.ack_requests++;
	if (req->attr.adaptive && req->probe.deadline_ns == SROCE_NEVER)
		req->probe.deadline_ns = now_ns + pto_ns(req);
}

/* Has the peer received the newest packet, which the probe repeated, or a later one? */
static bool newest_has_arrived(const struct sroce_requester *req)
{
	u32 newest = sroce_requester_forward(req, req->probe.newest_psn);

	/* Acknowledged, it is before unacked_psn and not in flight. */
	return newest >= sroce_requester_forward(req, req->sent_psn) ||
	       newest < sroce_requester_forward(req, req->sb.top_psn);
}

/*
 * A standard peer was sent the newest packet and then the oldest, and has acknowledged the oldest,
 * but not the newest. It is slow, or it has missed packets.
 */
static bool progress_is_ambiguous(const struct sroce_requester *req)
{
	return req->probe.unacked && req->probe.newest &&
	       req->probe.psn != req->probe.newest_psn && !newest_has_arrived(req);
}

static void add_pto_slack(struct sroce_probe *probe, u64 since_ns)
{
	probe->pto_slack_ns = min(probe->pto_slack_ns + 2 * since_ns, MAX_PTO_SLACK_NS);
}

/*
 * Progress within a round trip of a probe, or progress that a probe of the newest packet has not
 * caused, was caused by an earlier packet: the probe was spurious and a longer PTO would have
 * avoided it. A probe that was needed, or an RTT sample, takes part of the slack back.
 * Many spurious probes in a row mean that the estimate of the round trip is too long.
 */
static void learn_pto_slack(struct sroce_requester *req, u64 now_ns)
{
	struct sroce_probe *probe = &req->probe;
	u64 since_ns = sroce_elapsed_ns(now_ns, probe->at_ns);

	if (!probe->unacked) {
		probe->spurious_alone = 0;
		return;
	}
	probe->unacked = false;
	/* The response took longer than the first guess: the path really is long. */
	if (req->rtt.rough && since_ns >= sroce_rtt_probe_ns(&req->rtt))
		req->rtt.rough = false;
	if (probe->newest && !newest_has_arrived(req)) {
		add_pto_slack(probe, since_ns);
	} else if (since_ns >= req->rtt.min_ns) {
		probe->spurious = 0;
		probe->pto_slack_ns -= probe->pto_slack_ns / 4;
	} else if (probe->spurious < SPURIOUS_PROBES) {
		probe->spurious++;
		add_pto_slack(probe, since_ns);
	} else {
		/* No coincidence. READs queued behind each other would never correct the RTT. */
		probe->pto_slack_ns = 0;
		sroce_rtt_sample(&req->rtt, since_ns, now_ns);
	}
}

/**
 * sroce_tlp_progress() - a response told something new: restart the probe timer
 * @req: the requester
 * @now_ns: monotonic time
 */
void sroce_tlp_progress(struct sroce_requester *req, u64 now_ns)
{
	/* As in TCP (Karn's rule), the backoff lasts until a response is not ambiguous. */
	if (progress_is_ambiguous(req)) {
		req->probe.unacked = false;
	} else {
		learn_pto_slack(req, now_ns);
		if (rtt_is_known(req))
			req->probe.pto_backoff = 0;
	}
	req->probe.ack_requests = 0;
	req->probe.deadline_ns = SROCE_NEVER;
	/* No response is due before the last packet has left. */
	now_ns = max(now_ns, req->cc.edt_ns);
	/* A paced sender may need many round trips until it sends the next AckReq. */
	if (sroce_requester_forward(req, req->next_psn) > req->since_ack_req)
		sroce_tlp_arm(req, now_ns);
	else if (req->next_psn != req->unacked_psn)
		sroce_tlp_start_ack_timer(req, now_ns);
}

/**
 * sroce_tlp_acked() - apply a cumulative ACK: advance, reset retries, restart timers
 * @req: the requester
 * @unacked_psn: between the present one and sent_psn
 * @now_ns: monotonic time
 */
void sroce_tlp_acked(struct sroce_requester *req, u32 unacked_psn, u64 now_ns)
{
	u32 count = sroce_requester_forward(req, unacked_psn), rtt_ns;

	sroce_requester_advance(req, unacked_psn);
	if (!count)
		return;
	sroce_requester_reset_retries(req);
	req->gone_back = false;
	req->probe.due = false;
	rtt_ns = sroce_requester_sample_rtt(req, psn_add(unacked_psn, SROCE_PSN_MASK), now_ns);
	/* The scoreboard has counted responses already; other services have none. */
	if (sroce_service_is_acked(req->service))
		count = 0;
	sroce_requester_report_acked(req, count, rtt_ns, now_ns);
	req->ack_deadline_ns = SROCE_NEVER;
	sroce_tlp_progress(req, now_ns);
}

static void forget_probe(struct sroce_requester *req)
{
	req->probe.due = false;
	req->probe.sent = false;
	req->probe.unacked = false;
	req->probe.ambiguous = false;
}

/**
 * sroce_tlp_go_back() - go-back-N: send everything again from a packet on
 * @req: the requester
 * @psn: between unacked_psn and sent_psn
 */
void sroce_tlp_go_back(struct sroce_requester *req, u32 psn)
{
	sroce_requester_move_cursor(req, psn);
	sroce_scoreboard_restart(req, psn);
	req->since_ack_req = 0;
	req->rd_limit = 1;
	req->gone_back = true;
	sroce_rtt_retransmitted(&req->rtt, psn, (req->sent_psn - psn) & SROCE_PSN_MASK);
	/* The ACK of a probe says nothing any more. */
	forget_probe(req);
	/* The timers run on while the response to an earlier READ or atomic is due. */
	if (psn == req->unacked_psn)
		sroce_requester_stop_timers(req);
}

/**
 * sroce_tlp_nak() - the peer wants packets again
 * @req: the requester, not gone back yet
 * @rnr: because it was not ready
 *
 * The NAK may be the response to a probe, and does not show that the peer is slow. A sequence NAK
 * shows that packets get lost.
 */
void sroce_tlp_nak(struct sroce_requester *req, bool rnr)
{
	if (!rnr) {
		req->rtt.silence_is_loss = true;
		if (rtt_is_known(req))
			req->probe.pto_backoff = 0;
	}
	req->probe.newest = false;
}

/**
 * sroce_tlp_request_ack() - send the last packet again, with AckReq
 * @req: the requester
 * @end_psn: one past the last PSN that matters
 *
 * Packets before @end_psn were sent without AckReq, because more were expected to follow at once.
 * Send the last of them again with AckReq.
 */
void sroce_tlp_request_ack(struct sroce_requester *req, u32 end_psn)
{
	u32 last_psn = psn_add(end_psn, SROCE_PSN_MASK), index;

	if (!req->since_ack_req || !psn_before(req->unacked_psn, end_psn))
		return;
	/* The responses of a READ acknowledge everything before it. */
	if (!sroce_requester_locate(req, last_psn, &index) ||
	    !wqe_is_data(sroce_requester_wqe(req, index)))
		return;
	sroce_requester_move_cursor(req, last_psn);
	req->since_ack_req = 0;
	/* The timers run from the first packet in flight. */
	if (req->next_psn == req->unacked_psn)
		sroce_requester_stop_timers(req);
}

/*
 * A standard peer is silent: it may miss a request, so send all requests again that it has not
 * executed. Returns whether they will cause a response. Otherwise the peer owes the response of
 * a request that it has executed, and a probe must request that.
 */
static bool go_back_n(struct sroce_requester *req)
{
	u32 executed_psn = req->sb.executed_psn;

	if (executed_psn != req->sent_psn)
		sroce_tlp_go_back(req, executed_psn);
	return executed_psn == req->unacked_psn;
}

/*
 * May the packets that are not acknowledged be waiting in the peer's queue? Not if round trips were
 * shorter than the ACK timeout. If even the shortest was longer, the path is that long.
 */
static bool packets_may_be_late(const struct sroce_requester *req)
{
	u64 timeout_ns = req->attr.ack_timeout_ns;

	return !rtt_is_known(req) ||
	       (longest_rtt_ns(req) > timeout_ns && req->rtt.min_ns <= timeout_ns);
}

/*
 * Would the response to a packet that was sent an ACK timeout ago have come? A bound tells, too.
 * Not if the peer still responds to what was sent later, which restarts the probe timer only.
 */
static bool response_is_overdue(const struct sroce_requester *req, bool responded)
{
	if (responded || (req->attr.adaptive && !req->probe.pto_backoff))
		return false;
	return req->rtt.srtt_ns &&
	       req->rtt.srtt_ns + 4ull * req->rtt.var_ns <= req->attr.ack_timeout_ns;
}

/* Does the silence of the peer withdraw the offer of selective repeat? */
static bool withdraws_offer(const struct sroce_requester *req)
{
	return sroce_requester_offers_selective(req) && req->sb.mode == SROCE_SELECTIVE_OFFERED &&
	       (req->timeout_shift >= OFFER_TIMEOUTS || !req->retry_left);
}

/*
 * A peer that responds, if only to what was repeated, is slow and not dead. But it may be broken,
 * and respond so for ever.
 */
static bool uses_up_retry(struct sroce_requester *req)
{
	bool responded = req->responded;

	req->responded = false;
	if (!responded || req->free_timeouts == FREE_TIMEOUTS)
		return true;
	req->free_timeouts++;
	return false;
}

/* The timeout of IBTA 9.7.6.1.3. Returns SROCE_REQ_EV_*. */
static u32 ack_timeout(struct sroce_requester *req, u64 now_ns)
{
	u32 events = SROCE_REQ_EV_ACK_TIMEOUT;
	bool responded = req->responded;

	req->timeouts++;
	if (uses_up_retry(req)) {
		if (!req->retry_left) {
			sroce_requester_fail(req, req->acked, SROCE_WC_RETRY_EXC_ERR);
			return events;
		}
		req->retry_left--;
	}
	req->kept_shift = min(timeout_shift_in_use(req) + 1, MAX_TIMEOUT_SHIFT);
	if (req->timeout_shift < MAX_TIMEOUT_SHIFT)
		req->timeout_shift++;
	if (withdraws_offer(req)) {
		req->sb.mode = SROCE_SELECTIVE_WITHDRAWN;
		events |= SROCE_REQ_EV_WITHDRAWN;
	}
	sroce_window_retry(&req->window, packets_may_be_late(req));
	sroce_cc_lost(&req->cc, SROCE_CC_TIMEOUT, now_ns);
	sroce_scoreboard_distrust_sack(req);
	sroce_scoreboard_distrust_rtx(req, true);
	if (!sroce_requester_is_selective(req) && go_back_n(req))
		return events;
	sroce_requester_stop_timers(req);
	/* The response to an earlier probe says nothing any more. */
	req->probe.sent = false;
	req->probe.due = true;
	req->probe.timed_out = true;
	req->probe.overdue = response_is_overdue(req, responded);
	sroce_tlp_arm(req, now_ns);
	return events;
}

/* Has the peer ignored several requests for an ACK? */
static bool peer_is_silent(const struct sroce_requester *req, u8 probes)
{
	bool many = req->probe.ack_requests >= MANY_ACK_REQUESTS;

	return req->rtt.silence_is_loss ? many || probes : many && probes >= FIRST_PROBES;
}

static void probe_timeout(struct sroce_requester *req, u64 now_ns)
{
	u64 ack_deadline_ns = req->ack_deadline_ns;
	u8 pto_backoff = req->probe.pto_backoff;
	bool goes_back;

	req->probe.sent_count++;
	req->probe.pto_backoff = min(pto_backoff + 1, MAX_PTO_BACKOFF);
	if (pto_backoff >= RENEGE_PROBES)
		sroce_scoreboard_distrust_sack(req);
	sroce_scoreboard_distrust_rtx(req, false);
	goes_back = !sroce_requester_is_selective(req) &&
		    (req->gone_back || req->next_psn != req->sent_psn ||
		     peer_is_silent(req, pto_backoff));
	if (goes_back && go_back_n(req)) {
		if (!rtt_is_known(req))
			sroce_window_retry(&req->window, false);
		/* The ACK timer keeps running: it is what notices a dead peer. */
		req->ack_deadline_ns = ack_deadline_ns;
		return;
	}
	req->probe.due = true;
	req->probe.timed_out = false;
	req->probe.overdue = false;
	req->probe.deadline_ns = now_ns + pto_ns(req);
}

/**
 * sroce_tlp_timeout() - one of the two timers has expired
 * @req: the requester
 * @now_ns: monotonic time, not before the earlier deadline
 *
 * Return: SROCE_REQ_EV_*, which tells which one, and whether selective repeat was withdrawn.
 */
u32 sroce_tlp_timeout(struct sroce_requester *req, u64 now_ns)
{
	if (now_ns >= req->ack_deadline_ns)
		return ack_timeout(req, now_ns);
	probe_timeout(req, now_ns);
	return SROCE_REQ_EV_PROBE;
}

/**
 * sroce_tlp_probe_psn() - which packet does the probe that is due repeat?
 * @req: the requester
 *
 * The newest one, the last before next_psn, because its response is not ambiguous. A peer that is
 * slow takes what was sent before first, so an ACK that does not cover the newest packet is not the
 * probe's. If packets before it are missing, a selective peer SACKs it, and a standard one sends a
 * NAK.
 *
 * The oldest one if a peer that has sent a NAK may drop the newest: it has not responded to one, or
 * the NAK has come. Also with no retry left, which a NAK would need; for a READ, which may miss
 * responses; if a later packet was SACKed, because the oldest one is known to be missing; on a path
 * that reorders, where a SACK of the newest shows no loss before the next timeout; if a response is
 * overdue, which makes that to the oldest one certain, too; before the first RTT sample, when any
 * response shall be without effect; and if the request of the newest has failed.
 *
 * Return: its PSN.
 */
u32 sroce_tlp_probe_psn(const struct sroce_requester *req)
{
	u32 newest_psn = psn_add(req->next_psn, SROCE_PSN_MASK), index;

	if (req->next_psn == req->unacked_psn || req->sb.top_psn != req->unacked_psn ||
	    req->sb.reordering || req->rd_inflight || !req->rtt.srtt_ns || !req->retry_left ||
	    req->gone_back || req->probe.overdue || req->probe.unacked)
		return req->unacked_psn;
	if (!sroce_requester_locate(req, newest_psn, &index) ||
	    sroce_requester_wqe(req, index)->status != SROCE_WC_SUCCESS)
		return req->unacked_psn;
	return newest_psn;
}

/**
 * sroce_tlp_probe_sent() - the probe that was due has been sent
 * @req: the requester
 * @psn: its PSN
 * @now_ns: monotonic time
 */
void sroce_tlp_probe_sent(struct sroce_requester *req, u32 psn, u64 now_ns)
{
	bool after_newest = req->probe.unacked && req->probe.newest;

	req->probe.due = false;
	/*
	 * The response to the newest packet, which a slow peer still owes, tells more. A standard
	 * peer that has sent a NAK drops that packet, and responds to the oldest only.
	 */
	if (after_newest && !req->probe.overdue) {
		if (!sroce_requester_is_selective(req)) {
			req->probe.sent = true;
			req->probe.psn = psn;
		}
		return;
	}
	req->probe.sent = true;
	req->probe.unacked = true;
	req->probe.newest = psn != req->unacked_psn;
	req->probe.newest_psn = psn;
	req->probe.psn = psn;
	req->probe.end_psn = req->next_psn;
	req->probe.at_ns = now_ns;
}

/**
 * sroce_tlp_probe_acked() - does a response show that the packets before the probe were lost?
 * @req: the requester, which has just applied a response
 * @now_ns: monotonic time
 *
 * A response within a round trip of the probe belongs to the first transmission and says nothing.
 * If that happens again, the minimum RTT is wrong. After an ACK timeout that is longer than round
 * trips are, the response is the probe's in any case: the minimum may be too long. The response
 * to the newest packet shows the loss of earlier ones, whichever transmission it belongs to.
 *
 * Return: true if the response is the probe's. Packets sent before the probe that are still not
 * acknowledged were lost then, because their responses would have come first.
 */
bool sroce_tlp_probe_acked(struct sroce_requester *req, u64 now_ns)
{
	bool newest = req->probe.newest &&
		      (req->probe.psn == req->probe.newest_psn || newest_has_arrived(req));

	if (!req->probe.sent || !(newest ? newest_has_arrived(req) :
					   psn_before(req->probe.psn, req->unacked_psn)))
		return false;
	req->probe.sent = false;
	if (!psn_before(req->unacked_psn, req->probe.end_psn))
		return false;
	if (req->probe.overdue || newest)
		return true;
	/* Before the first RTT sample nothing is known. */
	if (req->rtt.min_ns && sroce_elapsed_ns(now_ns, req->probe.at_ns) >= req->rtt.min_ns)
		return true;
	/*
	 * The second time in a row that the response covers only the probe, or that after an ACK
	 * timeout no other response follows. A late response would be followed by others.
	 */
	if ((req->probe.timed_out || req->unacked_psn == psn_add(req->probe.psn, 1)) &&
	    req->probe.spurious_alone++) {
		bool guessed = !rtt_is_known(req);

		sroce_rtt_lower_min(&req->rtt, sroce_elapsed_ns(now_ns, req->probe.at_ns), now_ns);
		if (guessed)
			restart_probe_timer(req, now_ns);
	}
	return false;
}

/**
 * sroce_tlp_probe_newest() - make a probe due that tells loss from a slow standard peer
 * @req: the requester; an ACK covers its probe, but not all packets that were sent before
 *
 * Another probe, of the newest packet, is due at once. If the peer has missed packets and has not
 * sent its NAK yet, it sends that now, and go-back-N follows. If they wait in its queue, it sends
 * their ACKs. Otherwise the probe timer goes on.
 *
 * Return: false if the newest packet cannot tell, see sroce_tlp_probe_psn().
 */
bool sroce_tlp_probe_newest(struct sroce_requester *req)
{
	if (sroce_requester_is_selective(req) || req->probe.overdue ||
	    sroce_tlp_probe_psn(req) == req->unacked_psn)
		return false;
	req->probe.due = true;
	return true;
}
