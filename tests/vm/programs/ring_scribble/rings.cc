// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "ring_scribble/rings.h"

#include <dlfcn.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>
#include <sroce_abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "harness/failure.h"

namespace ring_scribble {
namespace {

using harness::expect;

rxe_queue_buf* header(const Ring& ring) {
  return reinterpret_cast<rxe_queue_buf*>(ring.memory.data());
}

sroce_queue_head* native_head(const Ring& ring) {
  return reinterpret_cast<sroce_queue_head*>(ring.memory.data() + ring.native->head);
}

template <class T>
T load(const T& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

template <class T>
void store(T& field, T value) {
  __atomic_store_n(&field, value, __ATOMIC_RELAXED);
}

std::vector<std::span<std::byte>> added(const std::vector<std::span<std::byte>>& before) {
  std::vector<std::span<std::byte>> fresh;
  for (const auto mapping : ring_mappings()) {
    const auto same = [&](const auto& other) { return other.data() == mapping.data(); };
    if (std::none_of(before.begin(), before.end(), same)) fresh.push_back(mapping);
  }
  return fresh;
}

std::shared_ptr<verbs::Cq> exposed_cq(const verbs::Context& context, std::vector<Ring>& rings) {
  const auto before = ring_mappings();
  auto cq = std::make_shared<verbs::Cq>(context, 64);
  const auto fresh = added(before);
  expect(fresh.size() == 1, "a new CQ mapped ", fresh.size(), " rings, not 1");
  rings.push_back({RingKind::completion, fresh[0]});
  return cq;
}

bool is_native(const verbs::Context& context) {
  Dl_info info{};
  return dladdr(reinterpret_cast<void*>(context.get()->ops.poll_cq), &info) &&
         std::string_view(info.dli_fname).find("libsroce") != std::string_view::npos;
}

constexpr std::size_t first_slot = sizeof(sroce_queue_head);

verbs::Srq exposed_srq(const verbs::Context& context, const verbs::Pd& pd,
                       std::vector<Ring>& rings) {
  const auto before = ring_mappings();
  ibv_srq_init_attr init{};
  init.attr = {64, 4, 0};
  verbs::Srq srq(ibv_create_srq(pd.get(), &init));
  expect(static_cast<bool>(srq), "ibv_create_srq fails");
  const auto fresh = added(before);
  expect(fresh.size() == 1, "a new SRQ mapped ", fresh.size(), " rings, not 1");
  rings.push_back({RingKind::receive, fresh[0]});
  if (is_native(context))
    rings.back().native =
        NativePlace{0, first_slot, init.attr.max_wr,
                    sizeof(sroce_recv_slot) + init.attr.max_sge * sizeof(rxe_sge)};
  return srq;
}

// The QP has no receive ring.
void find_send_ring(const verbs::Endpoint& end, const ibv_qp_cap& cap,
                    const std::vector<std::span<std::byte>>& fresh, std::vector<Ring>& rings) {
  expect(fresh.size() == 1, "a new QP with an SRQ mapped ", fresh.size(), " rings");
  rings.push_back({RingKind::send, fresh[0]});
  if (!is_native(end.context())) return;
  constexpr std::size_t line = SROCE_QUEUE_LINE;
  const std::size_t bytes =
      sizeof(sroce_send_slot) +
      std::max<std::size_t>(cap.max_send_sge * sizeof(rxe_sge), cap.max_inline_data);
  rings.back().native =
      NativePlace{0, first_slot, cap.max_send_wr, (bytes + line - 1) / line * line};
}

// The receive ring is the one whose producer index changes when a receive is posted, which
// libibverbs does without the kernel.
void find_rxe_rings(verbs::Endpoint& end, const std::vector<std::span<std::byte>>& fresh,
                    std::vector<Ring>& rings) {
  Ring first{RingKind::send, fresh[0]};
  Ring second{RingKind::send, fresh[1]};
  const std::uint32_t first_producer = first.producer();
  ibv_recv_wr wr{};
  end.qp().post_recv(&wr);
  (first.producer() != first_producer ? first : second).kind = RingKind::receive;
  rings.push_back(first);
  rings.push_back(second);
}

// Computes the layout that the kernel uses for these capabilities.
void find_native_queues(verbs::Endpoint& end, std::span<std::byte> memory,
                        std::vector<Ring>& rings) {
  const ibv_qp_cap& cap = end.qp().cap();
  constexpr std::size_t line = SROCE_QUEUE_LINE;
  const auto whole_lines = [](std::size_t bytes) { return (bytes + line - 1) / line * line; };
  const std::size_t list_bytes =
      std::max<std::size_t>(cap.max_send_sge * sizeof(rxe_sge), cap.max_inline_data);
  NativePlace receive{sizeof(sroce_queue_head), 2 * sizeof(sroce_queue_head), cap.max_recv_wr,
                      sizeof(sroce_recv_slot) + cap.max_recv_sge * sizeof(rxe_sge)};
  NativePlace send{0, whole_lines(receive.slots + receive.count * receive.stride), cap.max_send_wr,
                   whole_lines(sizeof(sroce_send_slot) + list_bytes)};
  expect(send.slots + send.count * send.stride <= memory.size(), "the queues exceed the mapping");
  rings.push_back({RingKind::send, memory, send});
  rings.push_back({RingKind::receive, memory, receive});
}

void find_qp_rings(verbs::Endpoint& end, const std::vector<std::span<std::byte>>& fresh,
                   std::vector<Ring>& rings) {
  expect(fresh.size() == 1 || fresh.size() == 2, "a new QP mapped ", fresh.size(), " rings");
  if (fresh.size() == 1)
    find_native_queues(end, fresh[0], rings);
  else
    find_rxe_rings(end, fresh, rings);
}

std::uint32_t log2_slot_bytes(const Ring& ring) { return load(header(ring)->log2_elem_size); }

}  // namespace

std::uint32_t Ring::slots() const {
  return native ? native->count : load(header(*this)->index_mask) + 1;
}

std::uint32_t Ring::producer() const {
  return native ? load(native_head(*this)->producer) : load(header(*this)->producer_index);
}

void Ring::set_producer(std::uint32_t index) {
  store(native ? native_head(*this)->producer : header(*this)->producer_index, index);
}

void Ring::advance_producer() {
  const std::uint32_t next = producer() + 1;
  set_producer(native ? next : next & (slots() - 1));
}

void Ring::set_consumer(std::uint32_t index) {
  store(native ? native_head(*this)->consumer : header(*this)->consumer_index, index);
}

void Ring::set_geometry(std::uint32_t log2_bytes, std::uint32_t index_mask) {
  if (native) return;
  store(header(*this)->log2_elem_size, log2_bytes);
  store(header(*this)->index_mask, index_mask);
}

std::span<std::byte> Ring::slot(std::uint32_t index) {
  if (native)
    return memory.subspan(native->slots + index % native->count * native->stride, native->stride);
  const std::size_t head = offsetof(rxe_queue_buf, data);
  const std::size_t bytes = std::size_t{1} << std::min(log2_slot_bytes(*this), 16U);
  const std::size_t room = (memory.size() - head) / bytes;
  if (room == 0)  // the geometry itself has been scribbled over
    return memory.subspan(head);
  return memory.subspan(head + index % room * bytes, bytes);
}

void Ring::remove_page(std::uint32_t index) {
  const std::size_t page = static_cast<std::size_t>(::getpagesize());
  const std::size_t at = index * page % memory.size();
  if (at) ::madvise(memory.data() + at, page, MADV_REMOVE);  // fails if it is not
}

std::vector<std::span<std::byte>> ring_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::span<std::byte>> found;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if ((line.find("uverbs") == std::string::npos && line.find("[sroce]") == std::string::npos) ||
        std::sscanf(line.c_str(), "%lx-%lx rw", &begin, &end) != 2)
      continue;
    found.emplace_back(reinterpret_cast<std::byte*>(begin), end - begin);
  }
  return found;
}

