/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A limit of the packets in flight that protects a slow peer, whatever the congestion control.
 *
 * A peer whose CPU is slow drops and marks nothing. Packets wait there, and if they wait for longer
 * than the ACK timeout, the requester repeats them and the queue only grows. So the limit keeps the
 * round trip below the ACK timeout; a path without a queue is shorter than that. It moves as TCP's
 * congestion window does:
 *
 *   acknowledged packets     slow start: one more for each, below ssthresh
 *                            congestion avoidance: one more in a round trip, from ssthresh on
 *   round trip too long      the packets that would have been acknowledged in time; at least 2
 *   round trip short again   slow start
 *   ACK timeout              at most SROCE_WINDOW_RETRY
 */
#ifndef SROCE_TRANSPORT_WINDOW_POLICY_H
#define SROCE_TRANSPORT_WINDOW_POLICY_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* After a timeout: a peer slower than the timeout is not overloaded again. */
#define SROCE_WINDOW_RETRY	16u
/* One packet that is being executed, and one that waits. */
#define SROCE_WINDOW_MIN	2u

/**
 * struct sroce_window - the limit
 * @packets: SEND and WRITE packets that may be in flight
 * @ssthresh: where slow start ends
 * @credit: packets acknowledged in congestion avoidance since @packets grew
 */
struct sroce_window {
	u32	packets;
	u32	ssthresh;
	u32	credit;
};

/**
 * sroce_window_start() - no limit
 * @window: the limit
 * @max_packets: its largest value
 */
static inline void sroce_window_start(struct sroce_window *window, u32 max_packets)
{
	window->packets = max_packets;
	window->ssthresh = max_packets;
	window->credit = 0;
}

/**
 * sroce_window_acked() - packets have been acknowledged
 * @window: the limit
 * @packets: how many
 * @max_packets: its largest value
 */
static inline void sroce_window_acked(struct sroce_window *window, u32 packets, u32 max_packets)
{
	if (window->packets >= window->ssthresh) {
		window->credit += packets;
		packets = window->credit >= window->packets;
		if (packets)
			window->credit = 0;
	}
	window->packets = min(window->packets + packets, max_packets);
}

/**
 * sroce_window_retry() - packets are about to be repeated that may only be late
 * @window: the limit
 */
static inline void sroce_window_retry(struct sroce_window *window)
{
	window->packets = min(window->packets, SROCE_WINDOW_RETRY);
}

/**
 * sroce_window_round() - a round trip is over
 * @window: the limit
 * @flight: packets in flight now
 * @srtt_ns: how long it took
 * @ack_timeout_ns: 0 for none
 * @max_packets: largest value of the limit
 */
static inline void sroce_window_round(struct sroce_window *window, u32 flight, u32 srtt_ns,
				      u64 ack_timeout_ns, u32 max_packets)
{
	if (!ack_timeout_ns)
		return;
	if (srtt_ns > ack_timeout_ns) {
		flight = (u32)div64_u64(flight * ack_timeout_ns, srtt_ns);
		window->packets = min(window->packets, max(flight, SROCE_WINDOW_MIN));
		window->ssthresh = window->packets;
	} else if (srtt_ns <= ack_timeout_ns / 4) {
		window->ssthresh = max_packets;
	}
}

#endif
