// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The send ring of a process, and the storage that its requests are copied to.
#ifndef TESTS_UNIT_KERNEL_SEND_RING_H
#define TESTS_UNIT_KERNEL_SEND_RING_H

#include "stand_in/shmem.h"
#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/send_queue.h"
#include "uapi/sroce_abi.h"
}

// The storage is an allocation of its own, so that the sanitizer finds what is beyond its end.
struct SendRing : QueuePair {
  static constexpr u32 SLOTS = 4;
  static constexpr u32 MAX_SGE = 2;
  static constexpr u32 MAX_INLINE = MAX_SGE * sizeof(sroce_sge);
  static constexpr u32 STRIDE = sizeof(sroce_send_wqe) + MAX_INLINE;

  explicit SendRing(sroce_service service = SROCE_SERVICE_RC) : QueuePair(service) {
    qp.sq_storage = calloc(SLOTS, STRIDE);
    qp.req.ring = qp.sq_storage;
    qp.req.stride = STRIDE;
    qp.req.attr.max_rd_atomic = 4;
    qp.cap.max_send_sge = MAX_SGE;
    qp.cap.max_inline_data = MAX_INLINE;
  }
  ~SendRing() {
    sroce_ring_fini(&qp.sq_ring);
    free(qp.sq_storage);
  }

  void use_native() {
    ASSERT_EQ(0, sroce_ring_init_single(&qp.sq_ring, 8, 128));
    qp.is_user = qp.db.supported = true;
  }
  void use_rxe() {
    ASSERT_EQ(0, sroce_ring_init(&qp.sq_ring, 7, sizeof(rxe_send_wqe) + MAX_INLINE));
    qp.is_user = true;
  }
  // Its memory grows by use.
  void use_large_rxe() {
    sroce_ring_fini(&qp.sq_ring);
    ASSERT_EQ(0, sroce_ring_init_shmem(&qp.sq_ring, 128, 256));
    qp.is_user = true;
    qp.db.supported = false;
  }
  sroce_send_slot& native_slot(u32 index) {
    return *static_cast<sroce_send_slot*>(sroce_ring_at(&qp.sq_ring, index));
  }
  static rxe_sge* elements_of(sroce_send_slot& slot) {
    return reinterpret_cast<rxe_sge*>(&slot + 1);
  }
  rxe_send_wqe& rxe_slot(u32 index) {
    return *static_cast<rxe_send_wqe*>(sroce_ring_at(&qp.sq_ring, index));
  }
  static rxe_sge* rxe_elements_of(rxe_send_wqe& slot) {
    return reinterpret_cast<rxe_sge*>(&slot + 1);
  }
  void post(u32 requests) { *qp.sq_ring.producer = posted += requests; }
  // How many requests it has fetched.
  u32 fetch() {
    const u32 before = sroce_requester_posted(&qp.req);
    sroce_send_queue_fetch(&qp);
    return sroce_requester_posted(&qp.req) - before;
  }
  sroce_send_wqe* wqe(u32 index) { return sroce_requester_wqe(&qp.req, index); }
  // As if their completions had been pulled.
  void retire(u32 requests) { qp.req.retired += requests; }

  u32 posted = 0;
};

#endif
