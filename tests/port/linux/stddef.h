/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef PORT_LINUX_STDDEF_H
#define PORT_LINUX_STDDEF_H

#include <stddef.h>
#include_next <linux/stddef.h>

#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define offsetofend(type, member)	(offsetof(type, member) + sizeof_field(type, member))

/* An empty struct has size one in C++, so there the array stands alone. */
#undef DECLARE_FLEX_ARRAY
#ifdef __cplusplus
#define DECLARE_FLEX_ARRAY(type, name)	type name[0]
#else
#define DECLARE_FLEX_ARRAY(type, name)	\
	struct {			\
		struct { } empty_##name; \
		type name[];		\
	}
#endif

#endif
