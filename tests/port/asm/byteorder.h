/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_ASM_BYTEORDER_H
#define PORT_ASM_BYTEORDER_H

#include_next <asm/byteorder.h>
#include <endian.h>
#include <linux/types.h>

/* A constant of a constant, as in the kernel. Tests run on little-endian machines. */
#define cpu_to_be16(x)		((__be16)__builtin_bswap16(x))
#define cpu_to_be32(x)		((__be32)htobe32(x))
#define cpu_to_be64(x)		((__be64)htobe64(x))
#define cpu_to_le32(x)		((__le32)htole32(x))
#define be16_to_cpu(x)		((u16)be16toh((__u16)(x)))
#define be32_to_cpu(x)		((u32)be32toh((__u32)(x)))
#define be64_to_cpu(x)		((u64)be64toh((__u64)(x)))
#define le32_to_cpu(x)		((u32)le32toh((__u32)(x)))

#endif
