// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DCQCN (Zhu et al., SIGCOMM 2015) with mlx5's parameters: CNPs lower the rate,
 * time and bytes without CNPs raise it again.
 *
 *        CNP: rate *= 1 - alpha / 2                        limit reached
 *     +------------------------------------+            +-----------------+
 *     |                                    v            |                 v
 *   line rate     fast recovery --> additive increase --+--> hyper increase
 *   (no limiter)  rate += gap / 2   target += rp_ai_rate     target += i * rp_hai_rate
 *                 events < F        timer or bytes >= F      timer and bytes > F
 *
 * There is no slow start, and no limiter before the first CNP: a QP that never
 * sees one pays nothing. The limiter ends when the rate is within 1/128 of the
 * line rate, because halving takes long for the rest. The next CNP then counts
 * as the first. Alpha starts high again, so that an incast after a quiet hour
 * causes a large decrease.
 *
 * The first CNP decreases the line rate. If the interface reports none, as
 * Linux's virtual devices do, 10 Gb/s are assumed.
 *
 * Decreases are at least rp_rate_reduce_monitor_period apart, and at least a
 * round trip (up to 10 ms), if one is known. A CNP that comes earlier reports congestion from
 * before the decrease: in software a round trip is longer than 50 us. The
 * periods of alpha and of the increase timer are at least a round trip, too. A
 * flow behind a slow link may send one packet in 300 us, and would otherwise
 * increase twice for each CNP. Every CNP postpones increases, so that they do
 * not outweigh the decreases while a long queue drains. A target of more than
 * ten times the rate is out of date. The first increase after a decrease
 * divides it by eight, as QCN does, or the end of one incast would start the
 * next.
 *
 * Where there is no ECN, a timeout takes a quarter of the rate, at most as
 * often as CNPs may. Alpha does not change, and fast recovery soon restores the
 * rate. A loss that was retransmitted is ignored, because the network may
 * simply be lossy. A full queue of this host counts as a CNP.
 *
 * Elapsed periods are computed when something is sent, when a CNP arrives, or
 * for display. Alpha becomes alpha * (1 - g)^n. Rates advance by phases, each in
 * closed form: each event takes half of the gap between target and rate, so the
 * gap tends to the step by which the target rises. Hyper increases computed together
 * all use the i of the first.
 */
#include <linux/array_size.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/cc_ops.h"

#define ASSUMED_LINE_RATE	(10000ull * SROCE_CC_MBPS)
#define MAX_RTT_NS		(10 * SROCE_CC_MSEC)
/* The limiter ends when less than limit >> RELEASE_SHIFT is missing. */
#define RELEASE_SHIFT		7
#define STAGE_MAX		0xffffu
/* At the first increase, a target above FAR_TARGET times the rate is divided by FAR_DIVISOR. */
#define FAR_TARGET		10
#define FAR_DIVISOR		8

/* alpha and g: 1.0 is 2^30; parameters have 10 bits. */
#define ALPHA_SHIFT		30
#define ALPHA_ONE		(1u << ALPHA_SHIFT)
#define ALPHA_PARAM_SHIFT	(ALPHA_SHIFT - 10)

struct dcqcn_params {
	u32	rp_clamp_tgt_rate;
	u32	rp_clamp_tgt_rate_ati;
	u32	rp_time_reset;
	u32	rp_byte_reset;
	u32	rp_threshold;
	u32	rp_ai_rate;
	u32	rp_max_rate;
	u32	rp_hai_rate;
	u32	rp_min_dec_fac;
	u32	rp_rate_to_set_on_first_cnp;
	u32	rp_dce_tcp_g;
	u32	rp_dce_tcp_rtt;
	u32	rp_rate_reduce_monitor_period;
	u32	rp_initial_alpha_value;
	u32	rp_gd;
};

#define PARAM(field, ...) SROCE_CC_PARAM(dcqcn, field, __VA_ARGS__)

