// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "mcast_verify/member.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "harness/image.h"

namespace mcast {

using harness::expect;

namespace {

constexpr std::uint32_t grh_bytes = 40, longest = 1024, slot_bytes = 1200;
constexpr std::uint32_t lengths[] = {0, 1, 40, 257, 1000, longest};

std::uint32_t length_of(unsigned number) { return lengths[number % std::size(lengths)]; }

verbs::QpOptions options() {
  verbs::QpOptions all;
  all.type = IBV_QPT_UD;
  all.recv_depth = Member::slots;
  all.recv_sge = all.send_sge = 1;
  return all;
}

}  // namespace

bool is_ipv4(const ibv_gid& gid) {
  static constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return !std::memcmp(gid.raw, mapped, sizeof(mapped));
}

ibv_gid group_of(const ibv_gid& gid, unsigned number) {
  ibv_gid group{};
  if (is_ipv4(gid)) {
    group = gid;
    group.raw[12] = 239;
    group.raw[13] = 77;
  } else {
    group.raw[0] = 0xff;
    group.raw[1] = 0x15;
    group.raw[13] = 0x77;
  }
  group.raw[14] = static_cast<std::uint8_t>(number >> 8);
  group.raw[15] = static_cast<std::uint8_t>(number);
  return group;
}

Member::Member(const verbs::Context& context, int gid_index, std::uint32_t with_qkey)
    : gid_(context.gid(gid_index)),
      has_ipv4_header_(is_ipv4(gid_) && !context.is_roce_v1(gid_index)),
      gid_index_(gid_index),
      pd_(verbs::make_pd(context)),
      cq_(context, slots),
      send_cq_(context, 16),
      pages_((slots + 1) * slot_bytes),
      mr_(verbs::make_mr(pd_, pages_.data(), pages_.size(), IBV_ACCESS_LOCAL_WRITE)),
      qp_(pd_, send_cq_, cq_, options()) {
  qp_.modify(verbs::ud_to_init(with_qkey), "INIT");
  for (unsigned slot = 0; slot < slots; ++slot) post(slot);
  qp_.modify(verbs::to_state(IBV_QPS_RTR), "RTR");
  qp_.modify(verbs::uc_to_rts(0), "RTS");
}

Member::~Member() {
  for (const unsigned number : attached_) try_detach(group(number));
}

void Member::post(std::uint64_t slot) {
  std::byte* at = pages_.data() + slot * slot_bytes;
  std::fill_n(at, slot_bytes, std::byte{0xee});
  ibv_sge sge{reinterpret_cast<std::uint64_t>(at), slot_bytes, mr_->lkey};
  ibv_recv_wr wr{};
  wr.wr_id = slot;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  qp_.post_recv(&wr);
}

int Member::try_attach(const ibv_gid& group, std::uint16_t lid) {
  return ibv_attach_mcast(qp_.get(), &group, lid) ? errno : 0;
}

int Member::try_detach(const ibv_gid& group, std::uint16_t lid) {
  return ibv_detach_mcast(qp_.get(), &group, lid) ? errno : 0;
}

void Member::attach(unsigned number) {
  if (const int error = try_attach(group(number))) harness::fail_errno(error, "attach ", number);
  attached_.push_back(number);
}

void Member::detach(unsigned number) {
  if (const int error = try_detach(group(number))) harness::fail_errno(error, "detach ", number);
  std::erase(attached_, number);
}

void Member::send(const ibv_gid& to, unsigned number, std::uint32_t qpn) {
  std::byte* at = pages_.data() + slots * slot_bytes;
  const std::uint32_t length = length_of(number);
  harness::fill_pattern({at, length}, number, 0);
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = verbs::port_number;
  attr.grh.dgid = to;
  attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index_);
  // rxe takes 0 as it is.
  attr.grh.hop_limit = 1;
  const verbs::Ah ah(ibv_create_ah(pd_.get(), &attr));
  if (!ah) harness::fail_errno(errno, "ibv_create_ah");
  ibv_sge sge{reinterpret_cast<std::uint64_t>(at), length, mr_->lkey};
  ibv_send_wr wr{};
  wr.wr_id = number;
  wr.sg_list = &sge;
  wr.num_sge = length ? 1 : 0;
  wr.opcode = IBV_WR_SEND_WITH_IMM;
  wr.imm_data = number;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.ud.ah = ah.get();
  wr.wr.ud.remote_qpn = qpn;
  wr.wr.ud.remote_qkey = qkey;
  qp_.post_send(&wr);
  verbs::expect_wc(send_cq_.next(harness::Deadline::after(timeout), "a send"), number,
                   IBV_WC_SUCCESS, "a send");
}

// The GRH is that of RoCE v1, an IPv6 header, or an IPv4 header in the last 20 bytes.
void Member::check(const ibv_wc& wc, const ibv_gid& group) const {
  const unsigned number = wc.imm_data;
  const std::uint32_t length = length_of(number);
  const std::byte* at = pages_.data() + wc.wr_id * slot_bytes;
  std::vector<std::byte> wanted(length);
  harness::fill_pattern(wanted, number, 0);
  expect(wc.byte_len == grh_bytes + length, "datagram ", number, ": byte_len ", wc.byte_len);
  expect(!std::memcmp(at + grh_bytes, wanted.data(), length), "wrong bytes in datagram ", number);
  expect(at[grh_bytes + length] == std::byte{0xee}, "a byte behind datagram ", number);
  const bool ipv4 = has_ipv4_header_;
  const std::size_t bytes = ipv4 ? 4 : 16;
  expect(at[ipv4 ? 20 : 0] >> 4 == std::byte(ipv4 ? 4 : 6), "no IP header in the GRH");
  expect(!std::memcmp(at + grh_bytes - bytes, group.raw + 16 - bytes, bytes),
         "the GRH does not name the group");
}

void Member::drain() {
  while (const auto wc = cq_.poll()) post(wc->wr_id);
}

std::vector<std::uint64_t> Member::receive(unsigned from, unsigned end, const Member& sender,
                                           const ibv_gid& group) {
  std::set<unsigned> missing;
  std::vector<std::uint64_t> taken;
  for (unsigned number = from; number < end; ++number) missing.insert(number);
  while (!missing.empty()) {
    const ibv_wc wc = cq_.next(harness::Deadline::after(timeout),
                               harness::text(missing.size(), " datagrams of ", end - from));
    expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV, verbs::describe(wc));
    expect(wc.wc_flags & IBV_WC_GRH && wc.wc_flags & IBV_WC_WITH_IMM, "flags ", wc.wc_flags);
    expect(wc.src_qp == sender.qp_.number(), "src_qp ", wc.src_qp);
    expect(missing.erase(wc.imm_data) == 1, "datagram ", wc.imm_data, " came again, or is foreign");
    check(wc, group);
    taken.push_back(wc.wr_id);
  }
  return taken;
}

void Member::take(unsigned from, unsigned end, const Member& sender, const ibv_gid& group) {
  for (const std::uint64_t slot : receive(from, end, sender, group)) post(slot);
}

}  // namespace mcast
