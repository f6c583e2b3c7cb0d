// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Tests of the C interface, on memory mapped like the kernel's.
#include "provider.h"

#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "kernel_memory.h"

namespace {

constexpr ibv_qp_cap kCap = {.max_send_wr = 3,
                             .max_recv_wr = 3,
                             .max_send_sge = 4,
                             .max_recv_sge = 4,
                             .max_inline_data = 64};

class ProviderQueuePair : public testing::Test {
 protected:
  ProviderQueuePair() {
    setup.fd = kernel.fd();
    setup.qp_handle = 42;
    setup.qp_type = IBV_QPT_RC;
    setup.where = kernel.add_queue_pair(4, 128, 8 + 4 * 16);
    setup.cap = kCap;
    const mminfo completions = kernel.add_ring(4, 6);
    cq = sroce_completion_queue_open(kernel.fd(), &completions, 0);
    setup.send_cq = setup.recv_cq = cq;
    // The doorbell goes to the same file, so write it behind the rings.
    lseek(kernel.fd(), 0, SEEK_END);
  }

  ~ProviderQueuePair() override { sroce_completion_queue_close(cq); }

  KernelMemory kernel;
  sroce_completion_queue* cq = nullptr;
  sroce_queue_pair_setup setup{};
};

TEST_F(ProviderQueuePair, SendsAndReceivesHaveSeparateRings) {
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_send_wr send{}, *bad_send;
  send.opcode = IBV_WR_SEND;
  EXPECT_EQ(sroce_post_send(pair, &send, &bad_send), 0);
  EXPECT_EQ(kernel.send_queue(setup.where).head().producer, 1u);
  EXPECT_EQ(kernel.receive_queue(setup.where).head().producer, 0u);
  ibv_recv_wr recv{}, *bad_recv;
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_INIT, &recv, &bad_recv), 0);
  EXPECT_EQ(kernel.receive_queue(setup.where).head().producer, 1u);
  sroce_queue_pair_close(pair);
}

// The kernel looks for it, to flush it, only after a doorbell.
TEST_F(ProviderQueuePair, ReceiveInErrIsAnnounced) {
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  sroce_queue_head& head = kernel.receive_queue(setup.where).head();
  const off_t before = lseek(kernel.fd(), 0, SEEK_CUR);
  ibv_recv_wr recv{}, *bad_recv;
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_RTS, &recv, &bad_recv), 0);
  EXPECT_EQ(before, lseek(kernel.fd(), 0, SEEK_CUR));
  head.needs_doorbell = 1;
  // An error that the kernel has detected: the library does not know the state.
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_RTS, &recv, &bad_recv), 0);
  EXPECT_EQ(head.producer, 2u);
  EXPECT_LT(before, lseek(kernel.fd(), 0, SEEK_CUR));
  sroce_queue_pair_close(pair);
}

TEST_F(ProviderQueuePair, ReceiveInResetIsRejected) {
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_recv_wr recv{}, *bad_recv = nullptr;
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_RESET, &recv, &bad_recv), EINVAL);
  EXPECT_EQ(bad_recv, &recv);
  EXPECT_EQ(kernel.receive_queue(setup.where).head().producer, 0u);
  sroce_queue_pair_close(pair);
}

TEST_F(ProviderQueuePair, DatagramQueueRejectsWrite) {
  setup.qp_type = IBV_QPT_UD;
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_send_wr write{}, *bad_wr = nullptr;
  write.opcode = IBV_WR_RDMA_WRITE;
  EXPECT_EQ(sroce_post_send(pair, &write, &bad_wr), EINVAL);
  sroce_queue_pair_close(pair);
}

TEST_F(ProviderQueuePair, SlotsTooSmallForCapsAreRejected) {
  setup.cap.max_inline_data = 512;
  errno = 0;
  EXPECT_FALSE(sroce_queue_pair_open(&setup));
  EXPECT_EQ(errno, EPROTO);
  setup.cap = kCap;
  setup.cap.max_recv_sge = 5;
  errno = 0;
  EXPECT_FALSE(sroce_queue_pair_open(&setup));
  EXPECT_EQ(errno, EPROTO);
}