static const struct sroce_cc_param dcqcn_param_table[] = {
	PARAM(rp_clamp_tgt_rate, 0, 1, 0, "", "every decrease sets the target rate"),
	PARAM(rp_clamp_tgt_rate_ati, 0, 1, 1, "",
	      "a decrease after increases by the timer sets the target rate"),
	PARAM(rp_time_reset, 1, 131071, 150, "us", "period of the increase timer"),
	PARAM(rp_byte_reset, 0, S32_MAX, 2000000, "bytes",
	      "period of the byte counter, 0 for none"),
	PARAM(rp_threshold, 1, 31, 5, "", "events until fast recovery ends"),
	PARAM(rp_ai_rate, 0, 800000, 0, "Mb/s", "additive increase, 0: 1/1000 of the line rate"),
	PARAM(rp_max_rate, 0, 800000, 0, "Mb/s", "rate that ends the limit, 0: line rate"),
	PARAM(rp_hai_rate, 0, 800000, 0, "Mb/s", "hyper increase, 0: 1/100 of the line rate"),
	PARAM(rp_min_dec_fac, 0, 100, 50, "%", "smallest share of the rate that a decrease leaves"),
	PARAM(rp_rate_to_set_on_first_cnp, 0, 800000, 0, "Mb/s",
	      "rate after the first CNP, 0: decrease as usual"),
	PARAM(rp_dce_tcp_g, 0, 1023, 1020, "1/1024", "share of alpha that remains after a period"),
	PARAM(rp_dce_tcp_rtt, 1, 131071, 55, "us", "period of alpha"),
	PARAM(rp_rate_reduce_monitor_period, 0, 131071, 50, "us",
	      "least time between decreases; a round trip if longer, up to 10 ms"),
	PARAM(rp_initial_alpha_value, 1, 1023, 1023, "1/1024", "alpha at the first CNP"),
	PARAM(rp_gd, 10, 11, 11, "", "a decrease is by alpha / 2^(rp_gd - 10)"),
};

/* Indexes of sroce_cc_events.counts. */
enum {
	ALPHA_PERIODS,
	FAST_INCREASES,
	ADDITIVE_INCREASES,
	HYPER_INCREASES,
};

/**
 * struct dcqcn - state, valid while the rate is limited
 * @target_rate: rate to return to, bytes/s; sroce_cc.rate is the current one
 * @cut_ns: last decrease
 * @alpha_ns: start of the alpha period
 * @timer_ns: start of the increase timer's period
 * @bytes: sent since the last event of the byte counter
 * @alpha: estimate of congestion, 1.0 is ALPHA_ONE
 * @timer_stage: timer events since the last decrease
 * @byte_stage: byte counter events since the last decrease
 * @cnp_in_period: a CNP arrived in this alpha period
 */
struct dcqcn {
	u64	target_rate;
	u64	cut_ns;
	u64	alpha_ns;
	u64	timer_ns;
	u64	bytes;
	u32	alpha;
	u32	timer_stage;
	u32	byte_stage;
	bool	cnp_in_period;
};

SROCE_CC_ASSERT_FITS(dcqcn);
static_assert(ALPHA_ONE == SROCE_CC_ONE);

static const struct dcqcn_params *dcqcn_params(const struct sroce_cc *cc)
{
	return cc_values(cc, SROCE_CC_dcqcn);
}

static u64 limit_rate(const struct sroce_cc *cc)
{
	u32 max_rate = READ_ONCE(dcqcn_params(cc)->rp_max_rate);

	if (max_rate)
		return cc_mbps(max_rate);
	return cc->line_rate ? cc->line_rate : ASSUMED_LINE_RATE;
}

static u64 lowest_rate(const struct sroce_cc *cc, u64 limit)
{
	return min(cc_mbps(max(READ_ONCE(cc->params->rp_min_rate), 1u)), limit);
}

static bool is_limited(const struct sroce_cc *cc)
{
	return cc->rate != SROCE_CC_UNLIMITED;
}

static u32 multiply_fixed(u32 a, u32 b)
{
	return (u64)a * b >> ALPHA_SHIFT;
}

