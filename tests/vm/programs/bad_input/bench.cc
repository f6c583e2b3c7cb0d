// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bad_input/bench.h"

#include <algorithm>

#include "harness/failure.h"

namespace bad_input {

using verbs::Op;

const char* layer_name(Layer layer) {
  switch (layer) {
    case Layer::provider:
      return "provider";
    case Layer::core:
      return "core";
    case Layer::driver:
      return "driver";
    case Layer::wire:
      return "wire";
  }
  return "?";
}

Bench::Bench(const verbs::Context& near, int near_gid, const verbs::Context& far, int far_gid,
             std::uint64_t seed, std::string skip)
    : near_(near),
      near_gid_(near_gid),
      far_(far),
      far_gid_(far_gid),
      seed_(seed),
      skip_(std::move(skip)) {
  verbs::EndpointOptions options;
  options.arena_bytes = 1 << 20;
  witness_near_ = make_near(options);
  witness_far_ = make_far(options);
  connect_both(*witness_near_, *witness_far_, link());
}

verbs::LinkOptions Bench::link() const {
  verbs::LinkOptions link;
  link.mtu = std::min(near_.port().active_mtu, far_.port().active_mtu);
  link.rd_atomic = link.dest_rd_atomic = 1;
  return link;
}

std::unique_ptr<verbs::Endpoint> Bench::make_near(const verbs::EndpointOptions& options) {
  return std::make_unique<verbs::Endpoint>(near_, near_gid_, options, next_seed());
}

std::unique_ptr<verbs::Endpoint> Bench::make_far(const verbs::EndpointOptions& options) {
  return std::make_unique<verbs::Endpoint>(far_, far_gid_, options, next_seed());
}

void Bench::check_witness() {
  const std::vector<verbs::TransferSpec> specs{
      {Op::send_imm, 3000}, {Op::write, 5000}, {Op::read, 5000}, {Op::send, 1}, {Op::fetch_add, 8}};
  const verbs::ExecuteOptions options{wait_limit, 0};
  try {
    execute_locally(*witness_near_, *witness_far_, verbs::make_plan(specs, {}, next_seed()),
                    options);
    execute_locally(*witness_far_, *witness_near_, verbs::make_plan(specs, {}, next_seed()),
                    options);
  } catch (const harness::Failure& failure) {
    throw harness::Failure(std::string("another QP pair is broken: ") + failure.what());
  }
}

void Bench::run(harness::Tap& tap, Layer layer, const std::string& name,
                const std::function<void()>& row) {
  tap.run(harness::text("[", layer_name(layer), "] ", name), [&] {
    if (!skip_.empty() && name.find(skip_) != std::string::npos) throw harness::Skip("--skip");
    row();
    check_witness();
  });
}

}  // namespace bad_input