TEST_F(ProviderQueuePair, WithASharedReceiveQueueItHasNoneOfItsOwn) {
  setup.shares_receive_queue = 1;
  errno = 0;
  EXPECT_FALSE(sroce_queue_pair_open(&setup)) << "the kernel has made one";
  EXPECT_EQ(errno, EPROTO);
  setup.where.recv_head = setup.where.recv_slots = setup.where.recv_count = 0;
  setup.where.recv_stride = 0;
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_recv_wr recv{}, *bad_recv = nullptr;
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_RTS, &recv, &bad_recv), EINVAL);
  EXPECT_EQ(bad_recv, &recv);
  ibv_send_wr send{}, *bad_send;
  send.opcode = IBV_WR_SEND;
  EXPECT_EQ(sroce_post_send(pair, &send, &bad_send), 0);
  sroce_queue_pair_close(pair);
  setup.shares_receive_queue = 0;
  EXPECT_FALSE(sroce_queue_pair_open(&setup)) << "a QP without a receive queue";
}

class ProviderSharedQueue : public testing::Test {
 protected:
  ProviderSharedQueue() {
    srq = sroce_shared_receive_queue_open(kernel.fd(), &where, kMaxSge, 0);
    EXPECT_TRUE(srq);
  }
  ~ProviderSharedQueue() override { sroce_shared_receive_queue_close(srq); }

  int post(std::uint64_t wr_id, int num_sge = 1) {
    ibv_sge list[kMaxSge + 1] = {{0x1000, 10, 3}, {0x2000, 20, 4}, {0x3000, 30, 5}};
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = wr_id;
    wr.sg_list = list;
    wr.num_sge = num_sge;
    const int err = sroce_post_srq_recv(srq, &wr, &bad);
    EXPECT_EQ(bad, err ? &wr : nullptr);
    return err;
  }

  static constexpr std::uint32_t kMaxSge = 2;
  static constexpr std::uint32_t kStride = 8 + kMaxSge * 16;
  KernelMemory kernel;
  sroce_create_srq_resp where = kernel.add_shared_queue(4, kStride);
  sroce_shared_receive_queue* srq;
};

TEST_F(ProviderSharedQueue, RequestReachesItsSlot) {
  EXPECT_EQ(post(7, 2), 0);
  EXPECT_EQ(post(8, 3), EINVAL);
  KernelQueue queue = kernel.shared_queue(where);
  EXPECT_EQ(queue.head().producer, 1u);
  EXPECT_EQ(queue.copy<sroce_recv_slot>(0).wr_id, 7u);
  for (std::uint64_t wr_id = 1; wr_id < 4; wr_id++) EXPECT_EQ(post(wr_id), 0);
  EXPECT_EQ(post(9), ENOMEM);
  queue.head().consumer = 1;
  EXPECT_EQ(post(9), 0);
}

TEST_F(ProviderSharedQueue, ResizePostsToTheNewRing) {
  const sroce_create_srq_resp larger = kernel.add_shared_queue(16, kStride);
  EXPECT_EQ(post(1), 0);
  const auto change = [](void* context, sroce_create_srq_resp* to) {
    *to = *static_cast<const sroce_create_srq_resp*>(context);
    return 0;
  };
  ASSERT_EQ(sroce_resize_srq(srq, kernel.fd(), change, const_cast<sroce_create_srq_resp*>(&larger)),
            0);
  EXPECT_EQ(post(2), 0);
  EXPECT_EQ(kernel.shared_queue(where).head().producer, 1u);
  EXPECT_EQ(kernel.shared_queue(larger).head().producer, 1u);
  EXPECT_EQ(kernel.shared_queue(larger).copy<sroce_recv_slot>(0).wr_id, 2u);
}

TEST_F(ProviderSharedQueue, FailedResizeChangesNothing) {
  const auto fail = [](void*, sroce_create_srq_resp*) { return EINVAL; };
  EXPECT_EQ(sroce_resize_srq(srq, kernel.fd(), fail, nullptr), EINVAL);
  EXPECT_EQ(post(1), 0);
  EXPECT_EQ(kernel.shared_queue(where).head().producer, 1u);
}

TEST_F(ProviderSharedQueue, PostingFailsIfTheNewRingCannotBeMapped) {
  const auto malformed = [](void* context, sroce_create_srq_resp* to) {
    *to = *static_cast<const sroce_create_srq_resp*>(context);
    to->stride = kStride - 8;
    return 0;
  };
  EXPECT_EQ(sroce_resize_srq(srq, kernel.fd(), malformed, &where), EPROTO);
  EXPECT_EQ(post(1), EIO);
  EXPECT_EQ(kernel.shared_queue(where).head().producer, 0u);
}

TEST_F(ProviderSharedQueue, MalformedQueueIsRejected) {
  errno = 0;
  EXPECT_FALSE(sroce_shared_receive_queue_open(kernel.fd(), &where, kMaxSge + 1, 0));
  EXPECT_EQ(errno, EPROTO);
  errno = 0;
  EXPECT_FALSE(sroce_shared_receive_queue_open(-1, &where, kMaxSge, 0));
  EXPECT_EQ(errno, EBADF);
}

