// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_modify_qp: transitions that do not exist, and attributes that are missing, superfluous or out
// of range.
#include <functional>

#include "bad_input/bench.h"
#include "harness/failure.h"

namespace bad_input {
namespace {

using harness::expect;
using harness::text;
using verbs::Change;

// A QP that can be brought to any state with correct calls, and its peer.
class Subject {
 public:
  explicit Subject(Bench& bench)
      : bench_(bench), near_(bench.make_near({})), far_(bench.make_far({})) {}

  verbs::Qp& qp() { return near_->qp(); }

  void walk_to(ibv_qp_state state) {
    if (state == IBV_QPS_RESET) return;
    for (const ibv_qp_state step : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      qp().modify(right_change(step), "the state where the row begins");
      if (step == state) return;
    }
    qp().modify(verbs::to_state(state), "the state where the row begins");
  }

  // The correct step into this state.
  Change right_change(ibv_qp_state state) {
    verbs::LinkOptions link = bench_.link();
    link.gid_index = bench_.near_gid();
    switch (state) {
      case IBV_QPS_INIT:
        return verbs::rc_to_init(link);
      case IBV_QPS_RTR:
        return verbs::rc_to_rtr(link, far_->info().qp);
      case IBV_QPS_RTS:
        return verbs::rc_to_rts(link, near_->psn());
      default:
        return verbs::to_state(state);
    }
  }