static u32 power_fixed(u32 base, u64 exponent)
{
	u32 result = ALPHA_ONE;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result = multiply_fixed(result, base);
		base = multiply_fixed(base, base);
	}
	return result;
}

/*
 * The period does not depend on what the flow sends. Flows that share a queue have about the same
 * round trip, and one that sends little must not increase more slowly than the others.
 */
static u64 at_least_round_trip(const struct sroce_cc *cc, u32 period_us)
{
	return max((u64)period_us * SROCE_CC_USEC, min_t(u64, cc->srtt_ns, MAX_RTT_NS));
}

static void update_alpha(struct sroce_cc *cc, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);
	u32 period_ns =
		at_least_round_trip(cc, max(READ_ONCE(dcqcn_params(cc)->rp_dce_tcp_rtt), 1u));
	u32 keep = READ_ONCE(dcqcn_params(cc)->rp_dce_tcp_g) << ALPHA_PARAM_SHIFT;
	u64 periods = div_u64(sroce_elapsed_ns(now_ns, dc->alpha_ns), period_ns);

	if (!periods)
		return;
	cc_note_event(cc, SROCE_CC_EV_ESTIMATED);
	cc_count_events(cc, ALPHA_PERIODS, periods);
	dc->alpha_ns += periods * period_ns;
	if (dc->cnp_in_period) {
		dc->cnp_in_period = false;
		dc->alpha = multiply_fixed(dc->alpha, keep) + ALPHA_ONE - keep;
		periods--;
	}
	dc->alpha = multiply_fixed(dc->alpha, power_fixed(keep, periods));
}

static u64 halve_target(u64 value, u64 times)
{
	return times < 64 ? value >> times : 0;
}

/* @count times: target += step, up to the limit; rate = (rate + target) / 2. */
static void raise_rate(struct sroce_cc *cc, u64 limit, u64 step, u64 count)
{
	struct dcqcn *dc = cc_priv(cc);
	u64 gap = dc->target_rate - cc->rate;
	u64 whole = count;

	if (step)
		whole = min(count, div64_u64(limit - dc->target_rate, step));
	dc->target_rate += whole * step;
	gap = halve_target(gap, whole) + step - halve_target(step, whole);
	if (whole < count) {
		gap = halve_target(gap + limit - dc->target_rate, count - whole);
		dc->target_rate = limit;
	}
	cc->rate = dc->target_rate - gap;
}

static void note_increases(struct sroce_cc *cc, u64 fast, u64 additive, u64 hyper)
{
	cc_note_event(cc, SROCE_CC_EV_RAISED);
	cc_count_events(cc, FAST_INCREASES, fast);
	cc_count_events(cc, ADDITIVE_INCREASES, additive);
	cc_count_events(cc, HYPER_INCREASES, hyper);
}

/* @count events of the timer or the byte counter: @stage is its own stage, @other the other's. */
static void increase_rate(struct sroce_cc *cc, u64 limit, u32 *stage, u32 other, u64 count)
{
	u32 threshold = READ_ONCE(dcqcn_params(cc)->rp_threshold);
	u32 ai = READ_ONCE(dcqcn_params(cc)->rp_ai_rate);
	u32 hai = READ_ONCE(dcqcn_params(cc)->rp_hai_rate);
	u64 after = *stage + count;
	u64 fast = 0, hyper = 0, step;

	if (other < threshold && *stage + 1 < threshold)
		fast = min_t(u64, count, threshold - 1 - *stage);
	if (other > threshold && after > threshold)
		hyper = min(count, after - threshold);
	raise_rate(cc, limit, 0, fast);
	step = ai ? cc_mbps(ai) : div_u64(limit, 1000);
	raise_rate(cc, limit, step, count - fast - hyper);
	if (hyper) {
		step = hai ? cc_mbps(hai) : div_u64(limit, 100);
		step *= min(max(*stage, threshold) + 1, other) - threshold;
		raise_rate(cc, limit, min(step, limit), hyper);
	}
	*stage = min_t(u64, after, STAGE_MAX);
	note_increases(cc, fast, count - fast - hyper, hyper);
}

