// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// load_provider LIBIBVERBS PROVIDER: load both as a program does that hides libibverbs from its
// other libraries, open a device and close it. Prints what happened.
#include <dlfcn.h>

#include <cstdio>

#include "fake_libibverbs.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library || !dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  const auto open = reinterpret_cast<decltype(&fake_open)>(dlsym(library, "fake_open"));
  const FakeResult result = open();
  std::printf("registered %s, %s, %s\n", result.registered ? result.registered : "nothing",
              result.opened ? "opened" : "not opened", result.closed ? "closed" : "not closed");
  return 0;
}
