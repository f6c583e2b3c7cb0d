/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_LINUX_MINMAX_H
#define PORT_LINUX_MINMAX_H

#ifdef __cplusplus

extern "C++" {
#include <algorithm>
using std::clamp;
using std::max;
using std::min;
}

#else

/* As in the kernel, both arguments have the same type; unique names allow nesting. */
#define port_compare(x, op, y, ux, uy) ({	\
	__auto_type ux = (x);			\
	__auto_type uy = (y);			\
	(void)(&ux == &uy);			\
	ux op uy ? ux : uy;			\
})
#define port_paste_(a, b)	a##b
#define port_paste(a, b)	port_paste_(a, b)
#define min(x, y)	port_compare(x, <, y, port_paste(x_, __COUNTER__), port_paste(y_, __COUNTER__))
#define max(x, y)	port_compare(x, >, y, port_paste(x_, __COUNTER__), port_paste(y_, __COUNTER__))
#define min_t(type, x, y)	min((type)(x), (type)(y))
#define max_t(type, x, y)	max((type)(x), (type)(y))
#define min3(x, y, z)		min(min(x, y), z)
#define max3(x, y, z)		max(max(x, y), z)
#define clamp(value, lo, hi)	min(max(value, lo), hi)
#define swap(a, b)		do { __auto_type swap_a = (a); (a) = (b); (b) = swap_a; } while (0)

#endif

#endif
