// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Our objects in ib_core's list of resources: kernel/control/restrack.c.
#include <gtest/gtest.h>

#include <functional>

#include "unit/kernel/attributes.h"
#include "unit/kernel/queue_pair.h"

extern "C" {
#include "control/restrack.h"
#include "datapath/srq.h"
}

namespace {

using Details = std::map<std::string, u64>;

// The names and numbers of the one nest; none if nothing was written.
Details details_of(const sk_buff* skb) {
  Details details;
  if (!skb->len) return details;
  const Attributes all(skb->data, skb->len);
  Attributes::require(all.values.size() == 1);
  const Bytes& nest = all.values.find(RDMA_NLDEV_ATTR_DRIVER)->second;
  std::string name;
  for (u32 at = 0; at < nest.size();) {
    nlattr header;
    memcpy(&header, &nest[at], sizeof(header));
    const u8* value = &nest[at + NLA_HDRLEN];
    u64 number = 0;
    if (header.nla_type == RDMA_NLDEV_ATTR_DRIVER_STRING) {
      name = reinterpret_cast<const char*>(value);
    } else {
      memcpy(&number, value, header.nla_len - NLA_HDRLEN);
      Attributes::require(details.emplace(name, number).second);
    }
    at += NLA_ALIGN(header.nla_len);
  }
  return details;
}

// A QP of a process, with its shared queue and a region; all of one device.
struct Restrack : testing::Test, QueuePair {
  Restrack() {
    cq.ibcq.device = srq.ibsrq.device = mr.device = &dev.ibdev;
    srq.max_wr = 7;
    EXPECT_EQ(0, sroce_ring_init(&srq.queue.ring, 7, sizeof(rxe_recv_wqe)));
    mr.lkey = add_region(blocks, IOVA, 8192);
  }
  ~Restrack() override { sroce_srq_drop_ring(&srq); }

  // A message of @bytes.
  Details shown(const std::function<int(sk_buff*)>& put, u32 bytes = 4096) {
    sk_buff* skb = alloc_skb(bytes, GFP_KERNEL);
    error = put(skb);
    const Details details = details_of(skb);
    kfree_skb(skb);
    return details;
  }
  Details shown_qp() {
    return shown([&](sk_buff* skb) { return sroce_restrack_put_qp(skb, &qp.ibqp); });
  }
  Details shown_cq() {
    return shown([&](sk_buff* skb) { return sroce_restrack_put_cq(skb, &cq.ibcq); });
  }
  Details shown_srq() {
    return shown([&](sk_buff* skb) { return sroce_restrack_put_srq(skb, &srq.ibsrq); });
  }
  Details shown_mr() {
    return shown([&](sk_buff* skb) { return sroce_restrack_put_mr(skb, &mr); });
  }

  Blocks blocks{2, 4096};
  sroce_srq srq = {};
  ib_mr mr = {};
  int error = 0;
};

TEST_F(Restrack, QpHasBothQueues) {
  post_receive(0, 0, 0);
  qp.sq_posted = qp.req.retired + 3;
  qp.req.unacked_psn = 0xfffffe;
  qp.req.next_psn = qp.req.sent_psn = 1;
  qp.req.window.packets = 16;
  set_requester_counters();
  qp.resp.reorder.count = 4;
  const Details details = shown_qp();
  qp.resp.reorder.count = 0;
  EXPECT_EQ((Details{{"sq_wqes", 3},
                     {"unacked_psn", 0xfffffe},
                     {"sent_psn", 1},
                     {"inflight", 3},
                     {"window", 16},
                     {"srtt_ns", 7},
                     {"min_rtt_ns", 9},
                     {"retransmits", 1ull << 40},
                     {"timeouts", 5},
                     {"probes", 6},
                     {"rq_wqes", 1},
                     {"expected_psn", 100},
                     {"reorder_packets", 4}}),
            details);
  qp.srq = &srq;
  EXPECT_EQ(0u, shown_qp().count("rq_wqes"));
}

TEST_F(Restrack, QpThatIsBeingDestroyedHasNothing) {
  stand_in_datapath.qp = nullptr;
  EXPECT_EQ(Details{}, shown_qp());
  EXPECT_EQ(0, error);
}

TEST_F(Restrack, QpWhoseNumberIsUsedAgainHasNothing) {
  ib_qp old = qp.ibqp;
  EXPECT_EQ(Details{}, shown([&](sk_buff* skb) { return sroce_restrack_put_qp(skb, &old); }));
  EXPECT_EQ(0, error);
}

TEST_F(Restrack, CqHasItsEntriesAndItsModeration) {
  sroce_completion wc = {};
  const sroce_wc_extra extra = {.qp = &qp.ibqp};
  for (int i = 0; i < 2; i++) sroce_cq_post(&cq, &wc, &extra);
  cq.overflowed = true;
  sroce_cq_moderate(&cq, 4, 50);
  EXPECT_EQ(
      (Details{{"unread", 2}, {"overflowed", 1}, {"event_count", 4}, {"event_period_us", 50}}),
      shown_cq());
  sroce_cq_fini(&cq);
  EXPECT_EQ(Details{}, shown_cq()) << "it is being destroyed";
  EXPECT_EQ(0, error);
}

TEST_F(Restrack, SrqHasItsRequestsAndItsLimit) {
  srq.limit = 2;
  *srq.queue.ring.producer = 5;
  EXPECT_EQ((Details{{"wqes", 5}, {"max_wr", 7}, {"limit", 2}}), shown_srq());
  sroce_srq_drop_ring(&srq);
  EXPECT_EQ(Details{}, shown_srq()) << "it is being destroyed";
  EXPECT_EQ(0, error);
}

TEST_F(Restrack, MrHasItsStateAndItsWindowsButNoAddress) {
  regions.back()->windows = 2;
  EXPECT_EQ((Details{{"valid", 1}, {"windows", 2}}), shown_mr());
  regions.back()->windows = 0;
  mr.lkey += 1 << 8;
  EXPECT_EQ(Details{}, shown_mr()) << "nothing has this key";
}

TEST_F(Restrack, DetailsThatDoNotFitAreCutOff) {
  const std::vector<std::function<int(sk_buff*)>> all = {
      [&](sk_buff* skb) { return sroce_restrack_put_qp(skb, &qp.ibqp); },
      [&](sk_buff* skb) { return sroce_restrack_put_cq(skb, &cq.ibcq); },
      [&](sk_buff* skb) { return sroce_restrack_put_srq(skb, &srq.ibsrq); },
      [&](sk_buff* skb) { return sroce_restrack_put_mr(skb, &mr); },
  };
  for (const auto& put : all) {
    sk_buff* skb = alloc_skb(4096, GFP_KERNEL);
    EXPECT_EQ(0, put(skb));
    const u32 bytes = skb->len;
    kfree_skb(skb);
    for (u32 room = 0; room < bytes; room += NLA_ALIGNTO) {
      EXPECT_EQ(Details{}, shown(put, room));
      EXPECT_EQ(-EMSGSIZE, error);
    }
    EXPECT_NE(Details{}, shown(put, bytes));
  }
}

}  // namespace
