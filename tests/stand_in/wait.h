/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Waiting for events, and memory that RCU frees. */
#ifndef STAND_IN_WAIT_H
#define STAND_IN_WAIT_H

#include "stand_in/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HZ			100

/**
 * struct stand_in_wait - what a test tells these functions, and what they tell it
 * @waiting: called by each wait that is not over yet, with whether it has a time limit
 * @waits: calls of it
 * @wakeups: calls of wake_up()
 * @barriers: calls of rcu_barrier()
 * @deferred: what the next grace period frees, the last first
 * @v4: of sroce_endpoint_get_sock()
 * @v6: of sroce_endpoint_get_sock(), or NULL
 */
struct stand_in_wait {
	void	(*waiting)(bool limited);
	u32	waits;
	u32	wakeups;
	u32	barriers;
	struct rcu_head *deferred;
	struct sock *v4;
	struct sock *v6;
};

extern struct stand_in_wait stand_in_wait;

typedef struct {
	int	unused;
} wait_queue_head_t;

#define DECLARE_WAIT_QUEUE_HEAD(name)	wait_queue_head_t name
#define wake_up(queue)			((void)(queue), stand_in_wait.wakeups++)
void stand_in_sleep(bool limited);

/* With a time limit, the condition is looked at once more. */
#define wait_event_idle_timeout(queue, condition, time) ({	\
	(void)(queue);						\
	if (!(condition))					\
		stand_in_sleep(true);				\
	(condition);						\
})
#define wait_event_idle(queue, condition) do {			\
	(void)(queue);						\
	while (!(condition))					\
		stand_in_sleep(false);				\
} while (0)

void call_rcu(struct rcu_head *rcu, void (*free)(struct rcu_head *rcu));
void stand_in_grace_period(void);
#undef rcu_barrier
#define rcu_barrier()			(stand_in_wait.barriers++, stand_in_grace_period())
/* Another context may act behind it. */
#define try_cmpxchg(pointer, old, value) ({					\
	bool exchanged = __atomic_compare_exchange_n(pointer, old, value, false,	\
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);	\
	stand_in_process();							\
	exchanged;								\
})
#define sock_put(sk)			((sk)->refs--)

#ifdef __cplusplus
}
#endif

#endif
