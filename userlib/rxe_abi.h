/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * <rdma/rdma_user_rxe.h>, the layout of the rings, for C and C++ alike.
 *
 * An empty struct has a size in C++, so the kernel's way to put a flexible array into a union moves
 * the array there. Newer kernels' headers know that and say what is said here.
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