/// A QP with the ibv_wr_*() functions.
class ProviderWorkRequests : public ProviderQueuePair {
 protected:
  void open(ibv_qp_type type, std::uint64_t ops) {
    setup.qp_type = type;
    ASSERT_EQ(sroce_offer_work_requests(&qp, type, ops, SROCE_LATE_FUNCTIONS), 0);
    qp.queues = sroce_queue_pair_open(&setup);
    ASSERT_TRUE(qp.queues);
  }
  ~ProviderWorkRequests() override { sroce_queue_pair_close(qp.queues); }

  sroce_send_slot posted(std::uint32_t index) {
    return kernel.send_queue(setup.where).copy<sroce_send_slot>(index);
  }

  sroce_qp_object qp{};
};

constexpr std::uint64_t kAllOps =
    IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_SEND_WITH_INV |
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

TEST_F(ProviderWorkRequests, OneSidedRequestsCarryTheirTarget) {
  open(IBV_QPT_RC, kAllOps);
  ibv_wr_start(&qp.base);
  qp.base.wr_id = 1;
  qp.base.wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write_imm(&qp.base, 5, 0x1000, 77);
  ibv_wr_set_sge(&qp.base, 9, 0x2000, 30);
  qp.base.wr_id = 2;
  ibv_wr_rdma_read(&qp.base, 6, 0x3000);
  qp.base.wr_id = 3;
  ibv_wr_atomic_cmp_swp(&qp.base, 7, 0x4000, 11, 12);
  ASSERT_EQ(ibv_wr_complete(&qp.base), 0);
  EXPECT_EQ(posted(0).wr_id, 1u);
  EXPECT_EQ(posted(0).flags, unsigned{IBV_SEND_SIGNALED});
  EXPECT_EQ(posted(0).imm_data, 77u);
  EXPECT_EQ(posted(0).rkey, 5u);
  EXPECT_EQ(posted(0).remote_addr, 0x1000u);
  EXPECT_EQ(posted(0).length, 30u);
  EXPECT_EQ(posted(1).opcode, unsigned{IBV_WR_RDMA_READ});
  EXPECT_EQ(posted(1).rkey, 6u);
  EXPECT_EQ(posted(2).compare_add, 11u);
  EXPECT_EQ(posted(2).swap, 12u);
  EXPECT_EQ(posted(2).rkey, 7u);
}

TEST_F(ProviderWorkRequests, AtomicWriteCarriesItsValueInline) {
  open(IBV_QPT_RC, kAllOps | IBV_QP_EX_WITH_ATOMIC_WRITE);
  const std::uint64_t value = 0x0102030405060708;
  ibv_wr_start(&qp.base);
  qp.base.wr_id = 1;
  qp.base.wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_atomic_write(&qp.base, 5, 0x1000, &value);
  ASSERT_EQ(ibv_wr_complete(&qp.base), 0);
  EXPECT_EQ(posted(0).opcode, unsigned{IBV_WR_ATOMIC_WRITE});
  EXPECT_EQ(posted(0).flags, unsigned{IBV_SEND_SIGNALED | IBV_SEND_INLINE});
  EXPECT_EQ(posted(0).rkey, 5u);
  EXPECT_EQ(posted(0).remote_addr, 0x1000u);
  EXPECT_EQ(posted(0).length, 8u);
  EXPECT_EQ(posted(0).num_sge, 0u);
  struct Request {
    sroce_send_slot slot;
    std::uint64_t value;
  };
  EXPECT_EQ(kernel.send_queue(setup.where).copy<Request>(0).value, value);
}

TEST_F(ProviderWorkRequests, UcWriteCarriesItsTarget) {
  open(IBV_QPT_UC, IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE);
  ibv_wr_start(&qp.base);
  ibv_wr_rdma_write(&qp.base, 5, 0x1000);
  ibv_wr_set_sge(&qp.base, 9, 0x2000, 30);
  ASSERT_EQ(ibv_wr_complete(&qp.base), 0);
  EXPECT_EQ(posted(0).rkey, 5u);
  EXPECT_EQ(posted(0).remote_addr, 0x1000u);
}

TEST_F(ProviderWorkRequests, DatagramCarriesItsAddressHandle) {
  open(IBV_QPT_UD, IBV_QP_EX_WITH_SEND_WITH_IMM);
  sroce_ah ah{};
  ah.number = 77;
  ibv_wr_start(&qp.base);
  ibv_wr_send_imm(&qp.base, 3);
  ibv_wr_set_ud_addr(&qp.base, &ah.base, 5, 0x11111111);
  ASSERT_EQ(ibv_wr_complete(&qp.base), 0);
  EXPECT_EQ(posted(0).ud.ah, 77u);
  EXPECT_EQ(posted(0).ud.dest_qpn, 5u);
  EXPECT_EQ(posted(0).qkey, 0x11111111u);
}

