// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "packet_script/player.h"

#include <algorithm>
#include <thread>

#include "harness/failure.h"
#include "harness/image.h"
#include "harness/random.h"

namespace packet_script {
namespace {

using harness::expect;

constexpr std::uint32_t psn_mask = 0xffffff;
constexpr int queue_depth = 64;
constexpr std::size_t slot_bytes = 2048;
constexpr std::uint64_t remote_address = 0x100000;
constexpr std::uint32_t remote_key = 0x4321;
constexpr std::uint32_t ud_qkey = 0x1234;
constexpr std::uint32_t ud_source_qpn = 0x77;
constexpr std::chrono::seconds silence_limit{5};
constexpr std::chrono::milliseconds repeat_limit{500};

const char* state_name(ibv_qp_state state) {
  constexpr const char* names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  return names[std::min<unsigned>(state, IBV_QPS_ERR)];
}

void append_payload(wire::Bytes& out, std::size_t bytes, std::uint64_t seed, std::uint8_t pad) {
  for (std::size_t i = 0; i < bytes; ++i)
    out.push_back(static_cast<std::uint8_t>(harness::mix(seed * 4096 + i)));
  out.insert(out.end(), pad, 0);
}

bool has_reth(Opcode op) {
  return op == Opcode::write_first || op == Opcode::write_only || op == Opcode::write_only_imm ||
         op == Opcode::read_request;
}

bool has_word(Opcode op) {
  return op == Opcode::send_last_imm || op == Opcode::send_only_imm ||
         op == Opcode::write_last_imm || op == Opcode::write_only_imm ||
         op == Opcode::send_last_inv || op == Opcode::send_only_inv;
}

bool is_atomic(Opcode op) { return op == Opcode::cmp_swap || op == Opcode::fetch_add; }

// Only status and wr_id are valid in a failed completion (IBTA 11.4.2.1).
std::string describe_wc(const char* queue, const ibv_wc& wc) {
  std::string text = harness::text(queue, " ", wc.wr_id, ": ", ibv_wc_status_str(wc.status));
  if (wc.status != IBV_WC_SUCCESS) return text;
  text += harness::text(", opcode ", wc.opcode);
  // The length of a send request's completion is that of READs and atomics only.
  if (wc.opcode & IBV_WC_RECV || wc.opcode == IBV_WC_RDMA_READ || wc.opcode == IBV_WC_COMP_SWAP ||
      wc.opcode == IBV_WC_FETCH_ADD)
    text += harness::text(", ", wc.byte_len, " bytes");
  if (!(wc.opcode & IBV_WC_RECV)) return text;
  if (wc.wc_flags & IBV_WC_WITH_IMM) text += harness::text(", immediate ", wc.imm_data);
  if (wc.wc_flags & IBV_WC_WITH_INV) text += ", invalidated";
  return text;
}

}  // namespace

Player::Player(Device& device, const Setup& setup, int attempt)
    : device_(device),
      setup_(setup),
      attempt_(attempt),
      peer_qpn_(device.next_peer_qpn()),
      send_cq_(device.context(), queue_depth * 2),
      recv_cq_(device.context(), queue_depth * 2) {
  verbs::QpOptions options;
  options.type = setup.type;
  qp_ = std::make_unique<verbs::Qp>(device.pd(), send_cq_, recv_cq_, options);
  fill_arena();
  connect(setup);
}

void Player::connect(const Setup& setup) {
  if (setup.state == IBV_QPS_RESET) return;
  if (setup.type == IBV_QPT_UD) {
    qp_->modify(verbs::ud_to_init(ud_qkey), "INIT");
    qp_->modify(verbs::to_state(IBV_QPS_RTR), "RTR");
    verbs::Change rts = verbs::to_state(IBV_QPS_RTS);
    rts.attr.sq_psn = setup.psn;
    rts.mask |= IBV_QP_SQ_PSN;
    qp_->modify(rts, "RTS");
    return;
  }
  verbs::LinkOptions link = device_.link();
  link.mtu = setup.mtu;
  link.timeout = setup.timeout;
  link.retry_cnt = setup.retry_cnt;
  link.rnr_retry = setup.rnr_retry;
  link.min_rnr_timer = setup.min_rnr_timer;
  link.rd_atomic = setup.rd_atomic;
  link.dest_rd_atomic = setup.dest_rd_atomic;
  link.access = setup.access;
  qp_->modify(verbs::rc_to_init(link), "INIT");
  if (setup.state == IBV_QPS_INIT) return;
  qp_->modify(verbs::rc_to_rtr(link, device_.peer(peer_qpn_, setup.psn)), "RTR");
  if (setup.state == IBV_QPS_RTR) return;
  qp_->modify(verbs::rc_to_rts(link, setup.psn), "RTS");
  if (setup.state == IBV_QPS_ERR) qp_->modify(verbs::to_state(IBV_QPS_ERR), "ERR");
}

void Player::fill_arena() { harness::fill_pattern(device_.arena(), 7, 0); }

void Player::receive(std::size_t bytes, Key key) {
  const std::size_t offset = receive_offset + receives_ * slot_bytes;
  expect(offset + bytes <= source_offset, "the script posts too many receives");
  ibv_sge sge{device_.address(offset), static_cast<std::uint32_t>(bytes), device_.key(key)};
  ibv_recv_wr wr{};
  wr.wr_id = receives_++;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  qp_->post_recv(&wr);
}

std::string Player::text(const Request& request) const {
  std::string text =
      harness::text("> ", opcode_name(static_cast<std::uint8_t>(request.op)), " psn",
                    request.psn < 0 ? "" : "+", request.psn, ", ", request.bytes, " bytes");
  if (has_reth(request.op) || is_atomic(request.op))
    text += harness::text(", offset ", request.offset, ", key ", static_cast<int>(request.key));
  if (request.length) text += harness::text(", length ", *request.length);
  return text;
}

wire::Bytes Player::build(const Request& request) const {
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(request.op);
  bth.is_solicited = request.is_solicited;
  bth.is_migrated = request.is_migrated;
  const std::size_t payload = request.op == Opcode::read_request ? 0 : request.bytes;
  bth.pad = request.pad.value_or(static_cast<std::uint8_t>(-payload & 3));
  bth.version = request.version;
  bth.pkey = request.pkey;
  bth.fecn_becn_reserved = request.congestion;
  bth.dest_qpn = qp_->number();
  bth.wants_ack = request.wants_ack;
  bth.psn = (setup_.psn + static_cast<std::uint32_t>(request.psn)) & psn_mask;
  const std::uint64_t address = device_.address(0) + request.offset;
  const std::uint32_t key = device_.key(request.key);
  wire::Bytes out;
  append(out, bth);
  if (setup_.type == IBV_QPT_UD) wire::append_deth(out, request.qkey, ud_source_qpn);
  if (has_reth(request.op))
    append(out, wire::Reth{address, key,
                           request.length.value_or(static_cast<std::uint32_t>(request.bytes))});
  if (is_atomic(request.op))
    append(out, wire::AtomicEth{address, key, request.swap_or_add, request.compare});
  if (has_word(request.op)) wire::append_u32(out, request.word);
  append_payload(out, payload, static_cast<std::uint64_t>(request.psn) & psn_mask, bth.pad);
  return out;
}

wire::Bytes Player::build(const Response& response) const {
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(response.op);
  bth.pad = static_cast<std::uint8_t>(-response.bytes & 3);
  bth.dest_qpn = qp_->number();
  bth.psn = (setup_.psn + static_cast<std::uint32_t>(response.psn)) & psn_mask;
  wire::Bytes out;
  append(out, bth);
  if (response.op != Opcode::read_response_middle)
    wire::append_aeth(out, response.syndrome, response.msn);
  if (response.op == Opcode::atomic_acknowledge) {
    wire::append_u32(out, static_cast<std::uint32_t>(response.original >> 32));
    wire::append_u32(out, static_cast<std::uint32_t>(response.original));
  }
  append_payload(out, response.bytes, static_cast<std::uint64_t>(response.psn) & psn_mask, bth.pad);
  return out;
}

void Player::settle(bool is_late) {
  for (int round = 0; round < 2 + attempt_; ++round) device_.fence();
  // Every other attempt, because a long wait lets timers of the device expire.
  const int extra = attempt_ % 2 ? 4 * attempt_ : 0;
  if (!is_late && !extra) return;
  device_.listen(std::chrono::milliseconds((is_late ? 4 : 1) + extra));
  device_.fence();
}

void Player::burst(std::vector<Request> requests) {
  bool is_late = false;
  hides_msn_ = false;
  for (const Request& request : requests) {
    log(text(request));
    hides_msn_ |= request.is_again;
    device_.send(build(request), request.tos);
    is_late |= request.is_late;
  }
  settle(is_late);
  log_responses(device_.take(peer_qpn_), requests.size() > 1);
  poll();
}

void Player::log_responses(const std::vector<Parsed>& responses, bool is_burst) {
  const auto is_cumulative = [&](std::size_t i) {
    return is_ack(responses[i]) || (is_burst && is_sequence_nak(responses[i]));
  };
  for (std::size_t i = 0; i < responses.size(); ++i)
    if (!is_cumulative(i) || i + 1 == responses.size() || !is_cumulative(i + 1))
      log("< " + describe(responses[i], names()));
}

// Whether a request is sent again, and how often, is a matter of timers, except after a response
// that asks for it. Even then, how much of it is sent before the next response is free.
void Player::log_requests(const std::vector<Parsed>& requests, bool repeats) {
  bool has_repeated = false;
  for (const Parsed& request : requests) {
    const std::string line = describe(request, names());
    const bool is_new = seen_.insert(line).second;
    if (is_new)
      log("< " + line);
    else if (repeats && !has_repeated)
      log("< again " + line), has_repeated = true;
  }
}

void Player::post_one(const Work& work) {
  const bool reads = work.op == IBV_WR_RDMA_READ || work.op == IBV_WR_ATOMIC_CMP_AND_SWP ||
                     work.op == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const std::uint64_t target = remote_address + sends_ * 0x1000;
  const std::size_t offset = (reads ? result_offset : source_offset) + sends_ * slot_bytes;
  expect(work.bytes <= slot_bytes && sends_ < 16, "the script posts too much");
  ibv_sge sge{device_.address(offset), work.bytes, device_.key(Key::local_only)};
  ibv_send_wr wr{};
  wr.wr_id = sends_++;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = work.op;
  wr.send_flags = work.flags;
  wr.imm_data = htonl(0x55667788);
  if (work.op == IBV_WR_ATOMIC_CMP_AND_SWP || work.op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = target;
    wr.wr.atomic.rkey = remote_key;
    wr.wr.atomic.compare_add = 5;
    wr.wr.atomic.swap = 9;
  } else {
    wr.wr.rdma.remote_addr = target;
    wr.wr.rdma.rkey = remote_key;
  }
  log(harness::text("> post ", wr.wr_id, ": opcode ", work.op, ", ", work.bytes, " bytes"));
  qp_->post_send(&wr);
}

void Player::post(const std::vector<Work>& works) {
  for (const Work& work : works) post_one(work);
  settle(false);
  log_requests(device_.take(peer_qpn_), false);
  poll();
}

void Player::respond_all(std::vector<Response> responses) {
  const bool repeats = std::any_of(responses.begin(), responses.end(),
                                   [](const Response& response) { return response.repeats; });
  // Requests that a timer has sent again before are no reaction.
  device_.fence();
  log_requests(device_.take(peer_qpn_), false);
  for (const Response& response : responses) {
    log(harness::text("> ", opcode_name(static_cast<std::uint8_t>(response.op)), " syndrome ",
                      static_cast<int>(response.syndrome), " psn", response.psn < 0 ? "" : "+",
                      response.psn, ", ", response.bytes, " bytes"));
    device_.send(build(response));
  }
  const auto deadline = harness::Deadline::after(repeat_limit);
  while (repeats && !device_.has(peer_qpn_) && !deadline.expired())
    device_.listen(std::chrono::milliseconds(1));
  settle(false);
  log_requests(device_.take(peer_qpn_), repeats);
  poll();
}

void Player::stay_silent(std::size_t completions) {
  const auto deadline = harness::Deadline::after(silence_limit);
  while (completions_ < completions && !deadline.expired()) {
    device_.listen(std::chrono::milliseconds(5));
    poll();
  }
  expect(completions_ == completions, "after silence, ", completions_, " requests have completed");
  settle(false);
  log_requests(device_.take(peer_qpn_), false);
  poll();
}

void Player::await_repeat() {
  const auto deadline = harness::Deadline::after(silence_limit);
  while (!deadline.expired()) {
    device_.listen(std::chrono::milliseconds(2));
    const std::vector<Parsed> requests = device_.take(peer_qpn_);
    log_requests(requests, true);
    if (!requests.empty()) break;
  }
  poll();
}

void Player::poll() {
  while (const auto wc = recv_cq_.poll()) log(describe_wc("receive", *wc));
  while (const auto wc = send_cq_.poll()) {
    log(describe_wc("send", *wc));
    ++completions_;
  }
}

void Player::move_to(ibv_qp_state state) {
  log(harness::text("> move to ", state_name(state)));
  qp_->modify(verbs::to_state(state), state_name(state));
  settle(false);
  log_requests(device_.take(peer_qpn_), false);
  poll();
}

void Player::log_memory() {
  verbs::Pages before(arena_bytes);
  harness::fill_pattern(before.span(), 7, 0);
  const auto is_changed = [&](std::size_t i) { return before.span()[i] != device_.arena()[i]; };
  for (std::size_t i = 0; i < arena_bytes; ++i) {
    if (!is_changed(i)) continue;
    std::size_t end = i + 1;
    // A byte may be overwritten by an equal one.
    for (std::size_t j = end; j < std::min(end + 8, arena_bytes); ++j)
      if (is_changed(j)) end = j + 1;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(device_.arena().data());
    log(harness::text("memory ", i, " to ", end, ": ", digest({bytes + i, end - i})));
    i = end;
  }
}

void Player::log_events() {
  const auto now = harness::Deadline::after(std::chrono::seconds(0));
  while (const auto event = device_.context().wait_async(now))
    if (setup_.shows_events && event->element.qp == qp_->get() &&
        event->event_type != IBV_EVENT_COMM_EST)
      log(harness::text("event ", ibv_event_type_str(event->event_type)));
}

Transcript Player::finish() {
  settle(false);
  poll();
  log_events();
  log(harness::text("state ", state_name(qp_->query(IBV_QP_STATE).qp_state)));
  log_memory();
  return transcript_;
}

Transcript play(Device& device, const Script& script, int attempt) {
  Player player(device, script.setup, attempt);
  script.play(player);
  return player.finish();
}

}  // namespace packet_script
