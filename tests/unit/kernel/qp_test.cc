// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Creating queue pairs, for processes of both modes and for the kernel: kernel/verbs/qp.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/send_queue.h"
#include "stand_in/qp.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"
}

namespace {

// Another QP than that of the fixture, with the same device and CQs.
struct CreateQp : testing::Test, QueuePair {
  CreateQp() {
    stand_in_qp = {};
    attr.qp_type = IB_QPT_RC;
    attr.send_cq = attr.recv_cq = &cq.ibcq;
    attr.sq_sig_type = IB_SIGNAL_REQ_WR;
    attr.cap = {10, 20, 2, 3, 40};
    rxe.outbuf = &rxe_response;
    rxe.outlen = sizeof(rxe_response);
    native.outbuf = &native_response;
    native.outlen = sizeof(native_response);
    native.is_native = true;
  }
  ~CreateQp() override {
    EXPECT_EQ(0, stand_in_qp.live);
    EXPECT_EQ(0, stand_in_qp.in_table);
    EXPECT_EQ(0, stand_in_qp.mappings);
  }

  int create(ib_udata* udata) {
    memset(static_cast<void*>(&created), 0, sizeof(created));
    created.ibqp.device = &dev.ibdev;
    created.ibqp.pd = &pd;
    created.ibqp.qp_type = attr.qp_type;
    memset(stand_in_qp.steps, 0, sizeof(stand_in_qp.steps));
    stand_in_qp.inserts = 0;
    return sroce_create_qp(&created.ibqp, &attr, udata);
  }
  void destroy() { EXPECT_EQ(0, sroce_destroy_qp(&created.ibqp, nullptr)); }
  // The error of a creation that must fail, from attributes that stay as they are.
  int error_with(ib_udata* udata, const ib_qp_init_attr& wrong) {
    const ib_qp_init_attr before = attr;
    attr = wrong;
    const int err = create(udata);
    if (!err) destroy();
    attr = before;
    return err;
  }

