// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Owning handles for verbs objects. If the kernel rejects a close, that is printed and counted.
#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "harness/tap.h"

namespace verbs {

void report_close(int result, const char* what);
int close_failures();

// The case that every object could be closed, for the end of a program.
void check_closes(harness::Tap& tap);

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
