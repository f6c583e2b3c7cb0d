// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Optional services: UD datagrams, type 2 memory windows, SEND with invalidate.
#include "rc_verify/cases.h"

namespace rc_verify {
namespace {

using harness::expect;
using harness::text;
using verbs::Op;
using verbs::Session;

constexpr std::uint32_t qkey = 0x11223344;
constexpr std::size_t grh_bytes = 40;
constexpr std::size_t deth_bytes = 8;
constexpr std::size_t udp_bytes = 8;
constexpr std::size_t bth_icrc_bytes = 12 + 4;
constexpr std::size_t datagram_slot = 8192;
constexpr std::size_t burst = 8;  // datagrams of one size, posted together
constexpr std::size_t burst_slot = datagram_slot / burst;
// All of the burst lies before the bytes that case corrupt_batches inverts.
constexpr std::size_t burst_bytes = 200;

class UdSide {
 public:
  explicit UdSide(Session& session)
      : session_(session),
        pd_(verbs::make_pd(session.context())),
        cq_(session.context(), 64),
        pages_(2 * datagram_slot),
        mr_(verbs::make_mr(pd_, pages_.data(), pages_.size(), IBV_ACCESS_LOCAL_WRITE)),
        qp_(pd_, cq_, cq_, options()) {
    qp_.modify(verbs::ud_to_init(qkey), "INIT (UD)");
    qp_.modify(verbs::to_state(IBV_QPS_RTR), "RTR (UD)");
    verbs::Change rts = verbs::to_state(IBV_QPS_RTS);
    rts.mask |= IBV_QP_SQ_PSN;
    qp_.modify(rts, "RTS (UD)");
    const verbs::QpAddress mine{qp_.number(), 0, session.context().gid(session.gid_index())};
    peer_ = session.duet().exchange(mine);
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = verbs::port_number;
    attr.grh.dgid = peer_.gid;
    attr.grh.sgid_index = static_cast<std::uint8_t>(session.gid_index());
    attr.grh.hop_limit = 64;
    ah_.reset(ibv_create_ah(pd_.get(), &attr));
    if (!ah_) harness::fail_errno(errno, "ibv_create_ah");
  }

  void post_receive() {
    std::fill_n(pages_.data(), datagram_slot, std::byte{0xee});
    ibv_sge sge{reinterpret_cast<std::uint64_t>(pages_.data()), datagram_slot, mr_->lkey};
    ibv_recv_wr wr{};
    wr.wr_id = 77;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    qp_.post_recv(&wr);
  }

  void send(std::size_t size, std::uint64_t seed, std::uint32_t with_qkey) {
    std::byte* data = pages_.data() + datagram_slot;
    harness::fill_pattern({data, size}, seed, 0);
    ibv_sge sge{reinterpret_cast<std::uint64_t>(data), static_cast<std::uint32_t>(size), mr_->lkey};
    ibv_send_wr wr{};
    wr.wr_id = size;
    wr.sg_list = &sge;
    wr.num_sge = size ? 1 : 0;
    wr.opcode = IBV_WR_SEND_WITH_IMM;
    wr.imm_data = static_cast<std::uint32_t>(seed);
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ud.ah = ah_.get();
    wr.wr.ud.remote_qpn = peer_.qpn;
    wr.wr.ud.remote_qkey = with_qkey;
    qp_.post_send(&wr);
    verbs::expect_wc(cq_.next(session_.duet().deadline(), "UD SEND"), size, IBV_WC_SUCCESS,
                     "UD SEND");
  }

  void receive(std::size_t size, std::uint64_t seed) {
    const ibv_wc wc = cq_.next(session_.duet().deadline(), "UD receive");
    const std::string what = text("UD receive of ", size, " bytes");
    verbs::expect_wc(wc, 77, IBV_WC_SUCCESS, what);
    expect(wc.opcode == IBV_WC_RECV, what, ": opcode ", wc.opcode);
    expect(wc.byte_len == size + grh_bytes, what, ": byte_len ", wc.byte_len);
    expect(wc.src_qp == peer_.qpn, what, ": src_qp ", wc.src_qp, ", wanted ", peer_.qpn);
    expect(wc.wc_flags & IBV_WC_GRH, what, ": no IBV_WC_GRH");
    expect(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == static_cast<std::uint32_t>(seed), what,
           ": imm_data");
    harness::Image image(0);
    image.place_pattern(0, size, seed, 0);
    const std::string complaint = image.check({pages_.data() + grh_bytes, size});
    expect(complaint.empty(), what, ": ", complaint);
    check_grh(pages_.data(), deth_bytes + sizeof(wc.imm_data) + size, what);
    for (std::size_t i = grh_bytes + size; i < datagram_slot; ++i)
      expect(pages_.data()[i] == std::byte{0xee}, what, ": byte ", i,
             " after the datagram was written");
  }

