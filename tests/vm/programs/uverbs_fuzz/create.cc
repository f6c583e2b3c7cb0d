// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Calls that make an object, or change a memory region.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "exporter.h"
#include "fuzz/fuzz.h"
#include "harness/failure.h"
#include "uverbs_fuzz/actor.h"

namespace uverbs_fuzz {

using harness::Random;
using harness::text;
namespace {

constexpr std::size_t most_objects[] = {4, 6, 6, 6, 6, 6, 3};
constexpr std::uint32_t most_requests = 65535;
constexpr std::uint32_t most_entries = (1 << 22) - 1;
constexpr std::uint32_t accesses[] = {0, 1, 3, 5, 7, 15};
constexpr std::uint32_t dmabuf_pages = 16;

int export_buffer() {
  const int exporter = ::open(EXPORTER_PATH, O_RDWR | O_CLOEXEC);
  const exporter_request request{dmabuf_pages, EXPORTER_MOVES};
  const int buffer = exporter < 0 ? -1 : ::ioctl(exporter, EXPORTER_EXPORT, &request);
  if (exporter >= 0) ::close(exporter);
  return buffer;
}

// In native mode an initiator can be made without more; its transitions are not in the model.
bool is_xrc_type(std::uint32_t qp_type) {
  return qp_type == IB_UVERBS_QPT_XRC_INI || qp_type == IB_UVERBS_QPT_XRC_TGT;
}

std::vector<std::pair<Type, std::uint32_t>> uses_of(const ib_uverbs_create_qp& in) {
  std::vector<std::pair<Type, std::uint32_t>> uses{{Type::pd, in.pd_handle},
                                                   {Type::cq, in.send_cq_handle}};
  if (!is_xrc_type(in.qp_type)) uses.push_back({Type::cq, in.recv_cq_handle});
  return uses;
}

}  // namespace

// Without the right request a process is in rxe mode, and gets no response.
void Actor::open() {
  sroce_alloc_ucontext_cmd native{SROCE_ABI_VERSION, 0};
  const bool is_wrong = random_.one_in(4);
  if (is_wrong) (random_.one_in(2) ? native.abi_version : native.reserved)++;
  std::uint32_t version = 0;
  judge(get_context(native, version), 0, "GET_CONTEXT");
  life_.native &= !is_wrong;
  const std::uint32_t expected = life_.native ? SROCE_ABI_VERSION : 0;
  if (version != expected)
    fuzz::complain(text(life_.name, ": GET_CONTEXT shows version ", version, ", not ", expected));
}

int Actor::get_context(const sroce_alloc_ucontext_cmd& native, std::uint32_t& version) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&native);
  const std::vector<std::uint8_t> bytes(from, from + sizeof(native));
  int error = 0;
  std::size_t core = 0;
  if (random_.one_in(2)) {
    std::vector<Attr> attrs{{UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, Kind::out, 0, 4},
                            {UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, Kind::out, 0, 8}};
    core = 12;
    if (life_.native) {
      attrs.push_back({UVERBS_ATTR_UHW_IN, Kind::in, 0, 0, bytes});
      attrs.push_back({UVERBS_ATTR_UHW_OUT, Kind::out, 0, sizeof(sroce_alloc_ucontext_resp)});
    }
    error = file_.ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, attrs, nullptr);
  } else {
    core = sizeof(ib_uverbs_get_context_resp);
    auto command = Command::of(IB_USER_VERBS_CMD_GET_CONTEXT, ib_uverbs_get_context{}, core);
    if (life_.native) {
      command.driver_bytes = sizeof(sroce_alloc_ucontext_resp);
      command.in.insert(command.in.end(), bytes.begin(), bytes.end());
    }
    error = file_.write(command, nullptr);
  }
  if (life_.native) version = file_.response<sroce_alloc_ucontext_resp>(core).abi_version;
  return error;
}

void Actor::create_pd() {
  auto command = Command::of(IB_USER_VERBS_CMD_ALLOC_PD, ib_uverbs_alloc_pd{},
                             sizeof(ib_uverbs_alloc_pd_resp));
  const int error = send(command);
  judge(error, expected_of(command, true), "ALLOC_PD");
  if (!error && !command.is_other) add({Type::pd, file_.response<std::uint32_t>()});
}

void Actor::create_channel() {
  auto command = Command::of(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, ib_uverbs_create_comp_channel{},
                             sizeof(ib_uverbs_create_comp_channel_resp));
  const int error = send(command);
  judge(error, expected_of(command, true), "CREATE_COMP_CHANNEL");
  if (!error && !command.is_other) add({Type::channel, file_.response<std::uint32_t>()});
}

