// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "srq_verify/shared.h"

#include <cstring>

#include "harness/image.h"

namespace srq {

using harness::expect;
using harness::fail_errno;

namespace {

struct Header {
  std::uint32_t stream, number, length, unused;
};

std::uint64_t pattern_of(std::uint64_t seed, const Header& header) {
  return harness::mix(seed + header.stream * 1000003ULL + header.number);
}

}  // namespace

Queue::Queue(const verbs::Context& context, std::uint32_t slots, std::uint32_t slot_bytes,
             std::uint32_t max_wr)
    : slot_bytes_(slot_bytes),
      pd_(std::make_shared<verbs::Pd>(verbs::make_pd(context))),
      memory_(std::size_t{slots} * slot_bytes),
      mr_(verbs::make_mr(*pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE)),
      is_posted_(slots) {
  ibv_srq_init_attr init{};
  init.attr = {max_wr ? max_wr : slots, 2, 0};
  handle_.reset(ibv_create_srq(pd_->get(), &init));
  if (!handle_) fail_errno(errno, "ibv_create_srq");
}

ibv_sge Queue::sge(std::uint64_t slot) const {
  return {reinterpret_cast<std::uint64_t>(memory_.data()) + slot * slot_bytes_, slot_bytes_,
          mr_->lkey};
}

int Queue::try_post(ibv_recv_wr& wr) {
  ibv_recv_wr* bad = nullptr;
  const int err = ibv_post_srq_recv(get(), &wr, &bad);
  expect(!err || bad == &wr, "ibv_post_srq_recv does not name the bad request");
  return err;
}

void Queue::post(std::uint64_t slot) {
  // Two elements, so that payload is scattered.
  ibv_sge list[2] = {sge(slot), sge(slot)};
  list[0].length = slot_bytes_ / 3;
  list[1].addr += list[0].length;
  list[1].length -= list[0].length;
  ibv_recv_wr wr{};
  wr.wr_id = slot;
  wr.sg_list = list;
  wr.num_sge = 2;
  expect(!is_posted_.at(slot), "slot ", slot, " is posted twice");
  is_posted_[slot] = true;
  posted_++;
  if (const int err = try_post(wr)) fail_errno(err, "ibv_post_srq_recv of slot ", slot);
}

void Queue::post_all() {
  for (std::uint64_t slot = 0; slot < slots(); ++slot) post(slot);
}

std::span<std::byte> Queue::take(std::uint64_t slot) {
  expect(slot < slots() && is_posted_[slot], "a receive completes that was not posted: ", slot);
  is_posted_[slot] = false;
  posted_--;
  return memory_.span().subspan(slot * slot_bytes_, slot_bytes_);
}

int Queue::try_modify(std::uint32_t max_wr, std::uint32_t limit, int mask) {
  ibv_srq_attr attr{max_wr, 0, limit};
  return ibv_modify_srq(get(), &attr, mask);
}

void Queue::modify(std::uint32_t max_wr, std::uint32_t limit, int mask) {
  if (const int err = try_modify(max_wr, limit, mask))
    fail_errno(err, "ibv_modify_srq, max_wr ", max_wr, ", limit ", limit, ", mask ", mask);
}

ibv_srq_attr Queue::query() const {
  ibv_srq_attr attr{};
  if (const int err = ibv_query_srq(get(), &attr)) fail_errno(err, "ibv_query_srq");
  return attr;
}

Streams::Streams(const Devices& devices, Queue& queue, const StreamOptions& options)
    : queue_(queue),
      options_(options),
      seed_(devices.seed),
      random_(devices.seed),
      near_cq_(std::make_shared<verbs::Cq>(
          devices.near, static_cast<int>(options.streams * (options.window + 1)))),
      far_cq_(std::make_shared<verbs::Cq>(devices.far,
                                          static_cast<int>(queue.slots() + options.streams))) {
  verbs::EndpointOptions near, far;
  near.send_cq = near.recv_cq = near_cq_;
  near.arena_bytes = std::size_t{options.window} * options.longest;
  near.qp.send_depth = options.window;
  near.qp.recv_depth = 1;
  far.send_cq = far.recv_cq = far_cq_;
  far.arena_bytes = 4096;
  far.qp.send_depth = 1;
  far.qp.srq = queue.get();
  verbs::LinkOptions link;
  link.rnr_retry = options.rnr_retry;
  link.min_rnr_timer = options.min_rnr_timer;
  for (std::uint32_t i = 0; i < options.streams; ++i) {
    End end;
    end.near = std::make_unique<verbs::Endpoint>(devices.near, devices.near_gid, near, 2 * i);
    end.far = std::make_unique<verbs::Endpoint>(devices.far, devices.far_gid, far, 2 * i + 1);
    connect_both(*end.near, *end.far, link);
    ends_.push_back(std::move(end));
  }
}

std::size_t Streams::stream_of(std::uint32_t far_qpn) const {
  for (std::size_t i = 0; i < ends_.size(); ++i)
    if (ends_[i].far->qp().number() == far_qpn) return i;
  harness::fail("a completion of an unknown QP");
}

void Streams::send(std::size_t stream, std::uint32_t length) {
  End& end = ends_[stream];
  const std::uint32_t number = end.sent++;
  if (!length)
    length = static_cast<std::uint32_t>(random_.between(sizeof(Header), options_.longest));
  const Header header = {static_cast<std::uint32_t>(stream), number, length, 0};
  const std::size_t at = std::size_t{number % options_.window} * options_.longest;
  const auto message = end.near->arena().subspan(at, length);
  harness::fill_pattern(message, pattern_of(seed_, header), 0);
  std::memcpy(message.data(), &header, sizeof(header));
  ibv_sge sge = end.near->sge(at, length);
  ibv_send_wr wr{};
  wr.wr_id = stream;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  end.near->qp().post_send(&wr);
}

void Streams::send_part(std::size_t stream) {
  verbs::Endpoint& near = *ends_[stream].near;
  // Longer than the requester builds at a time.
  ibv_sge list[2] = {near.sge(0, 200 * 1024), near.sge(0, 1024)};
  list[1].lkey ^= 0x55;
  ibv_send_wr wr{};
  wr.sg_list = list;
  wr.num_sge = 2;
  wr.opcode = IBV_WR_SEND;
  near.qp().post_send(&wr);
  const auto deadline = harness::Deadline::after(timeout);
  while (near.qp().query(IBV_QP_STATE).qp_state != IBV_QPS_ERR)
    expect(!deadline.expired(), "an invalid key does not end the QP");
}

bool Streams::reap_send() {
  const auto wc = near_cq_->poll();
  if (!wc) return false;
  expect(wc->status == IBV_WC_SUCCESS, "a SEND ends in ", ibv_wc_status_str(wc->status));
  ends_.at(wc->wr_id).reaped++;
  return true;
}

std::uint64_t Streams::check(const ibv_wc& wc) {
  expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV, verbs::describe(wc));
  End& end = ends_[stream_of(wc.qp_num)];
  const auto message = queue_.take(wc.wr_id);
  Header header;
  std::memcpy(&header, message.data(), sizeof(header));
  expect(&ends_.at(header.stream) == &end, "a message of another stream: ", header.stream);
  expect(header.number == end.received, "message ", header.number, " of stream ", header.stream,
         " instead of ", end.received);
  expect(header.length == wc.byte_len, "byte_len ", wc.byte_len, " instead of ", header.length);
  std::vector<std::byte> wanted(wc.byte_len);
  harness::fill_pattern(wanted, pattern_of(seed_, header), 0);
  std::memcpy(wanted.data(), &header, sizeof(header));
  expect(!std::memcmp(wanted.data(), message.data(), wanted.size()), "wrong bytes in message ",
         header.number, " of stream ", header.stream);
  end.received++;
  received_++;
  return wc.wr_id;
}

