/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* For files whose per-CPU variables have a copy for the second CPU. */
#ifndef STAND_IN_TWO_CPUS_H
#define STAND_IN_TWO_CPUS_H

#include "stand_in/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The test runs on the second CPU. */
extern bool stand_in_on_cpu1;

#undef DEFINE_PER_CPU
/* Follows `static`. The copy gets the initial value, which follows, before the tests begin. */
#define DEFINE_PER_CPU(type, name)						\
	type name, name##_of_cpu1;						\
	__attribute__((constructor)) static void name##_init_cpu1(void)		\
	{									\
		name##_of_cpu1 = name;						\
	}									\
	static type name
#define this_cpu_ptr(pointer)		(stand_in_on_cpu1 ? pointer##_of_cpu1 : (pointer))
#define raw_cpu_ptr(pointer)		(stand_in_on_cpu1 ? pointer##_of_cpu1 : (pointer))
#define per_cpu(name, cpu)		(*((cpu) ? &name##_of_cpu1 : &name))

#ifdef __cplusplus
}
#endif

#endif