void Actor::create_cq_by_method(std::uint32_t cqe) {
  std::vector<Attr> attrs{{UVERBS_ATTR_CREATE_CQ_HANDLE, Kind::object, 0},
                          {UVERBS_ATTR_CREATE_CQ_CQE, Kind::in, cqe, 4},
                          {UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Kind::in, 1, 8},
                          {UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, Kind::in, 0, 4},
                          {UVERBS_ATTR_CREATE_CQ_FLAGS, Kind::constant, 0},
                          {UVERBS_ATTR_CREATE_CQ_RESP_CQE, Kind::out, 0, 8},
                          {UVERBS_ATTR_UHW_OUT, Kind::out, 0, sizeof(rxe_create_cq_resp)}};
  if (Object* channel = pick(Type::channel))
    attrs.push_back({UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, Kind::file, channel->handle});
  attrs[5].bytes = 4;
  Random* spoil = random_.one_in(4) ? &random_ : nullptr;
  const int error = file_.ioctl(UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, attrs, spoil);
  judge(error, spoil ? any : cqe && cqe <= most_entries ? 0 : failure, "method CQ_CREATE");
  if (error) return;
  exact_ &= !spoil;
  if (!spoil)
    add({Type::cq, static_cast<std::uint32_t>(attrs[0].value), {}, rings_of(Type::cq, 4)});
}

void Actor::create_cq() {
  std::uint32_t cqe = static_cast<std::uint32_t>(random_.between(1, 300));
  if (random_.one_in(16)) cqe = random_.one_in(2) ? most_entries + 1 : 0;
  if (random_.one_in(64)) cqe = most_entries;
  if (random_.one_in(3)) return create_cq_by_method(cqe);
  const Object* channel = pick(Type::channel);
  const std::int32_t file =
      channel && random_.one_in(2) ? static_cast<std::int32_t>(channel->handle) : -1;
  const bool is_extended = random_.one_in(2);
  ib_uverbs_create_cq in{};
  in.cqe = cqe;
  in.comp_channel = file;
  ib_uverbs_ex_create_cq ex{};
  ex.cqe = cqe;
  ex.comp_channel = file;
  const std::size_t core =
      is_extended ? sizeof(ib_uverbs_ex_create_cq_resp) : sizeof(ib_uverbs_create_cq_resp);
  auto command =
      is_extended ? Command::of(IB_USER_VERBS_EX_CMD_CREATE_CQ | extended, ex, core,
                                sizeof(rxe_create_cq_resp))
                  : Command::of(IB_USER_VERBS_CMD_CREATE_CQ, in, core, sizeof(rxe_create_cq_resp));
  const int error = send(command);
  judge(error, expected_of(command, cqe && cqe <= most_entries), "CREATE_CQ");
  if (!error && !command.is_other) {
    // Through invoke(), the driver's part follows the core's too.
    add({Type::cq, file_.response<std::uint32_t>(), {}, rings_of(Type::cq, core)});
  }
}

bool Actor::is_right(const ib_uverbs_create_qp& in) {
  return find(Type::pd, in.pd_handle) && find(Type::cq, in.send_cq_handle) &&
         find(Type::cq, in.recv_cq_handle) &&
         (in.qp_type == IB_UVERBS_QPT_RC || in.qp_type == IB_UVERBS_QPT_UC ||
          in.qp_type == IB_UVERBS_QPT_UD) &&
         in.max_send_wr <= most_requests && in.max_recv_wr <= most_requests &&
         in.max_send_sge <= 32 && in.max_recv_sge <= 32 &&
         in.max_inline_data <= (life_.native ? SROCE_MAX_INLINE_NATIVE : 512U);
}

void Actor::create_qp_by_method(const ib_uverbs_create_qp& in, bool right) {
  std::vector<std::uint8_t> cap(20);
  std::memcpy(cap.data(), &in.max_send_wr, cap.size());
  std::vector<Attr> attrs{{UVERBS_ATTR_CREATE_QP_HANDLE, Kind::object, 0},
                          {UVERBS_ATTR_CREATE_QP_PD_HANDLE, Kind::object, in.pd_handle},
                          {UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, Kind::object, in.send_cq_handle},
                          {UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, Kind::object, in.recv_cq_handle},
                          {UVERBS_ATTR_CREATE_QP_USER_HANDLE, Kind::in, 1, 8},
                          {UVERBS_ATTR_CREATE_QP_CAP, Kind::in, 0, 0, cap},
                          {UVERBS_ATTR_CREATE_QP_TYPE, Kind::constant, in.qp_type},
                          {UVERBS_ATTR_CREATE_QP_FLAGS, Kind::constant, 0},
                          {UVERBS_ATTR_CREATE_QP_RESP_CAP, Kind::out, 0, 20},
                          {UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, Kind::out, 0, 4},
                          {UVERBS_ATTR_UHW_OUT, Kind::out, 0, ring_bytes()}};
  Random* spoil = random_.one_in(4) ? &random_ : nullptr;
  const int error = file_.ioctl(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, attrs, spoil);
  const bool is_xrc = is_xrc_type(in.qp_type);
  judge(error, spoil || is_xrc ? any : right ? 0 : failure, "method QP_CREATE");
  if (error) return;
  exact_ &= !spoil;
  if (spoil) return;
  add({Type::qp, static_cast<std::uint32_t>(attrs[0].value), uses_of(in), rings_of(Type::qp, 24),
       in.qp_type, file_.response<std::uint32_t>(20), 0, is_xrc});
}

