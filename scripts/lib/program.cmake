# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# How programs and libraries that are installed are built. Included by tests/, it leaves the flags alone.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()
if(PROJECT_IS_TOP_LEVEL)
  # A builder's own flags may have a level.
  if(NOT CMAKE_CXX_FLAGS MATCHES _FORTIFY_SOURCE)
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  endif()
  add_link_options(-Wl,-z,relro,-z,now)
endif()
