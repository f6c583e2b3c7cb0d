// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains: nothing but an address to compare. */
#include "verbs/verbs.h"

/**
 * sroce_alloc_pd() - a new protection domain
 * @ibpd: zeroed
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

/**
 * sroce_dealloc_pd() - end of a protection domain that ib_core knows to be unused
 * @ibpd: protection domain
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}
