/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The round-trip time (RTT), and how many packets are acknowledged in it.
 *
 * One packet at a time is timed, one that requests a response. A retransmitted packet is not timed
 * (Karn's rule), because the response may belong to the first transmission. Smoothing follows RFC
 * 6298. If a queue grows quickly, the response comes long after those to earlier packets. Each of
 * these shows that the round trip is at least the time that the timed packet has waited.
 * The probe timeout is derived from it (tlp.c); it is much shorter than the ACK timeout of verbs.
 */
#ifndef SROCE_TRANSPORT_RTT_H
#define SROCE_TRANSPORT_RTT_H

#include <linux/types.h>

#include "transport/time.h"

/**
 * struct sroce_rtt - the estimate
 * @srtt_ns: smoothed round-trip time, 0 before the first sample
 * @var_ns: smoothed deviation
 * @sampled: there has been a sample
 * @silence_is_loss: there has been another one, or a NAK. Until then silence may also mean that a
 *                   queue has grown since the first sample
 * @min_ns: smallest sample of the last two periods
 * @next_min_ns: smallest of this period so far
 * @period_end_ns: when this period of the minimum ends
 * @timing: a packet is being timed
 * @timed_psn: its PSN
 * @timed_at_ns: when it was sent
 * @waits: its response waits for others, so the sample is only an upper bound of the RTT
 * @again: it has been retransmitted since
 * @rtx: some packet has been retransmitted since
 * @rough: @srtt_ns may be too long: it comes from a packet with @waits or @again
 * @round_start_ns: when the present round of counting began; a round lasts for an RTT
 * @round_end_ns: when it ends
 * @round_packets: packets acknowledged in it so far
 * @packets: packets acknowledged in a round, about the recent maximum
 * @path_packets: packets acknowledged in @min_ns at the rate of a round, about the recent maximum:
 *                the bandwidth-delay product (BDP); 0 while unknown
 */
struct sroce_rtt {
	u32	srtt_ns;
	u32	var_ns;
	u32	min_ns;
	u32	next_min_ns;
	u64	period_end_ns;
	bool	timing : 1;
	bool	waits : 1;
	bool	again : 1;
	bool	rtx : 1;
	bool	rough : 1;
	bool	sampled : 1;
	bool	silence_is_loss : 1;
	u32	timed_psn;
	u64	timed_at_ns;
	u64	round_start_ns;
	u64	round_end_ns;
	u32	round_packets;
	u32	packets;
	u32	path_packets;
};

void sroce_rtt_sample(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns);
void sroce_rtt_lower_min(struct sroce_rtt *rtt, u64 sample_ns, u64 now_ns);
void sroce_rtt_sent(struct sroce_rtt *rtt, u32 psn, bool waits, u64 now_ns);
void sroce_rtt_retransmitted(struct sroce_rtt *rtt, u32 psn, u32 count);
u32 sroce_rtt_acked(struct sroce_rtt *rtt, u32 psn, u64 now_ns);
bool sroce_rtt_count(struct sroce_rtt *rtt, u32 packets, u64 now_ns);
u64 sroce_rtt_probe_ns(const struct sroce_rtt *rtt);
u64 sroce_rtt_rtx_ns(const struct sroce_rtt *rtt);

#endif