std::optional<std::uint64_t> Streams::receive() {
  const auto wc = far_cq_->poll();
  return wc ? std::optional(check(*wc)) : std::nullopt;
}

void Streams::run(std::uint32_t messages, const std::function<void(std::uint32_t)>& turn) {
  const auto start = received_;
  std::vector<std::uint32_t> last;
  for (const End& end : ends_) last.push_back(end.sent + messages);
  auto deadline = harness::Deadline::after(timeout);
  harness::Backoff backoff;
  while (received_ - start < messages * ends_.size()) {
    bool progress = false;
    for (std::size_t i = 0; i < ends_.size(); ++i)
      if (ends_[i].sent != last[i] && ends_[i].sent - ends_[i].reaped < options_.window) {
        send(i);
        progress = true;
      }
    while (reap_send()) progress = true;
    while (const auto slot = receive()) {
      queue_.post(*slot);
      if (turn) turn(received_ - start);
      progress = true;
    }
    if (progress) {
      deadline = harness::Deadline::after(timeout);
      backoff = {};
      continue;
    }
    expect(!deadline.expired(), "nothing arrives after ", received_ - start, " messages");
    backoff.pause();
  }
  for (const auto& end : ends_)
    while (end.reaped != end.sent) {
      expect(!deadline.expired(), "SENDs do not complete");
      if (!reap_send()) backoff.pause();
    }
}

}  // namespace srq