TEST(ProviderWorkRequestOps, UnsupportedOperationsAreRejected) {
  sroce_qp_object qp{};
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_RC, IBV_QP_EX_WITH_TSO, SROCE_LATE_FUNCTIONS),
            EOPNOTSUPP);
  EXPECT_EQ(
      sroce_offer_work_requests(&qp, IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE, SROCE_LATE_FUNCTIONS),
      EOPNOTSUPP);
  EXPECT_EQ(
      sroce_offer_work_requests(&qp, IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ, SROCE_LATE_FUNCTIONS),
      EOPNOTSUPP);
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_RC, IBV_QP_EX_WITH_SEND, SROCE_LATE_FUNCTIONS),
            0);
  EXPECT_FALSE(qp.base.wr_rdma_read) << "only the requested operations are set";
}

/// A late function of @p qp, whether or not the headers have it.
void* late_function(const sroce_qp_object& qp, unsigned index) {
  void* function;
  std::memcpy(&function, qp.room + offsetof(ibv_qp_ex, wr_abort) + (1 + index) * sizeof(function),
              sizeof(function));
  return function;
}

TEST(ProviderWorkRequestOps, LateFunctionsAreOfferedIfTheLibraryHasThem) {
  constexpr std::uint64_t flush = 1 << 11, atomic_write = 1 << 12;
  sroce_qp_object qp{};
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_RC, atomic_write, 0), EOPNOTSUPP);
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_RC, flush, 1), EOPNOTSUPP);
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_UC, flush, 2), EOPNOTSUPP);
  EXPECT_FALSE(late_function(qp, 0));
  EXPECT_FALSE(late_function(qp, 1));
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_RC, atomic_write, 1), 0);
  sroce_mark_extended(&qp, 1);
  EXPECT_TRUE(late_function(qp, 0));
  EXPECT_EQ(late_function(qp, 1), reinterpret_cast<void*>(2)) << "comp_mask";
  qp = {};
  EXPECT_EQ(sroce_offer_work_requests(&qp, IBV_QPT_RC, flush | atomic_write, 2), 0);
  EXPECT_TRUE(late_function(qp, 0));
  EXPECT_TRUE(late_function(qp, 1));
}

TEST(ProviderPolling, ExtendedPollReadsTheEntry) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, 6);
  sroce_cq_object cq{};
  ASSERT_EQ(sroce_offer_polling(&cq, IBV_WC_STANDARD_FLAGS), 0);
  cq.queue = sroce_completion_queue_open(kernel.fd(), &where, 1);
  ASSERT_TRUE(cq.queue);
  ibv_poll_cq_attr attr{};
  EXPECT_EQ(ibv_start_poll(&cq.base, &attr), ENOENT);
  ib_uverbs_wc entry{};
  entry.wr_id = 7;
  entry.status = IBV_WC_RETRY_EXC_ERR;
  entry.opcode = IBV_WC_RECV;
  entry.byte_len = 30;
  entry.ex.imm_data = 5;
  entry.qp_num = 17;
  entry.src_qp = 18;
  entry.wc_flags = IBV_WC_WITH_IMM;
  kernel.ring(where).produce(entry);
  ASSERT_EQ(ibv_start_poll(&cq.base, &attr), 0);
  EXPECT_EQ(cq.base.wr_id, 7u);
  EXPECT_EQ(cq.base.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(ibv_wc_read_opcode(&cq.base), IBV_WC_RECV);
  EXPECT_EQ(ibv_wc_read_byte_len(&cq.base), 30u);
  EXPECT_EQ(ibv_wc_read_imm_data(&cq.base), 5u);
  EXPECT_EQ(ibv_wc_read_qp_num(&cq.base), 17u);
  EXPECT_EQ(ibv_wc_read_src_qp(&cq.base), 18u);
  EXPECT_EQ(ibv_wc_read_wc_flags(&cq.base), unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(ibv_next_poll(&cq.base), ENOENT);
  ibv_end_poll(&cq.base);
  attr.comp_mask = 1;
  EXPECT_EQ(ibv_start_poll(&cq.base, &attr), EINVAL);
  sroce_completion_queue_close(cq.queue);
}

TEST(ProviderPolling, TimestampsAreReadByEitherClock) {
  struct Stamped {
    ib_uverbs_wc wc;
    std::uint64_t stamp;
  };
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, 6);
  sroce_cq_object cq{};
  ASSERT_EQ(sroce_offer_polling(&cq, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                         IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK),
            0);
  cq.queue = sroce_completion_queue_open(kernel.fd(), &where, 1);
  ASSERT_TRUE(cq.queue);
  const std::uint64_t stamp = sroce_clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t before = sroce_clock_ns(CLOCK_REALTIME);
  kernel.ring(where).produce(Stamped{{}, stamp});
  ibv_poll_cq_attr attr{};
  ASSERT_EQ(ibv_start_poll(&cq.base, &attr), 0);
  EXPECT_EQ(ibv_wc_read_completion_ts(&cq.base), stamp);
  const std::uint64_t wall = ibv_wc_read_completion_wallclock_ns(&cq.base);
  // The clocks are read one after the other, and the machine may be busy meanwhile.
  EXPECT_NEAR(static_cast<double>(wall), static_cast<double>(before), 60e9);
  ibv_end_poll(&cq.base);
  sroce_completion_queue_close(cq.queue);
}

