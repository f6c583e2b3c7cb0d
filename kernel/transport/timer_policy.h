/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How long the timer of a work queue may be deferred. See timer_policy.c. */
#ifndef SROCE_TRANSPORT_TIMER_POLICY_H
#define SROCE_TRANSPORT_TIMER_POLICY_H

#include <linux/types.h>

u64 sroce_timer_defer_longer(u64 defer_ns, u64 least_ns);
u64 sroce_timer_slack(u64 defer_ns, u64 wait_ns, u64 qp_count);
u64 sroce_timer_earliest(u64 deadline_ns, u64 *slack_ns, u64 exact_ns);
u64 sroce_timer_response_wait(u64 defer_ns, u64 ack_timeout_ns, u64 least_ns);

#endif
