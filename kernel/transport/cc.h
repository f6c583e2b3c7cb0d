/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control: how fast a half of a QP may send, and when a receiver
 * tells its peer to slow down.
 *
 *     sender: reaction point (struct sroce_cc)      receiver: notification point
 *       sroce_cc_window_packets(),                     (cnp.h)
 *       sroce_cc_schedule()
 *       sroce_cc_sent()            --- packets -->  CE-marked: sroce_np_marked()
 *       sroce_cc_cnp()             <---- CNP -----    says whether to send one
 *       sroce_cc_acked(), _lost()  <---- ACK -----
 *
 * An algorithm decides on a rate and a window; the pacer here keeps the rate.
 * There are no timers: what time would have changed is made up for, in closed
 * form, when something happens. Nothing here costs more than a comparison
 * while neither rate nor window is limited.
 *
 * Bytes are bytes on the wire: payload and SROCE_CC_HEADER_BYTES per packet.
 * A struct sroce_cc belongs to whoever holds the lock of its half. The
 * parameters are the device's: written one by one with sroce_cc_param_set() at
 * any time, read with READ_ONCE(); each works at once, @algorithm for what
 * starts later.
 */
#ifndef SROCE_TRANSPORT_CC_H
#define SROCE_TRANSPORT_CC_H

#include <linux/types.h>

#include "transport/cc_events.h"

/* Ethernet, IPv4, UDP, BTH and ICRC are 58; 60 is near enough for all opcodes. */
#define SROCE_CC_HEADER_BYTES	60
/* A rate (struct sroce_cc) and a window (in packets) that do not limit. */
#define SROCE_CC_UNLIMITED	((u64)-1)
#define SROCE_CC_NO_WINDOW	((u32)-1)
/* A packet of the window, which is counted in 1/256. */
#define SROCE_CC_PACKET		256
/* Parameters have rates in Mb/s: bytes per second of one, and the most that is believed. */
#define SROCE_CC_MBPS		125000
#define SROCE_CC_MAX_RATE	(800000ull * SROCE_CC_MBPS)

enum sroce_cc_algorithm {
	SROCE_CC_NONE,
	SROCE_CC_DCQCN,		/* rate, from CNPs */
	SROCE_CC_DELAY,		/* window, from round-trip times */
	SROCE_CC_ALGORITHM_COUNT,
};

/*
 * The parameters of a device, with mlx5's names and units; what each means,
 * its range and its default: sroce_cc_param_table, in the same order.
 */