TEST(ProviderPolling, OtherFieldsAreUnsupported) {
  sroce_cq_object cq{};
  EXPECT_EQ(sroce_offer_polling(&cq, IBV_WC_EX_WITH_CVLAN), EOPNOTSUPP);
  EXPECT_EQ(sroce_offer_polling(&cq, IBV_WC_EX_WITH_BYTE_LEN), 0);
  EXPECT_FALSE(cq.base.read_completion_ts) << "only the requested fields are set";
}

TEST(ProviderCompletionQueue, ResizePassesContextToTheCallback) {
  KernelMemory kernel;
  const mminfo small = kernel.add_ring(4, 6), large = kernel.add_ring(16, 6);
  sroce_completion_queue* cq = sroce_completion_queue_open(kernel.fd(), &small, 0);
  ASSERT_TRUE(cq);
  const auto change = [](void* context, mminfo* where) {
    *where = *static_cast<const mminfo*>(context);
    return 0;
  };
  EXPECT_EQ(sroce_resize_cq(cq, kernel.fd(), change, const_cast<mminfo*>(&large)), 0);
  ib_uverbs_wc entry{};
  entry.wr_id = 7;
  kernel.ring(large).produce(entry);
  std::array<ibv_wc, 4> polled;
  EXPECT_EQ(sroce_poll_cq(cq, 0, polled.data()), 0);
  EXPECT_EQ(sroce_poll_cq(cq, 4, polled.data()), 1);
  EXPECT_EQ(polled[0].wr_id, 7u);
  sroce_completion_queue_close(cq);
}

TEST(ProviderCompletionQueue, PollingFailsIfTheNewRingCannotBeMapped) {
  KernelMemory kernel;
  const mminfo small = kernel.add_ring(4, 6);
  sroce_cq_object cq{};
  ASSERT_EQ(sroce_offer_polling(&cq, IBV_WC_STANDARD_FLAGS), 0);
  cq.queue = sroce_completion_queue_open(kernel.fd(), &small, 0);
  ASSERT_TRUE(cq.queue);
  kernel.ring(small).produce(ib_uverbs_wc{});
  const auto nowhere = [](void*, mminfo* where) {
    where->size = 0;
    return 0;
  };
  std::array<ibv_wc, 4> polled;
  ibv_poll_cq_attr attr{};
  EXPECT_NE(sroce_resize_cq(cq.queue, kernel.fd(), nowhere, nullptr), 0);
  EXPECT_EQ(sroce_poll_cq(cq.queue, 4, polled.data()), 1) << "an entry of the old ring";
  EXPECT_EQ(sroce_poll_cq(cq.queue, 4, polled.data()), -EIO);
  EXPECT_EQ(ibv_start_poll(&cq.base, &attr), EIO);
  sroce_completion_queue_close(cq.queue);
}

TEST_F(ProviderQueuePair, ErrorOfADoorbellDoesNotOutliveAReset) {
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_send_wr send{}, *bad_wr;
  send.opcode = IBV_WR_SEND;
  kernel.send_queue(setup.where).suppress_doorbell(true);
  EXPECT_EQ(sroce_post_send(pair, &send, &bad_wr), 0);
  const int copy = dup(kernel.fd());
  close(kernel.fd());
  sroce_queue_pair_ring_if_due(pair);
  dup2(copy, kernel.fd());
  close(copy);
  EXPECT_EQ(sroce_post_send(pair, &send, &bad_wr), 0);
  sroce_queue_pair_close(pair);
}

}  // namespace