 private:
  Bench& bench_;
  std::unique_ptr<verbs::Endpoint> near_;
  std::unique_ptr<verbs::Endpoint> far_;
};

void expect_rejected(Subject& subject, const Change& change, ibv_qp_state before) {
  const int error = subject.qp().try_modify(change);
  // The core returns ENODATA for an empty GID index.
  expect(error == EINVAL || error == ENODATA, "ibv_modify_qp gave ",
         error ? std::strerror(error) : "success", ", wanted EINVAL");
  const ibv_qp_state after = subject.qp().query(IBV_QP_STATE).qp_state;
  expect(after == before, "the rejected call moved the QP from state ", before, " to ", after);
}

const char* state_name(ibv_qp_state state) {
  constexpr const char* names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  return names[state];
}

void run_transitions(Bench& bench, harness::Tap& tap) {
  struct Row {
    ibv_qp_state from;
    ibv_qp_state to;
  };
  constexpr Row rows[] = {
      {IBV_QPS_RESET, IBV_QPS_RTR}, {IBV_QPS_RESET, IBV_QPS_RTS}, {IBV_QPS_RESET, IBV_QPS_SQD},
      {IBV_QPS_INIT, IBV_QPS_RTS},  {IBV_QPS_INIT, IBV_QPS_SQD},  {IBV_QPS_RTR, IBV_QPS_INIT},
      {IBV_QPS_RTR, IBV_QPS_SQD},   {IBV_QPS_RTS, IBV_QPS_INIT},  {IBV_QPS_RTS, IBV_QPS_RTR},
      {IBV_QPS_ERR, IBV_QPS_RTS},   {IBV_QPS_ERR, IBV_QPS_INIT}};
  for (const Row& row : rows) {
    bench.run(tap, Layer::core, text("modify ", state_name(row.from), " to ", state_name(row.to)),
              [&] {
                Subject subject(bench);
                subject.walk_to(row.from);
                expect_rejected(subject, subject.right_change(row.to), row.from);
              });
  }
  // ib_drain_qp() in the kernel does the same.
  bench.run(tap, Layer::driver, "any state may be left for ERR", [&] {
    for (const ibv_qp_state from : {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      Subject subject(bench);
      subject.walk_to(from);
      subject.qp().modify(verbs::to_state(IBV_QPS_ERR), text(state_name(from), " to ERR"));
      expect(subject.qp().query(IBV_QP_STATE).qp_state == IBV_QPS_ERR, "the QP is not in ERR");
    }
  });
}

void run_service_level(Bench& bench, harness::Tap& tap) {
  bench.run(tap, Layer::driver, "service level 7 is accepted and read back", [&] {
    Subject subject(bench);
    subject.walk_to(IBV_QPS_INIT);
    Change change = subject.right_change(IBV_QPS_RTR);
    change.attr.ah_attr.sl = 7;
    subject.qp().modify(change, "RTR with service level 7");
    const int sl = subject.qp().query(IBV_QP_AV).ah_attr.sl;
    expect(sl == 7, "the service level is ", sl);
  });
}

struct Bit {
  int bit;
  const char* name;
};

void run_missing_bits(Bench& bench, harness::Tap& tap) {
  struct Row {
    ibv_qp_state from;
    ibv_qp_state to;
    std::vector<Bit> required;
  };
  const Row rows[] = {{IBV_QPS_RESET,
                       IBV_QPS_INIT,
                       {{IBV_QP_PKEY_INDEX, "PKEY_INDEX"},
                        {IBV_QP_PORT, "PORT"},
                        {IBV_QP_ACCESS_FLAGS, "ACCESS_FLAGS"}}},
                      {IBV_QPS_INIT,
                       IBV_QPS_RTR,
                       {{IBV_QP_AV, "AV"},
                        {IBV_QP_PATH_MTU, "PATH_MTU"},
                        {IBV_QP_DEST_QPN, "DEST_QPN"},
                        {IBV_QP_RQ_PSN, "RQ_PSN"},
                        {IBV_QP_MAX_DEST_RD_ATOMIC, "MAX_DEST_RD_ATOMIC"},
                        {IBV_QP_MIN_RNR_TIMER, "MIN_RNR_TIMER"}}},
                      {IBV_QPS_RTR,
                       IBV_QPS_RTS,
                       {{IBV_QP_SQ_PSN, "SQ_PSN"},
                        {IBV_QP_TIMEOUT, "TIMEOUT"},
                        {IBV_QP_RETRY_CNT, "RETRY_CNT"},
                        {IBV_QP_RNR_RETRY, "RNR_RETRY"},
                        {IBV_QP_MAX_QP_RD_ATOMIC, "MAX_QP_RD_ATOMIC"}}}};
  for (const Row& row : rows) {
    for (const Bit& bit : row.required) {
      bench.run(tap, Layer::core, text("modify to ", state_name(row.to), " without ", bit.name),
                [&] {
                  Subject subject(bench);
                  subject.walk_to(row.from);
                  Change change = subject.right_change(row.to);
                  change.mask &= ~bit.bit;
                  expect_rejected(subject, change, row.from);
                });
    }
  }
}

void run_superfluous_bits(Bench& bench, harness::Tap& tap) {
  struct Row {
    ibv_qp_state from;
    ibv_qp_state to;
    Bit bit;
  };
  const Row rows[] = {{IBV_QPS_RESET, IBV_QPS_INIT, {IBV_QP_PATH_MTU, "PATH_MTU"}},
                      {IBV_QPS_RESET, IBV_QPS_INIT, {IBV_QP_QKEY, "QKEY"}},
                      {IBV_QPS_INIT, IBV_QPS_RTR, {IBV_QP_SQ_PSN, "SQ_PSN"}},
                      {IBV_QPS_INIT, IBV_QPS_RTR, {IBV_QP_TIMEOUT, "TIMEOUT"}},
                      {IBV_QPS_RTR, IBV_QPS_RTS, {IBV_QP_AV, "AV"}},
                      {IBV_QPS_RTR, IBV_QPS_RTS, {IBV_QP_DEST_QPN, "DEST_QPN"}}};
  for (const Row& row : rows) {
    bench.run(tap, Layer::core,
              text("modify to ", state_name(row.to), " with superfluous ", row.bit.name), [&] {
                Subject subject(bench);
                subject.walk_to(row.from);
                const Change filler = subject.right_change(IBV_QPS_RTR);
                Change change = subject.right_change(row.to);
                change.attr.path_mtu = filler.attr.path_mtu;
                if (row.bit.bit == IBV_QP_AV) change.attr.ah_attr = filler.attr.ah_attr;
                change.attr.dest_qp_num = filler.attr.dest_qp_num;
                change.mask |= row.bit.bit;
                expect_rejected(subject, change, row.from);
              });
  }
}

void run_values(Bench& bench, harness::Tap& tap) {
  struct Row {
    Layer layer;
    ibv_qp_state from;
    ibv_qp_state to;
    std::string name;
    std::function<void(ibv_qp_attr&)> spoil;
  };
  const auto gids = static_cast<std::uint8_t>(std::min(bench.near().port().gid_tbl_len - 1, 255));
  const auto pkeys = bench.near().port().pkey_tbl_len;
  const ibv_mtu active = bench.near().port().active_mtu;
  const int rd_atomic = bench.near().device().max_qp_rd_atom;
  const int init_rd_atomic = bench.near().device().max_qp_init_rd_atom;
  constexpr auto reset = IBV_QPS_RESET;
  constexpr auto init = IBV_QPS_INIT;
  constexpr auto rtr = IBV_QPS_RTR;
  constexpr auto rts = IBV_QPS_RTS;
  std::vector<Row> rows{
      {Layer::core, reset, init, "port 0", [](auto& a) { a.port_num = 0; }},
      {Layer::core, reset, init, "port 2", [](auto& a) { a.port_num = 2; }},
      {Layer::driver, reset, init, "P_Key index beyond the table",
       [=](auto& a) { a.pkey_index = pkeys; }},
      {Layer::driver, reset, init, "huge pages",
       [](auto& a) { a.qp_access_flags |= IBV_ACCESS_HUGETLB; }},
      {Layer::core, init, rtr, "port 2 in the address", [](auto& a) { a.ah_attr.port_num = 2; }},
      {Layer::core, init, rtr, "no GRH", [](auto& a) { a.ah_attr.is_global = 0; }},
      {Layer::core, init, rtr, "an empty GID index",
       [=](auto& a) { a.ah_attr.grh.sgid_index = gids; }},
      {Layer::driver, init, rtr, "service level 8", [](auto& a) { a.ah_attr.sl = 8; }},
      {Layer::driver, init, rtr, "a multicast group as the peer",
       [](auto& a) { a.ah_attr.grh.dgid.raw[12] = 239; }},
      {Layer::driver, init, rtr, "path MTU 0",
       [](auto& a) { a.path_mtu = static_cast<ibv_mtu>(0); }},
      {Layer::driver, init, rtr, "path MTU 7",
       [](auto& a) { a.path_mtu = static_cast<ibv_mtu>(7); }},
      {Layer::driver, init, rtr, "min_rnr_timer 32", [](auto& a) { a.min_rnr_timer = 32; }},
      {Layer::driver, rtr, rts, "timeout 32", [](auto& a) { a.timeout = 32; }},
      {Layer::driver, rtr, rts, "retry_cnt 8", [](auto& a) { a.retry_cnt = 8; }},
      {Layer::driver, rtr, rts, "rnr_retry 8", [](auto& a) { a.rnr_retry = 8; }},
  };
  if (active < IBV_MTU_4096)
    rows.push_back({Layer::driver, init, rtr, "path MTU above the active one",
                    [=](auto& a) { a.path_mtu = static_cast<ibv_mtu>(active + 1); }});
  if (rd_atomic < 255)
    rows.push_back(
        {Layer::driver, init, rtr, "max_dest_rd_atomic above the device's",
         [=](auto& a) { a.max_dest_rd_atomic = static_cast<std::uint8_t>(rd_atomic + 1); }});
  if (init_rd_atomic < 255)
    rows.push_back({Layer::driver, rtr, rts, "max_rd_atomic above the device's", [=](auto& a) {
                      a.max_rd_atomic = static_cast<std::uint8_t>(init_rd_atomic + 1);
                    }});
  for (const Row& row : rows) {
    bench.run(tap, row.layer, text("modify to ", state_name(row.to), " with ", row.name), [&] {
      Subject subject(bench);
      subject.walk_to(row.from);
      Change change = subject.right_change(row.to);
      row.spoil(change.attr);
      expect_rejected(subject, change, row.from);
      // The rejected call has changed nothing, so the right call still works.
      subject.qp().modify(subject.right_change(row.to), "the same state with right values");
    });
  }
}

}  // namespace

void run_modify_rows(Bench& bench, harness::Tap& tap) {
  run_transitions(bench, tap);
  run_missing_bits(bench, tap);
  run_superfluous_bits(bench, tap);
  run_values(bench, tap);
  run_service_level(bench, tap);
}

}  // namespace bad_input
