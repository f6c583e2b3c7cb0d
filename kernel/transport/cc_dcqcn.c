// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DCQCN (Zhu et al., SIGCOMM 2015) with mlx5's parameters: CNPs lower the rate,
 * time and bytes without them bring it back.
 *
 *        CNP: rate *= 1 - alpha / 2                        limit reached
 *     +------------------------------------+            +-----------------+
 *     |                                    v            |                 v
 *   line rate     fast recovery --> additive increase --+--> hyper increase
 *   (no limiter)  rate += gap / 2   target += rp_ai_rate     target += i * rp_hai_rate
 *                 events < F        timer or bytes >= F      timer and bytes > F
 *
 * There is no slow start and no limiter before the first CNP: a QP that never
 * sees one pays nothing. When the rate has come back to the line rate (but for
 * 1/128, which halving would take long for), the limiter ends, and the next CNP
 * is a first one again: alpha starts high, so that an incast after a quiet hour
 * is taken seriously.
 *
 * A first CNP has to lower some rate: that of the line, 10 Gb/s when the
 * interface does not tell, as Linux's own virtual devices do.
 *
 * Two decreases are at least rp_rate_reduce_monitor_period apart, and a round trip
 * (of up to 10 ms): what comes sooner is news of before the decrease, and in
 * software a round trip is longer than the 50 us between CNPs. Nor are the periods of
 * alpha and of the increase timer shorter: behind a slow link a flow may send a
 * packet in 300 us, and would rise twice for each CNP that lowers it. Every CNP puts off
 * increases, so that they do not win while a long queue drains. And a target that
 * is more than ten times the rate is from another time: the first increase after
 * a decrease divides it by eight, as QCN does, or each end of an incast would
 * begin the next one.
 *
 * Where there is no ECN, a timeout takes a quarter of the rate, as seldom as
 * CNPs may; alpha is left alone, and fast recovery soon gives it back. A loss that
 * was retransmitted says nothing: that network may simply be lossy.
 *
 * Elapsed periods are made up for when something is sent, a CNP comes or someone
 * looks: alpha by alpha * (1 - g)^n; rates by phases, each in closed form: the
 * gap between target and rate is halved by each event, so it tends to the step
 * by which the target rises. Of many hyper increases at once all use the i of
 * the first.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/cc_ops.h"

#define ASSUMED_LINE_RATE	(10000ull * SROCE_CC_MBPS)
#define MAX_RTT_NS		(10 * SROCE_CC_MSEC)
/* The rate has reached the limit when less than limit >> RELEASE_SHIFT is missing. */
#define RELEASE_SHIFT		7
#define STAGE_MAX		0xffffu
/* The first event after a decrease does not trust a target that is ten times the rate. */
#define FAR_TARGET		10
#define FAR_DIVISOR		8

/* alpha and g: 1.0 is 2^30; parameters have 10 bits. */
#define ALPHA_SHIFT		30
#define ALPHA_ONE		(1u << ALPHA_SHIFT)
#define ALPHA_PARAM_SHIFT	(ALPHA_SHIFT - 10)

