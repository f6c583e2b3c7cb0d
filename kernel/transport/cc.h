/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control: how fast a work queue may send. The receiver's part, when
 * to send a CNP, is in notification_point.h.
 *
 *     sender: reaction point (struct sroce_cc)      receiver: notification point
 *       sroce_cc_window_packets(),                     (notification_point.h)
 *       sroce_cc_allowance()
 *       sroce_cc_sent()            --- packets -->  CE-marked: sroce_np_marked()
 *       sroce_cc_cnp()             <---- CNP -----    tells whether to send one
 *       sroce_cc_acked(), _lost()  <---- ACK -----
 *
 * An algorithm (cc_ops.h) sets a rate and a window; the pacer in cc.c enforces
 * the rate. There are no timers. An algorithm computes the effect of elapsed
 * time in closed form at the next event. As long as neither rate nor window is
 * limited, a packet costs one comparison.
 *
 * Bytes are bytes on the wire: payload and SROCE_CC_HEADER_BYTES per packet.
 * The lock of the work queue protects its struct sroce_cc. The parameters
 * belong to the device. sroce_cc_param_set() may change one at any time, and
 * readers use READ_ONCE(). A change takes effect at once, but @algorithm is
 * read only when a work queue starts.
 */
#ifndef SROCE_TRANSPORT_CC_H
#define SROCE_TRANSPORT_CC_H

#include <linux/types.h>

/* Ethernet, IPv4, UDP, BTH and ICRC are 58; 60 is close enough for all opcodes. */
#define SROCE_CC_HEADER_BYTES	60
/* A rate (struct sroce_cc) and a window (in packets) that do not limit. */
#define SROCE_CC_UNLIMITED	((u64)-1)
#define SROCE_CC_NO_WINDOW	((u32)-1)
/* The window counts packets in units of 1/256. */
#define SROCE_CC_PACKET		256
/* Rate parameters are in Mb/s: bytes per second of one, and the largest rate accepted. */
#define SROCE_CC_MBPS		125000
#define SROCE_CC_MAX_RATE	(800000ull * SROCE_CC_MBPS)
/* SROCE_CC_AS_FRACTION: 1.0. */
#define SROCE_CC_ONE		(1u << 30)

/* Room for an algorithm: u64s of state, u32s of parameters, details to show, event counters. */
#define SROCE_CC_PRIV		8
#define SROCE_CC_VALUES		24
#define SROCE_CC_DETAILS	4
#define SROCE_CC_EVENT_COUNTS	4

/* SROCE_CC_none, SROCE_CC_dcqcn, ...: the values of sroce_cc_params.algorithm. */
enum sroce_cc_algorithm {
	SROCE_CC_none,
#define SROCE_CC_ALGORITHM(name)	SROCE_CC_##name,
#include "transport/cc_list.h"
	SROCE_CC_ALGORITHM_COUNT,
	SROCE_CC_DEFAULT = SROCE_CC_dcqcn,
};

/*
 * The parameters of a device: first those that no algorithm owns, then a block
 * for each algorithm, which only cc_NAME.c can interpret.
 */
struct sroce_cc_params {
	u32	algorithm;
	u32	rp_min_rate;
	u32	np_min_time_between_cnps;
	u32	np_cnp_dscp;
	u32	np_cnp_prio_mode;
	u32	np_cnp_prio;
	u32	values[SROCE_CC_ALGORITHM_COUNT][SROCE_CC_VALUES];
};

/**
 * struct sroce_cc_param - one parameter
 * @name: shown to the user
 * @offset: of the u32 in struct sroce_cc_params
 * @min: smallest value
 * @max: largest value
 * @initial: default
 * @unit: of the value, "" for a plain number
 * @doc: one line of explanation, the same as in sroce(8)
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

/* Bits of sroce_cc_events.mask. BY_... is the reason for CUT or CUT_SKIPPED. */
#define SROCE_CC_EV_BY_CNP		0x0001
#define SROCE_CC_EV_BY_DELAY		0x0002
#define SROCE_CC_EV_BY_LOSS		0x0004	/* and a retransmission */
#define SROCE_CC_EV_BY_TIMEOUT		0x0008
#define SROCE_CC_EV_CUT			0x0010	/* rate or window decreased */
#define SROCE_CC_EV_CUT_SKIPPED		0x0020	/* too soon after the last decrease */
#define SROCE_CC_EV_LIMIT_BEGAN		0x0040
#define SROCE_CC_EV_LIMIT_ENDED		0x0080
#define SROCE_CC_EV_ESTIMATED		0x0100	/* the estimate of congestion was updated */
#define SROCE_CC_EV_RAISED		0x0200	/* rate increased */
#define SROCE_CC_EV_TARGET_CUT		0x0400	/* the target rate was too far away */
#define SROCE_CC_EV_WINDOW_RAISED	0x0800
#define SROCE_CC_EV_SLOW_START_ENDED	0x1000
#define SROCE_CC_EV_ADAPTED		0x2000	/* a changed parameter moved rate or window */

/**
 * struct sroce_cc_events - decisions since sroce_cc_take_events(), for tracing
 * @mask: SROCE_CC_EV_...; if it is 0, so is the rest
 * @counts: of the algorithm, see sroce_cc_ops.count_names
 */
struct sroce_cc_events {
	u32	mask;
	u32	counts[SROCE_CC_EVENT_COUNTS];
};

/**
 * struct sroce_cc_ack - an acknowledgement
 * @now_ns: when it arrived
 * @packets: packets it acknowledges
 * @rtt_ns: round-trip time measured with it, 0 for none (retransmitted packet)
 * @min_rtt_ns: recent minimum, 0 when not known
 * @srtt_ns: smoothed, 0 when not known
 * @inflight_packets: packets still unacknowledged
 */
