/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <rdma/rdma_user_rxe.h>, the layout of the rings, with the same offsets in C and C++.
 *
 * The kernel's macro puts an empty struct before a flexible array. An empty struct has a size in
 * C++, which moves the array. Headers of newer kernels define the macro for C++ as below.
 */
#ifndef SROCE_USERLIB_RXE_ABI_H
#define SROCE_USERLIB_RXE_ABI_H

#include <linux/stddef.h>
#ifdef __cplusplus
#undef __DECLARE_FLEX_ARRAY
#define __DECLARE_FLEX_ARRAY(type, name) type name[0]
#endif
#include <rdma/rdma_user_rxe.h>

#endif
