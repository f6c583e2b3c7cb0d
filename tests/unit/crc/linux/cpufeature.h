/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The features of an ARM64 CPU, as the kernel tells user space. */
#ifndef UNIT_CRC_LINUX_CPUFEATURE_H
#define UNIT_CRC_LINUX_CPUFEATURE_H

#include <sys/auxv.h>

#define cpu_have_named_feature(name) (!!(getauxval(AT_HWCAP) & HWCAP_##name))

#endif
