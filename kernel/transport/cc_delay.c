// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A window from round-trip times, after Swift (Kumar et al., SIGCOMM 2020), for
 * networks that do not mark.
 *
 *     round trip < target:   window += delay_ai per round trip
 *     round trip >= target:  window *= 1 - delay_beta * (excess / round trip),
 *                            at most by delay_max_dec_fac, once per round trip
 *     target = base + delay_target + delay_flow_scaling / sqrt(window)
 *
 * The base is the smallest recent round trip, or delay_base. A sender that never
 * saw an empty queue takes the full queue for the path, and gets more than its
 * share until the queue was empty once. Set delay_base if the path is known.
 * delay_target is longer than in a hardware fabric, because ends in software
 * (softirq, a busy CPU) delay more, and one burst of 64 KiB takes 50 us at
 * 10 Gb/s. The term that shrinks with the window makes shares equal. Nothing
 * else would, because decreases are very small near the target.
 *
 * A window starts with delay_initial_cwnd packets and doubles per round trip
 * until the first delay or loss. It grows only while it is the limit. A small
 * window is paced, because 1.5 packets in flight are impossible otherwise. Below
 * one packet (many senders, one receiver) one packet is in flight, and pacing
 * makes up the difference. The rate does not fall below rp_min_rate.
 *
 * A loss counts as the greatest decrease, and five timeouts in a row set the
 * smallest window. CNPs are ignored, because a second signal would only undercut
 * the target.
 */
#include <linux/array_size.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "transport/cc_ops.h"

#define TIMEOUTS_TO_MIN_CWND	5
#define PACED_PACKETS		4
/* The square root of SROCE_CC_PACKET. */
#define ROOT_OF_PACKET		16u
/* 18 minutes: longer than any round trip, and products still fit into 64 bits. */
#define MAX_RTT_NS		(1ull << 40)
/* Decreases are counted in 1/1024 percent. */
#define PERCENT			1024u

struct delay_params {
	u32	delay_base;
	u32	delay_target;
	u32	delay_flow_scaling;
	u32	delay_ai;
	u32	delay_beta;
	u32	delay_max_dec_fac;
	u32	delay_initial_cwnd;
	u32	delay_min_cwnd;
	u32	delay_max_cwnd;
};

#define PARAM(field, ...) SROCE_CC_PARAM(delay, field, __VA_ARGS__)

static const struct sroce_cc_param delay_param_table[] = {
	PARAM(delay_base, 0, 1000000, 0, "us", "round trip without queues, 0: the smallest seen"),
	PARAM(delay_target, 1, 1000000, 100, "us", "allowed queueing delay"),
	PARAM(delay_flow_scaling, 0, 1000000, 400, "us",
	      "additional allowed delay, divided by the square root of the window in packets"),
	PARAM(delay_ai, 1, 65536, 256, "1/256 packet", "additive increase per round trip"),
	PARAM(delay_beta, 1, 100, 80, "%", "decrease by this share of the excess delay"),
	PARAM(delay_max_dec_fac, 1, 90, 50, "%", "greatest decrease"),
	PARAM(delay_initial_cwnd, 1, 65536, 16, "packets", "first window"),
	PARAM(delay_min_cwnd, 1, 256, 8, "1/256 packet", "smallest window"),
	PARAM(delay_max_cwnd, 1, 65536, 4096, "packets", "largest window"),
};

/**
 * struct delay - state
 * @cut_ns: last decrease
 * @target_ns: latest target
 * @unsampled: packets acknowledged since the last round-trip time
 * @remainder: growth that is less than 1/256 packet
 * @timeouts: in a row
 * @slow_start: no congestion has been seen yet
 * @above: the last round trip was above the target
 */
struct delay {
	u64	cut_ns;
	u64	target_ns;
	u32	unsampled;
	u32	remainder;
	u32	timeouts;
	bool	slow_start;
	bool	above;
};

SROCE_CC_ASSERT_FITS(delay);

static const struct delay_params *delay_params(const struct sroce_cc *cc)
{
	return cc_values(cc, SROCE_CC_delay);
}

