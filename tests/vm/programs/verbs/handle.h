// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Owning handles for verbs objects. If the kernel rejects a close, that is printed and counted.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace verbs {

void report_close(int result, const char* what);
int close_failures();

template <auto CloseFunction>
struct Close {
  template <class T>
  void operator()(T* object) const {
    report_close(CloseFunction(object), __PRETTY_FUNCTION__);
  }
};

template <class T, auto CloseFunction>
using Handle = std::unique_ptr<T, Close<CloseFunction>>;

}  // namespace verbs
