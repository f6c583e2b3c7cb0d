// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: parameters, the choice of an algorithm, and the pacer.
 * The algorithms are in cc_dcqcn.c and cc_delay.c.
 *
 * The pacer is a bucket of one quantum: what the rate yields in 50 us, or two
 * packets. It fills with time and is emptied by what is sent. A sender waits
 * until it is half full and may then send all of it: bursts are long enough for
 * segmentation offload, and a timer that is late by up to half a quantum costs
 * no throughput. Idle time fills the bucket, no more.
 *
 * Where something below lets packets go at the time that they bear (fq), they are handed
 * over a little ahead, with the times at which a punctual timer would have sent them, and
 * the timer is needed once for several bursts. What has been handed over leaves at the
 * rate it was stamped for, so it must not be much.
 */
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "transport/cc_ops.h"

/* A quantum is 1 / 20000 s = 50 us of the rate. */
#define QUANTA_PER_SEC		20000
/* The most that is handed over ahead of its time: quanta, but not for long, nor much. */
#define AHEAD_QUANTA		2
#define AHEAD_NS_MAX		200000u
#define AHEAD_BYTES_MAX		(256u * 1024)

#define PARAM(field, min, max, initial, unit, doc) \
	{ #field, offsetof(struct sroce_cc_params, field), min, max, initial, unit, doc }

/* Why the defaults are not the hardware's: Documentation/decisions/0003-congestion-control.md */
const struct sroce_cc_param sroce_cc_param_table[SROCE_CC_PARAM_COUNT] = {
	PARAM(algorithm, 0, SROCE_CC_ALGORITHM_COUNT - 1, SROCE_CC_DCQCN, "",
	      "0 none, 1 dcqcn, 2 delay; for connections made later"),
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
	PARAM(rp_min_dec_fac, 0, 100, 50, "%", "what a decrease leaves at least"),
	PARAM(rp_min_rate, 1, 800000, 10, "Mb/s", "lowest rate"),
	PARAM(rp_rate_to_set_on_first_cnp, 0, 800000, 0, "Mb/s",
	      "rate after the first CNP, 0: a decrease as by any other"),
	PARAM(rp_dce_tcp_g, 0, 1023, 1020, "1/1024", "what a period leaves of alpha"),
	PARAM(rp_dce_tcp_rtt, 1, 131071, 55, "us", "period of alpha"),
	PARAM(rp_rate_reduce_monitor_period, 0, 131071, 50, "us",
	      "least time between decreases; a round trip up to 1 ms if longer"),
	PARAM(rp_initial_alpha_value, 1, 1023, 1023, "1/1024", "alpha at the first CNP"),
	PARAM(rp_gd, 10, 11, 11, "", "a decrease is by alpha / 2^(rp_gd - 10)"),
	PARAM(np_min_time_between_cnps, 0, 131071, 50, "us", "least time between CNPs of a QP"),
	PARAM(np_cnp_dscp, 0, 63, 48, "", "DSCP of CNPs"),
	PARAM(np_cnp_prio_mode, 0, 1, 0, "",
	      "priority of CNPs: 0 np_cnp_prio, 1 that of the QP"),
	PARAM(np_cnp_prio, 0, 7, 6, "", "802.1p priority of CNPs"),
	PARAM(delay_base, 0, 1000000, 0, "us", "round trip without queues, 0: the smallest seen"),
	PARAM(delay_target, 1, 1000000, 100, "us", "queueing delay that is allowed"),
	PARAM(delay_flow_scaling, 0, 1000000, 400, "us",
	      "allowed beyond that, divided by the root of the window in packets"),
	PARAM(delay_ai, 1, 65536, 256, "1/256 packet", "additive increase per round trip"),
	PARAM(delay_beta, 1, 100, 80, "%", "decrease by this share of the excess delay"),
	PARAM(delay_max_dec_fac, 1, 90, 50, "%", "what a decrease takes at most"),
	PARAM(delay_initial_cwnd, 1, 65536, 16, "packets", "first window"),
	PARAM(delay_min_cwnd, 1, 256, 8, "1/256 packet", "smallest window"),
	PARAM(delay_max_cwnd, 1, 65536, 4096, "packets", "largest window"),
};

static u32 *param_field(struct sroce_cc_params *params, u32 index)
{
	return (u32 *)((u8 *)params + sroce_cc_param_table[index].offset);
}

/**
 * sroce_cc_params_init() - set all parameters to their defaults
 * @params: the parameters
 */
void sroce_cc_params_init(struct sroce_cc_params *params)
{
	u32 i;

	for (i = 0; i < SROCE_CC_PARAM_COUNT; i++)
		*param_field(params, i) = sroce_cc_param_table[i].initial;
}

/**
 * sroce_cc_param_set() - set one parameter
 * @params: the parameters; they may be in use
 * @index: in sroce_cc_param_table
 * @value: the value
 *
 * Return: whether there is such a parameter and the value is in its range;
 * nothing is changed otherwise.
 */
bool sroce_cc_param_set(struct sroce_cc_params *params, u32 index, u32 value)
{
	if (index >= SROCE_CC_PARAM_COUNT || value < sroce_cc_param_table[index].min ||
	    value > sroce_cc_param_table[index].max)
		return false;
	WRITE_ONCE(*param_field(params, index), value);
	return true;
}

/**
 * sroce_cc_param_get() - read one parameter
 * @params: the parameters
 * @index: in sroce_cc_param_table
 *
 * Return: its value, 0 when there is no such parameter.
 */
u32 sroce_cc_param_get(const struct sroce_cc_params *params, u32 index)
{
	if (index >= SROCE_CC_PARAM_COUNT)
		return 0;
	return READ_ONCE(*param_field((struct sroce_cc_params *)params, index));
}

static const struct sroce_cc_ops none_ops = { .name = "none" };

static const struct sroce_cc_ops *const algorithms[] = {
	[SROCE_CC_NONE] = &none_ops,
	[SROCE_CC_DCQCN] = &sroce_dcqcn_ops,
	[SROCE_CC_DELAY] = &sroce_delay_ops,
};

/**
 * sroce_cc_algorithm_name() - the name of an algorithm
 * @algorithm: enum sroce_cc_algorithm
 *
 * Return: its name, NULL when there is no such algorithm.
 */
const char *sroce_cc_algorithm_name(u32 algorithm)
{
	return algorithm < ARRAY_SIZE(algorithms) ? algorithms[algorithm]->name : NULL;
}

static const struct sroce_cc_ops *chosen_ops(const struct sroce_cc_params *params)
{
	u32 algorithm = READ_ONCE(params->algorithm);

	BUILD_BUG_ON(ARRAY_SIZE(algorithms) != SROCE_CC_ALGORITHM_COUNT);
	return algorithm < ARRAY_SIZE(algorithms) ? algorithms[algorithm] : &none_ops;
}

static void start_algorithm(struct sroce_cc *cc, const struct sroce_cc_ops *ops,
			    const struct sroce_cc_params *params, u64 line_rate, u32 mtu_bytes,
			    u64 now_ns)
{
	memset(cc, 0, sizeof(*cc));
	cc->ops = ops;
	cc->params = params;
	cc->rate = SROCE_CC_UNLIMITED;
	cc->cwnd = SROCE_CC_NO_WINDOW;
	cc->mtu_bytes = mtu_bytes;
	cc->line_rate = min(line_rate, SROCE_CC_MAX_RATE);
	cc->credit_ns = now_ns;
	if (cc->ops->start)
		cc->ops->start(cc, now_ns);
}

/**
 * sroce_cc_start() - begin anew, with no limit known
 * @cc: congestion control of one half of a QP; counters are reset, too
 * @params: of the device; must outlive @cc
 * @line_rate: bytes/s of the interface, 0 when not known
 * @mtu_bytes: path MTU
 * @now_ns: the time
 */
void sroce_cc_start(struct sroce_cc *cc, const struct sroce_cc_params *params, u64 line_rate,
		    u32 mtu_bytes, u64 now_ns)
{
	start_algorithm(cc, chosen_ops(params), params, line_rate, mtu_bytes, now_ns);
}

/**
 * sroce_cc_start_datagrams() - the same for who sends what is not acknowledged
 * @cc: as in sroce_cc_start(), as are the others
 * @params: of the device
 * @line_rate: bytes/s of the interface
 * @mtu_bytes: of the longest datagram
 * @now_ns: the time
 *
 * An algorithm that needs ACKs is replaced by dcqcn, as in RNICs: it only needs CNPs.
 */
void sroce_cc_start_datagrams(struct sroce_cc *cc, const struct sroce_cc_params *params,
			      u64 line_rate, u32 mtu_bytes, u64 now_ns)
{
	const struct sroce_cc_ops *ops = chosen_ops(params);

	if (ops->needs_acks)
		ops = &sroce_dcqcn_ops;
	start_algorithm(cc, ops, params, line_rate, mtu_bytes, now_ns);
}

/**
 * sroce_cc_acked() - packets were acknowledged
 * @cc: congestion control
 * @ack: what the acknowledgement tells
 */
void sroce_cc_acked(struct sroce_cc *cc, const struct sroce_cc_ack *ack)
{
	if (!cc->ops)
		return;
	cc->srtt_ns = ack->srtt_ns;
	cc->min_rtt_ns = ack->min_rtt_ns;
	if (cc->ops->acked)
		cc->ops->acked(cc, ack);
}

/**
 * sroce_cc_cnp() - a CNP came
 * @cc: congestion control
 * @now_ns: the time
 *
 * Return: whether the algorithm takes note of it.
 */
bool sroce_cc_cnp(struct sroce_cc *cc, u64 now_ns)
{
	if (!cc->ops || !cc->ops->cnp) {
		cc->cnp_ignored++;
		return false;
	}
	cc->cnp_handled++;
	cc->ops->cnp(cc, now_ns);
	return true;
}

/**
 * sroce_cc_lost() - packets were lost
 * @cc: congestion control
 * @timeout: the ACK timer expired; else a NAK or the like found it out
 * @now_ns: the time
 *
 * May be called for each loss: that many of them in one round trip are one sign
 * of congestion is the algorithm's business.
 */
void sroce_cc_lost(struct sroce_cc *cc, bool timeout, u64 now_ns)
{
	cc->losses++;
	if (cc->ops && cc->ops->lost)
		cc->ops->lost(cc, timeout, now_ns);
}

static bool is_paced(const struct sroce_cc *cc)
{
	return cc->rate && cc->rate != SROCE_CC_UNLIMITED;
}

static u64 quantum_bytes(const struct sroce_cc *cc)
{
	return max(2 * cc_packet_bytes(cc), div_u64(cc->rate, QUANTA_PER_SEC));
}

/* How long the rate takes for @bytes, which are few enough: two packets of 4 GiB, or 50 us. */
static u64 send_time_ns(const struct sroce_cc *cc, u64 bytes)
{
	return div64_u64(bytes * SROCE_CC_SEC + cc->rate - 1, cc->rate);
}

static u64 add_saturated(u64 a, u64 b)
{
	return a + b < a ? U64_MAX : a + b;
}

/**
 * sroce_cc_sent() - packets were sent
 * @cc: congestion control
 * @bytes: of all packets, on the wire
 * @now_ns: the time, even if they leave later
 */
void sroce_cc_sent(struct sroce_cc *cc, u32 bytes, u64 now_ns)
{
	u64 full_ns;

	if (!is_paced(cc))
		return;
	if (cc->ops->sent)
		cc->ops->sent(cc, bytes, now_ns);
	if (!is_paced(cc))
		return;
	full_ns = send_time_ns(cc, quantum_bytes(cc));
	cc->credit_ns = max(cc->credit_ns, sroce_elapsed_ns(now_ns, full_ns));
	cc->credit_ns = add_saturated(cc->credit_ns, send_time_ns(cc, bytes));
}

/**
 * sroce_cc_sendable_bytes() - how much the pacer lets go now
 * @cc: congestion control
 * @now_ns: the time
 *
 * Return: bytes on the wire, at least one packet's, U32_MAX for any number; 0:
 * none before sroce_cc_next_send_ns().
 */
u32 sroce_cc_sendable_bytes(const struct sroce_cc *cc, u64 now_ns)
{
	u64 quantum, credit, filling_ns;

	if (!is_paced(cc))
		return U32_MAX;
	quantum = quantum_bytes(cc);
	filling_ns = sroce_elapsed_ns(now_ns, cc->credit_ns);
	if (filling_ns >= send_time_ns(cc, quantum))
		credit = quantum;
	else
		credit = div_u64(filling_ns * cc->rate, SROCE_CC_SEC);
	if (credit * 2 < quantum)
		return 0;
	return min_t(u64, credit, U32_MAX);
}

/**
 * sroce_cc_sendable_packets() - how many packets the pacer lets go now
 * @cc: congestion control
 * @now_ns: the time
 *
 * Return: packets of the path MTU, U32_MAX for any number; 0: none before
 * sroce_cc_next_send_ns().
 */
u32 sroce_cc_sendable_packets(const struct sroce_cc *cc, u64 now_ns)
{
	u32 bytes = sroce_cc_sendable_bytes(cc, now_ns);

	if (bytes == U32_MAX)
		return U32_MAX;
	return div64_u64(bytes, cc_packet_bytes(cc));
}

/**
 * sroce_cc_next_send_ns() - when the pacer lets something go
 * @cc: congestion control
 *
 * Return: when; what is past is now.
 */
u64 sroce_cc_next_send_ns(const struct sroce_cc *cc)
{
	if (!is_paced(cc))
		return 0;
	return add_saturated(cc->credit_ns, send_time_ns(cc, (quantum_bytes(cc) + 1) / 2));
}

static u64 horizon_ns(const struct sroce_cc *cc)
{
	u64 bytes = min_t(u64, AHEAD_QUANTA * quantum_bytes(cc), AHEAD_BYTES_MAX);

	return min_t(u64, send_time_ns(cc, bytes), AHEAD_NS_MAX);
}

/* Short messages leave together, as they would if a timer had let them go. */
static u32 left_at_departure(const struct sroce_cc *cc)
{
	u64 left_ns;

	if (!is_paced(cc))
		return 0;
	left_ns = min(sroce_elapsed_ns(cc->edt_ns, cc->credit_ns),
		      send_time_ns(cc, quantum_bytes(cc)));
	return div64_u64(div_u64(left_ns * cc->rate, SROCE_CC_SEC), cc_packet_bytes(cc));
}

/**
 * sroce_cc_schedule() - how many packets the pacer lets go next, and when they leave
 * @cc: congestion control
 * @now_ns: the time
 * @ahead: packets handed over now may leave later; else sroce_cc_sendable_packets() and
 *         sroce_cc_next_send_ns() in one
 * @edt_ns: set to when they leave: @now_ns, or if @ahead a little later, which is to be told
 *             by sroce_cc_set_edt(); never before what leaves later already
 *
 * Return: packets of the path MTU, U32_MAX for any number; 0: none before @edt_ns.
 */
u32 sroce_cc_schedule(const struct sroce_cc *cc, u64 now_ns, bool ahead, u64 *edt_ns)
{
	u64 next_ns;
	u32 packets;

	*edt_ns = ahead ? max(now_ns, cc->edt_ns) : now_ns;
	packets = *edt_ns > now_ns ? left_at_departure(cc) :
					sroce_cc_sendable_packets(cc, *edt_ns);
	/* Without a limit nothing would bound what waits behind the last departure. */
	if (packets || !is_paced(cc))
		return packets;
	next_ns = sroce_cc_next_send_ns(cc);
	*edt_ns = next_ns;
	if (!ahead || next_ns > add_saturated(now_ns, horizon_ns(cc)))
		return 0;
	return sroce_cc_sendable_packets(cc, next_ns);
}

/**
 * sroce_cc_set_edt() - what is sent next leaves later than now
 * @cc: congestion control
 * @edt_ns: when, from sroce_cc_schedule()
 */
void sroce_cc_set_edt(struct sroce_cc *cc, u64 edt_ns)
{
	cc->edt_ns = max(cc->edt_ns, edt_ns);
}

/**
 * sroce_cc_window_packets() - how many packets may be unacknowledged
 * @cc: congestion control
 *
 * What is no whole number is rounded up, and the pacer makes it wait.
 *
 * Return: at least 1; SROCE_CC_NO_WINDOW for no limit.
 */
u32 sroce_cc_window_packets(const struct sroce_cc *cc)
{
	if (!cc->ops || cc->cwnd == SROCE_CC_NO_WINDOW)
		return SROCE_CC_NO_WINDOW;
	return DIV_ROUND_UP(cc->cwnd, SROCE_CC_PACKET);
}

/**
 * sroce_cc_take_events() - what has been decided since this was asked last
 * @cc: congestion control; to be asked when @cc->events.mask is not 0
 * @events: filled in
 */
void sroce_cc_take_events(struct sroce_cc *cc, struct sroce_cc_events *events)
{
	*events = cc->events;
	memset(&cc->events, 0, sizeof(cc->events));
}

/**
 * sroce_cc_state_name() - the state in words
 * @cc: congestion control
 *
 * Return: a constant text, as of the last event.
 */
const char *sroce_cc_state_name(const struct sroce_cc *cc)
{
	return cc->ops && cc->ops->state_name ? cc->ops->state_name(cc) : "off";
}

/**
 * sroce_cc_get_info() - rates and the rest for display, as they are now
 * @cc: congestion control; not changed
 * @now_ns: the time; 0: as they were when something last happened
 * @info: filled in
 */
void sroce_cc_get_info(const struct sroce_cc *cc, u64 now_ns, struct sroce_cc_info *info)
{
	struct sroce_cc copy = *cc;

	memset(info, 0, sizeof(*info));
	info->line_rate = cc->line_rate;
	if (cc->ops && cc->ops->get_info)
		cc->ops->get_info(&copy, now_ns, info);
	info->algorithm = cc->ops ? cc->ops->name : none_ops.name;
	info->state = sroce_cc_state_name(&copy);
	info->rate = cc->ops ? copy.rate : SROCE_CC_UNLIMITED;
	info->cwnd = cc->ops ? copy.cwnd : SROCE_CC_NO_WINDOW;
}
