/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Where the kernel would put things, and how. */
#ifndef UNIT_NET_LINUX_CACHE_H
#define UNIT_NET_LINUX_CACHE_H

#define __ro_after_init
#define __aligned(bytes) __attribute__((__aligned__(bytes)))

#endif
