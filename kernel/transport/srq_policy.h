/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rules of a shared receive queue: which attributes are valid, and when its consumer and that of a
 * QP are told something.
 */
#ifndef SROCE_TRANSPORT_SRQ_POLICY_H
#define SROCE_TRANSPORT_SRQ_POLICY_H

#include <linux/types.h>

/**
 * sroce_srq_below_limit() - is the limit event due?
 * @limit: the limit, 0 if it is not armed; the event disarms it
 * @posted: receive WQEs that no QP has taken
 *
 * Also to be asked when the limit is armed. Otherwise a consumer that arms it too late would get no
 * event before the queue is empty, and none after that.
 *
 * Return: whether it is.
 */
static inline bool sroce_srq_below_limit(u32 limit, u32 posted)
{
	return posted < limit;
}

/**
 * sroce_srq_modify_is_valid() - may these values be set?
 * @max_wr: size of the queue from now on
 * @limit: the limit from now on
 * @device_max_wr: the largest size
 *
 * Return: whether they may; the WQEs that are posted must fit in addition.
 */
static inline bool sroce_srq_modify_is_valid(u32 max_wr, u32 limit, u32 device_max_wr)
{
	return max_wr && max_wr <= device_max_wr && limit <= max_wr;
}

/**
 * sroce_srq_reports_last_wqe() - does a QP that moves to ERR report its last WQE?
 * @shared: it uses a shared receive queue, whose other WQEs are not flushed
 * @in_error: it is in ERR already
 *
 * Return: whether it does, once the WQE that it has taken, if any, has completed. Then its consumer
 * knows that no more completions of receives will come.
 */
static inline bool sroce_srq_reports_last_wqe(bool shared, bool in_error)
{
	return shared && !in_error;
}

/**
 * struct sroce_srq_move - receive WQEs on their way to a ring of another size, while QPs take some
 * @taken: WQEs that QPs have taken since the move began
 * @moved: WQEs that have been moved, or were taken before they could be
 */
struct sroce_srq_move {
	u32	taken;
	u32	moved;
};

/**
 * sroce_srq_left_to_move() - how many WQEs are left to be moved
 * @move: the move; what QPs have overtaken counts as moved
 * @posted: WQEs in the old ring that no QP has taken
 *
 * A process may write any producer index meanwhile, so @posted may have become less.
 *
 * Return: how many.
 */
static inline u32 sroce_srq_left_to_move(struct sroce_srq_move *move, u32 posted)
{
	u32 behind = move->moved - move->taken;

	/* Less than 0: QPs have taken more than were moved. */
	if ((s32)behind < 0) {
		move->moved = move->taken;
		behind = 0;
	}
	return posted > behind ? posted - behind : 0;
}

#endif