void Actor::create_qp() {
  ib_uverbs_create_qp in{};
  in.pd_handle = handle(Type::pd);
  in.send_cq_handle = handle(Type::cq);
  in.recv_cq_handle = handle(Type::cq);
  put(in.qp_type, random_.one_in(3)   ? IB_UVERBS_QPT_UD
                  : random_.one_in(3) ? IB_UVERBS_QPT_UC
                                      : IB_UVERBS_QPT_RC);
  if (random_.one_in(8)) put(in.qp_type, random_.below(12));
  put(in.max_send_wr, random_.below(40));
  put(in.max_recv_wr, random_.below(40));
  put(in.max_send_sge, random_.below(random_.one_in(8) ? 36 : 4));
  put(in.max_recv_sge, random_.below(random_.one_in(8) ? 36 : 4));
  put(in.max_inline_data, random_.below(random_.one_in(8) ? 1100 : 100));
  if (random_.one_in(24))
    put(in.max_send_wr, random_.between(most_requests - 1, most_requests + 2));
  const bool right = is_right(in);
  if (random_.one_in(3)) return create_qp_by_method(in, right);
  const bool is_extended = random_.one_in(2);
  ib_uverbs_ex_create_qp ex{};
  std::memcpy(&ex, &in.user_handle, offsetof(ib_uverbs_ex_create_qp, comp_mask));
  const std::size_t core =
      is_extended ? sizeof(ib_uverbs_ex_create_qp_resp) : sizeof(ib_uverbs_create_qp_resp);
  auto command =
      is_extended ? Command::of(IB_USER_VERBS_EX_CMD_CREATE_QP | extended, ex, core, ring_bytes())
                  : Command::of(IB_USER_VERBS_CMD_CREATE_QP, in, core, ring_bytes());
  const int error = send(command);
  judge(error, is_xrc_type(in.qp_type) ? any : expected_of(command, right), "CREATE_QP");
  if (error || command.is_other) return;
  if (is_extended)
    std::memcpy(&in.user_handle, command.in.data(), offsetof(ib_uverbs_ex_create_qp, comp_mask));
  else
    in = command.input<ib_uverbs_create_qp>();
  const auto out = file_.response<ib_uverbs_create_qp_resp>();
  add({Type::qp, out.qp_handle, uses_of(in), rings_of(Type::qp, core), in.qp_type, out.qpn, 0,
       is_xrc_type(in.qp_type)});
}

void Actor::create_ah() {
  ib_uverbs_create_ah in{};
  Object* pd = nullptr;
  in.pd_handle = handle(Type::pd, &pd);
  std::memcpy(in.attr.grh.dgid, life_.gid.data(), 16);
  in.attr.grh.sgid_index = life_.gid_index;
  in.attr.is_global = 1;
  in.attr.port_num = 1;
  put(in.attr.sl, random_.below(8));
  put(in.attr.grh.traffic_class, random_.next());
  put(in.attr.grh.hop_limit, random_.next());
  auto command = Command::of(IB_USER_VERBS_CMD_CREATE_AH, in, sizeof(ib_uverbs_create_ah_resp),
                             sizeof(rxe_create_ah_resp));
  const int error = send(command);
  judge(error, expected_of(command, pd != nullptr), "CREATE_AH");
  if (!error && !command.is_other)
    add({Type::ah,
         file_.response<std::uint32_t>(),
         {{Type::pd, command.input<ib_uverbs_create_ah>().pd_handle}}});
}

