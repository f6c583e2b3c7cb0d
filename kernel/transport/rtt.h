/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How long an answer takes, and how much is answered in that time.
 *
 * One packet that asks for an answer is timed at a time; one that is sent
 * again is not (Karn's rule: its answer may be the first one's). Smoothing is
 * that of RFC 6298. The probe time follows from it: when a sender should begin
 * to doubt, long before the ACK timeout of the verbs.
 */
#ifndef SROCE_TRANSPORT_RTT_H
#define SROCE_TRANSPORT_RTT_H

#include <linux/types.h>

#include "transport/time.h"

/**
 * struct sroce_rtt - the estimate
 * @srtt_ns: smoothed round-trip time, 0 before the first sample
 * @var_ns: smoothed deviation
 * @min_ns: smallest sample of the last two periods
 * @next_min_ns: smallest of this period so far
 * @period_end_ns: when this period of the minimum ends
 * @timing: a packet is being timed
 * @timed_psn: its PSN
 * @timed_at_ns: when it was sent
 * @waits: its answer waits for others: the round trip is no longer than what is measured
 * @again: it has been sent again since
 * @rough: @srtt_ns is of a packet that was sent again, or whose answer waited: it may be too long
 * @round_start_ns: when the present round-trip time of counting began
 * @round_end_ns: when it ends
 * @round_packets: packets answered in it so far
 * @packets: packets answered in a round-trip time, about the most of late
 * @path_packets: packets answered in the shortest round-trip time at the rate of a round,
 *                about the most of late
 */
struct sroce_rtt {
	u32	srtt_ns;
	u32	var_ns;
	u32	min_ns;
	u32	next_min_ns;
	u64	period_end_ns;
	bool	timing;
	bool	waits;
	bool	again;
	bool	rough;
	u32	timed_psn;
	u64	timed_at_ns;
	u64	round_start_ns;
	u64	round_end_ns;
	u32	round_packets;
	u32	packets;
	u32	path_packets;
};

void sroce_rtt_sample(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns);
void sroce_rtt_sent(struct sroce_rtt *rtt, u32 psn, bool waits, u64 now_ns);
void sroce_rtt_retransmitted(struct sroce_rtt *rtt, u32 psn, u32 count);
u32 sroce_rtt_acked(struct sroce_rtt *rtt, u32 psn, u64 now_ns);
void sroce_rtt_count(struct sroce_rtt *rtt, u32 packets, u64 now_ns);
u64 sroce_rtt_probe_ns(const struct sroce_rtt *rtt);
u64 sroce_rtt_rtx_ns(const struct sroce_rtt *rtt);
u32 sroce_rtt_bdp_packets(const struct sroce_rtt *rtt);

#endif