static u64 limit_rate(const struct sroce_cc *cc)
{
	u32 max_rate = READ_ONCE(cc->params->rp_max_rate);

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
 * It is the round trip, and not what a flow sends, because all who share a queue have about
 * the same one: who sends little must not rise more slowly.
 */
static u64 at_least_round_trip(const struct sroce_cc *cc, u32 period_us)
{
	return max((u64)period_us * SROCE_CC_USEC, min_t(u64, cc->srtt_ns, MAX_RTT_NS));
}

static void update_alpha(struct sroce_cc *cc, u64 now_ns)
{
	struct sroce_dcqcn *dc = &cc->dcqcn;
	u32 period_ns = at_least_round_trip(cc, max(READ_ONCE(cc->params->rp_dce_tcp_rtt), 1u));
	u32 keep = READ_ONCE(cc->params->rp_dce_tcp_g) << ALPHA_PARAM_SHIFT;
	u64 periods = div_u64(sroce_elapsed_ns(now_ns, dc->alpha_ns), period_ns);

	if (!periods)
		return;
	cc_note_event(cc, SROCE_CC_EV_ALPHA);
	cc->events.alpha_periods = cc_add_count(cc->events.alpha_periods, periods);
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
	struct sroce_dcqcn *dc = &cc->dcqcn;
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
	struct sroce_cc_events *events = &cc->events;

	cc_note_event(cc, SROCE_CC_EV_RAISED);
	events->fast = cc_add_count(events->fast, fast);
	events->additive = cc_add_count(events->additive, additive);
	events->hyper = cc_add_count(events->hyper, hyper);
}

/* @count events of the timer or the byte counter, with that one's stage and the other's. */
static void increase_rate(struct sroce_cc *cc, u64 limit, u32 *stage, u32 other, u64 count)
{
	u32 threshold = READ_ONCE(cc->params->rp_threshold);
	u32 ai = READ_ONCE(cc->params->rp_ai_rate);
	u32 hai = READ_ONCE(cc->params->rp_hai_rate);
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
	struct sroce_dcqcn *dc = &cc->dcqcn;
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
	struct sroce_dcqcn *dc = &cc->dcqcn;
	u32 period_ns = at_least_round_trip(cc, max(READ_ONCE(cc->params->rp_time_reset), 1u));
	u32 period_bytes = READ_ONCE(cc->params->rp_byte_reset);
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
	struct sroce_dcqcn *dc = &cc->dcqcn;

	memset(dc, 0, sizeof(*dc));
	cc->rate = limit_rate(cc);
	dc->target_rate = cc->rate;
	dc->alpha = READ_ONCE(cc->params->rp_initial_alpha_value) << ALPHA_PARAM_SHIFT;
	dc->alpha_ns = now_ns;
	cc_note_event(cc, SROCE_CC_EV_LIMIT_BEGAN);
}

static bool may_cut(const struct sroce_cc *cc, u64 now_ns)
{
	u32 period_us = READ_ONCE(cc->params->rp_rate_reduce_monitor_period);

	return sroce_elapsed_ns(now_ns, cc->dcqcn.cut_ns) >= at_least_round_trip(cc, period_us);
}

/* What alpha leaves of the rate. */
static u64 decreased_rate(const struct sroce_cc *cc)
{
	u32 exponent = READ_ONCE(cc->params->rp_gd);
	u64 cut = (cc->rate * (cc->dcqcn.alpha >> 10) >> 20) >> (exponent > 10 ? 1 : 0);
	u64 least = div_u64(cc->rate * READ_ONCE(cc->params->rp_min_dec_fac), 100);

	return max(cc->rate - cut, least);
}

static void cut_rate(struct sroce_cc *cc, u64 rate, u64 now_ns)
{
	struct sroce_dcqcn *dc = &cc->dcqcn;
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
	const struct sroce_cc_params *params = cc->params;
	struct sroce_dcqcn *dc = &cc->dcqcn;

	update_rate_limit(cc, now_ns);
	cc_note_event(cc, SROCE_CC_EV_BY_CNP);
	if (!is_limited(cc)) {
		u32 first = READ_ONCE(params->rp_rate_to_set_on_first_cnp);

		begin_limit(cc, now_ns);
		cut_rate(cc, first ? min(cc_mbps(first), cc->rate) : decreased_rate(cc), now_ns);
	} else if (may_cut(cc, now_ns)) {
		if (READ_ONCE(params->rp_clamp_tgt_rate) || dc->byte_stage ||
		    (dc->timer_stage && READ_ONCE(params->rp_clamp_tgt_rate_ati)))
			dc->target_rate = cc->rate;
		cut_rate(cc, decreased_rate(cc), now_ns);
	} else {
		dc->timer_ns = now_ns;
		dc->bytes = 0;
		cc_note_event(cc, SROCE_CC_EV_CUT_SKIPPED);
	}
	dc->cnp_in_period = true;
}

static void dcqcn_lost(struct sroce_cc *cc, bool timeout, u64 now_ns)
{
	if (!timeout)
		return;
	update_rate_limit(cc, now_ns);
	cc_note_event(cc, SROCE_CC_EV_BY_TIMEOUT);
	if (!is_limited(cc)) {
		begin_limit(cc, now_ns);
	} else if (!may_cut(cc, now_ns)) {
		cc_note_event(cc, SROCE_CC_EV_CUT_SKIPPED);
		return;
	}
	cc->dcqcn.target_rate = cc->rate;
	cut_rate(cc, cc->rate - cc->rate / 4, now_ns);
}

static void dcqcn_sent(struct sroce_cc *cc, u32 bytes, u64 now_ns)
{
	cc->dcqcn.bytes += bytes;
	update_rate_limit(cc, now_ns);
}

static const char *dcqcn_state_name(const struct sroce_cc *cc)
{
	const struct sroce_dcqcn *dc = &cc->dcqcn;
	u32 threshold = READ_ONCE(cc->params->rp_threshold);

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
	update_rate_limit(copy, now_ns);
	info->line_rate = copy->line_rate ? copy->line_rate : ASSUMED_LINE_RATE;
	if (!is_limited(copy))
		return;
	info->target_rate = copy->dcqcn.target_rate;
	info->alpha = copy->dcqcn.alpha >> ALPHA_PARAM_SHIFT;
}

const struct sroce_cc_ops sroce_dcqcn_ops = {
	.name		= "dcqcn",
	.cnp		= dcqcn_cnp,
	.lost		= dcqcn_lost,
	.sent		= dcqcn_sent,
	.state_name	= dcqcn_state_name,
	.get_info	= dcqcn_get_info,
};