  ib_qp_init_attr attr = {};
  ib_udata rxe = {};
  ib_udata native = {};
  rxe_create_qp_resp rxe_response = {};
  sroce_create_qp_resp native_response = {};
  sroce_qp created;
};

TEST_F(CreateQp, NativeQueuesAreInOneMapping) {
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(1u, stand_in_qp.inserts);
  EXPECT_EQ(4096u, native_response.offset);
  EXPECT_EQ(16u, native_response.send_count);
  EXPECT_EQ(32u, native_response.recv_count);
  EXPECT_EQ(128u, native_response.send_stride) << "48 bytes and 40 inline, in whole lines";
  EXPECT_EQ(8 + 3 * 16u, native_response.recv_stride);
  EXPECT_EQ(16u, attr.cap.max_send_wr);
  EXPECT_EQ(32u, attr.cap.max_recv_wr);
  // Each queue fits the mapping, behind what comes before.
  EXPECT_GE(native_response.recv_slots, native_response.recv_head + sizeof(sroce_queue_head));
  EXPECT_GE(native_response.send_slots,
            native_response.recv_slots + 32 * native_response.recv_stride);
  EXPECT_GE(native_response.size, native_response.send_slots + 16 * native_response.send_stride);
  EXPECT_TRUE(created.is_user && created.db.supported);
  EXPECT_EQ(u32{SROCE_FIRST_SLOTS}, sroce_requester_slots(&created.req)) << "it grows";
  EXPECT_STREQ("ia", stand_in_qp.steps);
  destroy();
}

TEST_F(CreateQp, RxeRingsHaveAMappingEach) {
  ASSERT_EQ(0, create(&rxe));
  EXPECT_EQ(2u, stand_in_qp.inserts);
  EXPECT_EQ(4096u, rxe_response.sq_mi.offset);
  EXPECT_EQ(8192u, rxe_response.rq_mi.offset);
  EXPECT_EQ(15u, attr.cap.max_send_wr) << "one slot stays empty";
  EXPECT_EQ(31u, attr.cap.max_recv_wr);
  EXPECT_TRUE(created.is_user);
  EXPECT_FALSE(created.db.supported);
  destroy();
}

TEST_F(CreateQp, LargeSendRingOfRxeGrows) {
  attr.cap = {128, 128, 1, 1, 0};
  ASSERT_EQ(0, create(&rxe));
  EXPECT_TRUE(created.sq_ring.memory->file);
  EXPECT_FALSE(created.own_recv_queue.ring.memory->file) << "no doorbell gets its pages";
  destroy();
  ASSERT_EQ(0, create(&native));
  EXPECT_FALSE(created.sq_ring.memory->file) << "small, and faster";
  destroy();
}

TEST_F(CreateQp, KernelHasAllSlotsAtOnce) {
  ASSERT_EQ(0, create(nullptr));
  EXPECT_FALSE(created.is_user);
  EXPECT_EQ(16u, sroce_requester_slots(&created.req));
  EXPECT_EQ(0u, stand_in_qp.inserts);
  destroy();
}

TEST_F(CreateQp, ListAndInlineDataShareTheirSpace) {
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(40u, attr.cap.max_inline_data);
  EXPECT_EQ(2u, attr.cap.max_send_sge);
  destroy();
  attr.cap.max_send_sge = 5;
  attr.cap.max_inline_data = 0;
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(80u, attr.cap.max_inline_data);
  EXPECT_EQ(5u, attr.cap.max_send_sge);
  EXPECT_GE(native_response.send_stride, 48 + 80u);
  EXPECT_GE(sroce_requester_stride(&created.req), sizeof(sroce_send_wqe) + 80);
  EXPECT_EQ(80u, created.cap.max_inline_data) << "what the copy of a request is limited to";
  destroy();
  attr.cap.max_send_sge = attr.cap.max_inline_data = 0;
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(8u, attr.cap.max_inline_data) << "an ATOMIC WRITE";
  destroy();
  attr.cap.max_inline_data = SROCE_MAX_INLINE_NATIVE;
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(u32{SROCE_MAX_SGE}, attr.cap.max_send_sge) << "no more than the device has";
  destroy();
}

TEST_F(CreateQp, LargestQueueKeepsASlot) {
  attr.cap.max_send_wr = SROCE_MAX_QP_WR;
  attr.cap.max_recv_wr = 0;
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(1u << 16, native_response.send_count);
  EXPECT_EQ(u32{SROCE_MAX_QP_WR}, attr.cap.max_send_wr);
  EXPECT_EQ(1u, native_response.recv_count);
  destroy();
}

TEST_F(CreateQp, SizesBeyondTheLimitsAreRejected) {
  const auto with = [&](auto change) {
    ib_qp_init_attr wrong = attr;
    change(wrong);
    return wrong;
  };
  for (ib_udata* udata : {&rxe, &native, static_cast<ib_udata*>(nullptr)}) {
    const u32 max_inline = udata == &native ? SROCE_MAX_INLINE_NATIVE : SROCE_MAX_INLINE_BYTES;
    EXPECT_EQ(-EINVAL, error_with(udata, with([](auto& a) { a.cap.max_send_wr = 1 << 16; })));
    EXPECT_EQ(-EINVAL, error_with(udata, with([](auto& a) { a.cap.max_recv_wr = ~0u; })));
    EXPECT_EQ(-EINVAL, error_with(udata, with([](auto& a) { a.cap.max_send_sge = 33; })));
    EXPECT_EQ(-EINVAL, error_with(udata, with([](auto& a) { a.cap.max_recv_sge = ~0u; })));
    EXPECT_EQ(-EINVAL,
              error_with(udata, with([&](auto& a) { a.cap.max_inline_data = max_inline + 1; })));
    EXPECT_EQ(0, error_with(udata, with([&](auto& a) { a.cap.max_inline_data = max_inline; })));
  }
}

TEST_F(CreateQp, KindsThatDoNotExistAreRejected) {
  ib_qp_init_attr wrong = attr;
  wrong.qp_type = IB_QPT_SMI;
  EXPECT_EQ(-EOPNOTSUPP, error_with(&native, wrong));
  wrong = attr;
  wrong.create_flags = 1;
  EXPECT_EQ(-EOPNOTSUPP, error_with(&native, wrong));
  wrong = attr;
  wrong.send_cq = nullptr;
  EXPECT_EQ(-EINVAL, error_with(&native, wrong));
  wrong = attr;
  wrong.recv_cq = nullptr;
  EXPECT_EQ(-EINVAL, error_with(&native, wrong));
  wrong = attr;
  wrong.qp_type = IB_QPT_GSI;
  EXPECT_EQ(-EINVAL, error_with(nullptr, wrong)) << "port 0";
  wrong.port_num = 1;
  EXPECT_EQ(0, error_with(nullptr, wrong));
  sroce_srq srq = {};
  wrong.srq = &srq.ibsrq;
  EXPECT_EQ(-EOPNOTSUPP, error_with(nullptr, wrong));
}

TEST_F(CreateQp, EachTypeHasItsService) {
  const auto service_of = [&](ib_qp_type type) {
    attr.qp_type = type;
    EXPECT_EQ(0, create(nullptr));
    EXPECT_EQ(created.service, created.req.service);
    EXPECT_EQ(created.service, created.resp.service);
    const u8 service = created.service;
    destroy();
    return service;
  };
  EXPECT_EQ(SROCE_SERVICE_RC, service_of(IB_QPT_RC));
  EXPECT_EQ(SROCE_SERVICE_UC, service_of(IB_QPT_UC));
  EXPECT_EQ(SROCE_SERVICE_UD, service_of(IB_QPT_UD));
  attr.port_num = 1;
  EXPECT_EQ(SROCE_SERVICE_UD, service_of(IB_QPT_GSI));
  ib_xrcd xrcd = {};
  attr.xrcd = &xrcd;
  EXPECT_EQ(SROCE_SERVICE_XRC, service_of(IB_QPT_XRC_TGT));
}

// Only a native process sends by XRC, and only the kernel receives.
TEST_F(CreateQp, XrcHasTwoSides) {
  ib_xrcd xrcd = {};
  attr.xrcd = &xrcd;
  attr.qp_type = IB_QPT_XRC_TGT;
  EXPECT_EQ(-EOPNOTSUPP, error_with(&native, attr));
  EXPECT_EQ(-EOPNOTSUPP, error_with(&rxe, attr));
  EXPECT_EQ(0, error_with(nullptr, attr));
  attr.xrcd = nullptr;
  EXPECT_EQ(-EINVAL, error_with(nullptr, attr));
  attr.qp_type = IB_QPT_XRC_INI;
  attr.recv_cq = nullptr;
  EXPECT_EQ(-EOPNOTSUPP, error_with(&rxe, attr));
  EXPECT_EQ(-EOPNOTSUPP, error_with(nullptr, attr));
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(0u, native_response.recv_count + native_response.recv_slots);
  EXPECT_EQ(&cq, created.recv_cq);
  EXPECT_EQ(0u, attr.cap.max_recv_wr + attr.cap.max_recv_sge);
  destroy();
  sroce_srq srq = {};
  attr.srq = &srq.ibsrq;
  EXPECT_EQ(-EINVAL, error_with(&native, attr));
  attr.srq = nullptr;
  attr.send_cq = nullptr;
  EXPECT_EQ(-EINVAL, error_with(&native, attr));
}

TEST_F(CreateQp, TargetOfXrcHasNoSizes) {
  ib_xrcd xrcd = {};
  attr.xrcd = &xrcd;
  attr.qp_type = IB_QPT_XRC_TGT;
  attr.send_cq = attr.recv_cq = nullptr;
  attr.cap = {~0u, ~0u, ~0u, ~0u, ~0u};
  ASSERT_EQ(0, create(nullptr));
  EXPECT_EQ(0u, attr.cap.max_send_wr + attr.cap.max_send_sge + attr.cap.max_inline_data);
  EXPECT_EQ(0u, created.cap.max_send_wr) << "nobody posts to it";
  EXPECT_EQ(u32{SROCE_MAX_SGE}, created.recv_queue->max_sge) << "of any shared queue";
  destroy();
}

// libfabric names one. The packets do, too.
TEST_F(CreateQp, SharedQueueOfATargetMeansNothing) {
  ib_xrcd xrcd = {};
  sroce_srq srq = {};
  attr.xrcd = &xrcd;
  attr.srq = &srq.ibsrq;
  attr.qp_type = IB_QPT_XRC_TGT;
  ASSERT_EQ(0, create(nullptr));
  EXPECT_EQ(nullptr, created.srq);
  EXPECT_EQ(&created.own_recv_queue, created.recv_queue);
  destroy();
}

TEST_F(CreateQp, SharedReceiveQueueStandsForItsOwn) {
  sroce_srq srq = {};
  attr.srq = &srq.ibsrq;
  attr.cap.max_recv_wr = attr.cap.max_recv_sge = ~0u;
  ASSERT_EQ(0, create(&native));
  EXPECT_EQ(&srq.queue, created.recv_queue);
  EXPECT_EQ(0u, native_response.recv_count);
  destroy();
  attr.cap.max_recv_wr = 5;
  ASSERT_EQ(0, create(&rxe));
  EXPECT_EQ(1u, stand_in_qp.inserts);
  destroy();
}

TEST_F(CreateQp, ResponseMustFit) {
  rxe.outlen--;
  native.outlen--;
  EXPECT_EQ(-EINVAL, create(&rxe));
  EXPECT_EQ(-EINVAL, create(&native));
  native.outlen++;
  native.error = -EFAULT;
  EXPECT_EQ(-EFAULT, create(&native)) << "the mapping goes, too";
}

TEST_F(CreateQp, FailureAtAnyStepLeavesNothing) {
  for (ib_udata* udata : {&rxe, &native, static_cast<ib_udata*>(nullptr)}) {
    int err = -ENOMEM;
    u32 n = 0;
    while (err && ++n < 20) {
      stand_in.fail_allocation = n;
      err = create(udata);
      EXPECT_TRUE(!err || err == -ENOMEM);
    }
    stand_in.fail_allocation = 0;
    EXPECT_EQ(0, err);
    EXPECT_GT(n, 3u);
    destroy();
  }
  stand_in_qp.mmap_error = -ENOMEM;
  EXPECT_EQ(-ENOMEM, create(&native));
  stand_in_qp.mmap_error = 0;
  stand_in_qp.init_error = -ENOMEM;
  EXPECT_EQ(-ENOMEM, create(&native));
  stand_in_qp.init_error = 0;
  stand_in_qp.add_error = -ENOSPC;
  EXPECT_EQ(-ENOSPC, create(&native));
  EXPECT_STREQ("iasqu", stand_in_qp.steps);
}

// A packet that looks the QP up after it was stopped finds it dying.
TEST_F(CreateQp, DestroyedInOrder) {
  ASSERT_EQ(0, create(&native));
  sroce_ring_set_no_doorbell(&created.sq_ring, true);
  sroce_ring_memory* memory = created.sq_ring.memory;
  kref_get(&memory->refs);  // the process still maps it
  destroy();
  EXPECT_STREQ("iasrqu", stand_in_qp.steps);
  EXPECT_EQ(0u, static_cast<sroce_queue_head*>(memory->buf)->no_doorbell)
      << "the process rings, and learns that the device has gone";
  sroce_ring_memory_put(memory);
}

TEST_F(CreateQp, SerialsNeverRepeat) {
  ASSERT_EQ(0, create(nullptr));
  const u64 serial = created.serial;
  destroy();
  ASSERT_EQ(0, create(nullptr));
  EXPECT_NE(0u, serial);
  EXPECT_GT(created.serial, serial);
  destroy();
}

// ib_core lists it until it has been destroyed.
TEST_F(CreateQp, QueryOfOneThatIsGoingTouchesNothing) {
  ASSERT_EQ(0, create(nullptr));
  ib_qp_attr now;
  ib_qp_init_attr init;
  ASSERT_EQ(0, sroce_query_qp(&created.ibqp, &now, 0, &init));
  EXPECT_EQ(0, stand_in_datapath.users) << "it does not keep it from going";
  destroy();
  EXPECT_EQ(-EAGAIN, sroce_query_qp(&created.ibqp, &now, 0, &init));
}

TEST_F(CreateQp, QueryReportsWhatWasSet) {
  attr.sq_sig_type = IB_SIGNAL_ALL_WR;
  ASSERT_EQ(0, create(nullptr));
  ib_qp_attr now;
  ib_qp_init_attr init;
  created.state = IB_QPS_RTS;
  created.req.attr.mtu_bytes = 1024;
  created.req.attr.dest_qpn = PEER_QPN;
  created.resp.attr.qkey = QKEY;
  created.timeout = 14;
  ASSERT_EQ(0, sroce_query_qp(&created.ibqp, &now, 0, &init));
  EXPECT_EQ(IB_QPS_RTS, now.qp_state);
  EXPECT_EQ(IB_QPS_RTS, now.cur_qp_state);
  EXPECT_EQ(IB_MTU_1024, now.path_mtu);
  EXPECT_EQ(PEER_QPN, now.dest_qp_num);
  EXPECT_EQ(QKEY, now.qkey);
  EXPECT_EQ(14, now.timeout);
  EXPECT_EQ(1u, now.port_num);
  EXPECT_FALSE(now.sq_draining);
  EXPECT_EQ(attr.cap.max_send_wr, now.cap.max_send_wr);
  EXPECT_EQ(IB_SIGNAL_ALL_WR, init.sq_sig_type);
  EXPECT_EQ(&cq.ibcq, init.send_cq);
  created.state = IB_QPS_RESET;
  ASSERT_EQ(0, sroce_query_qp(&created.ibqp, &now, 0, &init));
  EXPECT_EQ(0u, now.port_num);
  EXPECT_FALSE(created.sq.lock.locked || created.rq.lock.locked || created.modify_lock.lock.locked);
  destroy();
}

}  // namespace
