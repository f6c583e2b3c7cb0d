/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_LINUX_STRING_H
#define PORT_LINUX_STRING_H

#include <string.h>

#endif