  void post_burst_receives() {
    for (std::size_t i = 0; i < burst; ++i) {
      ibv_sge sge{reinterpret_cast<std::uint64_t>(pages_.data() + i * burst_slot), burst_slot,
                  mr_->lkey};
      ibv_recv_wr wr{};
      wr.wr_id = i;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      qp_.post_recv(&wr);
    }
  }

  void send_burst(std::uint32_t size) {
    ibv_sge sge{reinterpret_cast<std::uint64_t>(pages_.data() + datagram_slot), size, mr_->lkey};
    ibv_send_wr chain[burst]{};
    for (std::size_t i = 0; i < burst; ++i) {
      ibv_send_wr& wr = chain[i];
      wr.next = i + 1 < burst ? &chain[i + 1] : nullptr;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      wr.opcode = IBV_WR_SEND;
      wr.send_flags = wr.next ? 0 : IBV_SEND_SIGNALED;
      wr.wr.ud.ah = ah_.get();
      wr.wr.ud.remote_qpn = peer_.qpn;
      wr.wr.ud.remote_qkey = qkey;
    }
    qp_.post_send(chain);
    verbs::expect_wc(cq_.next(session_.duet().deadline(), "UD SENDs"), 0, IBV_WC_SUCCESS,
                     "UD SENDs");
  }

  void receive_burst(std::size_t size) {
    for (std::size_t i = 0; i < burst; ++i) {
      const std::string what = text("UD receive ", i, " of ", burst);
      verbs::expect_wc(cq_.next(session_.duet().deadline(), what), i, IBV_WC_SUCCESS, what);
      check_grh(pages_.data() + i * burst_slot, deth_bytes + size, what);
    }
  }

  void expect_nothing() {
    cq_.expect_none(std::chrono::milliseconds(200), "a datagram with a wrong Q_Key");
  }

 private:
  static verbs::QpOptions options() {
    verbs::QpOptions options;
    options.type = IBV_QPT_UD;
    options.send_depth = options.recv_depth = 16;
    options.send_sge = options.recv_sge = 1;
    return options;
  }

  static std::size_t big_endian(const std::byte* at) {
    return std::to_integer<std::size_t>(at[0]) << 8 | std::to_integer<std::size_t>(at[1]);
  }

  // For IPv4 the last 20 of the 40 bytes hold the IP header, otherwise all of them a header as of
  // IPv6. It is that of a packet with `bytes` between BTH and ICRC.
  void check_grh(const std::byte* grh, std::size_t bytes, const std::string& what) const {
    const bool is_v1 = session_.context().is_roce_v1(session_.gid_index());
    const bool is_ipv4 = !is_v1 && peer_.gid.global.subnet_prefix == 0;
    const std::byte* header = grh + (is_ipv4 ? 20 : 0);
    expect(header[0] >> 4 == std::byte{is_ipv4 ? std::uint8_t{4} : std::uint8_t{6}}, what,
           ": no IP header before the data");
    const std::byte* source = grh + (is_ipv4 ? 32 : 8);
    const std::uint8_t* wanted = peer_.gid.raw + (is_ipv4 ? 12 : 0);
    expect(std::memcmp(source, wanted, is_ipv4 ? 4 : 16) == 0, what, ": source address in the GRH");
    const std::size_t length =
        (is_ipv4 ? 20 : 0) + (is_v1 ? 0 : udp_bytes) + bth_icrc_bytes + (bytes + 3) / 4 * 4;
    const std::size_t shown = big_endian(header + (is_ipv4 ? 2 : 4));
    expect(shown == length, what, ": length ", shown, " in the GRH, wanted ", length);
    expect(is_ipv4 || header[6] == std::byte{is_v1 ? std::uint8_t{0x1b} : std::uint8_t{17}}, what,
           ": next header");
    if (!is_ipv4) return;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < 20; i += 2) sum += big_endian(header + i);
    expect((sum & 0xffff) + (sum >> 16) == 0xffff, what, ": IPv4 checksum in the GRH");
  }

  Session& session_;
  verbs::Pd pd_;
  verbs::Cq cq_;
  verbs::Pages pages_;
  verbs::Mr mr_;
  verbs::Qp qp_;
  verbs::QpAddress peer_{};
  verbs::Ah ah_;
};

void datagrams(Session& session) {
  if (!session.common().has_ud) throw harness::Skip("no UD QPs");
  UdSide side(session);
  const std::size_t mtu = verbs::mtu_bytes(session.common().active_mtu);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{255}, mtu - 1, mtu}) {
    const std::uint64_t seed = session.next_seed();
    if (!session.is_initiator()) side.post_receive();
    session.duet().sync();
    if (session.is_initiator())
      side.send(size, seed, qkey);
    else
      side.receive(size, seed);
    session.duet().sync();
  }
  if (!session.is_initiator()) side.post_burst_receives();
  session.duet().sync();
  if (session.is_initiator())
    side.send_burst(burst_bytes);
  else
    side.receive_burst(burst_bytes);
  session.duet().sync();
  if (session.is_initiator())
    side.send(100, 1, qkey + 1);
  else
    side.expect_nothing();
  session.duet().sync();
}

