/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include <stdio.h>
#include <stdlib.h>

#include <linux/bug.h>

void port_warn(const char *condition, const char *file, int line)
{
	fprintf(stderr, "%s:%d: WARN_ON(%s)\n", file, line, condition);
	abort();
}
