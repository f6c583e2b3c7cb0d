// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// load_provider LIBIBVERBS PROVIDER PATH native|rxe: load both as a program does that hides
// libibverbs from its other libraries, match, open and close the device with files in PATH. Prints
// what happened.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "fake_libibverbs.h"

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library || !dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  const auto open = reinterpret_cast<decltype(&fake_open)>(dlsym(library, "fake_open"));
  const FakeResult result = open(argv[3], std::strcmp(argv[4], "native") == 0);
  std::printf("registered %s, %s, %s, %s\n", result.registered ? result.registered : "nothing",
              result.matches_any ? "matches any"
              : result.matched   ? "matched"
                                 : "not matched",
              result.opened ? "opened" : "not opened", result.closed ? "closed" : "not closed");
  return 0;
}