/* Before the first round trip delay_target is a guess. */
static u64 round_trip_ns(const struct sroce_cc *cc)
{
	if (cc->srtt_ns)
		return min(cc->srtt_ns, MAX_RTT_NS);
	return (u64)READ_ONCE(delay_params(cc)->delay_target) * SROCE_CC_USEC;
}

static void set_window(struct sroce_cc *cc, u64 cwnd)
{
	u32 most = READ_ONCE(delay_params(cc)->delay_max_cwnd) * SROCE_CC_PACKET;
	u32 least = max(READ_ONCE(delay_params(cc)->delay_min_cwnd), 1u);
	u64 rate;

	cc->cwnd = max_t(u64, min_t(u64, cwnd, most), least);
	if (cc->cwnd >= PACED_PACKETS * SROCE_CC_PACKET) {
		cc->rate = SROCE_CC_UNLIMITED;
		return;
	}
	rate = div_u64(cc_packet_bytes(cc) * cc->cwnd, SROCE_CC_PACKET);
	rate = div64_u64(rate * SROCE_CC_SEC, max(round_trip_ns(cc), 1ull));
	rate = max(rate, cc_mbps(max(READ_ONCE(cc->params->rp_min_rate), 1u)));
	cc->rate = min(rate, SROCE_CC_MAX_RATE);
}

static void delay_start(struct sroce_cc *cc, u64 now_ns)
{
	struct delay *delay = cc_priv(cc);

	delay->slow_start = true;
	delay->cut_ns = now_ns;
	set_window(cc, (u64)READ_ONCE(delay_params(cc)->delay_initial_cwnd) * SROCE_CC_PACKET);
}

/* The window was @before. */
static void note_growth(struct sroce_cc *cc, u32 before)
{
	if (cc->cwnd > before)
		cc_note_event(cc, SROCE_CC_EV_WINDOW_RAISED);
	else if (cc->cwnd < before)
		cc_note_event(cc, SROCE_CC_EV_ADAPTED);
}

static void leave_slow_start(struct sroce_cc *cc)
{
	struct delay *delay = cc_priv(cc);

	if (!delay->slow_start)
		return;
	delay->slow_start = false;
	cc_note_event(cc, SROCE_CC_EV_SLOW_START_ENDED);
}

/* Was the window the limit? */
static bool is_used(const struct sroce_cc *cc, const struct sroce_cc_ack *ack, u32 packets)
{
	return 2 * ((u64)ack->inflight_packets + packets) >= cc->cwnd / SROCE_CC_PACKET;
}

static void grow_window(struct sroce_cc *cc, u32 packets)
{
	struct delay *delay = cc_priv(cc);
	u64 amount = (u64)packets * READ_ONCE(delay_params(cc)->delay_ai);
	u32 before = cc->cwnd;
	u64 more;

	if (delay->slow_start) {
		set_window(cc, cc->cwnd + (u64)packets * SROCE_CC_PACKET);
	} else if (cc->cwnd < SROCE_CC_PACKET) {
		set_window(cc, cc->cwnd + amount);
	} else {
		amount = amount * SROCE_CC_PACKET + delay->remainder;
		more = div64_u64(amount, cc->cwnd);
		delay->remainder = amount - more * cc->cwnd;
		set_window(cc, cc->cwnd + more);
	}
	note_growth(cc, before);
}

/* @by: the reason, SROCE_CC_EV_BY_... */
static void shrink_window(struct sroce_cc *cc, u32 by, u64 cut, u64 rtt_ns, u64 now_ns)
{
	struct delay *delay = cc_priv(cc);
	u64 most = (u64)READ_ONCE(delay_params(cc)->delay_max_dec_fac) * PERCENT;

	leave_slow_start(cc);
	if (sroce_elapsed_ns(now_ns, delay->cut_ns) < rtt_ns) {
		cc_note_event(cc, by | SROCE_CC_EV_CUT_SKIPPED);
		return;
	}
	cc_note_event(cc, by | SROCE_CC_EV_CUT);
	delay->cut_ns = now_ns;
	delay->remainder = 0;
	cc->cuts++;
	cut = min(cut, most);
	set_window(cc, cc->cwnd - div_u64(cc->cwnd * cut, 100 * PERCENT));
}

