// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: parameters, the choice of an algorithm, and the pacer.
 * An algorithm is in cc_NAME.c (cc_ops.h says how to add one).
 *
 * The pacer is a token bucket of one quantum: the bytes that the rate yields in
 * 50 us, or two packets. The sender waits until the bucket is half full and may
 * then send all of it. So bursts are long enough for segmentation offload, and
 * a timer that is late by up to half a quantum costs no throughput. Idle time
 * fills the bucket and earns no more than that.
 *
 * If the qdisc honours earliest departure times (fq), the sender hands packets
 * over a little ahead, stamped with the times at which a punctual timer would
 * have sent them. One timer then serves several bursts. Packets that have been
 * handed over leave at the rate of their stamps even if the rate drops, so
 * their number is limited.
 */
#include <linux/array_size.h>
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
/* Limits of the packets handed over ahead of their departure: in quanta, in time and in bytes. */
#define AHEAD_QUANTA		2
#define AHEAD_NS_MAX		200000u
#define AHEAD_BYTES_MAX		(256u * 1024)

#define PARAM(field, ...) { #field, offsetof(struct sroce_cc_params, field), __VA_ARGS__ }

/* Why the defaults differ from RNICs: Documentation/decisions/0003-congestion-control.md */
static const struct sroce_cc_param common_param_table[] = {
	PARAM(rp_min_rate, 1, 800000, 10, "Mb/s", "lowest rate"),
	PARAM(np_min_time_between_cnps, 0, 131071, 50, "us", "least time between CNPs of a QP"),
	PARAM(np_cnp_dscp, 0, 63, 48, "", "DSCP of CNPs"),
	PARAM(np_cnp_prio_mode, 0, 1, 0, "",
	      "priority of CNPs: 0 np_cnp_prio, 1 that of the QP"),
	PARAM(np_cnp_prio, 0, 7, 6, "", "802.1p priority of CNPs"),
};

const struct sroce_cc_ops sroce_cc_none_ops = { .name = "none" };

/* By enum sroce_cc_algorithm, which is made of the same list. */
static const struct sroce_cc_ops *const algorithms[SROCE_CC_ALGORITHM_COUNT] = {
	&sroce_cc_none_ops,
#define SROCE_CC_ALGORITHM(name)	(&sroce_cc_##name##_ops),
#include "transport/cc_list.h"
};

/**
 * sroce_cc_param_at() - a parameter of congestion control
 * @index: from 0; first those that all algorithms share, then those of each algorithm
 *
 * Return: the parameter, NULL if @index is past the last one.
 */
const struct sroce_cc_param *sroce_cc_param_at(u32 index)
{
	u32 i;

	if (index < ARRAY_SIZE(common_param_table))
		return &common_param_table[index];
	index -= ARRAY_SIZE(common_param_table);
	for (i = 0; i < ARRAY_SIZE(algorithms); i++) {
		if (index < algorithms[i]->param_count)
			return &algorithms[i]->params[index];
		index -= algorithms[i]->param_count;
	}
	return NULL;
}

static u32 *param_field(struct sroce_cc_params *params, const struct sroce_cc_param *param)
{
	return (u32 *)((u8 *)params + param->offset);
}

/**
 * sroce_cc_params_init() - set all parameters to their defaults
 * @params: the parameters
 */
void sroce_cc_params_init(struct sroce_cc_params *params)
{
	const struct sroce_cc_param *param;
	u32 i;

	memset(params, 0, sizeof(*params));
	params->algorithm = SROCE_CC_DEFAULT;
	for (i = 0; (param = sroce_cc_param_at(i)); i++)
		*param_field(params, param) = param->initial;
}

/**
 * sroce_cc_param_set() - set one parameter
 * @params: the parameters; they may be in use
 * @index: as of sroce_cc_param_at()
 * @value: the value
 *
 * Return: true if the parameter exists and the value is in its range; otherwise
 * nothing has changed.
 */
bool sroce_cc_param_set(struct sroce_cc_params *params, u32 index, u32 value)
{
	const struct sroce_cc_param *param = sroce_cc_param_at(index);

	if (!param || value < param->min || value > param->max)
		return false;
	WRITE_ONCE(*param_field(params, param), value);
	return true;
}

/**
 * sroce_cc_param_get() - read one parameter
 * @params: the parameters
 * @index: as of sroce_cc_param_at()
 *
 * Return: its value, 0 if there is no such parameter.
 */