// Without the exporter's module there is no buffer.
void Actor::register_dmabuf_mr() {
  static const int buffer = export_buffer();
  constexpr std::uint64_t page = 4096;
  Object* pd = nullptr;
  const std::uint32_t pd_handle = handle(Type::pd, &pd);
  const std::uint64_t offset = random_.below(dmabuf_pages * page);
  std::uint64_t length = random_.between(1, dmabuf_pages * page - offset);
  if (random_.one_in(8)) length = random_.next();
  const bool right = pd && buffer >= 0 && length <= dmabuf_pages * page - offset;
  std::vector<Attr> attrs{
      {UVERBS_ATTR_REG_DMABUF_MR_HANDLE, Kind::object, 0},
      {UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, Kind::object, pd_handle},
      {UVERBS_ATTR_REG_DMABUF_MR_OFFSET, Kind::in, offset, 8},
      {UVERBS_ATTR_REG_DMABUF_MR_LENGTH, Kind::in, length, 8},
      {UVERBS_ATTR_REG_DMABUF_MR_IOVA, Kind::in, random_.below(1024) * page + offset % page, 8},
      {UVERBS_ATTR_REG_DMABUF_MR_FD, Kind::in, static_cast<std::uint32_t>(buffer), 4},
      {UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, Kind::in, accesses[random_.below(6)], 4},
      {UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, Kind::out, 0, 4},
      {UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, Kind::out, 0, 4}};
  Random* spoil = random_.one_in(4) ? &random_ : nullptr;
  const int error = file_.ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, attrs, spoil);
  judge(error, spoil ? any : right ? 0 : failure, "method REG_DMABUF_MR");
  if (error) return;
  exact_ &= !spoil;
  if (!spoil) add({Type::mr, static_cast<std::uint32_t>(attrs[0].value), {{Type::pd, pd_handle}}});
}

void Actor::register_mr() {
  if (random_.one_in(3)) return register_dmabuf_mr();
  ib_uverbs_reg_mr in{};
  Object* pd = nullptr;
  in.pd_handle = handle(Type::pd, &pd);
  const std::size_t at = random_.below(60000);
  in.start = in.hca_va = reinterpret_cast<std::uint64_t>(arena_.begin() + at);
  in.length = random_.between(1, 65536 - at);
  in.access_flags = accesses[random_.below(std::size(accesses))];
  bool right = pd != nullptr;
  if (random_.one_in(8)) {
    in.length = 65537 - at + random_.below(5000);  // beyond the end
    right = false;
  }
  auto command = Command::of(IB_USER_VERBS_CMD_REG_MR, in, sizeof(ib_uverbs_reg_mr_resp));
  const int error = send(command);
  judge(error, expected_of(command, right), "REG_MR");
  if (!error && !command.is_other)
    add({Type::mr,
         file_.response<std::uint32_t>(),
         {{Type::pd, command.input<ib_uverbs_reg_mr>().pd_handle}}});
}

void Actor::allocate_mw() {
  ib_uverbs_alloc_mw in{};
  Object* pd = nullptr;
  in.pd_handle = handle(Type::pd, &pd);
  in.mw_type = static_cast<std::uint8_t>(random_.one_in(8) ? random_.next() : 1 + random_.below(2));
  const bool right = pd && (in.mw_type == 1 || in.mw_type == 2);
  auto command = Command::of(IB_USER_VERBS_CMD_ALLOC_MW, in, sizeof(ib_uverbs_alloc_mw_resp));
  const int error = send(command);
  judge(error, expected_of(command, right), "ALLOC_MW");
  if (!error && !command.is_other)
    add({Type::mw,
         file_.response<std::uint32_t>(),
         {{Type::pd, command.input<ib_uverbs_alloc_mw>().pd_handle}}});
}

// The protection domain stays, because its users are counted.
void Actor::reregister_mr() {
  Object* mr = nullptr;
  ib_uverbs_rereg_mr in{};
  in.mr_handle = handle(Type::mr, &mr);
  put(in.flags, random_.below(16) & ~std::uint64_t{IBV_REREG_MR_CHANGE_PD});
  const std::size_t at = random_.below(60000);
  in.start = in.hca_va = reinterpret_cast<std::uint64_t>(arena_.begin() + at);
  if (random_.one_in(8)) put(in.hca_va, random_.next());
  put(in.length, random_.one_in(8) ? random_.next() : random_.below(65536));
  put(in.access_flags, random_.below(1024));
  auto command = Command::of(IB_USER_VERBS_CMD_REREG_MR, in, sizeof(ib_uverbs_rereg_mr_resp));
  judge(send(command), any, "REREG_MR");
}

void Actor::create() {
  const auto type = static_cast<Type>(random_.below(7));
  const auto count = std::count_if(objects_.begin(), objects_.end(),
                                   [&](const Object& object) { return object.type == type; });
  if (static_cast<std::size_t>(count) >= most_objects[static_cast<int>(type)]) return destroy();
  switch (type) {
    case Type::pd:
      create_pd();
      break;
    case Type::cq:
      create_cq();
      break;
    case Type::qp:
      create_qp();
      break;
    case Type::ah:
      create_ah();
      break;
    case Type::mr:
      register_mr();
      break;
    case Type::mw:
      allocate_mw();
      break;
    case Type::channel:
      create_channel();
      break;
  }
}

}  // namespace uverbs_fuzz
