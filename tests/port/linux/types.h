/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kernel's integer types. The C library's own headers include this file
 * too, so it includes the system's version first.
 */
#ifndef PORT_LINUX_TYPES_H
#define PORT_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include_next <linux/types.h>

#include <linux/compiler_types.h>
#include <linux/stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;

#endif
