/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A limit of the packets in flight that protects a slow peer, whatever the congestion control.
 *
 * A peer whose CPU is slow drops and marks nothing. Packets wait there, and if they wait for longer
 * than the ACK timeout, the requester repeats them and the queue only grows. So the limit keeps the
 * round trip below the ACK timeout. A path may be longer than that without a queue. This shows when
 * the limit is at its minimum, and then only what exceeds the path's round trip counts. The queue
 * of other QPs looks the same, so slow start then ends as soon as the round trip grows, and twice
 * the timeout is the most in any case: the ACK timer covers four times (tlp.c). The limit moves as
 * TCP's congestion window does:
 *
 *   acknowledged packets     slow start: one more for each, below ssthresh
 *                            congestion avoidance: one more in a round trip, from ssthresh on
 *   round trip too long      the packets that would have been acknowledged in time, at most
 *                            three quarters of the limit; at least 2
 *   round trip short again   slow start
 *   ACK timeout              half of the limit, between 2 and SROCE_WINDOW_RETRY; if the packets
 *                            may only be late, the limit does not grow before an RTT sample
 *   first PTOs               half of the limit, as above, while no round trip is known
 *
 * Packets may be late when many QPs start together, because all their windows wait in the peer's
 * queue. ACKs of packets that were repeated say nothing about the queue, and it grows with each
 * repetition. A limit that stays small is harmful if packets are lost, because a standard peer
 * needs the whole window again.
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
/* Rounds with the smallest limit that show the path's round trip. */
#define SROCE_WINDOW_PATH_ROUNDS	3

/**
 * struct sroce_window - the limit
 * @packets: SEND and WRITE packets that may be in flight
 * @ssthresh: where slow start ends
 * @credit: packets acknowledged in congestion avoidance since @packets grew
 * @rtt_ns: last sample in this round, 0 for none
 * @path_ns: the path's round trip if it is longer than the ACK timeout, else 0
 * @minimum_rounds: rounds in a row that ended with the limit at its minimum, up to
 *                  SROCE_WINDOW_PATH_ROUNDS
 * @needs_sample: @packets does not grow before an RTT sample
 */
struct sroce_window {
	u32	packets;
	u32	ssthresh;
	u32	credit;
	u32	rtt_ns;
	u32	path_ns;
	u8	minimum_rounds;
	bool	needs_sample;
};

/**
 * sroce_window_start() - set the limit to its largest value
 * @window: the limit
 * @max_packets: its largest value
 */
static inline void sroce_window_start(struct sroce_window *window, u32 max_packets)
{
	window->packets = max_packets;
	window->ssthresh = max_packets;
	window->credit = 0;
	window->rtt_ns = 0;
	window->path_ns = 0;
	window->minimum_rounds = 0;
	window->needs_sample = false;
}

/**
 * sroce_window_acked() - raise the limit for acknowledged packets
 * @window: the limit
 * @packets: how many
 * @max_packets: its largest value
 */
static inline void sroce_window_acked(struct sroce_window *window, u32 packets, u32 max_packets)
{
	if (window->needs_sample)
		return;
	if (window->packets >= window->ssthresh) {
		window->credit += packets;
		packets = window->credit >= window->packets;
		if (packets)
			window->credit = 0;
	}
	window->packets = min(window->packets + packets, max_packets);
}

/**
 * sroce_window_retry() - a timeout repeats packets
 * @window: the limit
 * @needs_sample: the limit does not grow before an RTT sample
 */
static inline void sroce_window_retry(struct sroce_window *window, bool needs_sample)
{
	window->packets = clamp(window->packets / 2, SROCE_WINDOW_MIN, SROCE_WINDOW_RETRY);
	window->credit = 0;
	window->needs_sample |= needs_sample;
}

/**
 * sroce_window_sample() - a packet that was timed and not repeated has been acknowledged
 * @window: the limit
 */
static inline void sroce_window_sample(struct sroce_window *window)
{
	window->needs_sample = false;
}

/*
 * In the first round with the smallest limit the queue drains. A round ends before the sample of
 * its last ACK is taken, which counts for the next one. So the third round shows the path.
 */
static inline void sroce_window_learn_path(struct sroce_window *window, u64 ack_timeout_ns)
{
	if (!window->rtt_ns)
		return;
	if (window->rtt_ns <= ack_timeout_ns)
		window->path_ns = 0;
	else if (window->minimum_rounds == SROCE_WINDOW_PATH_ROUNDS)
		window->path_ns = window->rtt_ns;
	else
		window->path_ns = min(window->path_ns, window->rtt_ns);
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
	u64 long_ns = ack_timeout_ns, short_ns = ack_timeout_ns / 4;

	if (!ack_timeout_ns)
		return;
	sroce_window_learn_path(window, ack_timeout_ns);
	if (window->path_ns) {
		/* The average follows slow start too late. */
		srtt_ns = max(srtt_ns, window->rtt_ns);
		long_ns = min(window->path_ns + ack_timeout_ns, 2 * ack_timeout_ns);
		short_ns = window->path_ns + min(short_ns, (u64)window->path_ns / 8);
	}
	window->rtt_ns = 0;
	if (srtt_ns > long_ns) {
		flight = (u32)div64_u64(flight * long_ns, srtt_ns);
		flight = min(flight, (window->packets - 1) * 3 / 4);
		window->packets = max(flight, SROCE_WINDOW_MIN);
		window->ssthresh = window->packets;
	} else if (srtt_ns <= short_ns) {
		window->ssthresh = max_packets;
	} else if (window->path_ns) {
		window->ssthresh = min(window->ssthresh, window->packets);
	}
	window->minimum_rounds = window->packets > SROCE_WINDOW_MIN ? 0 :
				 min(window->minimum_rounds + 1, SROCE_WINDOW_PATH_ROUNDS);
}

#endif
