/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What control/ needs of the verbs room: one call that gives a device its
 * verbs. Identity (owner, driver id, ABI version), the end of a device and its
 * counters are control/'s own.
 */
#ifndef SROCE_VERBS_OPS_H
#define SROCE_VERBS_OPS_H

#include <rdma/ib_verbs.h>

void sroce_verbs_set_ops(struct ib_device *ibdev);

#endif
