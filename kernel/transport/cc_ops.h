/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface of a congestion-control algorithm. To add one, write cc_NAME.c
 * and add its line to cc_list.h:
 *
 *     struct NAME_params { u32 NAME_gain; };	in struct sroce_cc_params, by READ_ONCE()
 *     struct NAME { u64 cut_ns; };		in sroce_cc.priv, 0 at first
 *
 *     #define PARAM(field, ...) SROCE_CC_PARAM(NAME, field, __VA_ARGS__)
 *     static const struct sroce_cc_param NAME_param_table[] = {
 *             PARAM(NAME_gain, 0, 100, 50, "%", "..."),	the same text in sroce(8)
 *     };
 *     const struct sroce_cc_ops sroce_cc_NAME_ops = { ... };
 *
 * It sets sroce_cc.rate, never to 0, and sroce_cc.cwnd. Operations that it does
 * not need are NULL. These are the engine's only function pointers.
 */
#ifndef SROCE_TRANSPORT_CC_OPS_H
#define SROCE_TRANSPORT_CC_OPS_H

#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/types.h>

#include "transport/cc.h"
#include "transport/rtt.h"

#define SROCE_CC_USEC		1000u
#define SROCE_CC_MSEC		1000000u
#define SROCE_CC_SEC		1000000000u

/**
 * struct sroce_cc_ops - an algorithm
 * @name: its name for the user
 * @needs_acks: useless where nothing is acknowledged
 * @params: its parameters, see SROCE_CC_PARAM()
 * @param_count: number of @params
 * @count_names: of sroce_cc_events.counts
 * @start: set up; @rate and @cwnd are unlimited and @priv is 0
 * @acked: an ACK arrived
 * @cnp: a CNP arrived
 * @lost: packets were lost
 * @sent: packets were sent while the rate is limited
 * @state_name: the state in words
 * @get_info: bring the copy @copy up to date and add details to @info
 */
struct sroce_cc_ops {
	const char *name;
	bool	needs_acks;
	const struct sroce_cc_param *params;
	u32	param_count;
	const char *count_names[SROCE_CC_EVENT_COUNTS];
	void (*start)(struct sroce_cc *cc, u64 now_ns);
	void (*acked)(struct sroce_cc *cc, const struct sroce_cc_ack *ack);
	void (*cnp)(struct sroce_cc *cc, u64 now_ns);
	void (*lost)(struct sroce_cc *cc, enum sroce_cc_loss loss, u64 now_ns);
	void (*sent)(struct sroce_cc *cc, u32 bytes, u64 now_ns);
	const char *(*state_name)(const struct sroce_cc *cc);
	void (*get_info)(struct sroce_cc *copy, u64 now_ns, struct sroce_cc_info *info);
};

/* sroce_cc_dcqcn_ops, ... */
extern const struct sroce_cc_ops
#define SROCE_CC_ALGORITHM(name)	sroce_cc_##name##_ops,
#include "transport/cc_list.h"
	sroce_cc_none_ops;

/* A row of a parameter table: min, max, default, unit, doc. */
#define SROCE_CC_PARAM(algorithm, field, ...) \
	{ #field, offsetof(struct sroce_cc_params, values[SROCE_CC_##algorithm]) + \
		  offsetof(struct algorithm##_params, field), __VA_ARGS__ }

/* struct NAME and struct NAME_params fit into their places. */
#define SROCE_CC_ASSERT_FITS(algorithm) \
	static_assert(sizeof(struct algorithm) <= sizeof_field(struct sroce_cc, priv) && \
		      sizeof(struct algorithm##_params) <= SROCE_CC_VALUES * sizeof(u32))

/* The state of the algorithm, struct NAME. */
static inline void *cc_priv(const struct sroce_cc *cc)
{
	return (void *)cc->priv;
}

/* The block of parameters of an algorithm, struct NAME_params. */
static inline const void *cc_values(const struct sroce_cc *cc, enum sroce_cc_algorithm algorithm)
{
	return cc->params->values[algorithm];
}

static inline void cc_note_event(struct sroce_cc *cc, u32 event)
{
	cc->events.mask |= event;
}

/* One event may make up for many periods, so the counts saturate. */
static inline void cc_count_events(struct sroce_cc *cc, u32 index, u64 more)
{
	u32 *count = &cc->events.counts[index];

	*count = more < U32_MAX - *count ? *count + (u32)more : U32_MAX;
}

/* A key should be a word that says what the value is without its unit. */
static inline void cc_add_detail(struct sroce_cc_info *info, const char *key, u64 value,
				 enum sroce_cc_format format)
{
	struct sroce_cc_detail *detail = &info->details[info->detail_count];

	if (info->detail_count == SROCE_CC_DETAILS)
		return;
	detail->key = key;
	detail->value = value;
	detail->format = format;
	info->detail_count++;
}

/* Bytes on the wire of a packet of full length. */
static inline u64 cc_packet_bytes(const struct sroce_cc *cc)
{
	return (u64)cc->mtu_bytes + SROCE_CC_HEADER_BYTES;
}

/* A rate parameter in bytes/s. */
static inline u64 cc_mbps(u32 mbps)
{
	return (u64)mbps * SROCE_CC_MBPS;
}

#endif
