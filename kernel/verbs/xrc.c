// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains have no state; datapath/xrc.c compares their addresses.
 */
#include "verbs/verbs.h"

/**
 * sroce_alloc_xrcd() - create an XRC domain
 * @ibxrcd: zeroed
 * @udata: of the process
 *
 * Return: 0 or, outside native mode, -EOPNOTSUPP: librxe has no XRC.
 */
int sroce_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return sroce_is_native(udata) ? 0 : -EOPNOTSUPP;
}

/**
 * sroce_dealloc_xrcd() - destroy an XRC domain
 * @ibxrcd: unused, as ib_core ensures
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}
