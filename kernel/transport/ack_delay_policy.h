/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* When an ACK is delayed, so that it can share an skb with a reply. See ack_delay_policy.c. */
#ifndef SROCE_TRANSPORT_ACK_DELAY_POLICY_H
#define SROCE_TRANSPORT_ACK_DELAY_POLICY_H

#include <linux/types.h>

/**
 * struct sroce_delayed_ack - whether ACKs are delayed
 * @pause: so many ACKs that could be delayed are not
 */
struct sroce_delayed_ack {
	u8	pause;
};

bool sroce_delayed_ack_decide(struct sroce_delayed_ack *ack, bool wakes_consumer,
			      bool consumer_replies, bool may_be_delayed);
void sroce_delayed_ack_duplicate(struct sroce_delayed_ack *ack);

#endif
