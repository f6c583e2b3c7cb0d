// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Requests that libibverbs accepts and that end with an error completion, except those of length 0.
#include <functional>
#include <optional>

#include "bad_input/pair.h"
#include "harness/failure.h"
#include "sroce_abi.h"

namespace bad_input {
namespace {

using harness::expect;

constexpr auto write_op = IBV_WR_RDMA_WRITE;
constexpr auto read_op = IBV_WR_RDMA_READ;
constexpr auto send_op = IBV_WR_SEND;
constexpr auto add_op = IBV_WR_ATOMIC_FETCH_AND_ADD;
constexpr auto swap_op = IBV_WR_ATOMIC_CMP_AND_SWP;

constexpr int local = IBV_ACCESS_LOCAL_WRITE;
constexpr int all_access =
    local | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

struct Row {
  std::string name;
  ibv_wr_opcode opcode;
  Statuses near;
  std::function<void(Pair&, ibv_send_wr&)> spoil;
  Pair::Options options{};
  Statuses far{};                        // of the receive, if one is posted
  std::optional<std::size_t> receive{};  // its length
  std::uint32_t receive_lkey_flip = 0;
  bool may_write = false;        // some packets are placed before the wrong one arrives
  bool may_be_rejected = false;  // a provider that checks opcodes may return EINVAL
  std::uint32_t protection =
      SROCE_VENDOR_KEY;  // vendor_err of IBV_WC_LOC_PROT_ERR, IBV_WC_MW_BIND_ERR
};

// vendor_err, for statuses that have only one; `protection` of those that have more.
std::uint32_t vendor_err_of(ibv_wc_status status, std::uint32_t protection) {
  switch (status) {
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_MW_BIND_ERR:
      return protection;
    case IBV_WC_LOC_LEN_ERR:
      return SROCE_VENDOR_LENGTH;
    case IBV_WC_LOC_QP_OP_ERR:
      return SROCE_VENDOR_OPERATION;
    case IBV_WC_WR_FLUSH_ERR:
      return SROCE_VENDOR_FLUSHED;
    case IBV_WC_REM_INV_REQ_ERR:
      return SROCE_VENDOR_NAK + 1;
    case IBV_WC_REM_ACCESS_ERR:
      return SROCE_VENDOR_NAK + 2;
    case IBV_WC_REM_OP_ERR:
      return SROCE_VENDOR_NAK + 3;
    case IBV_WC_RETRY_EXC_ERR:
      return SROCE_VENDOR_TIMEOUT;
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return SROCE_VENDOR_RNR;
    default:
      return 0;
  }
}

void expect_vendor_err(const ibv_wc& wc, std::uint32_t protection = SROCE_VENDOR_KEY) {
  const std::uint32_t wanted = vendor_err_of(wc.status, protection);
  expect(wc.vendor_err == wanted, "vendor_err is ", wc.vendor_err, ", wanted ", wanted, ": ",
         verbs::describe(wc));
}

void nothing(Pair&, ibv_send_wr&) {}

Pair::Options far_memory(int access) {
  Pair::Options options;
  options.far_access = access;
  return options;
}

Pair::Options far_qp(int access) {
  Pair::Options options;
  options.far_qp_access = static_cast<unsigned>(access);
  return options;
}

std::function<void(Pair&, ibv_send_wr&)> flip_rkey(std::uint32_t bits) {
  return [=](Pair&, ibv_send_wr& wr) { wr.wr.rdma.rkey ^= bits; };
}

// Makes the request access `length` bytes at `offset` from the start of the MR.
std::function<void(Pair&, ibv_send_wr&)> remote_range(std::uint64_t offset, std::uint32_t length) {
  return [=](Pair& pair, ibv_send_wr& wr) {
    pair.sge() = pair.near().sge(0, length);
    wr.wr.rdma.remote_addr = pair.near().peer().address + offset;
  };
}

void wrapping_range(Pair&, ibv_send_wr& wr) { wr.wr.rdma.remote_addr = ~std::uint64_t{0} - 31; }

void zero_length_anywhere(Pair&, ibv_send_wr& wr) {
  wr.num_sge = 0;
  wr.wr.rdma.remote_addr = 0;
  wr.wr.rdma.rkey = 0xdeadbeef;
}

std::function<void(Pair&, ibv_send_wr&)> local_key(std::uint32_t bits) {
  return [=](Pair& pair, ibv_send_wr&) { pair.sge().lkey ^= bits; };
}

std::function<void(Pair&, ibv_send_wr&)> local_range(std::uint64_t offset, std::uint32_t length) {
  return [=](Pair& pair, ibv_send_wr&) {
    pair.sge() = pair.near().sge(offset, 8);
    pair.sge().length = length;
  };
}

std::vector<Row> remote_access_rows() {
  const Statuses rejected{IBV_WC_REM_ACCESS_ERR};
  std::vector<Row> rows;
  for (const auto& [name, opcode] : {std::pair{"WRITE", write_op}, std::pair{"READ", read_op}}) {
    const std::string op = name;
    rows.push_back({op + " with a wrong variant of the key", opcode, rejected, flip_rkey(0x01)});
    rows.push_back(
        {op + " with a key that was never assigned", opcode, rejected, flip_rkey(0x7fff0000)});
    rows.push_back({op + " with key 0", opcode, rejected,
                    [](Pair&, ibv_send_wr& wr) { wr.wr.rdma.rkey = 0; }});
    rows.push_back(
        {op + " one byte before the start", opcode, rejected, remote_range(~std::uint64_t{0}, 8)});
    rows.push_back(
        {op + " one byte past the end", opcode, rejected, remote_range(pair_arena - 7, 8)});
    rows.push_back({op + " beyond the end", opcode, rejected, remote_range(pair_arena, 1)});
    rows.push_back({op + " whose end overflows 64 bits", opcode, rejected, wrapping_range});
    rows.push_back({op + " of many packets that ends past the end", opcode, rejected,
                    remote_range(pair_arena - 20000, 20001)});
    rows.push_back(
        {op + " of the last byte", opcode, {IBV_WC_SUCCESS}, remote_range(pair_arena - 1, 1)});
    rows.push_back({op + " of length 0 with an invalid key and address",
                    opcode,
                    {IBV_WC_SUCCESS},
                    zero_length_anywhere});
  }
  rows.push_back({"WRITE to memory without remote write", write_op, rejected, nothing,
                  far_memory(local | IBV_ACCESS_REMOTE_READ)});
  rows.push_back({"WRITE to read-only memory", write_op, rejected, nothing,
                  far_memory(IBV_ACCESS_REMOTE_READ)});
  rows.push_back({"READ of memory without remote read", read_op, rejected, nothing,
                  far_memory(local | IBV_ACCESS_REMOTE_WRITE)});
  for (const auto& [name, opcode] :
       {std::pair{"FETCH_ADD", add_op}, std::pair{"CMP_SWAP", swap_op}}) {
    const std::string op = name;
    rows.push_back({op + " on memory without remote atomic", opcode, rejected, nothing,
                    far_memory(local | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)});
    rows.push_back({op + " with a wrong variant of the key", opcode, rejected,
                    [](Pair&, ibv_send_wr& wr) { wr.wr.atomic.rkey ^= 1; }});
    rows.push_back({op + " beyond the end", opcode, rejected, [](Pair& pair, ibv_send_wr& wr) {
                      wr.wr.atomic.remote_addr = pair.near().peer().address + pair_arena;
                    }});
  }
  return rows;
}

// If a service is disabled on a QP, the standard lets the responder report an invalid request or an
// access error.
std::vector<Row> qp_access_rows() {
  const Statuses rejected{IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR};
  return {{"WRITE to a QP without remote write", write_op, rejected, nothing,
           far_qp(all_access & ~IBV_ACCESS_REMOTE_WRITE)},
          {"READ from a QP without remote read", read_op, rejected, nothing,
           far_qp(all_access & ~IBV_ACCESS_REMOTE_READ)},
          {"FETCH_ADD to a QP without remote atomic", add_op, rejected, nothing,
           far_qp(all_access & ~IBV_ACCESS_REMOTE_ATOMIC)}};
}

std::vector<Row> local_rows() {
  const Statuses rejected{IBV_WC_LOC_PROT_ERR};
  std::vector<Row> rows;
  for (const auto& [name, opcode] :
       {std::pair{"SEND", send_op}, std::pair{"WRITE", write_op}, std::pair{"READ", read_op}}) {
    const std::string op = name;
    rows.push_back(
        {op + " with a wrong variant of the local key", opcode, rejected, local_key(0x01)});
    rows.push_back({op + " with a local key that was never assigned", opcode, rejected,
                    local_key(0x7fff0000)});
    rows.push_back({op + " with a local range past the end", opcode, rejected,
                    local_range(pair_arena - 7, 8)});
    rows.back().protection = SROCE_VENDOR_RANGE;
    rows.push_back({op + " with a local range before the start", opcode, rejected,
                    local_range(~std::uint64_t{0}, 8)});
    rows.back().protection = SROCE_VENDOR_RANGE;
    Statuses too_long{IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_LEN_ERR};
    if (opcode == read_op)  // the responder may detect it first
      too_long.insert({IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR});
    rows.push_back({op + " with a local length of 4 GiB - 1", opcode, too_long,
                    local_range(0, ~std::uint32_t{0})});
  }
  for (Row& row : rows)
    if (row.opcode == send_op) row.receive = 128, row.far = {IBV_WC_WR_FLUSH_ERR};
  return rows;
}

std::vector<Row> receive_rows() {
  std::vector<Row> rows;
  Row row{"SEND longer than the receive", send_op, {IBV_WC_REM_INV_REQ_ERR}, nothing};
  row.receive = 63;
  row.far = {IBV_WC_LOC_LEN_ERR};
  row.may_write = true;
  rows.push_back(row);

  row.name = "SEND of many packets longer than the receive";
  row.spoil = [](Pair& pair, ibv_send_wr&) { pair.sge() = pair.near().sge(0, 20001); };
  row.receive = 20000;
  rows.push_back(row);

  row = {"SEND to a receive with a wrong local key", send_op, {IBV_WC_REM_OP_ERR}, nothing};
  row.receive = 128;
  row.receive_lkey_flip = 1;
  row.far = {IBV_WC_LOC_PROT_ERR};
  rows.push_back(row);

  row = {"WRITE_WITH_IMM with a wrong variant of the key",
         IBV_WR_RDMA_WRITE_WITH_IMM,
         {IBV_WC_REM_ACCESS_ERR},
         flip_rkey(0x01)};
  row.receive = 0;
  row.far = {IBV_WC_WR_FLUSH_ERR};
  rows.push_back(row);
  return rows;
}

std::vector<Row> opcode_rows() {
  const Statuses rejected{IBV_WC_LOC_QP_OP_ERR};
  const auto unknown = [](Pair&, ibv_send_wr& wr) {
    const unsigned opcode = 99;
    std::memcpy(&wr.opcode, &opcode, sizeof wr.opcode);
  };
  std::vector<Row> rows = {
      {"an opcode that does not exist", write_op, rejected, unknown},
      {"a TSO request on an RC QP", IBV_WR_TSO, rejected, nothing},
      {"a driver's private opcode", IBV_WR_DRIVER1, rejected, nothing},
      {"LOCAL_INV of a key that does not exist",
       IBV_WR_LOCAL_INV,
       {IBV_WC_LOC_QP_OP_ERR, IBV_WC_MW_BIND_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_ACCESS_ERR},
       [](Pair&, ibv_send_wr& wr) {
         wr.num_sge = 0;
         wr.invalidate_rkey = 0xdead00;
       }}};
  for (Row& row : rows) row.may_be_rejected = true;
  return rows;
}

void run_row(Bench& bench, const Row& row) {
  Pair pair(bench, row.options);
  ibv_send_wr wr = pair.right_wr(row.opcode);
  row.spoil(pair, wr);
  if (row.receive) pair.post_far_receive(*row.receive, row.receive_lkey_flip);
  const int error = pair.near().qp().try_post_send(&wr);
  if (error == EINVAL && row.may_be_rejected) return pair.expect_far_untouched();
  expect(!error, "ibv_post_send gave ", error);
  const ibv_wc wc = pair.expect_near(row.near);
  expect(wc.wr_id == wr.wr_id, "the completion's wr_id is ", wc.wr_id);
  expect(wc.qp_num == pair.near().qp().number(), "the completion's qp_num is ", wc.qp_num);
  expect_vendor_err(wc, row.protection);
  const bool failed = wc.status != IBV_WC_SUCCESS;
  const ibv_qp_state state = pair.near().qp().query(IBV_QP_STATE).qp_state;
  expect(state == (failed ? IBV_QPS_ERR : IBV_QPS_RTS), "the requester's QP is in state ", state);
  // The failure did not affect the receive, so flush it.
  if (row.far.contains(IBV_WC_WR_FLUSH_ERR))
    pair.far().qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
  if (row.receive) expect_vendor_err(pair.expect_far(row.far));
  if (failed && !row.may_write) pair.expect_far_untouched();
}

void other_pd(Bench& bench) {
  Pair pair(bench, {});
  const verbs::Pd pd = verbs::make_pd(bench.far());
  const verbs::Mr mr =
      verbs::make_mr(pd, pair.far().arena().data(), pair.far().arena().size(), all_access);
  ibv_send_wr wr = pair.right_wr(write_op);
  wr.wr.rdma.rkey = mr->rkey;
  pair.post(wr);
  pair.expect_near({IBV_WC_REM_ACCESS_ERR});
  pair.expect_far_untouched();
}

void other_pd_locally(Bench& bench) {
  Pair pair(bench, {});
  const verbs::Pd pd = verbs::make_pd(bench.near());
  const verbs::Mr mr =
      verbs::make_mr(pd, pair.near().arena().data(), pair.near().arena().size(), all_access);
  ibv_send_wr wr = pair.right_wr(write_op);
  pair.sge().lkey = mr->lkey;
  pair.post(wr);
  pair.expect_near({IBV_WC_LOC_PROT_ERR});
  pair.expect_far_untouched();
}

void deregistered(Bench& bench) {
  Pair pair(bench, {});
  const verbs::Pages pages(4096);
  verbs::Mr mr = verbs::make_mr(pair.far().pd(), pages.data(), pages.size(), all_access);
  ibv_send_wr wr = pair.right_wr(write_op);
  wr.wr.rdma.rkey = mr->rkey;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(pages.data());
  pair.post(wr);
  pair.expect_near({IBV_WC_SUCCESS});
  mr.reset();
  pair.post(wr);
  pair.expect_near({IBV_WC_REM_ACCESS_ERR});
}

// Keys must not be reused at once, or a stale key would become valid again.
void reregistered(Bench& bench) {
  Pair pair(bench, {});
  const verbs::Pages pages(4096);
  std::uint32_t old_key = 0;
  for (int turn = 0; turn < 64; ++turn) {
    const verbs::Mr mr = verbs::make_mr(pair.far().pd(), pages.data(), pages.size(), all_access);
    expect(mr->rkey != old_key, "the key of a deregistered MR was reused at once");
    old_key = mr->rkey;
  }
  const verbs::Mr mr = verbs::make_mr(pair.far().pd(), pages.data(), pages.size(), all_access);
  ibv_send_wr wr = pair.right_wr(write_op);
  wr.wr.rdma.rkey = old_key;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(pages.data());
  pair.post(wr);
  pair.expect_near({IBV_WC_REM_ACCESS_ERR});
}

// A key is an index and eight bits of variant.
void random_keys(Bench& bench) {
  const verbs::Pages pages(4096);
  std::set<std::uint32_t> starts;
  std::set<std::uint32_t> steps;
  for (const verbs::Context* context : {&bench.near(), &bench.far()}) {
    const verbs::Pd pd = verbs::make_pd(*context);
    std::uint32_t last = 0;
    for (int i = 0; i < 16; ++i) {
      const verbs::Mr mr = verbs::make_mr(pd, pages.data(), pages.size(), local);
      if (i) steps.insert((mr->rkey - last) & 0xff);
      last = mr->rkey;
    }
    starts.insert(last >> 20);
  }
  expect(starts.size() > 1 || *starts.begin(), "both devices count their keys from 0");
  expect(steps.size() > 2, "the variant changes by only ", steps.size(), " different steps");
}

void read_into_read_only(Bench& bench) {
  Pair pair(bench, {});
  const verbs::Mr mr = verbs::make_mr(pair.near().pd(), pair.near().arena().data(),
                                      pair.near().arena().size(), IBV_ACCESS_REMOTE_READ);
  ibv_send_wr wr = pair.right_wr(read_op);
  pair.sge().lkey = mr->lkey;
  pair.post(wr);
  expect_vendor_err(pair.expect_near({IBV_WC_LOC_PROT_ERR}), SROCE_VENDOR_ACCESS);
}

void no_response(Bench& bench) {
  Pair pair(bench, {});
  pair.far().qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
  ibv_send_wr wr = pair.right_wr(write_op);
  pair.post(wr);
  expect_vendor_err(pair.expect_near({IBV_WC_RETRY_EXC_ERR}));
}

void no_receive(Bench& bench) {
  Pair::Options options;
  options.rnr_retry = 1;
  Pair pair(bench, options);
  ibv_send_wr wr = pair.right_wr(send_op);
  pair.post(wr);
  expect_vendor_err(pair.expect_near({IBV_WC_RNR_RETRY_EXC_ERR}));
}

void smaller_path_mtu(Bench& bench) {
  Pair::Options options;
  options.far_mtu = IBV_MTU_256;
  Pair pair(bench, options);
  ibv_send_wr wr = pair.right_wr(write_op);
  pair.sge() = pair.near().sge(0, 3000);
  pair.post(wr);
  pair.expect_near({IBV_WC_REM_INV_REQ_ERR});
}

}  // namespace

void run_wire_rows(Bench& bench, harness::Tap& tap) {
  for (const auto& rows :
       {remote_access_rows(), qp_access_rows(), local_rows(), receive_rows(), opcode_rows()})
    for (const Row& row : rows) bench.run(tap, Layer::wire, row.name, [&] { run_row(bench, row); });
  const auto run = [&](const char* name, void (*body)(Bench&)) {
    bench.run(tap, Layer::wire, name, [&] { body(bench); });
  };
  run("WRITE with a key of another PD", other_pd);
  run("WRITE with a local key of another PD", other_pd_locally);
  run("WRITE with the key of a deregistered MR", deregistered);
  run("keys are not reused at once", reregistered);
  run("keys have a random start and random variants", random_keys);
  run("READ into memory without local write", read_into_read_only);
  run("WRITE to a QP that does not respond", no_response);
  run("SEND to a QP without a receive", no_receive);
  run("WRITE in packets larger than the responder's path MTU", smaller_path_mtu);
}

}  // namespace bad_input
