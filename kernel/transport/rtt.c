// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The round-trip time of a requester; see rtt.h.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "transport/psn.h"
#include "transport/rtt.h"

/* A longer sample says nothing about the path. */
#define MAX_SAMPLE_NS	2000000000ull
/* When the path becomes longer, the minimum follows within twice this time, as in BBR. */
#define MIN_PERIOD_NS	10000000000ull
/* Before the first sample. Longer than the RTT of most networks, shorter than an ACK timeout. */
#define FIRST_PROBE_NS	2000000ull
/* A response may have to wait for the peer's CPU. */
#define PROBE_FLOOR_NS	50000u

static void take_minimum(struct sroce_rtt *rtt, u32 sample_ns, u64 now_ns)
{
	if (now_ns >= rtt->period_end_ns) {
		rtt->min_ns = rtt->period_end_ns ? rtt->next_min_ns : sample_ns;
		rtt->next_min_ns = sample_ns;
		rtt->period_end_ns = now_ns + MIN_PERIOD_NS;
	}
	rtt->next_min_ns = min(rtt->next_min_ns, sample_ns);
	rtt->min_ns = min(rtt->min_ns, sample_ns);
}

/* RFC 6298. */
static void take_sample(struct sroce_rtt *rtt, u32 sample_ns)
{
	u32 deviation;

	/* A NAK may have come before. */
	rtt->silence_is_loss |= rtt->sampled;
	rtt->sampled = true;
	if (!rtt->srtt_ns) {
		rtt->srtt_ns = sample_ns;
		rtt->var_ns = sample_ns / 2;
		return;
	}
	deviation = sample_ns > rtt->srtt_ns ? sample_ns - rtt->srtt_ns : rtt->srtt_ns - sample_ns;
	rtt->var_ns = rtt->var_ns - rtt->var_ns / 4 + deviation / 4;
	rtt->srtt_ns = max(rtt->srtt_ns - rtt->srtt_ns / 8 + sample_ns / 8, 1u);
}

/**
 * sroce_rtt_sample() - one measured round trip
 * @rtt: the estimate
 * @sample_ns: nanoseconds from the packet to its response
 * @now_ns: monotonic time
 */
void sroce_rtt_sample(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns)
{
	u32 sample = (u32)clamp(sample_ns, 1ull, MAX_SAMPLE_NS);

	take_sample(rtt, sample);
	take_minimum(rtt, sample, now_ns);
	/* There is a better sample now than the one of a packet that was retransmitted. */
	if (rtt->again)
		rtt->timing = false;
}

/**
 * sroce_rtt_lower_min() - a round trip was shorter than the minimum
 * @rtt: the estimate
 * @sample_ns: nanoseconds that it took; the first sample, if there is none but an upper bound
 * @now_ns: monotonic time
 */
void sroce_rtt_lower_min(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns)
{
	if (rtt->rough)
		rtt->srtt_ns = 0;
	rtt->rough = false;
	if (!rtt->srtt_ns)
		sroce_rtt_sample(rtt, sample_ns, now_ns);
	rtt->min_ns = (u32)clamp(sample_ns, 1ull, MAX_SAMPLE_NS);
}

/**
 * sroce_rtt_sent() - a packet that requests a response has been sent for the first time
 * @rtt: the estimate
 * @psn: the PSN whose response ends the measurement
 * @waits: that response waits for others, so it gives only an upper bound
 * @now_ns: monotonic time, or when the packet leaves if that is later
 */
void sroce_rtt_sent(struct sroce_rtt *rtt, u32 psn, bool waits, u64 now_ns)
{
	/* A packet whose response does not wait replaces one whose response does. */
	if (rtt->timing && (waits || !rtt->waits))
		return;
	rtt->timing = true;
	rtt->waits = waits;
	rtt->again = false;
	rtt->rtx = false;
	rtt->timed_psn = psn;
	rtt->timed_at_ns = now_ns;
}

/**
 * sroce_rtt_retransmitted() - packets have been retransmitted
 * @rtt: the estimate
 * @psn: the first of them
 * @count: how many
 */
void sroce_rtt_retransmitted(struct sroce_rtt *rtt, u32 psn, u32 count)
{
	rtt->rtx = true;
	if (((rtt->timed_psn - psn) & SROCE_PSN_MASK) >= count)
		return;
	rtt->again = true;
	/* Better a first sample that is too long than none. */
	if (rtt->srtt_ns)
		rtt->timing = false;
}

/*
 * The sample is an upper bound. If it is below the estimate, the estimate is too long; if it is
 * far below, the first sample came from a lost packet, or the path has changed. A bound says
 * nothing about the variance.
 */