/* The parameters may have changed since the rates were set. */
static void adapt_rates(struct sroce_cc *cc, u64 limit)
{
	struct dcqcn *dc = cc_priv(cc);
	u64 rate = min(max(cc->rate, lowest_rate(cc, limit)), limit);

	if (rate != cc->rate || dc->target_rate > limit)
		cc_note_event(cc, SROCE_CC_EV_ADAPTED);
	cc->rate = rate;
	if (!dc->timer_stage && !dc->byte_stage && dc->target_rate / FAR_TARGET > rate) {
		dc->target_rate /= FAR_DIVISOR;
		cc_note_event(cc, SROCE_CC_EV_TARGET_CUT);
	}
	dc->target_rate = min(max(dc->target_rate, rate), limit);
}

static void update_rate(struct sroce_cc *cc, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);
	u32 period_ns =
		at_least_round_trip(cc, max(READ_ONCE(dcqcn_params(cc)->rp_time_reset), 1u));
	u32 period_bytes = READ_ONCE(dcqcn_params(cc)->rp_byte_reset);
	u64 times = div_u64(sroce_elapsed_ns(now_ns, dc->timer_ns), period_ns);
	u64 counts = period_bytes ? div_u64(dc->bytes, period_bytes) : 0;
	u64 limit;

	if (!times && !counts)
		return;
	dc->timer_ns += times * period_ns;
	dc->bytes -= counts * period_bytes;
	limit = limit_rate(cc);
	adapt_rates(cc, limit);
	if (times)
		increase_rate(cc, limit, &dc->timer_stage, dc->byte_stage, times);
	if (counts)
		increase_rate(cc, limit, &dc->byte_stage, dc->timer_stage, counts);
	if (limit - cc->rate <= limit >> RELEASE_SHIFT) {
		cc->rate = SROCE_CC_UNLIMITED;
		cc_note_event(cc, SROCE_CC_EV_LIMIT_ENDED);
	}
}

static void update_rate_limit(struct sroce_cc *cc, u64 now_ns)
{
	if (!is_limited(cc))
		return;
	update_alpha(cc, now_ns);
	update_rate(cc, now_ns);
}

static void begin_limit(struct sroce_cc *cc, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);

	memset(dc, 0, sizeof(*dc));
	cc->rate = limit_rate(cc);
	dc->target_rate = cc->rate;
	dc->alpha = READ_ONCE(dcqcn_params(cc)->rp_initial_alpha_value) << ALPHA_PARAM_SHIFT;
	dc->alpha_ns = now_ns;
	cc_note_event(cc, SROCE_CC_EV_LIMIT_BEGAN);
}

static bool may_cut(const struct sroce_cc *cc, u64 now_ns)
{
	u32 period_us = READ_ONCE(dcqcn_params(cc)->rp_rate_reduce_monitor_period);
	const struct dcqcn *dc = cc_priv(cc);

	return sroce_elapsed_ns(now_ns, dc->cut_ns) >= at_least_round_trip(cc, period_us);
}

/* The rate less the share that alpha says. */
static u64 decreased_rate(const struct sroce_cc *cc)
{
	const struct dcqcn *dc = cc_priv(cc);
	u32 exponent = READ_ONCE(dcqcn_params(cc)->rp_gd);
	u64 cut = (cc->rate * (dc->alpha >> 10) >> 20) >> (exponent > 10 ? 1 : 0);
	u64 least = div_u64(cc->rate * READ_ONCE(dcqcn_params(cc)->rp_min_dec_fac), 100);

	return max(cc->rate - cut, least);
}

static void cut_rate(struct sroce_cc *cc, u64 rate, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);
	u64 limit = limit_rate(cc);

	cc->rate = min(max(rate, lowest_rate(cc, limit)), limit);
	dc->target_rate = max(dc->target_rate, cc->rate);
	dc->cut_ns = now_ns;
	dc->timer_ns = now_ns;
	dc->bytes = 0;
	dc->timer_stage = 0;
	dc->byte_stage = 0;
	cc->cuts++;
	cc_note_event(cc, SROCE_CC_EV_CUT);
}

