/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_LINUX_BUILD_BUG_H
#define PORT_LINUX_BUILD_BUG_H

#ifndef __cplusplus
#undef static_assert
#define static_assert(expr, ...)	_Static_assert(expr, "" __VA_ARGS__ #expr)
#define BUILD_BUG_ON(condition)		_Static_assert(!(condition), #condition)
#endif

#endif