ExposedEndpoint::ExposedEndpoint(const verbs::Context& context, int gid_index, std::uint64_t seed,
                                 bool shares_receives) {
  verbs::EndpointOptions options;
  options.qp.inline_bytes = 64;
  options.send_cq = exposed_cq(context, rings_);
  options.recv_cq = exposed_cq(context, rings_);
  options.pd = pd_ = std::make_shared<verbs::Pd>(verbs::make_pd(context));
  options.access |= IBV_ACCESS_MW_BIND;
  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    verbs::Mw& window = windows_[type - IBV_MW_TYPE_1];
    window.reset(ibv_alloc_mw(pd_->get(), type));
    if (window) window_keys_.push_back(window->rkey);
  }
  if (shares_receives) {
    srq_ = exposed_srq(context, *options.pd, rings_);
    options.qp.srq = srq_.get();
  }
  const auto before = ring_mappings();
  end_ = std::make_unique<verbs::Endpoint>(context, gid_index, options, seed);
  const auto fresh = added(before);
  if (shares_receives) {
    find_send_ring(*end_, end_->qp().cap(), fresh, rings_);
    return;
  }
  end_->qp().modify(verbs::rc_to_init(verbs::LinkOptions{}), "INIT");
  find_qp_rings(*end_, fresh, rings_);
  end_->qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
}

Ring& ExposedEndpoint::ring(RingKind kind) {
  const auto found = std::find_if(rings_.begin(), rings_.end(),
                                  [&](const Ring& ring) { return ring.kind == kind; });
  expect(found != rings_.end(), "a ring is missing");
  return *found;
}

void ExposedEndpoint::ring_doorbell() {
  struct {
    ib_uverbs_cmd_hdr header;
    ib_uverbs_post_send body;
  } command{};
  ib_uverbs_post_send_resp response{};
  command.header.command = IB_USER_VERBS_CMD_POST_SEND;
  command.header.in_words = sizeof command / 4;
  command.header.out_words = sizeof response / 4;
  command.body.response = reinterpret_cast<std::uint64_t>(&response);
  command.body.qp_handle = end_->qp().get()->handle;
  command.body.wqe_size = sizeof(ib_uverbs_send_wr);
  // The kernel may return an error, as the QP may be in ERR, but must not crash.
  if (::write(end_->context().get()->cmd_fd, &command, sizeof command) < 0) return;
}

void ExposedEndpoint::modify_srq(std::uint32_t mask, std::uint32_t max_wr, std::uint32_t limit) {
  if (!srq_) return;
  // As struct ib_uverbs_modify_srq, which ends in a flexible array.
  struct {
    ib_uverbs_cmd_hdr header;
    std::uint32_t srq_handle, attr_mask, max_wr, srq_limit;
    rxe_modify_srq_cmd driver;
  } command{};
  sroce_create_srq_resp where{};
  command.header.command = IB_USER_VERBS_CMD_MODIFY_SRQ;
  command.header.in_words = sizeof command / 4;
  command.srq_handle = srq_->handle;
  command.attr_mask = mask;
  command.max_wr = max_wr;
  command.srq_limit = limit;
  command.driver.mmap_info_addr = reinterpret_cast<std::uint64_t>(&where);
  if (::write(end_->context().get()->cmd_fd, &command, sizeof command) < 0) return;
}

}  // namespace ring_scribble