u32 sroce_cc_param_get(const struct sroce_cc_params *params, u32 index)
{
	const struct sroce_cc_param *param = sroce_cc_param_at(index);

	if (!param)
		return 0;
	return READ_ONCE(*param_field((struct sroce_cc_params *)params, param));
}

/**
 * sroce_cc_algorithm_name() - the name of an algorithm
 * @algorithm: enum sroce_cc_algorithm
 *
 * Return: its name, NULL if there is no such algorithm.
 */
const char *sroce_cc_algorithm_name(u32 algorithm)
{
	return algorithm < ARRAY_SIZE(algorithms) ? algorithms[algorithm]->name : NULL;
}

static const struct sroce_cc_ops *chosen_ops(const struct sroce_cc_params *params)
{
	u32 algorithm = READ_ONCE(params->algorithm);

	return algorithm < ARRAY_SIZE(algorithms) ? algorithms[algorithm] : &sroce_cc_none_ops;
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
 * sroce_cc_start() - start the device's algorithm without any limit
 * @cc: congestion control of a work queue; also resets the counters
 * @params: of the device; must outlive @cc
 * @line_rate: bytes/s of the interface, 0 if not known
 * @mtu_bytes: path MTU
 * @now_ns: the time
 */
void sroce_cc_start(struct sroce_cc *cc, const struct sroce_cc_params *params, u64 line_rate,
		    u32 mtu_bytes, u64 now_ns)
{
	start_algorithm(cc, chosen_ops(params), params, line_rate, mtu_bytes, now_ns);
}

/**
 * sroce_cc_start_unacked() - start congestion control for what has no ACKs: UC, UD, READ responses
 * @cc: congestion control of a work queue
 * @params: of the device; must outlive @cc
 * @line_rate: bytes/s of the interface, 0 if not known
 * @mtu_bytes: of the longest packet
 * @now_ns: the time
 *
 * An algorithm that needs ACKs is replaced by dcqcn, which needs CNPs only. RNICs do the same.
 */
void sroce_cc_start_unacked(struct sroce_cc *cc, const struct sroce_cc_params *params,
			    u64 line_rate, u32 mtu_bytes, u64 now_ns)
{
	const struct sroce_cc_ops *ops = chosen_ops(params);

	if (ops->needs_acks)
		ops = algorithms[SROCE_CC_dcqcn];
	start_algorithm(cc, ops, params, line_rate, mtu_bytes, now_ns);
}

/**
 * sroce_cc_acked() - packets were acknowledged
 * @cc: congestion control
 * @ack: the acknowledgement
 */
void sroce_cc_acked(struct sroce_cc *cc, const struct sroce_cc_ack *ack)
{
	if (!cc->ops)
		return;
	cc->srtt_ns = ack->srtt_ns;
	if (cc->ops->acked)
		cc->ops->acked(cc, ack);
}

/**
 * sroce_cc_cnp() - a CNP arrived
 * @cc: congestion control
 * @srtt_ns: round trip to the peer, for what has no ACKs; 0 if that is not known
 * @now_ns: the time
 *
 * Return: true if the algorithm reacts to CNPs.
 */
bool sroce_cc_cnp(struct sroce_cc *cc, u64 srtt_ns, u64 now_ns)
{
	if (!cc->ops || !cc->ops->cnp)
		return false;
	if (srtt_ns)
		cc->srtt_ns = srtt_ns;
	cc->cnp_handled++;
	cc->ops->cnp(cc, now_ns);
	return true;
}

/**
 * sroce_cc_lost() - packets were lost
 * @cc: congestion control
 * @loss: how the loss was detected
 * @now_ns: the time
 *
 * May be called for each loss. The algorithm treats the losses of one round trip as one sign of
 * congestion.
 */
void sroce_cc_lost(struct sroce_cc *cc, enum sroce_cc_loss loss, u64 now_ns)
{
	if (cc->ops && cc->ops->lost)
		cc->ops->lost(cc, loss, now_ns);
}

static bool is_paced(const struct sroce_cc *cc)
{
	return cc->rate && cc->rate != SROCE_CC_UNLIMITED;
}

static u64 quantum_bytes(const struct sroce_cc *cc)
{
	return max(2 * cc_packet_bytes(cc), div_u64(cc->rate, QUANTA_PER_SEC));
}

/* Time that @bytes take at the rate. Two packets of 4 GiB, or 50 us, cannot overflow. */
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
 * @now_ns: the time, even if the packets depart later
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
 * sroce_cc_sendable_bytes() - how much may the pacer send now?
 * @cc: congestion control
 * @now_ns: the time
 *
 * Return: bytes on the wire, at least those of one packet; U32_MAX for no limit;
 * 0 for none before sroce_cc_next_send_ns().
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
 * sroce_cc_sendable_packets() - how many packets may the pacer send now?
 * @cc: congestion control
 * @now_ns: the time
 *
 * Return: packets of the path MTU; U32_MAX for no limit; 0 for none before
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
 * sroce_cc_next_send_ns() - when may the pacer send next?
 * @cc: congestion control
 *
 * Return: the time; one in the past means now.
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

/* The rest of the quantum departs at the same time, as it would if a timer had released it. */
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
 * sroce_cc_allowance() - how many packets may be sent now, or when the next ones?
 * @cc: congestion control
 * @now_ns: the time
 * @next_ns: set to @now_ns, or if there are none, to when there will be
 *
 * sroce_cc_sendable_packets() and sroce_cc_next_send_ns() in one.
 *
 * Return: packets of the path MTU; U32_MAX for no limit; 0 for none before @next_ns.
 */
u32 sroce_cc_allowance(const struct sroce_cc *cc, u64 now_ns, u64 *next_ns)
{
	u32 packets = sroce_cc_sendable_packets(cc, now_ns);

	*next_ns = packets ? now_ns : sroce_cc_next_send_ns(cc);
	return packets;
}

/**
 * sroce_cc_schedule_edt() - how many packets may be handed over now, to depart when?
 * @cc: congestion control
 * @now_ns: the time
 * @edt_ns: set to their departure: @now_ns or a little later, never before that of packets handed
 *          over earlier; if it is later, the caller stamps it on them and tells
 *          sroce_cc_set_edt()
 *
 * Return: packets of the path MTU; U32_MAX for no limit; 0 for none before @edt_ns.
 */
u32 sroce_cc_schedule_edt(const struct sroce_cc *cc, u64 now_ns, u64 *edt_ns)
{
	u64 next_ns;
	u32 packets;

	*edt_ns = max(now_ns, cc->edt_ns);
	packets = *edt_ns > now_ns ? left_at_departure(cc) :
				     sroce_cc_sendable_packets(cc, now_ns);
	/* Without a rate, nothing would limit the packets that wait for the last departure. */
	if (packets || !is_paced(cc))
		return packets;
	next_ns = sroce_cc_next_send_ns(cc);
	*edt_ns = next_ns;
	if (next_ns > add_saturated(now_ns, horizon_ns(cc)))
		return 0;
	return sroce_cc_sendable_packets(cc, next_ns);
}

/**
 * sroce_cc_set_edt() - the next packets depart later than now
 * @cc: congestion control
 * @edt_ns: when, from sroce_cc_schedule_edt()
 */
void sroce_cc_set_edt(struct sroce_cc *cc, u64 edt_ns)
{
	cc->edt_ns = max(cc->edt_ns, edt_ns);
}

/**
 * sroce_cc_window_packets() - how many packets may be unacknowledged?
 * @cc: congestion control
 *
 * A fraction is rounded up, because the pacer delays the last packet.
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
 * sroce_cc_take_events() - take the decisions since the last call, and clear them
 * @cc: congestion control; worth calling only if @cc->events.mask is not 0
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
 * Return: a constant string, as of the last event.
 */
const char *sroce_cc_state_name(const struct sroce_cc *cc)
{
	return cc->ops && cc->ops->state_name ? cc->ops->state_name(cc) : "off";
}

/**
 * sroce_cc_get_info() - rates and the rest for display
 * @cc: congestion control; not changed
 * @now_ns: the time; 0 for the values as of the last event
 * @info: filled in
 */
void sroce_cc_get_info(const struct sroce_cc *cc, u64 now_ns, struct sroce_cc_info *info)
{
	struct sroce_cc copy = *cc;

	memset(info, 0, sizeof(*info));
	info->started = cc->ops;
	info->line_rate = cc->line_rate;
	info->cnp_handled = cc->cnp_handled;
	info->cuts = cc->cuts;
	if (cc->ops && cc->ops->get_info)
		cc->ops->get_info(&copy, now_ns, info);
	info->algorithm = cc->ops ? cc->ops->name : sroce_cc_none_ops.name;
	info->count_names = cc->ops ? cc->ops->count_names : sroce_cc_none_ops.count_names;
	info->state = sroce_cc_state_name(&copy);
	info->rate = cc->ops ? copy.rate : SROCE_CC_UNLIMITED;
	info->cwnd = cc->ops ? copy.cwnd : SROCE_CC_NO_WINDOW;
}
