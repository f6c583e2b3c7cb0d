// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Objects of XRC. The model does not have them, so an actor that makes them is not exact.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "sroce_abi.h"
#include "uverbs_fuzz/actor.h"

namespace uverbs_fuzz {

namespace {

constexpr std::size_t most_handles = 6;

}  // namespace

// A handle of its own, or any number.
std::uint32_t Actor::xrc_handle(const std::vector<std::uint32_t>& handles) {
  if (handles.empty() || random_.one_in(8)) return static_cast<std::uint32_t>(random_.below(40));
  return handles[random_.below(handles.size())];
}

void Actor::keep_xrc(int error, const Command& command, std::vector<std::uint32_t>& handles) {
  judge(error, any, "a command of XRC");
  if (error || command.is_other) return;
  if (handles.size() >= most_handles) handles.erase(handles.begin());
  handles.push_back(file_.response<std::uint32_t>());
}

void Actor::create_xrc_srq() {
  ib_uverbs_create_xsrq in{};
  put(in.srq_type, random_.one_in(8) ? random_.below(4) : std::uint64_t{IBV_SRQT_XRC});
  in.pd_handle = handle(Type::pd);
  in.cq_handle = handle(Type::cq);
  in.xrcd_handle = xrc_handle(xrcds_);
  put(in.max_wr, random_.below(random_.one_in(8) ? 70000 : 40));
  put(in.max_sge, random_.below(random_.one_in(8) ? 40 : 4));
  auto command = Command::of(IB_USER_VERBS_CMD_CREATE_XSRQ, in, sizeof(ib_uverbs_create_srq_resp),
                             sizeof(sroce_create_srq_resp));
  keep_xrc(send(command), command, xrc_srqs_);
}

void Actor::create_xrc_target() {
  ib_uverbs_create_qp in{};
  in.pd_handle = xrc_handle(xrcds_);
  in.qp_type = IB_UVERBS_QPT_XRC_TGT;
  auto command = Command::of(IB_USER_VERBS_CMD_CREATE_QP, in, sizeof(ib_uverbs_create_qp_resp));
  const int error = send(command);
  if (!error && !command.is_other) {
    const auto out = file_.response<ib_uverbs_create_qp_resp>();
    target_qpn_ = out.qpn;
    add({Type::qp, out.qp_handle, {}, {}, IB_UVERBS_QPT_XRC_TGT, out.qpn, 0, true});
  }
  judge(error, any, "an XRC target");
}

void Actor::open_xrc_target() {
  ib_uverbs_open_qp in{};
  in.pd_handle = xrc_handle(xrcds_);
  in.qpn = random_.one_in(4) ? random_.next32() : target_qpn_;
  in.qp_type = IB_UVERBS_QPT_XRC_TGT;
  auto command = Command::of(IB_USER_VERBS_CMD_OPEN_QP, in, sizeof(ib_uverbs_create_qp_resp));
  const int error = send(command);
  if (!error && !command.is_other) {
    const auto out = file_.response<ib_uverbs_create_qp_resp>();
    add({Type::qp, out.qp_handle, {}, {}, IB_UVERBS_QPT_XRC_TGT, out.qpn, 0, true});
  }
  judge(error, any, "OPEN_QP");
}

void Actor::destroy_xrc() {
  if (random_.one_in(2)) {
    ib_uverbs_destroy_srq in{};
    in.srq_handle = xrc_handle(xrc_srqs_);
    auto command =
        Command::of(IB_USER_VERBS_CMD_DESTROY_SRQ, in, sizeof(ib_uverbs_destroy_srq_resp));
    judge(send(command), any, "DESTROY_SRQ");
    return;
  }
  ib_uverbs_close_xrcd in{};
  in.xrcd_handle = xrc_handle(xrcds_);
  auto command = Command::of(IB_USER_VERBS_CMD_CLOSE_XRCD, in, 0);
  judge(send(command), any, "CLOSE_XRCD");
}

void Actor::xrc() {
  exact_ = false;
  switch (random_.below(6)) {
    case 0: {
      ib_uverbs_open_xrcd in{};
      in.fd = random_.one_in(2) ? static_cast<std::uint32_t>(-1)
                                : static_cast<std::uint32_t>(random_.below(8));
      in.oflags = random_.one_in(4) ? random_.next32() : O_CREAT;
      auto command = Command::of(IB_USER_VERBS_CMD_OPEN_XRCD, in, sizeof(ib_uverbs_open_xrcd_resp));
      keep_xrc(send(command), command, xrcds_);
      return;
    }
    case 1:
    case 2:
      return create_xrc_srq();
    case 3:
      return create_xrc_target();
    case 4:
      return open_xrc_target();
    default:
      return destroy_xrc();
  }
}

}  // namespace uverbs_fuzz
