// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The round-trip time of a requester.
 */
#include <linux/math64.h>
#include <linux/minmax.h>

#include "transport/psn.h"
#include "transport/rtt.h"

/* Longer samples say nothing about the path any more. */
#define MAX_SAMPLE_NS	2000000000ull
/* The minimum follows a path that became longer within this time. */
#define MIN_PERIOD_NS	10000000000ull
/* Before anything is known. */
#define FIRST_PROBE_NS	2000000ull
/* An answer may have to wait for its turn on the peer's processor. */
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

/**
 * sroce_rtt_sample() - one measured round trip
 * @rtt: the estimate
 * @sample_ns: nanoseconds from sending to the answer
 * @now_ns: monotonic time
 */
void sroce_rtt_sample(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns)
{
	u32 sample = (u32)clamp(sample_ns, 1ull, MAX_SAMPLE_NS);
	u32 deviation;

	if (!rtt->srtt_ns) {
		rtt->srtt_ns = sample;
		rtt->var_ns = sample / 2;
	} else {
		deviation = sample > rtt->srtt_ns ? sample - rtt->srtt_ns : rtt->srtt_ns - sample;
		rtt->var_ns = rtt->var_ns - rtt->var_ns / 4 + deviation / 4;
		rtt->srtt_ns = max(rtt->srtt_ns - rtt->srtt_ns / 8 + sample / 8, 1u);
	}
	take_minimum(rtt, sample, now_ns);
}

/**
 * sroce_rtt_sent() - a packet that will be answered has been sent for the first time
 * @rtt: the estimate
 * @psn: the PSN whose answer ends the measurement
 * @waits: that answer waits for others, so it says only what the round trip is less than
 * @now_ns: monotonic time; or when it leaves, if that is later
 */
void sroce_rtt_sent(struct sroce_rtt *rtt, u32 psn, bool waits, u64 now_ns)
{
	/* One that tells more takes the place of one that waits. */
	if (rtt->timing && (waits || !rtt->waits))
		return;
	rtt->timing = true;
	rtt->waits = waits;
	rtt->again = false;
	rtt->timed_psn = psn;
	rtt->timed_at_ns = now_ns;
}

/**
 * sroce_rtt_retransmitted() - packets have been sent again
 * @rtt: the estimate
 * @psn: the first of them
 * @count: how many
 */
void sroce_rtt_retransmitted(struct sroce_rtt *rtt, u32 psn, u32 count)
{
	if (((rtt->timed_psn - psn) & SROCE_PSN_MASK) >= count)
		return;
	rtt->again = true;
	/* The first measurement may be too long rather than missing. */
	if (rtt->srtt_ns)
		rtt->timing = false;
}

/*
 * No less than a round trip was measured. A shorter one than was thought is believed; where it is
 * much shorter, the first measurement was of a packet that was lost, or the path is another. How
 * much round trips differ such bounds do not say.
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

/**
 * sroce_rtt_acked() - everything up to a PSN has been answered
 * @rtt: the estimate
 * @psn: the newest of it
 * @now_ns: monotonic time
 *
 * Return: the sample that this gives, 0 for none.
 */
u32 sroce_rtt_acked(struct sroce_rtt *rtt, u32 psn, u64 now_ns)
{
	u64 sample_ns;

	if (!rtt->timing || psn_before(psn, rtt->timed_psn))
		return 0;
	rtt->timing = false;
	/* It was to leave later, but somebody did not keep to that. */
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
 * A round trip of counting is over. A round in which the host or the peer stood still says
 * nothing of the path, so the best of late count, not the mean.
 */
static void take_round(struct sroce_rtt *rtt, u64 now_ns)
{
	u64 round_ns = max(now_ns - rtt->round_start_ns, 1ull);
	u32 path = (u32)div64_u64((u64)rtt->round_packets * rtt->min_ns, round_ns);

	rtt->packets = max(rtt->round_packets, rtt->packets - rtt->packets / 8);
	rtt->path_packets = max(path, rtt->path_packets - (rtt->path_packets + 15) / 16);
}

/**
 * sroce_rtt_count() - packets have been answered
 * @rtt: the estimate
 * @packets: how many
 * @now_ns: monotonic time
 */
void sroce_rtt_count(struct sroce_rtt *rtt, u32 packets, u64 now_ns)
{
	rtt->round_packets += min(packets, SROCE_PSN_SPAN);
	if (now_ns < rtt->round_end_ns || !rtt->srtt_ns)
		return;
	/* A round that began with a pause says little. */
	if (rtt->round_end_ns && now_ns - rtt->round_end_ns < rtt->srtt_ns)
		take_round(rtt, now_ns);
	rtt->round_packets = 0;
	rtt->round_start_ns = now_ns;
	rtt->round_end_ns = now_ns + rtt->srtt_ns;
}

/**
 * sroce_rtt_probe_ns() - how long an answer may take until it is missed
 * @rtt: the estimate
 *
 * Return: nanoseconds; a guess before the first sample, and no more than that while there is only
 * a rough one.
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
 * sroce_rtt_rtx_ns() - how long a packet sent again may go unanswered while others are not
 * @rtt: the estimate
 *
 * Answers keep coming, so the peer is awake: no need for patience with it.
 *
 * Return: nanoseconds.
 */
u64 sroce_rtt_rtx_ns(const struct sroce_rtt *rtt)
{
	if (!rtt->srtt_ns)
		return FIRST_PROBE_NS;
	return (u64)rtt->srtt_ns + max(4ull * rtt->var_ns, (u64)rtt->srtt_ns / 4);
}

/**
 * sroce_rtt_bdp_packets() - what the path holds
 * @rtt: the estimate
 *
 * Return: packets answered in the shortest round-trip time: the bandwidth-delay
 * product without the queues; 0 while nothing is known.
 */
u32 sroce_rtt_bdp_packets(const struct sroce_rtt *rtt)
{
	return rtt->path_packets;
}
