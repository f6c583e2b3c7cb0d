// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "uverbs_fuzz/actor.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <sys/mman.h>

#include <algorithm>

#include "fuzz/fuzz.h"
#include "harness/failure.h"
#include "sroce_abi.h"

namespace uverbs_fuzz {

using harness::Random;
using harness::text;

// --- the model ---------------------------------------------------------------

void Actor::judge(int error, int expected, const char* what) {
  if (life_.alone)
    fuzz::count(error,
                {EINVAL, ENOENT, EBUSY, EEXIST, EFAULT, ENOSPC, EOPNOTSUPP, EPROTONOSUPPORT, EBADF,
                 ENOMEM, EPERM, E2BIG, ENODATA, EMSGSIZE, EACCES, EOVERFLOW, ENETUNREACH, EAGAIN},
                what);
  else
    fuzz::count(error,
                {EINVAL,          ENOENT,    EBUSY,       EEXIST, EFAULT, ENOSPC,  EOPNOTSUPP,
                 EPROTONOSUPPORT, EBADF,     ENOMEM,      EPERM,  E2BIG,  ENODATA, EMSGSIZE,
                 EACCES,          EOVERFLOW, ENETUNREACH, EAGAIN, EIO,    ENODEV,  ENOTTY},
                what);
  if (!exact_ || expected == any) return;
  if (expected == failure ? error == 0 : error != expected)
    fuzz::complain(
        text(life_.name, ": ", what, " must be answered with ", expected, ", not ", error));
}

int Actor::send(Command& command) {
  // A destroyed object whose response cannot be written is not in the model.
  const bool may_spoil = !exact_ || (command.number != IB_USER_VERBS_CMD_DESTROY_CQ &&
                                     command.number != IB_USER_VERBS_CMD_DESTROY_QP);
  const bool spoil = may_spoil && random_.one_in(4);
  const int error = !spoil && (!life_.may_write || random_.one_in(3))
                        ? file_.invoke(command)
                        : file_.write(command, spoil ? &random_ : nullptr);
  if (!error && command.is_other) exact_ = false;
  return error;
}

int Actor::expected_of(const Command& command, bool is_right) {
  if (command.must_fail || (command.is_short && !is_right)) return failure;
  if (command.is_short) return EINVAL;
  if (command.is_wrong) return any;
  return is_right ? 0 : failure;
}

Object* Actor::find(Type type, std::uint32_t handle) {
  for (Object& object : objects_)
    if (object.type == type && object.handle == handle) return &object;
  return nullptr;
}

Object* Actor::pick(Type type) {
  std::vector<Object*> all;
  for (Object& object : objects_)
    if (object.type == type) all.push_back(&object);
  return all.empty() ? nullptr : all[random_.below(all.size())];
}

// Mostly one that is alive.
std::uint32_t Actor::handle(Type type, Object** found) {
  Object* object = pick(type);
  std::uint32_t handle = object ? object->handle : 0;
  if (!object || random_.one_in(8)) {
    handle = random_.one_in(4) ? random_.next32() : static_cast<std::uint32_t>(random_.below(40));
    if (random_.one_in(2)) handle = life_.shared[random_.below(shared_handles)];
  }
  if (found) *found = find(type, handle);
  return handle;
}

bool Actor::is_used(Type type, std::uint32_t handle) const {
  for (const Object& object : objects_)
    for (const auto& [used, number] : object.uses)
      if (used == type && number == handle) return true;
  return false;
}

void Actor::add(Object object) {
  life_.shared[random_.below(shared_handles)] = object.handle;
  objects_.push_back(std::move(object));
}

std::size_t Actor::ring_bytes() const {
  return life_.native ? sizeof(sroce_create_qp_resp) : sizeof(rxe_create_qp_resp);
}

std::array<Ring, 2> Actor::rings_of(Type type, std::size_t at) const {
  if (type == Type::qp && life_.native) {
    const auto info = file_.response<sroce_create_qp_resp>(at);
    return {Ring{info.offset, info.size}, Ring{}};
  }
  const auto first = file_.response<mminfo>(at);
  if (type == Type::cq) return {Ring{first.offset, first.size}, Ring{}};
  const auto second = file_.response<mminfo>(at + sizeof(mminfo));
  return {Ring{first.offset, first.size}, Ring{second.offset, second.size}};
}

// --- destroying --------------------------------------------------------------

void Actor::destroyed(Type type, std::uint32_t handle) {
  Object* object = find(type, handle);
  if (!object) return;
  for (const Ring& ring : object->rings)
    if (ring.mapped) old_.push_back(ring);
  objects_.erase(objects_.begin() + (object - objects_.data()));
}

void Actor::destroy() {
  static constexpr struct {
    std::uint32_t command;
    int object, method;
    std::size_t out_bytes;
  } ways[] = {
      {IB_USER_VERBS_CMD_DEALLOC_PD, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, 0},
      {IB_USER_VERBS_CMD_DESTROY_CQ, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
       sizeof(ib_uverbs_destroy_cq_resp)},
      {IB_USER_VERBS_CMD_DESTROY_QP, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
       sizeof(ib_uverbs_destroy_qp_resp)},
      {IB_USER_VERBS_CMD_DESTROY_AH, UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, 0},
      {IB_USER_VERBS_CMD_DEREG_MR, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, 0},
      {IB_USER_VERBS_CMD_DEALLOC_MW, UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY, 0},
  };
  const std::size_t index = random_.below(std::size(ways));
  const auto& way = ways[index];
  const auto type = static_cast<Type>(index);
  Object* object = nullptr;
  const std::uint32_t number = handle(type, &object);
  const bool is_busy = object && (is_used(type, number) || !object->groups.empty());
  const int expected = !object ? failure : is_busy ? EBUSY : 0;
  if (random_.one_in(3)) {
    std::vector<Attr> attrs{{0, Kind::object, number}};
    if (way.out_bytes) attrs.push_back({1, Kind::out, 0, way.out_bytes});
    Random* spoil = !exact_ && random_.one_in(4) ? &random_ : nullptr;
    const int error = file_.ioctl(way.object, way.method, attrs, spoil);
    judge(error, expected, "a method that destroys");
    if (!error && !spoil) destroyed(type, number);
    return;
  }
  std::uint32_t short_in = number;
  auto command = way.out_bytes
                     ? Command::of(way.command, ib_uverbs_destroy_cq{0, number, 0}, way.out_bytes)
                     : Command::of(way.command, short_in, 0);
  const int error = send(command);
  judge(error,
        command.must_fail  ? failure
        : command.is_wrong ? any
                           : expected,
        "a command that destroys");
  if (error || command.is_other) return;
  destroyed(type, way.out_bytes ? command.input<ib_uverbs_destroy_cq>().cq_handle
                                : command.input<std::uint32_t>());
}

// --- queue pairs -------------------------------------------------------------

namespace {

// The attributes of the transitions to INIT, RTR and RTS.
int usual_mask(std::uint32_t qp_type, int state) {
  static constexpr int connects = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  const bool is_rc = qp_type == IB_UVERBS_QPT_RC, is_ud = qp_type == IB_UVERBS_QPT_UD;
  switch (state) {
    case IBV_QPS_INIT:
      return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
             (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
    case IBV_QPS_RTR:
      return IBV_QP_STATE | (is_ud ? 0 : connects) |
             (is_rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
    case IBV_QPS_RTS:
      return IBV_QP_STATE | IBV_QP_SQ_PSN |
             (is_rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
                    : 0);
    default:
      return IBV_QP_STATE;
  }
}

}  // namespace

void Actor::modify() {
  Object* qp = nullptr;
  ib_uverbs_modify_qp in{};
  in.qp_handle = handle(Type::qp, &qp);
  int state = qp ? qp->state + 1 : 1;
  bool known = qp && !qp->tainted && state <= IBV_QPS_RTS;
  put(in.attr_mask, usual_mask(qp ? qp->qp_type : IB_UVERBS_QPT_RC, state));
  if (random_.one_in(4) || state > IBV_QPS_RTS) {
    state = random_.one_in(2) ? IBV_QPS_RESET : IBV_QPS_ERR;
    in.attr_mask = IBV_QP_STATE;
    known = qp != nullptr;
  }
  if (random_.one_in(6)) {  // another transition, or other attributes
    state = static_cast<int>(random_.below(8));
    in.attr_mask ^= 1U << random_.below(22);
    known = false;
  }
  put(in.qp_state, static_cast<std::uint64_t>(state));
  in.path_mtu = IBV_MTU_1024;
  if (random_.one_in(16)) put(in.path_mtu, random_.below(8));
  const bool wrong_mtu =
      in.attr_mask & IBV_QP_PATH_MTU && (in.path_mtu < IBV_MTU_256 || in.path_mtu > IBV_MTU_1024);
  in.port_num = in.dest.port_num = 1;
  in.dest_qp_num = qp ? qp->qpn : 17;
  in.dest.is_global = 1;
  in.dest.sgid_index = life_.gid_index;
  std::memcpy(in.dest.dgid, life_.gid.data(), 16);
  in.qp_access_flags = 15;
  put(in.timeout, random_.below(32));
  put(in.retry_cnt, random_.below(8));
  put(in.rnr_retry, random_.below(8));
  put(in.min_rnr_timer, random_.below(32));
  put(in.max_rd_atomic, random_.below(17));
  put(in.max_dest_rd_atomic, random_.below(17));
  put(in.rq_psn, random_.next32() >> 8);
  put(in.sq_psn, random_.next32() >> 8);
  const bool is_extended = random_.one_in(3);
  ib_uverbs_ex_modify_qp ex{in, 0, 0};
  auto command = is_extended ? Command::of(IB_USER_VERBS_EX_CMD_MODIFY_QP | extended, ex,
                                           sizeof(ib_uverbs_ex_modify_qp_resp))
                             : Command::of(IB_USER_VERBS_CMD_MODIFY_QP, in, 0);
  if (is_extended && exact_) command.is_wrong = false;
  const int error = send(command);
  const bool is_sure = known && !command.is_wrong;
  judge(error,
        !qp && !command.is_wrong ? failure
        : !is_sure               ? any
        : wrong_mtu              ? failure
                                 : 0,
        "MODIFY_QP");
  const auto sent = command.input<ib_uverbs_modify_qp>();
  Object* modified = command.is_other ? nullptr : find(Type::qp, sent.qp_handle);
  if (!modified) return;
  // A spoiled call may have been done, although its response could not be written.
  if (command.is_wrong && error != EINVAL && error != ENOSPC) modified->tainted = true;
  if (!error && sent.attr_mask & IBV_QP_STATE) {
    modified->state = sent.qp_state;
    modified->tainted |= sent.qp_state > IBV_QPS_RTS && sent.qp_state != IBV_QPS_ERR;
    if (sent.qp_state == IBV_QPS_RESET && !command.is_wrong) modified->tainted = false;
  }
}

void Actor::query_qp() {
  Object* qp = nullptr;
  ib_uverbs_query_qp in{};
  in.qp_handle = handle(Type::qp, &qp);
  put(in.attr_mask, random_.next());
  auto command = Command::of(IB_USER_VERBS_CMD_QUERY_QP, in, sizeof(ib_uverbs_query_qp_resp));
  const int error = send(command);
  judge(error, expected_of(command, qp != nullptr), "QUERY_QP");
  if (!exact_ || error || command.is_wrong || qp->tainted) return;
  const int state = file_.response<ib_uverbs_query_qp_resp>().qp_state;
  if (state != qp->state)
    fuzz::complain(text(life_.name, ": QUERY_QP shows state ", state, ", not ", qp->state));
}

// Few groups, so that QPs meet in them and are attached again.
void Actor::multicast() {
  Object* qp = nullptr;
  ib_uverbs_attach_mcast in{};
  in.qp_handle = handle(Type::qp, &qp);
  in.mlid = static_cast<std::uint16_t>(random_.below(2));
  Attachment wanted{life_.gid, in.mlid};
  wanted.gid[15] = static_cast<std::uint8_t>(random_.below(3));
  const bool is_group = !random_.one_in(8);
  if (is_group && random_.one_in(2))
    wanted.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 239, 7, 7, wanted.gid[15]};
  else if (is_group)
    wanted.gid[0] = 0xff, wanted.gid[1] = 0x15;
  std::memcpy(in.gid, wanted.gid.data(), sizeof(in.gid));
  const bool attaches = random_.one_in(2);
  const bool known = qp && std::ranges::count(qp->groups, wanted);
  const bool same_gid = qp && std::ranges::count(qp->groups, wanted.gid, &Attachment::gid);
  const bool may_attach = is_group && qp && qp->qp_type == IB_UVERBS_QPT_UD && !same_gid;
  auto command = Command::of(
      attaches ? IB_USER_VERBS_CMD_ATTACH_MCAST : IB_USER_VERBS_CMD_DETACH_MCAST, in, 0);
  const int error = send(command);
  judge(error, expected_of(command, known || (attaches && may_attach)),
        attaches ? "ATTACH_MCAST" : "DETACH_MCAST");
  if (error || command.is_other) return;
  const auto sent = command.input<ib_uverbs_attach_mcast>();
  Object* changed = find(Type::qp, sent.qp_handle);
  if (!changed) return;
  std::memcpy(wanted.gid.data(), sent.gid, sizeof(sent.gid));
  wanted.lid = sent.mlid;
  std::erase(changed->groups, wanted);
  if (attaches) changed->groups.push_back(wanted);
}

int Actor::send_request(Command& command, std::size_t bytes) {
  ib_uverbs_send_wr request{};
  put(request.opcode, random_.below(8));
  const auto* from = reinterpret_cast<const std::uint8_t*>(&request);
  command.in.insert(command.in.end(), from, from + bytes);
  return file_.write(command, nullptr);
}

// The doorbell, and requests that a process cannot post by system call.
void Actor::post() {
  Object* qp = nullptr;
  const bool is_send = !random_.one_in(8);
  ib_uverbs_post_send in{};
  in.qp_handle = handle(Type::qp, &qp);
  in.wqe_size = is_send ? sizeof(ib_uverbs_send_wr) : sizeof(ib_uverbs_recv_wr);
  // At most one request: ib_core parses lists of several alone, and the device sees none of them.
  in.wr_count = random_.one_in(2);
  auto command = Command::of(is_send ? IB_USER_VERBS_CMD_POST_SEND : IB_USER_VERBS_CMD_POST_RECV,
                             in, sizeof(ib_uverbs_post_send_resp));
  const int error =
      in.wr_count && life_.may_write ? send_request(command, in.wqe_size) : send(command);
  const bool may_send = qp && (qp->tainted || qp->state >= IBV_QPS_RTS);
  judge(error, may_send || command.is_wrong ? any : failure, "POST_SEND");
}

// --- completion queues and the rest ------------------------------------------

void Actor::resize() {
  Object* cq = nullptr;
  ib_uverbs_resize_cq in{};
  in.cq_handle = handle(Type::cq, &cq);
  put(in.cqe, random_.one_in(8) ? random_.below(5000000) : random_.below(600));
  auto command = Command::of(IB_USER_VERBS_CMD_RESIZE_CQ, in, sizeof(ib_uverbs_resize_cq_resp),
                             sizeof(rxe_resize_cq_resp));
  const int error = send(command);
  judge(error, cq || command.is_wrong ? any : failure, "RESIZE_CQ");
  cq = command.is_other ? nullptr : find(Type::cq, command.input<ib_uverbs_resize_cq>().cq_handle);
  if (!cq) return;
  if (cq->rings[0].mapped) old_.push_back(cq->rings[0]);
  // After an error the old ring or, if the response could not be written, an unknown one.
  if (!error)
    cq->rings = rings_of(Type::cq, sizeof(ib_uverbs_resize_cq_resp));
  else if (command.is_wrong)
    cq->rings[0] = {};
}

void Actor::queue_commands() {
  Object* cq = nullptr;
  const std::uint32_t number = handle(Type::cq, &cq);
  if (random_.one_in(2)) {
    auto command = Command::of(
        IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
        ib_uverbs_req_notify_cq{number, static_cast<std::uint32_t>(random_.below(2))}, 0);
    const int error = send(command);
    judge(error, expected_of(command, cq != nullptr), "REQ_NOTIFY_CQ");
  } else {
    const auto count = static_cast<std::uint32_t>(random_.below(8));
    auto command = Command::of(IB_USER_VERBS_CMD_POLL_CQ, ib_uverbs_poll_cq{0, number, count},
                               sizeof(ib_uverbs_poll_cq_resp) + count * sizeof(ib_uverbs_wc));
    judge(send(command), any, "POLL_CQ");
  }
}

void Actor::queries() {
  const std::uint64_t kind = random_.below(5);
  if (kind == 0) {
    auto command = Command::of(IB_USER_VERBS_CMD_QUERY_DEVICE, ib_uverbs_query_device{},
                               sizeof(ib_uverbs_query_device_resp));
    const int error = send(command);
    judge(error, expected_of(command, true), "QUERY_DEVICE");
  } else if (kind == 1) {
    ib_uverbs_query_port in{};
    put(in.port_num, random_.below(3));
    auto command = Command::of(IB_USER_VERBS_CMD_QUERY_PORT, in, sizeof(ib_uverbs_query_port_resp));
    const int error = send(command);
    judge(error, expected_of(command, in.port_num == 1), "QUERY_PORT");
  } else if (kind == 2) {
    auto command = Command::of(IB_USER_VERBS_EX_CMD_QUERY_DEVICE | extended,
                               ib_uverbs_ex_query_device{}, sizeof(ib_uverbs_ex_query_device_resp));
    const int error = send(command);
    judge(error, expected_of(command, true), "QUERY_DEVICE, extended");
  } else {
    Object* mr = nullptr;
    std::vector<Attr> attrs{{UVERBS_ATTR_QUERY_MR_HANDLE, Kind::object, handle(Type::mr, &mr)},
                            {UVERBS_ATTR_QUERY_MR_RESP_LKEY, Kind::out, 0, 4},
                            {UVERBS_ATTR_QUERY_MR_RESP_RKEY, Kind::out, 0, 4},
                            {UVERBS_ATTR_QUERY_MR_RESP_LENGTH, Kind::out, 0, 8},
                            {UVERBS_ATTR_QUERY_MR_RESP_IOVA, Kind::out, 0, 8}};
    judge(file_.ioctl(UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, attrs,
                      random_.one_in(4) ? &random_ : nullptr),
          any, "QUERY_MR");
  }
}

void Actor::map() {
  Object* object = pick(random_.one_in(2) ? Type::cq : Type::qp);
  Ring wild{random_.below(64) * 4096, random_.between(1, 64) * 4096};
  Ring& ring = object && !random_.one_in(6) ? object->rings[random_.below(2)] : wild;
  std::size_t bytes = ring.bytes;
  const bool is_exact = &ring != &wild && bytes && !random_.one_in(4);
  if (!is_exact) bytes = random_.between(1, 40) * 4096;
  if (ring.mapped || (!is_exact && bytes == ring.bytes)) return;
  const int flags = is_exact || random_.one_in(2) ? MAP_SHARED : MAP_PRIVATE;
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file_.fd(),
                  static_cast<off_t>(ring.offset));
  judge(at == MAP_FAILED ? errno : 0, is_exact ? 0 : any, "mmap");
  if (at == MAP_FAILED) return;
  if (exact_ && !is_exact && &ring != &wild && ring.bytes)
    fuzz::complain(text(life_.name, ": mmap accepts ", bytes, " bytes for a ring of ", ring.bytes));
  (is_exact ? ring : old_.emplace_back(Ring{0, bytes})).mapped = static_cast<std::uint8_t*>(at);
}

// Also in the rings of destroyed objects, which stay memory.
void Actor::scribble() {
  Ring* ring = nullptr;
  Object* qp = pick(Type::qp);
  if (!old_.empty() && random_.one_in(2)) {
    const std::size_t index = random_.below(old_.size());
    ring = &old_[index];
  } else if (qp) {
    ring = &qp->rings[random_.below(2)];
    if (ring->mapped) qp->tainted = true;
  }
  if (!ring || !ring->mapped) return;
  for (int i = 0; i < 20; ++i) {
    const auto value =
        random_.one_in(2) ? static_cast<std::uint32_t>(random_.below(64)) : random_.next32();
    std::memcpy(ring->mapped + random_.below((random_.one_in(2) ? 512 : ring->bytes) / 4) * 4,
                &value, sizeof(value));
  }
  if (old_.size() > 16) {
    munmap(old_.front().mapped, old_.front().bytes);
    old_.erase(old_.begin());
  }
}

// The kernel counts the same objects as the model.
void Actor::count_handles() {
  static constexpr std::pair<Type, int> types[] = {
      {Type::pd, UVERBS_OBJECT_PD}, {Type::cq, UVERBS_OBJECT_CQ}, {Type::qp, UVERBS_OBJECT_QP},
      {Type::ah, UVERBS_OBJECT_AH}, {Type::mr, UVERBS_OBJECT_MR}, {Type::mw, UVERBS_OBJECT_MW}};
  const auto [type, number] = types[random_.below(std::size(types))];
  std::vector<Attr> attrs{
      {UVERBS_ATTR_INFO_OBJECT_ID, Kind::constant, static_cast<std::uint64_t>(number)},
      {UVERBS_ATTR_INFO_TOTAL_HANDLES, Kind::out, 0, 4},
      {UVERBS_ATTR_INFO_HANDLES_LIST, Kind::out, 0, 400}};
  const int error = file_.ioctl(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES, attrs, nullptr);
  judge(error, 0, "INFO_HANDLES");
  std::uint32_t count = 0;
  for (const Object& object : objects_) count += object.type == type;
  if (exact_ && !error && file_.response<std::uint32_t>() != count)
    fuzz::complain(text(life_.name, ": there are ", file_.response<std::uint32_t>(),
                        " objects of type ", number, ", not ", count));
}

void Actor::any_method() {
  std::vector<Attr> attrs;
  for (std::uint64_t left = random_.below(7); left; --left) {
    const int id = static_cast<int>(random_.one_in(8) ? UVERBS_ATTR_UHW_IN + random_.below(2)
                                                      : random_.below(12));
    const auto kind = static_cast<Kind>(random_.below(5));
    attrs.push_back({id, kind, random_.below(40),
                     kind == Kind::out ? random_.below(64) : random_.between(1, 8)});
  }
  const int object = static_cast<int>(random_.below(20));
  const int method = static_cast<int>(random_.below(9));
  // A file has one context: open() calls this method, and no actor calls it again.
  if (object == UVERBS_OBJECT_DEVICE && method == UVERBS_METHOD_GET_CONTEXT) return;
  const int error = file_.ioctl(object, method, attrs, random_.one_in(2) ? &random_ : nullptr);
  judge(error, any, "a random method");
  if (!error && object != UVERBS_OBJECT_DEVICE) exact_ = false;
}

void Actor::step() {
  if (life_.has_xrc && random_.one_in(8)) return xrc();
  switch (random_.below(21)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      create();
      break;
    case 5:
    case 6:
      destroy();
      break;
    case 7:
    case 8:
    case 9:
      modify();
      break;
    case 10:
      query_qp();
      break;
    case 11:
    case 12:
      post();
      break;
    case 13:
      resize();
      break;
    case 14:
      random_.one_in(3) ? reregister_mr() : queue_commands();
      break;
    case 15:
      queries();
      break;
    case 16:
    case 17:
      map();
      break;
    case 18:
      scribble();
      break;
    case 19:
      if (!life_.has_xrc) multicast();
      break;
    default:
      random_.one_in(2) ? count_handles() : any_method();
      break;
  }
}

}  // namespace uverbs_fuzz
