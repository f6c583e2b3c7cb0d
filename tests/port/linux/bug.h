/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A failed WARN_ON() aborts the test, where the kernel would only log it. */
#ifndef PORT_LINUX_BUG_H
#define PORT_LINUX_BUG_H

#include <linux/build_bug.h>
#include <linux/compiler_types.h>

#ifdef __cplusplus
extern "C" {
#endif

__attribute__((__noreturn__, __cold__)) void port_warn(const char *condition, const char *file, int line);

#ifdef __cplusplus
}
#endif

#define WARN_ON(condition) ({						\
	if (unlikely(condition))					\
		port_warn(#condition, __FILE__, __LINE__);		\
	0;								\
})
#define WARN_ON_ONCE(condition)	WARN_ON(condition)

#endif