// The target binds a window to its arena and sends the key. The initiator writes through the
// window, then invalidates it with SEND_WITH_INV, and can no longer write.
std::uint32_t bind_window(Session& session, verbs::Endpoint& end, const verbs::Mr& mr,
                          ibv_mw* window) {
  ibv_send_wr wr{};
  wr.wr_id = 5;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.bind_mw.mw = window;
  wr.bind_mw.rkey = ibv_inc_rkey(window->rkey);
  wr.bind_mw.bind_info.mr = mr.get();
  wr.bind_mw.bind_info.addr = reinterpret_cast<std::uint64_t>(end.arena().data());
  wr.bind_mw.bind_info.length = end.arena().size();
  wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  end.qp().post_send(&wr);
  const ibv_wc wc = end.send_cq().next(session.duet().deadline(), "memory window bind");
  verbs::expect_wc(wc, 5, IBV_WC_SUCCESS, "memory window bind");
  expect(wc.opcode == IBV_WC_BIND_MW, "memory window bind: opcode ", wc.opcode);
  return wr.bind_mw.rkey;
}

verbs::EndpointInfo window_info(const verbs::Endpoint& end, std::uint32_t rkey) {
  verbs::EndpointInfo info = end.info();
  info.rkey = rkey;
  return info;
}

void send_with_invalidate(Session& session) {
  if (!session.common().has_windows) throw harness::Skip("no type 2 memory windows");
  const auto end = session.connected(1 << 20, session.default_link());
  verbs::Mr mr;
  verbs::Mw window;
  std::uint32_t rkey = 0;
  if (!session.is_initiator()) {
    mr = verbs::make_mr(end->pd(), end->arena().data(), end->arena().size(),
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                            IBV_ACCESS_MW_BIND);
    window.reset(ibv_alloc_mw(end->pd().get(), IBV_MW_TYPE_2));
    if (!window) harness::fail_errno(errno, "ibv_alloc_mw");
    rkey = bind_window(session, *end, mr, window.get());
  }
  const verbs::EndpointInfo theirs = session.duet().exchange(window_info(*end, rkey));
  if (session.is_initiator()) rkey = theirs.rkey;
  verbs::ExecuteOptions options = session.execute_options();
  options.invalidate_rkey = rkey;
  for (const Op op : {Op::send, Op::send_inv})
    session.execute(*end,
                    verbs::make_plan({{op, 10'001}}, session.plan_limits(), session.next_seed()),
                    options);

  if (!session.is_initiator()) {
    session.duet().sync();
    return;
  }
  ibv_sge sge = end->sge(0, 64);
  ibv_send_wr wr{};
  wr.wr_id = 9;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = theirs.address;
  wr.wr.rdma.rkey = rkey;
  end->qp().post_send(&wr);
  verbs::expect_wc(end->send_cq().next(session.duet().deadline(), "WRITE after invalidate"), 9,
                   IBV_WC_REM_ACCESS_ERR, "WRITE through an invalidated window");
  session.duet().sync();
}

// A bad key to invalidate must not complete with success at the receiver. The sender's status is
// only printed, because it depends on whether the receiver acknowledges before it invalidates.
void invalidate_nothing(Session& session) {
  auto link = session.default_link();
  link.timeout = 12;
  link.retry_cnt = 2;
  const auto end = session.connected(1 << 20, link);
  const verbs::Plan plan =
      verbs::make_plan({{Op::send_inv, 300}}, session.plan_limits(), session.next_seed());
  if (!session.is_initiator()) {
    prepare_target(*end, plan);
    session.duet().sync();
    session.duet().sync();
    const ibv_wc wc =
        end->recv_cq().next(session.duet().deadline(), "receive with a bad key to invalidate");
    expect(wc.status != IBV_WC_SUCCESS,
           "the receive succeeded although its key to invalidate is bad");
    const ibv_qp_state state = end->qp().query(IBV_QP_STATE).qp_state;
    expect(state == IBV_QPS_ERR, "the receiver's QP is in state ", state, ", not ERR");
    return;
  }
  session.duet().sync();
  prepare_initiator(*end, plan);
  verbs::ExecuteOptions options = session.execute_options();
  options.invalidate_rkey = 0xdead00;
  post_transfers(*end, plan, options);
  const ibv_wc wc = end->send_cq().next(session.duet().deadline(), "SEND_WITH_INV of a bad key");
  harness::note(text("SEND_WITH_INV of a bad key: ", verbs::describe(wc)));
  session.duet().sync();
}

}  // namespace

void run_optional_cases(Session& session) {
  const auto run = [&](const char* name, auto body) {
    session.run(name + session.direction(), body);
  };
  run("UD datagrams with GRH", [&] { datagrams(session); });
  run("SEND_WITH_INV invalidates a memory window", [&] { send_with_invalidate(session); });
  run("SEND_WITH_INV of an unknown key fails", [&] { invalidate_nothing(session); });
}

}  // namespace rc_verify
