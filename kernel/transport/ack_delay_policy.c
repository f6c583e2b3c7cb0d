// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * When an ACK is delayed.
 *
 * A consumer that replies to what it receives does so at once, and the ACK can share the skb of
 * its reply. An ACK is delayed only if the consumer is about to be called back and has sent
 * something since the last ACK was delayed: one that only receives delays one ACK. A duplicate
 * request may mean that the path loses all but the first packet of an skb. Then the next 255 ACKs
 * that could be delayed are not.
 */
#include "transport/ack_delay_policy.h"

#define PAUSE_ACKS	255

/**
 * sroce_delayed_ack_decide() - is the next response to be delayed?
 * @ack: the state
 * @wakes_consumer: a consumer in the kernel is about to be called back
 * @consumer_replies: it has sent something since the last delayed ACK
 * @may_be_delayed: the response is an ACK that may be delayed
 *
 * Return: true if it is, unless another QP's ACK waits for the same consumer.
 */
bool sroce_delayed_ack_decide(struct sroce_delayed_ack *ack, bool wakes_consumer,
			      bool consumer_replies, bool may_be_delayed)
{
	if (!wakes_consumer || !consumer_replies || !may_be_delayed)
		return false;
	if (ack->pause) {
		ack->pause--;
		return false;
	}
	return true;
}

/**
 * sroce_delayed_ack_duplicate() - a duplicate request has come
 * @ack: the state
 */
void sroce_delayed_ack_duplicate(struct sroce_delayed_ack *ack)
{
	ack->pause = PAUSE_ACKS;
}
