/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interface to control/, which sets the other operations: identity (owner, driver id, ABI
 * version), counters and removal.
 */
#ifndef SROCE_VERBS_OPS_H
#define SROCE_VERBS_OPS_H

#include <rdma/ib_verbs.h>

extern const struct ib_device_ops sroce_verbs_ops;

#endif
