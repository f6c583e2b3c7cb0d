/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The version of the module and of the tool, which tools/CMakeLists.txt reads from here. */
#ifndef SROCE_VERSION_H
#define SROCE_VERSION_H

#define SROCE_VERSION "0.1.0"

#endif
