/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * When a process that has posted gives up its CPU.
 *
 * Processes of one CPU that poll for each other's messages would each use up a time slice before
 * the other can respond. So the one that has posted lets others run. If the peer then responds
 * soon, that was right. If not, another process has used the time, or the peer receives a stream
 * and does not respond. Then posts do not yield for many times as long as that took, so that wrong
 * guesses take little of the time.
 *
 * All processes of a CPU share the state. Otherwise two that poll for each other could take turns
 * at pausing, and each would find that the other does not respond soon.
 */
#ifndef SROCE_TRANSPORT_YIELD_POLICY_H
#define SROCE_TRANSPORT_YIELD_POLICY_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* A peer that polls responds within this time. A time slice takes longer. */
#define SROCE_YIELD_SOON_NS	500000u
/*
 * As long as a task has had less of the CPU than the others, the scheduler picks it again, although
 * it yields. In Linux 7.2 each yield counts as a time slice of at least 0.7 ms, and a task of the
 * same weight and group is ahead by a tick of 10 ms and some slices at most. Other schedulers may
 * count nothing, or more; then the pause limits what is lost.
 */
#define SROCE_YIELD_TRIES	32
/*
 * Only processes that have exchanged messages for a while yield so often. The handshake of
 * perftest's option -R fails if the client gets ahead of the server.
 */
#define SROCE_YIELD_MESSAGES	16
/* After the first failure the pause is 2^2 times as long as the yield, and at most 2^6 times. */
#define SROCE_YIELD_PAUSE_SHIFT	2
#define SROCE_YIELD_FAILURES_MAX	4
/* 2^6 time slices of 10 ms. A process that did not run for longer must not make pauses longer. */
#define SROCE_YIELD_PAUSE_MAX_NS	640000000ull

/**
 * struct sroce_yield - of a CPU
 * @pause_until_ns: no post yields before this time
 * @failures: yields without a soon response since the last one with it
 */
struct sroce_yield {
	u64	pause_until_ns;
	u8	failures;
};

/**
 * sroce_yield_is_due() - may a post yield?
 * @yield: of its CPU
 * @now_ns: monotonic time
 *
 * Return: true if it may, and other tasks wait for the CPU.
 */
static inline bool sroce_yield_is_due(const struct sroce_yield *yield, u64 now_ns)
{
	return now_ns >= READ_ONCE(yield->pause_until_ns);
}

/**
 * sroce_yield_again() - should the same post yield once more?
 * @tries: how often it has yielded
 * @took_ns: how long that took
 * @responded: the peer has sent something meanwhile
 * @messages: how many the peer has sent on the QP before
 *
 * Return: true if the peer may not have run yet.
 */
static inline bool sroce_yield_again(unsigned int tries, u64 took_ns, bool responded, u32 messages)
{
	return !responded && messages >= SROCE_YIELD_MESSAGES && tries < SROCE_YIELD_TRIES &&
	       took_ns < SROCE_YIELD_SOON_NS;
}

/**
 * sroce_yield_end() - the process has the CPU again
 * @yield: of its CPU
 * @begin_ns: when it gave it up
 * @now_ns: monotonic time
 * @responded: the peer has sent something meanwhile
 */
static inline void sroce_yield_end(struct sroce_yield *yield, u64 begin_ns, u64 now_ns,
				   bool responded)
{
	u64 took_ns = now_ns - begin_ns, pause_ns;
	u8 failures = READ_ONCE(yield->failures);

	if (responded && took_ns < SROCE_YIELD_SOON_NS) {
		WRITE_ONCE(yield->failures, 0);
		return;
	}
	pause_ns = min(took_ns, SROCE_YIELD_PAUSE_MAX_NS) << (SROCE_YIELD_PAUSE_SHIFT + failures);
	WRITE_ONCE(yield->pause_until_ns, now_ns + min(pause_ns, SROCE_YIELD_PAUSE_MAX_NS));
	WRITE_ONCE(yield->failures, min(failures + 1, SROCE_YIELD_FAILURES_MAX));
}

#endif
