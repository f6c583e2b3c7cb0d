/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_LINUX_COMPILER_H
#define PORT_LINUX_COMPILER_H

#include <linux/compiler_types.h>

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))

#endif
