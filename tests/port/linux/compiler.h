/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_LINUX_COMPILER_H
#define PORT_LINUX_COMPILER_H

#include <linux/compiler_types.h>

#endif
