// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// many_objects: creates objects that need memory of the kernel only, and keeps them.
#include <unistd.h>

#include <vector>

#include "harness/args.h"
#include "harness/failure.h"
#include "verbs/context.h"
#include "verbs/memory.h"

namespace {

constexpr const char* usage =
    R"(usage: many_objects --dev D [--gid G] [--count N]

Create N (default 5000) address handles and as many empty memory regions, and sleep.)";

void run(harness::Args& args) {
  const verbs::Context context(args.required("--dev"));
  const auto gid = static_cast<int>(args.number("--gid", 1));
  const std::uint64_t count = args.number("--count", 5000);
  args.finish();

  const verbs::Pd pd = verbs::make_pd(context);
  const verbs::Pages pages(4096);
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = verbs::port_number;
  attr.grh.dgid = context.gid(gid);
  attr.grh.sgid_index = static_cast<std::uint8_t>(gid);
  std::vector<verbs::Ah> ahs;
  std::vector<verbs::Mr> mrs;
  for (std::uint64_t i = 0; i < count; ++i) {
    ahs.emplace_back(ibv_create_ah(pd.get(), &attr));
    if (!ahs.back()) harness::fail_errno(errno, "ibv_create_ah");
    mrs.push_back(verbs::make_mr(pd, pages.data(), 0, 0));
  }
  ::pause();
}

}  // namespace

int main(int argc, char** argv) { return harness::run_main(argc, argv, usage, run); }
