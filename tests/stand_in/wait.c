/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/wait.h"

#include "net/endpoint.h"

struct stand_in_wait stand_in_wait;

void stand_in_sleep(bool limited)
{
	WARN_ON(!stand_in_wait.waiting || stand_in_wait.waits++ > 100);
	stand_in_wait.waiting(limited);
}

void stand_in_grace_period(void)
{
	struct rcu_head *rcu;

	while ((rcu = stand_in_wait.deferred)) {
		stand_in_wait.deferred = rcu->next;
		rcu->free(rcu);
	}
}

void call_rcu(struct rcu_head *rcu, void (*free)(struct rcu_head *rcu))
{
	rcu->next = stand_in_wait.deferred;
	rcu->free = free;
	stand_in_wait.deferred = rcu;
}

struct sock *sroce_endpoint_get_sock(const struct sroce_endpoint *ep, bool is_ipv4)
{
	struct sock *sk = is_ipv4 ? stand_in_wait.v4 : stand_in_wait.v6;

	if (sk)
		sock_hold(sk);
	return sk;
}
