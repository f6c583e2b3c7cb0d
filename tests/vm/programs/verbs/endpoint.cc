// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/endpoint.h"

#include <algorithm>

namespace verbs {
namespace {

// Not page-aligned, but aligned enough for atomic operations.
constexpr std::size_t arena_skew = 1000;
constexpr std::uint32_t psn_mask = 0xffffff;

std::shared_ptr<Cq> cq_or_new(std::shared_ptr<Cq> given, const Context& context,
                              std::uint32_t depth) {
  return given ? std::move(given) : std::make_shared<Cq>(context, static_cast<int>(depth));
}

}  // namespace

Endpoint::Endpoint(const Context& context, int gid_index, const EndpointOptions& options,
                   std::uint64_t seed)
    : context_(context),
      gid_index_(gid_index),
      psn_(static_cast<std::uint32_t>(harness::mix(seed)) & psn_mask),
      pd_(options.pd ? options.pd : std::make_shared<Pd>(make_pd(context))),
      send_cq_(cq_or_new(options.send_cq, context, options.qp.send_depth + 1)),
      recv_cq_(cq_or_new(options.recv_cq, context, options.qp.recv_depth + 1)),
      arena_(options.arena_bytes, arena_skew) {
  for (Mr& mr : mr_) mr = make_mr(*pd_, arena_.data(), arena_.size(), options.access);
  qp_ = std::make_unique<Qp>(*pd_, *send_cq_, *recv_cq_, options.qp);
  // One connection in four starts just before the PSN wraps.
  if (psn_ % 4 == 0) psn_ = psn_mask - psn_ % 32;
}

EndpointInfo Endpoint::info() const {
  EndpointInfo info{};
  info.qp = {qp_->number(), psn_, context_.gid(gid_index_)};
  info.address = reinterpret_cast<std::uint64_t>(arena_.data());
  info.length = arena_.size();
  info.rkey = mr_[0]->rkey;
  info.rd_atomic = static_cast<std::uint32_t>(std::clamp(context_.device().max_qp_rd_atom, 0, 255));
  return info;
}

void Endpoint::connect(const EndpointInfo& peer, LinkOptions link) {
  link.gid_index = gid_index_;
  link_ = link;
  peer_ = peer;
  qp_->modify(rc_to_init(link), "INIT");
  const bool is_uc = qp_->get()->qp_type == IBV_QPT_UC;
  qp_->modify(is_uc ? uc_to_rtr(link, peer.qp) : rc_to_rtr(link, peer.qp), "RTR");
  qp_->modify(is_uc ? uc_to_rts(psn_) : rc_to_rts(link, psn_), "RTS");
}

ibv_sge Endpoint::sge(std::size_t offset, std::size_t length, unsigned registration) const {
  return {reinterpret_cast<std::uint64_t>(arena_.data()) + offset,
          static_cast<std::uint32_t>(length), mr_[registration % 2]->lkey};
}

void connect_both(Endpoint& a, Endpoint& b, const LinkOptions& link) {
  a.connect(b.info(), link);
  b.connect(a.info(), link);
}

std::uint8_t usable_rd_atomic(const Context& context, const EndpointInfo& peer) {
  const auto mine =
      static_cast<std::uint32_t>(std::clamp(context.device().max_qp_init_rd_atom, 0, 255));
  return static_cast<std::uint8_t>(std::min(mine, peer.rd_atomic));
}

}  // namespace verbs
