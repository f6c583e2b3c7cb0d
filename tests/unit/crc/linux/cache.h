/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Section and alignment attributes, without effect here. */
#ifndef UNIT_NET_LINUX_CACHE_H
#define UNIT_NET_LINUX_CACHE_H

#define __ro_after_init
#define __aligned(bytes) __attribute__((__aligned__(bytes)))

#endif