static void dcqcn_cnp(struct sroce_cc *cc, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);

	update_rate_limit(cc, now_ns);
	cc_note_event(cc, SROCE_CC_EV_BY_CNP);
	if (!is_limited(cc)) {
		u32 first = READ_ONCE(dcqcn_params(cc)->rp_rate_to_set_on_first_cnp);

		begin_limit(cc, now_ns);
		cut_rate(cc, first ? min(cc_mbps(first), cc->rate) : decreased_rate(cc), now_ns);
	} else if (may_cut(cc, now_ns)) {
		if (READ_ONCE(dcqcn_params(cc)->rp_clamp_tgt_rate) || dc->byte_stage ||
		    (dc->timer_stage && READ_ONCE(dcqcn_params(cc)->rp_clamp_tgt_rate_ati)))
			dc->target_rate = cc->rate;
		cut_rate(cc, decreased_rate(cc), now_ns);
	} else {
		dc->timer_ns = now_ns;
		dc->bytes = 0;
		cc_note_event(cc, SROCE_CC_EV_CUT_SKIPPED);
	}
	dc->cnp_in_period = true;
}

static void dcqcn_lost(struct sroce_cc *cc, enum sroce_cc_loss loss, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);

	if (loss == SROCE_CC_LOCAL_DROP)
		dcqcn_cnp(cc, now_ns);
	if (loss != SROCE_CC_TIMEOUT)
		return;
	update_rate_limit(cc, now_ns);
	cc_note_event(cc, SROCE_CC_EV_BY_TIMEOUT);
	if (!is_limited(cc)) {
		begin_limit(cc, now_ns);
	} else if (!may_cut(cc, now_ns)) {
		cc_note_event(cc, SROCE_CC_EV_CUT_SKIPPED);
		return;
	}
	dc->target_rate = cc->rate;
	cut_rate(cc, cc->rate - cc->rate / 4, now_ns);
}

static void dcqcn_sent(struct sroce_cc *cc, u32 bytes, u64 now_ns)
{
	struct dcqcn *dc = cc_priv(cc);

	dc->bytes += bytes;
	update_rate_limit(cc, now_ns);
}

static const char *dcqcn_state_name(const struct sroce_cc *cc)
{
	const struct dcqcn *dc = cc_priv(cc);
	u32 threshold = READ_ONCE(dcqcn_params(cc)->rp_threshold);

	if (!is_limited(cc))
		return "line rate";
	if (max(dc->timer_stage, dc->byte_stage) < threshold)
		return "fast recovery";
	if (min(dc->timer_stage, dc->byte_stage) > threshold)
		return "hyper increase";
	return "additive increase";
}

static void dcqcn_get_info(struct sroce_cc *copy, u64 now_ns, struct sroce_cc_info *info)
{
	const struct dcqcn *dc = cc_priv(copy);

	update_rate_limit(copy, now_ns);
	info->line_rate = copy->line_rate ? copy->line_rate : ASSUMED_LINE_RATE;
	if (!is_limited(copy))
		return;
	cc_add_detail(info, "target", dc->target_rate, SROCE_CC_AS_RATE);
	cc_add_detail(info, "alpha", dc->alpha, SROCE_CC_AS_FRACTION);
}

const struct sroce_cc_ops sroce_cc_dcqcn_ops = {
	.name		= "dcqcn",
	.params		= dcqcn_param_table,
	.param_count	= ARRAY_SIZE(dcqcn_param_table),
	.count_names	= {
		[ALPHA_PERIODS]		= "alpha_periods",
		[FAST_INCREASES]	= "fast",
		[ADDITIVE_INCREASES]	= "additive",
		[HYPER_INCREASES]	= "hyper",
	},
	.cnp		= dcqcn_cnp,
	.lost		= dcqcn_lost,
	.sent		= dcqcn_sent,
	.state_name	= dcqcn_state_name,
	.get_info	= dcqcn_get_info,
};
