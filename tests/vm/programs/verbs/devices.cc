// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/devices.h"

namespace verbs {
namespace {

int gid_index(harness::Args& args, const char* option, int otherwise) {
  return static_cast<int>(args.number(option, static_cast<unsigned>(otherwise)));
}

}  // namespace

Devices::Devices(harness::Args& args)
    : near_gid(gid_index(args, "--gid", 0)),
      far_gid(gid_index(args, "--peer-gid", near_gid)),
      near(args.required("--dev")),
      far(args.text("--peer-dev", near.name())) {}

}  // namespace verbs
