// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <unistd.h>

#include "guest.h"
#include "host.h"

int main(int argc, char** argv) {
  if (getpid() == 1) sroce::run_guest();
  if (argc < 3) return 2;
  return sroce::run_host(argv[1], argv + 2);
}