static void take_bound(struct sroce_rtt *rtt, u32 sample_ns, u64 now_ns)
{
	if (sample_ns >= rtt->srtt_ns)
		return;
	rtt->rough = false;
	if (sample_ns < rtt->srtt_ns / 2) {
		rtt->srtt_ns = 0;
		sroce_rtt_sample(rtt, sample_ns, now_ns);
		return;
	}
	rtt->srtt_ns = max(rtt->srtt_ns - (rtt->srtt_ns - sample_ns) / 8, 1u);
	take_minimum(rtt, sample_ns, now_ns);
}

/*
 * A packet that was sent before the timed one has been acknowledged, and nothing has been
 * retransmitted since. So its round trip took at least as long as the timed packet has waited.
 */
static void take_lower_bound(struct sroce_rtt *rtt, u64 now_ns)
{
	u64 bound_ns = sroce_elapsed_ns(now_ns, rtt->timed_at_ns);

	if (rtt->srtt_ns && !rtt->rtx && !rtt->waits &&
	    bound_ns > rtt->srtt_ns + 4ull * rtt->var_ns)
		take_sample(rtt, (u32)min(bound_ns, MAX_SAMPLE_NS));
}

/**
 * sroce_rtt_acked() - end the RTT measurement if the timed packet is acknowledged
 * @rtt: the estimate
 * @psn: the newest of them
 * @now_ns: monotonic time
 *
 * Return: the sample, 0 for none.
 */
u32 sroce_rtt_acked(struct sroce_rtt *rtt, u32 psn, u64 now_ns)
{
	u64 sample_ns;

	if (!rtt->timing)
		return 0;
	if (psn_before(psn, rtt->timed_psn)) {
		take_lower_bound(rtt, now_ns);
		return 0;
	}
	rtt->timing = false;
	/* The packet was to leave later, but the qdisc ignored its departure time. */
	if (now_ns < rtt->timed_at_ns)
		return 0;
	sample_ns = clamp(now_ns - rtt->timed_at_ns, 1ull, MAX_SAMPLE_NS);
	if (rtt->waits && rtt->srtt_ns) {
		take_bound(rtt, (u32)sample_ns, now_ns);
		return 0;
	}
	if (rtt->rough)
		rtt->srtt_ns = 0;
	rtt->rough = rtt->again || rtt->waits;
	sroce_rtt_sample(rtt, sample_ns, now_ns);
	return rtt->waits ? 0 : (u32)sample_ns;
}

/*
 * A round of counting is over. A round in which either host was busy says nothing about the path,
 * so follow the recent maximum, not the mean.
 */
static void take_round(struct sroce_rtt *rtt, u64 now_ns)
{
	u64 round_ns = max(now_ns - rtt->round_start_ns, 1ull);
	u32 path = (u32)div64_u64((u64)rtt->round_packets * rtt->min_ns, round_ns);

	rtt->packets = max(rtt->round_packets, rtt->packets - rtt->packets / 8);
	rtt->path_packets = max(path, rtt->path_packets - (rtt->path_packets + 15) / 16);
}

/**
 * sroce_rtt_count() - count acknowledged packets of the current round
 * @rtt: the estimate
 * @packets: how many
 * @now_ns: monotonic time
 *
 * Return: whether they end a round that was measured.
 */
bool sroce_rtt_count(struct sroce_rtt *rtt, u32 packets, u64 now_ns)
{
	bool measured;

	rtt->round_packets += min(packets, SROCE_PSN_SPAN);
	if (now_ns < rtt->round_end_ns || !rtt->srtt_ns)
		return false;
	/* A round after an idle time says nothing. */
	measured = rtt->round_end_ns && now_ns - rtt->round_end_ns < rtt->srtt_ns;
	if (measured)
		take_round(rtt, now_ns);
	rtt->round_packets = 0;
	rtt->round_start_ns = now_ns;
	rtt->round_end_ns = now_ns + rtt->srtt_ns;
	return measured;
}

/**
 * sroce_rtt_probe_ns() - the probe timeout without backoff and slack (see tlp.c)
 * @rtt: the estimate
 *
 * Return: nanoseconds; 2 ms before the first sample, and at most that while it is rough.
 */
u64 sroce_rtt_probe_ns(const struct sroce_rtt *rtt)
{
	u64 wait_ns = (u64)rtt->srtt_ns + max(4ull * rtt->var_ns, (u64)rtt->srtt_ns / 2) +
		      PROBE_FLOOR_NS;

	if (!rtt->srtt_ns)
		return FIRST_PROBE_NS;
	return rtt->rough ? min(wait_ns, FIRST_PROBE_NS) : wait_ns;
}

/**
 * sroce_rtt_rtx_ns() - when a retransmission counts as lost while other responses arrive
 * @rtt: the estimate
 *
 * The peer is known to be alive, so this is shorter than the probe timeout.
 *
 * Return: nanoseconds.
 */
u64 sroce_rtt_rtx_ns(const struct sroce_rtt *rtt)
{
	if (!rtt->srtt_ns)
		return FIRST_PROBE_NS;
	return (u64)rtt->srtt_ns + max(4ull * rtt->var_ns, (u64)rtt->srtt_ns / 4);
}
