/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Macros that the kernel's build includes in every file. */
#ifndef PORT_LINUX_COMPILER_TYPES_H
#define PORT_LINUX_COMPILER_TYPES_H

#undef __packed
#define __packed		__attribute__((__packed__))
#define __must_check		__attribute__((__warn_unused_result__))
#define __maybe_unused		__attribute__((__unused__))
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#ifndef __cplusplus
#define fallthrough		__attribute__((__fallthrough__))
#endif

#endif
