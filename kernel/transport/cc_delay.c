// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A window from round-trip times, after Swift (Kumar et al., SIGCOMM 2020): for
 * networks that mark nothing.
 *
 *     round trip < target:   window += delay_ai per round trip
 *     round trip >= target:  window *= 1 - delay_beta * (excess / round trip),
 *                            at most by delay_max_dec_fac, once per round trip
 *     target = base + delay_target + delay_flow_scaling / sqrt(window)
 *
 * The base is the smallest round trip seen of late, or delay_base: a sender that
 * only ever saw a full queue takes it for the path, and gets more than its share
 * until the queue was empty once. Whoever knows the path should set it. What is
 * allowed on top is long for a fabric, for in software the ends (softirq, a busy
 * processor) delay more, and one burst of 64 KiB takes 50 us at 10 Gb/s. The part
 * that shrinks with the window makes shares equal: near the target decreases are
 * so small that nothing else would.
 *
 * A window starts with delay_initial_cwnd packets and doubles in a round trip until
 * the first delay or loss; it grows only while it is what limits. A small one is
 * paced, too, because 1.5 packets cannot be had otherwise; of less than a packet
 * (many senders, one receiver) it is the pacing that remains, one packet in
 * flight and not below rp_min_rate.
 *
 * A loss is worth the greatest decrease; five timeouts in a row, and the window is
 * the smallest. CNPs are ignored: a second signal would only undercut the target.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "transport/cc_ops.h"

#define TIMEOUTS_TO_MIN_CWND	5
#define PACED_PACKETS		4
/* of SROCE_CC_PACKET */
#define ROOT_OF_PACKET		16u
/* 18 minutes; what is more is no round trip, and keeps products within 64 bits. */
#define MAX_RTT_NS		(1ull << 40)
/* Decreases are counted in 1/1024 percent. */
#define PERCENT			1024u

/* As good a guess as any before the first round trip. */
static u64 round_trip_ns(const struct sroce_cc *cc)
{
	if (cc->srtt_ns)
		return min(cc->srtt_ns, MAX_RTT_NS);
	return (u64)READ_ONCE(cc->params->delay_target) * SROCE_CC_USEC;
}

static void set_window(struct sroce_cc *cc, u64 cwnd)
{
	u32 most = READ_ONCE(cc->params->delay_max_cwnd) * SROCE_CC_PACKET;
	u32 least = max(READ_ONCE(cc->params->delay_min_cwnd), 1u);
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
	cc->delay.slow_start = true;
	cc->delay.cut_ns = now_ns;
	set_window(cc, (u64)READ_ONCE(cc->params->delay_initial_cwnd) * SROCE_CC_PACKET);
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
	if (!cc->delay.slow_start)
		return;
	cc->delay.slow_start = false;
	cc_note_event(cc, SROCE_CC_EV_SLOW_START_ENDED);
}

/* Was the window what kept us from sending more? */
static bool is_used(const struct sroce_cc *cc, const struct sroce_cc_ack *ack, u32 packets)
{
	return 2 * ((u64)ack->inflight_packets + packets) >= cc->cwnd / SROCE_CC_PACKET;
}

static void grow_window(struct sroce_cc *cc, u32 packets)
{
	struct sroce_delay *delay = &cc->delay;
	u64 amount = (u64)packets * READ_ONCE(cc->params->delay_ai);
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

/* @by: what calls for it, SROCE_CC_BY_... */
static void shrink_window(struct sroce_cc *cc, u32 by, u64 cut, u64 rtt_ns, u64 now_ns)
{
	struct sroce_delay *delay = &cc->delay;
	u64 most = (u64)READ_ONCE(cc->params->delay_max_dec_fac) * PERCENT;

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

/* The greatest number whose square is not above @value. */
static u32 square_root(u32 value)
{
	u32 root = 0, bit;

	for (bit = 1u << 15; bit; bit >>= 1)
		if ((u64)(root + bit) * (root + bit) <= value)
			root += bit;
	return root;
}

/* How long queues and ends may take; a window of less than a packet counts as one. */
static u64 allowed_ns(const struct sroce_cc *cc)
{
	u64 scaling_ns = (u64)READ_ONCE(cc->params->delay_flow_scaling) * SROCE_CC_USEC;
	u32 root = max(square_root(cc->cwnd), ROOT_OF_PACKET);

	return (u64)READ_ONCE(cc->params->delay_target) * SROCE_CC_USEC +
	       div_u64(scaling_ns * ROOT_OF_PACKET, root);
}

static void delay_acked(struct sroce_cc *cc, const struct sroce_cc_ack *ack)
{
	struct sroce_delay *delay = &cc->delay;
	u64 rtt_ns = min(ack->rtt_ns, MAX_RTT_NS);
	u32 packets = delay->unsampled + ack->packets;
	u64 base_ns = (u64)READ_ONCE(cc->params->delay_base) * SROCE_CC_USEC;
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
		cut = (rtt_ns - delay->target_ns) * READ_ONCE(cc->params->delay_beta) * PERCENT;
		shrink_window(cc, SROCE_CC_EV_BY_DELAY, div64_u64(cut, rtt_ns), rtt_ns,
			      ack->now_ns);
	} else if (is_used(cc, ack, packets)) {
		grow_window(cc, packets);
	} else {
		u32 before = cc->cwnd;

		set_window(cc, before);
		/* Unless a parameter has changed, it is what it was. */
		if (cc->cwnd != before)
			cc_note_event(cc, SROCE_CC_EV_ADAPTED);
	}
}

static void delay_lost(struct sroce_cc *cc, bool timeout, u64 now_ns)
{
	u32 by = timeout ? SROCE_CC_EV_BY_TIMEOUT : SROCE_CC_EV_BY_LOSS;
	struct sroce_delay *delay = &cc->delay;

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
	if (cc->cwnd < SROCE_CC_PACKET)
		return "less than a packet";
	if (cc->delay.slow_start)
		return "slow start";
	return cc->delay.above ? "above target" : "below target";
}

static void delay_get_info(struct sroce_cc *copy, u64 now_ns, struct sroce_cc_info *info)
{
	info->target_ns = copy->delay.target_ns;
}

const struct sroce_cc_ops sroce_delay_ops = {
	.name		= "delay",
	.needs_acks	= true,
	.start		= delay_start,
	.acked		= delay_acked,
	.lost		= delay_lost,
	.state_name	= delay_state_name,
	.get_info	= delay_get_info,
};
