// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains have no state; memory/ compares their addresses. */
#include "verbs/verbs.h"

/**
 * sroce_alloc_pd() - create a protection domain
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
 * sroce_dealloc_pd() - destroy a protection domain
 * @ibpd: protection domain; unused, as ib_core ensures
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}
