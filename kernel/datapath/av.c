// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses of datagrams, shared by handles and the work requests that name them.
 */
#include <linux/slab.h>

#include "datapath/qp.h"

/**
 * sroce_av_put() - give up a share in an address
 * @address: may be freed; any context
 */
void sroce_av_put(struct sroce_av *address)
{
	if (refcount_dec_and_test(&address->refs))
		kfree_rcu(address, rcu);
}