/* The greatest integer whose square is not above @value. */
static u32 square_root(u32 value)
{
	u32 root = 0, bit;

	for (bit = 1u << 15; bit; bit >>= 1)
		if ((u64)(root + bit) * (root + bit) <= value)
			root += bit;
	return root;
}

/* Allowed delay of queues and ends. A window of less than a packet counts as one packet. */
static u64 allowed_ns(const struct sroce_cc *cc)
{
	u64 scaling_ns = (u64)READ_ONCE(delay_params(cc)->delay_flow_scaling) * SROCE_CC_USEC;
	u32 root = max(square_root(cc->cwnd), ROOT_OF_PACKET);

	return (u64)READ_ONCE(delay_params(cc)->delay_target) * SROCE_CC_USEC +
	       div_u64(scaling_ns * ROOT_OF_PACKET, root);
}

static void delay_acked(struct sroce_cc *cc, const struct sroce_cc_ack *ack)
{
	struct delay *delay = cc_priv(cc);
	u64 rtt_ns = min(ack->rtt_ns, MAX_RTT_NS);
	u32 packets = delay->unsampled + ack->packets;
	u64 base_ns = (u64)READ_ONCE(delay_params(cc)->delay_base) * SROCE_CC_USEC;
	u64 cut;

	if (packets < delay->unsampled)
		packets = U32_MAX;
	delay->unsampled = packets;
	delay->timeouts = 0;
	if (!rtt_ns)
		return;
	delay->unsampled = 0;
	if (!cc->srtt_ns)
		cc->srtt_ns = rtt_ns;
	if (!base_ns)
		base_ns = ack->min_rtt_ns ? min(ack->min_rtt_ns, rtt_ns) : rtt_ns;
	delay->target_ns = base_ns + allowed_ns(cc);
	delay->above = rtt_ns >= delay->target_ns;
	if (delay->above) {
		cut = (rtt_ns - delay->target_ns) * READ_ONCE(delay_params(cc)->delay_beta) *
		      PERCENT;
		shrink_window(cc, SROCE_CC_EV_BY_DELAY, div64_u64(cut, rtt_ns), rtt_ns,
			      ack->now_ns);
	} else if (is_used(cc, ack, packets)) {
		grow_window(cc, packets);
	} else {
		u32 before = cc->cwnd;

		set_window(cc, before);
		/* Only a changed parameter can have moved it. */
		if (cc->cwnd != before)
			cc_note_event(cc, SROCE_CC_EV_ADAPTED);
	}
}

static void delay_lost(struct sroce_cc *cc, enum sroce_cc_loss loss, u64 now_ns)
{
	bool timeout = loss == SROCE_CC_TIMEOUT;
	u32 by = timeout ? SROCE_CC_EV_BY_TIMEOUT : SROCE_CC_EV_BY_LOSS;
	struct delay *delay = cc_priv(cc);

	if (timeout && ++delay->timeouts >= TIMEOUTS_TO_MIN_CWND) {
		delay->timeouts = TIMEOUTS_TO_MIN_CWND;
		leave_slow_start(cc);
		cc_note_event(cc, by | SROCE_CC_EV_CUT);
		set_window(cc, 0);
		return;
	}
	shrink_window(cc, by, 100 * PERCENT, round_trip_ns(cc), now_ns);
}

static const char *delay_state_name(const struct sroce_cc *cc)
{
	const struct delay *delay = cc_priv(cc);

	if (cc->cwnd < SROCE_CC_PACKET)
		return "less than a packet";
	if (delay->slow_start)
		return "slow start";
	return delay->above ? "above target" : "below target";
}

static void delay_get_info(struct sroce_cc *copy, u64 now_ns, struct sroce_cc_info *info)
{
	const struct delay *delay = cc_priv(copy);

	if (delay->target_ns)
		cc_add_detail(info, "target", delay->target_ns, SROCE_CC_AS_NS);
}

const struct sroce_cc_ops sroce_cc_delay_ops = {
	.name		= "delay",
	.needs_acks	= true,
	.params		= delay_param_table,
	.param_count	= ARRAY_SIZE(delay_param_table),
	.start		= delay_start,
	.acked		= delay_acked,
	.lost		= delay_lost,
	.state_name	= delay_state_name,
	.get_info	= delay_get_info,
};
