/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The congestion-control algorithms other than "none", which is number 0 and
 * is in cc.c. A line stands for cc_NAME.c, which defines sroce_cc_NAME_ops.
 * Kbuild takes its object files from here, and cc.c its table, so no other file
 * lists the algorithms. Numbers follow the order: append only.
 *
 * Define SROCE_CC_ALGORITHM() before each inclusion, like for linux/bpf_types.h.
 */
#ifndef SROCE_CC_ALGORITHM
#define SROCE_CC_ALGORITHM(name)
#endif

SROCE_CC_ALGORITHM(dcqcn)
SROCE_CC_ALGORITHM(delay)

#undef SROCE_CC_ALGORITHM
