// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Forwards the calls of rdma_core/ to the classes.
#include "provider.h"

#include <cerrno>
#include <cstdlib>
#include <type_traits>

#include "completion_queue.h"
#include "queue_pair.h"

static_assert(std::is_standard_layout_v<sroce_ah>);
static_assert(offsetof(sroce_ah, base) == 0);

namespace {

sroce::QueuePair* object(sroce_queue_pair* pair) {
  return reinterpret_cast<sroce::QueuePair*>(pair);
}

sroce::CompletionQueue* object(sroce_completion_queue* cq) {
  return reinterpret_cast<sroce::CompletionQueue*>(cq);
}

sroce::SharedReceiveQueue* object(sroce_shared_receive_queue* srq) {
  return reinterpret_cast<sroce::SharedReceiveQueue*>(srq);
}

sroce::Service service_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_UC:
      return sroce::Service::uc;
    case IBV_QPT_UD:
      return sroce::Service::ud;
    case IBV_QPT_XRC_SEND:
      return sroce::Service::xrc;
    default:
      return sroce::Service::rc;
  }
}

/// The CPU that pollers yield, or nullptr if they must not.
const sroce::PollBackoff::Cpu* cpu_to_yield() {
  const char* setting = std::getenv("SROCE_POLL_YIELD");
  return setting && !std::atoi(setting) ? nullptr : &sroce::PollBackoff::host_cpu();
}

}  // namespace

sroce_queue_pair* sroce_queue_pair_open(const sroce_queue_pair_setup* setup) {
  const sroce::QueuePairSetup translated = {
      .fd = setup->fd,
      .qp_handle = setup->qp_handle,
      .service = service_of(setup->qp_type),
      .where = setup->where,
      .cap = setup->cap,
      .send_doorbells = object(setup->send_cq)->doorbells(),
      .receive_doorbells = object(setup->recv_cq)->doorbells(),
      .single_threaded = setup->single_threaded,
      .shares_receive_queue = setup->shares_receive_queue,
  };
  return reinterpret_cast<sroce_queue_pair*>(sroce::QueuePair::open(translated).release());
}

void sroce_queue_pair_close(sroce_queue_pair* pair) { delete object(pair); }

void sroce_queue_pair_ring_if_due(sroce_queue_pair* pair) {
  sroce::DeferredDoorbell& doorbell = object(pair)->send_queue().doorbell();
  doorbell.ring_if_due();
  // The command that follows fails for the same reason. An error must not outlive a reset.
  doorbell.take_error();
}

void sroce_queue_pair_leave_lists(sroce_queue_pair* pair) {
  object(pair)->send_queue().doorbell().leave_lists();
  sroce_queue_pair_ring_if_due(pair);
}

int sroce_post_send(sroce_queue_pair* pair, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  return object(pair)->send_queue().post(wr, bad_wr);
}

int sroce_post_recv(sroce_queue_pair* pair, ibv_qp_state state, ibv_recv_wr* wr,
                    ibv_recv_wr** bad_wr) {
  // A receive is posted without a system call, or with one that only flushes it, so the kernel
  // cannot reject it.
  sroce::ReceiveQueue* queue = object(pair)->receive_queue();
  if (state == IBV_QPS_RESET || !queue) {
    *bad_wr = wr;
    return EINVAL;
  }
  const int err = queue->post(wr, bad_wr);
  if (queue->needs_doorbell()) object(pair)->send_queue().doorbell().ring_for_receives();
  return err;
}

sroce_shared_receive_queue* sroce_shared_receive_queue_open(int fd,
                                                            const sroce_create_srq_resp* where,
                                                            uint32_t max_sge, int single_threaded) {
  return reinterpret_cast<sroce_shared_receive_queue*>(
      sroce::SharedReceiveQueue::open(fd, *where, max_sge, single_threaded != 0).release());
}

void sroce_shared_receive_queue_close(sroce_shared_receive_queue* srq) { delete object(srq); }

int sroce_post_srq_recv(sroce_shared_receive_queue* srq, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  return object(srq)->post(wr, bad_wr);
}

int sroce_resize_srq(sroce_shared_receive_queue* srq, int fd,
                     int (*change)(void*, sroce_create_srq_resp*), void* context) {
  return object(srq)->replace(
      fd, [&](sroce_create_srq_resp& where) { return change(context, &where); });
}

sroce_completion_queue* sroce_completion_queue_open(int fd, const mminfo* where,
                                                    int single_threaded) {
  return reinterpret_cast<sroce_completion_queue*>(
      sroce::CompletionQueue::open(fd, *where, single_threaded != 0, cpu_to_yield()).release());
}

void sroce_completion_queue_discard(sroce_completion_queue* cq, uint32_t qp_num) {
  object(cq)->discard(qp_num);
}

void sroce_completion_queue_arm(sroce_completion_queue* cq, int solicited_only) {
  object(cq)->arm(solicited_only != 0);
}

void sroce_completion_queue_disarm(sroce_completion_queue* cq) { object(cq)->disarm(); }

uint64_t sroce_clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

void sroce_completion_queue_close(sroce_completion_queue* cq) { delete object(cq); }

int sroce_poll_cq(sroce_completion_queue* cq, int num_entries, ibv_wc* wc) {
  if (num_entries <= 0) return 0;
  const std::size_t count = object(cq)->poll({wc, static_cast<std::size_t>(num_entries)});
  return count || !object(cq)->is_lost() ? static_cast<int>(count) : -EIO;
}

int sroce_resize_cq(sroce_completion_queue* cq, int fd, int (*change)(void*, mminfo*),
                    void* context) {
  return object(cq)->replace(fd, [&](mminfo& where) { return change(context, &where); });
}
