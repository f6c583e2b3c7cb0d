// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains have no state; datapath/xrc.c compares their addresses. Only native mode has them,
 * because librxe has no XRC.
 */
#include "verbs/ops.h"
#include "verbs/verbs.h"

/**
 * sroce_alloc_xrcd() - create an XRC domain
 * @ibxrcd: zeroed
 * @udata: unused
 *
 * Return: 0.
 */
int sroce_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
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

const struct ib_device_ops sroce_xrc_ops = {
	.alloc_xrcd = sroce_alloc_xrcd,
	.dealloc_xrcd = sroce_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_xrcd, sroce_xrcd, ibxrcd),
};