struct sroce_cc_ack {
	u64	now_ns;
	u32	packets;
	u32	inflight_packets;
	u64	rtt_ns;
	u64	min_rtt_ns;
	u64	srtt_ns;
};

enum sroce_cc_loss {
	SROCE_CC_RETRANSMIT,	/* a NAK or the scoreboard found it */
	SROCE_CC_TIMEOUT,	/* the ACK timer expired */
	SROCE_CC_LOCAL_DROP,	/* a queue of this host was full */
};

/**
 * struct sroce_cc - the sender's state
 * @ops: the algorithm, NULL before sroce_cc_start(): no limit
 * @params: of the device
 * @rate: bytes/s, SROCE_CC_UNLIMITED for no pacing
 * @cwnd: packets that may be unacknowledged, in 1/256; SROCE_CC_NO_WINDOW
 * @mtu_bytes: path MTU
 * @events: see sroce_cc_take_events()
 * @line_rate: of the interface, bytes/s
 * @srtt_ns: as of the last ACK or CNP, 0 when not known
 * @credit_ns: pacer: when the bytes sent so far were paid for
 * @edt_ns: pacer: latest departure time of the packets handed over
 * @priv: state of the algorithm, 0 when it starts
 * @cnp_handled: CNPs that the algorithm used
 * @cuts: decreases of rate or window
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
	u64	credit_ns;
	u64	edt_ns;
	u64	priv[SROCE_CC_PRIV];
	u64	cnp_handled;
	u64	cuts;
};

enum sroce_cc_format {
	SROCE_CC_AS_NUMBER,
	SROCE_CC_AS_RATE,	/* bytes/s */
	SROCE_CC_AS_NS,
	SROCE_CC_AS_FRACTION,	/* of SROCE_CC_ONE */
};

/**
 * struct sroce_cc_detail - what only one algorithm has to show
 * @key: a word
 * @value: its value
 * @format: how to print it
 */
struct sroce_cc_detail {
	const char *key;
	u64	value;
	enum sroce_cc_format format;
};

/**
 * struct sroce_cc_info - for display
 * @started: there is an algorithm
 * @algorithm: its name
 * @state: in words
 * @rate: bytes/s, SROCE_CC_UNLIMITED for no pacing
 * @line_rate: bytes/s, given or assumed
 * @cwnd: in 1/256 packet, SROCE_CC_NO_WINDOW for none
 * @cnp_handled: CNPs that were obeyed
 * @cuts: decreases
 * @detail_count: number of @details
 * @details: of the algorithm
 * @count_names: of sroce_cc_events.counts, NULL for those not used
 */
struct sroce_cc_info {
	bool	started;
	const char *algorithm;
	const char *state;
	u64	rate;
	u64	line_rate;
	u32	cwnd;
	u64	cnp_handled;
	u64	cuts;
	u32	detail_count;
	struct sroce_cc_detail details[SROCE_CC_DETAILS];
	const char *const *count_names;
};

/* Has anything happened that sroce_cc_take_events() would return? */
static inline bool sroce_cc_has_events(const struct sroce_cc *cc)
{
	return cc->events.mask;
}

/* The earliest departure time of the next packet. */
static inline u64 sroce_cc_edt_ns(const struct sroce_cc *cc)
{
	return cc->edt_ns;
}

void sroce_cc_params_init(struct sroce_cc_params *params);
const struct sroce_cc_param *sroce_cc_param_at(u32 index);
bool sroce_cc_param_set(struct sroce_cc_params *params, u32 index, u32 value);
u32 sroce_cc_param_get(const struct sroce_cc_params *params, u32 index);
const char *sroce_cc_algorithm_name(u32 algorithm);

void sroce_cc_start(struct sroce_cc *cc, const struct sroce_cc_params *params, u64 line_rate,
		    u32 mtu_bytes, u64 now_ns);
void sroce_cc_start_unacked(struct sroce_cc *cc, const struct sroce_cc_params *params,
			    u64 line_rate, u32 mtu_bytes, u64 now_ns);
void sroce_cc_acked(struct sroce_cc *cc, const struct sroce_cc_ack *ack);
bool sroce_cc_cnp(struct sroce_cc *cc, u64 srtt_ns, u64 now_ns);
void sroce_cc_lost(struct sroce_cc *cc, enum sroce_cc_loss loss, u64 now_ns);
void sroce_cc_sent(struct sroce_cc *cc, u32 bytes, u64 now_ns);
u32 sroce_cc_sendable_bytes(const struct sroce_cc *cc, u64 now_ns);
u32 sroce_cc_sendable_packets(const struct sroce_cc *cc, u64 now_ns);
u64 sroce_cc_next_send_ns(const struct sroce_cc *cc);
u32 sroce_cc_allowance(const struct sroce_cc *cc, u64 now_ns, u64 *next_ns);
u32 sroce_cc_schedule_edt(const struct sroce_cc *cc, u64 now_ns, u64 *edt_ns);
void sroce_cc_set_edt(struct sroce_cc *cc, u64 edt_ns);
u32 sroce_cc_window_packets(const struct sroce_cc *cc);
void sroce_cc_take_events(struct sroce_cc *cc, struct sroce_cc_events *events);
const char *sroce_cc_state_name(const struct sroce_cc *cc);
void sroce_cc_get_info(const struct sroce_cc *cc, u64 now_ns, struct sroce_cc_info *info);

#endif
