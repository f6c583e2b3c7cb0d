# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A toolchain file: this system's cross compiler for ARM64, and in $ENV{SROCE_ARM64} the libraries that
# scripts/setup has unpacked, or none. QEMU runs the programs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
if(DEFINED ENV{SROCE_ARM64})
  set(CMAKE_FIND_ROOT_PATH $ENV{SROCE_ARM64})
  set(ENV{PKG_CONFIG_SYSROOT_DIR} $ENV{SROCE_ARM64})
  set(ENV{PKG_CONFIG_LIBDIR} $ENV{SROCE_ARM64}/usr/lib/aarch64-linux-gnu/pkgconfig)
endif()