struct sroce_cc_params {
	u32	algorithm;
	u32	rp_clamp_tgt_rate;
	u32	rp_clamp_tgt_rate_ati;
	u32	rp_time_reset;
	u32	rp_byte_reset;
	u32	rp_threshold;
	u32	rp_ai_rate;
	u32	rp_max_rate;
	u32	rp_hai_rate;
	u32	rp_min_dec_fac;
	u32	rp_min_rate;
	u32	rp_rate_to_set_on_first_cnp;
	u32	rp_dce_tcp_g;
	u32	rp_dce_tcp_rtt;
	u32	rp_rate_reduce_monitor_period;
	u32	rp_initial_alpha_value;
	u32	rp_gd;
	u32	np_min_time_between_cnps;
	u32	np_cnp_dscp;
	u32	np_cnp_prio_mode;
	u32	np_cnp_prio;
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

#define SROCE_CC_PARAM_COUNT	(sizeof(struct sroce_cc_params) / sizeof(u32))

/**
 * struct sroce_cc_param - one parameter
 * @name: of the field
 * @offset: of the field in struct sroce_cc_params
 * @min: smallest value
 * @max: largest value
 * @initial: default
 * @unit: of the value, "" for a plain number
 * @doc: what it does, in a line
 */
struct sroce_cc_param {
	const char *name;
	u32	offset;
	u32	min;
	u32	max;
	u32	initial;
	const char *unit;
	const char *doc;
};

extern const struct sroce_cc_param sroce_cc_param_table[SROCE_CC_PARAM_COUNT];

/**
 * struct sroce_cc_ack - what an acknowledgement tells
 * @now_ns: when it came
 * @packets: packets it acknowledges
 * @bytes: and their bytes
 * @rtt_ns: round-trip time measured with it, 0 for none (of a packet sent twice)
 * @min_rtt_ns: smallest of late, 0 when not known
 * @srtt_ns: smoothed, 0 when not known
 * @inflight_packets: what is still unacknowledged
 */
struct sroce_cc_ack {
	u64	now_ns;
	u64	bytes;
	u32	packets;
	u32	inflight_packets;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	srtt_ns;
};

/**
 * struct sroce_dcqcn - state of cc_dcqcn.c, while the rate is limited
 * @target_rate: rate to come back to, bytes/s; sroce_cc.rate is the current one
 * @cut_ns: last decrease
 * @alpha_ns: start of the alpha period
 * @timer_ns: start of the increase timer's period
 * @bytes: sent since the last event of the byte counter
 * @alpha: estimate of congestion, 1.0 is 2^30
 * @timer_stage: timer events since the last decrease
 * @byte_stage: byte counter events since the last decrease
 * @cnp_in_period: a CNP came in this alpha period
 */
struct sroce_dcqcn {
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

/**
 * struct sroce_delay - state of cc_delay.c
 * @cut_ns: last decrease
 * @target_ns: the delay that was aimed at last
 * @unsampled: packets acknowledged since the last round-trip time
 * @remainder: growth that is less than 1/256 packet
 * @timeouts: in a row
 * @slow_start: no congestion has been seen yet
 * @above: the last delay was above the target
 */
struct sroce_delay {
	u64	cut_ns;
	u64	target_ns;
	u32	unsampled;
	u32	remainder;
	u32	timeouts;
	bool	slow_start;
	bool	above;
};

/**
 * struct sroce_cc - the sender's state
 * @ops: the algorithm, NULL before sroce_cc_start(): no limit
 * @params: the device's
 * @rate: bytes/s, SROCE_CC_UNLIMITED for no pacing
 * @cwnd: packets that may be unacknowledged, in 1/256; SROCE_CC_NO_WINDOW
 * @mtu_bytes: path MTU
 * @events: decisions, see sroce_cc_take_events()
 * @line_rate: of the interface, bytes/s
 * @srtt_ns: as of the last ACK, 0 when not known
 * @min_rtt_ns: as of the last ACK, 0 when not known
 * @credit_ns: pacer: when the bytes sent so far were paid for
 * @edt_ns: pacer: when the last of what was handed over ahead leaves
 * @dcqcn: of dcqcn
 * @delay: of delay
 * @cnp_handled: CNPs that the algorithm took note of
 * @cnp_ignored: CNPs that it has no use for
 * @cuts: decreases of rate or window
 * @losses: losses reported, timeouts and others
 */
struct sroce_cc {
	const struct sroce_cc_ops *ops;
	const struct sroce_cc_params *params;
	u64	rate;
	u32	cwnd;
	u32	mtu_bytes;
	struct sroce_cc_events events;
	u64	line_rate;
	u64	srtt_ns;
	u64	min_rtt_ns;
	u64	credit_ns;
	u64	edt_ns;
	union {
		struct sroce_dcqcn dcqcn;
		struct sroce_delay delay;
	};
	u64	cnp_handled;
	u64	cnp_ignored;
	u64	cuts;
	u64	losses;
};

/**
 * struct sroce_cc_info - for display
 * @algorithm: its name
 * @state: in words
 * @rate: bytes/s, SROCE_CC_UNLIMITED for no pacing
 * @target_rate: dcqcn: bytes/s to come back to, 0 while not limited
 * @line_rate: bytes/s, the given or the assumed one
 * @target_ns: delay: the round-trip time aimed at
 * @alpha: dcqcn: in 1/1024, 0 while not limited
 * @cwnd: in 1/256 packet, SROCE_CC_NO_WINDOW for none
 */
struct sroce_cc_info {
	const char *algorithm;
	const char *state;
	u64	rate;
	u64	target_rate;
	u64	line_rate;
	u64	target_ns;
	u32	alpha;
	u32	cwnd;
};

void sroce_cc_params_init(struct sroce_cc_params *params);
bool sroce_cc_param_set(struct sroce_cc_params *params, u32 index, u32 value);
u32 sroce_cc_param_get(const struct sroce_cc_params *params, u32 index);
const char *sroce_cc_algorithm_name(u32 algorithm);

void sroce_cc_start(struct sroce_cc *cc, const struct sroce_cc_params *params, u64 line_rate,
		    u32 mtu_bytes, u64 now_ns);
void sroce_cc_start_datagrams(struct sroce_cc *cc, const struct sroce_cc_params *params,
			      u64 line_rate, u32 mtu_bytes, u64 now_ns);
void sroce_cc_acked(struct sroce_cc *cc, const struct sroce_cc_ack *ack);
bool sroce_cc_cnp(struct sroce_cc *cc, u64 now_ns);
void sroce_cc_lost(struct sroce_cc *cc, bool timeout, u64 now_ns);
void sroce_cc_sent(struct sroce_cc *cc, u32 bytes, u64 now_ns);
u32 sroce_cc_sendable_bytes(const struct sroce_cc *cc, u64 now_ns);
u32 sroce_cc_sendable_packets(const struct sroce_cc *cc, u64 now_ns);
u64 sroce_cc_next_send_ns(const struct sroce_cc *cc);
u32 sroce_cc_schedule(const struct sroce_cc *cc, u64 now_ns, bool ahead, u64 *edt_ns);
void sroce_cc_set_edt(struct sroce_cc *cc, u64 edt_ns);
u32 sroce_cc_window_packets(const struct sroce_cc *cc);
void sroce_cc_take_events(struct sroce_cc *cc, struct sroce_cc_events *events);
const char *sroce_cc_state_name(const struct sroce_cc *cc);
void sroce_cc_get_info(const struct sroce_cc *cc, u64 now_ns, struct sroce_cc_info *info);

#endif
