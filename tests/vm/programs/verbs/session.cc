// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/session.h"

#include <algorithm>

namespace verbs {
namespace {

using harness::Args;
using harness::Deadline;
using harness::Duet;
using harness::Rendezvous;

constexpr std::uint64_t default_port = 18515;
constexpr auto meeting_time = std::chrono::seconds(120);
constexpr unsigned most_sge = 8;
constexpr int depth = 64;

// The largest of these sizes that the device accepts.
unsigned probe_inline(const Context& context) {
  const Pd pd = make_pd(context);
  const Cq cq(context, depth);
  for (const unsigned size : {512U, 256U, 128U, 64U, 32U}) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq.get();
    init.qp_type = IBV_QPT_RC;
    init.cap = {depth, depth, 1, 1, size};
    const Handle<ibv_qp, ibv_destroy_qp> qp(ibv_create_qp(pd.get(), &init));
    if (qp) return size;
  }
  return 0;
}

bool probe_ud(const Context& context) {
  const Pd pd = make_pd(context);
  const Cq cq(context, depth);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq.get();
  init.qp_type = IBV_QPT_UD;
  init.cap = {depth, depth, 1, 1, 0};
  return Handle<ibv_qp, ibv_destroy_qp>(ibv_create_qp(pd.get(), &init)) != nullptr;
}

Common probe(const Context& context) {
  const ibv_device_attr& device = context.device();
  Common can{};
  can.active_mtu = context.port().active_mtu;
  can.max_sge = std::min(most_sge, static_cast<unsigned>(std::max(device.max_sge, 1)));
  can.max_inline = probe_inline(context);
  can.rd_atomic = static_cast<unsigned>(
      std::max(0, std::min(device.max_qp_rd_atom, device.max_qp_init_rd_atom)));
  can.has_atomics = device.atomic_cap != IBV_ATOMIC_NONE;
  can.has_srq = device.max_srq > 0;
  can.has_windows = has_memory_windows(context);
  can.has_ud = probe_ud(context);
  return can;
}

}  // namespace

Session::Session(Args& args, harness::Tap& tap)
    : is_client_(!args.flag("--server")), gid_index_(static_cast<int>(args.number("--gid", 1))) {
  const std::string device = args.required("--dev");
  const std::string host = is_client_ ? args.required("--client") : "";
  const auto port = static_cast<std::uint16_t>(args.number("--port", default_port));
  options_.seed = args.number("--seed", options_.seed);
  options_.wait_limit_s = args.number("--wait-limit", options_.wait_limit_s);
  options_.timeout = args.number("--timeout", options_.timeout);
  options_.retry = args.number("--retry", options_.retry);
  options_.no_atomics = args.flag("--no-atomics");
  const std::string skip = args.text("--skip", "");
  harness::expect(skip.size() < sizeof options_.skip, "--skip is too long");
  std::copy(skip.begin(), skip.end(), options_.skip);

  context_ = std::make_unique<Context>(device);
  const Deadline deadline = Deadline::after(meeting_time);
  Rendezvous peer =
      is_client_ ? Rendezvous::connect(host, port, deadline) : Rendezvous::accept(port, deadline);
  duet_ = std::make_unique<Duet>(std::move(peer), tap, wait_limit());
  const SessionOptions theirs = duet_->exchange(options_);
  if (!is_client_) options_ = theirs;
  common_ = find_common();
  harness::note(harness::text("seed ", options_.seed, ", device ", device, ", GID index ",
                              gid_index_, ", active MTU ", mtu_bytes(common_.active_mtu)));
}

void Session::run(const std::string& name, const std::function<void()>& body) {
  ++cases_;
  seeds_used_ = 0;
  duet_->run(name, [&] {
    if (is_unwanted(name)) throw harness::Skip("--skip");
    body();
  });
}

bool Session::is_unwanted(const std::string& name) const {
  std::istringstream parts(options_.skip);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t colon = part.find(':');
    if (colon != std::string::npos && part.substr(0, colon) != initiator()) continue;
    if (name.find(part.substr(colon + 1)) != std::string::npos) return true;
  }
  return false;
}

Common Session::find_common() {
  const Common mine = probe(*context_);
  const Common theirs = duet_->exchange(mine);
  Common both{};
  both.active_mtu = std::min(mine.active_mtu, theirs.active_mtu);
  both.max_sge = std::min(mine.max_sge, theirs.max_sge);
  both.max_inline = std::min(mine.max_inline, theirs.max_inline);
  both.rd_atomic = std::min(mine.rd_atomic, theirs.rd_atomic);
  both.has_atomics = mine.has_atomics && theirs.has_atomics && !options_.no_atomics;
  both.has_srq = mine.has_srq && theirs.has_srq;
  both.has_windows = mine.has_windows && theirs.has_windows;
  both.has_ud = mine.has_ud && theirs.has_ud;
  return both;
}

LinkOptions Session::default_link() const {
  LinkOptions link;
  link.mtu = common_.active_mtu;
  link.timeout = static_cast<std::uint8_t>(options_.timeout);
  link.retry_cnt = static_cast<std::uint8_t>(options_.retry);
  link.rd_atomic = 0;
  return link;
}

EndpointOptions Session::default_endpoint(std::size_t arena_bytes) const {
  EndpointOptions options;
  options.arena_bytes = arena_bytes;
  options.qp.send_depth = options.qp.recv_depth = depth;
  options.qp.send_sge = options.qp.recv_sge = common_.max_sge;
  options.qp.inline_bytes = common_.max_inline;
  return options;
}

std::unique_ptr<Endpoint> Session::make_endpoint(const EndpointOptions& options) {
  const std::uint64_t seed = next_seed() + (is_client_ ? 0 : 1);
  return std::make_unique<Endpoint>(*context_, gid_index_, options, seed);
}

void Session::connect(Endpoint& end, LinkOptions link) {
  const EndpointInfo peer = duet_->exchange(end.info());
  const std::uint8_t usable = usable_rd_atomic(*context_, peer);
  link.rd_atomic = link.rd_atomic ? std::min(link.rd_atomic, usable) : usable;
  link.dest_rd_atomic = static_cast<std::uint8_t>(end.info().rd_atomic);
  end.connect(peer, link);
  duet_->sync();
}

std::unique_ptr<Endpoint> Session::connected(std::size_t arena_bytes, const LinkOptions& link) {
  auto end = make_endpoint(default_endpoint(arena_bytes));
  connect(*end, link);
  return end;
}

PlanLimits Session::plan_limits() const { return {common_.max_sge, common_.max_sge}; }

void Session::execute(Endpoint& end, const Plan& plan) { execute(end, plan, execute_options()); }

void Session::execute(Endpoint& end, const Plan& plan, const ExecuteOptions& options) {
  if (is_initiator()) {
    prepare_initiator(end, plan);
    duet_->sync();
    post_transfers(end, plan, options);
    collect_sends(end, plan, options);
    duet_->sync();
    check_initiator(end, plan);
  } else {
    prepare_target(end, plan);
    duet_->sync();
    collect_receives(end, plan, options);
    duet_->sync();
    check_target(end, plan);
  }
}

}  // namespace verbs
