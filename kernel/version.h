/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The version of the module, the tool (tools/CMakeLists.txt) and the packages (scripts/package). */
#ifndef SROCE_VERSION_H
#define SROCE_VERSION_H

#define SROCE_VERSION "0.1.0"

#endif
