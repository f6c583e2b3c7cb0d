// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Finding a QP by its number, and the references to it: kernel/datapath/qp_table.c.
#include <gtest/gtest.h>

#include "stand_in/wait.h"

extern "C" {
#include "datapath/qp.h"
}

#include <deque>
#include <vector>

namespace {

constexpr u32 FIRST_QPN = 16;
// Those bits of a random number that count for the first QP number. It is chosen once.
constexpr u32 RANDOM = 0x123456;

struct QpTable : testing::Test {
  struct Qp : sroce_qp {
    explicit Qp(sroce_device* device, ib_qp_type type) : sroce_qp{} {
      dev = device;
      ibqp.qp_type = type;
      ref = sroce_qp_ref_create(this);
    }
    Qp(const Qp&) = delete;
  };
  QpTable() {
    stand_in = {};
    stand_in.random = 0xff000000 | RANDOM;
    stand_in_wait = {};
    stand_in_wait.v4 = &v4;
    stand_in_wait.v6 = &v6;
    current = this;
  }
  ~QpTable() override {
    for (Qp& qp : qps) {
      if (qp.ibqp.qp_num) sroce_qp_table_remove(&qp);
      if (qp.ref) sroce_qp_ref_put(qp.ref);
    }
    stand_in_grace_period();
    EXPECT_EQ(0u, sroce_qp_count());
    EXPECT_EQ(0, v4.refs + v6.refs);
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
  }
  Qp& add(ib_qp_type type = IB_QPT_RC, sroce_device* of = nullptr) {
    Qp& qp = qps.emplace_back(of ? of : &dev, type);
    EXPECT_EQ(0, sroce_qp_table_add(&qp));
    return qp;
  }
  void remove(Qp& qp) {
    sroce_qp_table_remove(&qp);
    qp.ibqp.qp_num = 0;
  }
  static void free(Qp& qp) {
    sroce_qp_ref_put(qp.ref);
    qp.ref = nullptr;
  }
  bool is_found(u32 qpn, sroce_device* on = nullptr) {
    sroce_qp* qp = sroce_qp_get(on ? &on->ep : &dev.ep, qpn);
    if (qp) sroce_qp_put(qp);
    return qp;
  }
  std::vector<sroce_qp*> iterate(u32 qpn = 0) {
    std::vector<sroce_qp*> all;
    while (sroce_qp* qp = sroce_qp_get_next(&dev.ep, &qpn)) {
      EXPECT_EQ(qp->ibqp.qp_num, qpn);
      EXPECT_EQ(2u, qp->ref->users.count);
      sroce_qp_put(qp);
      all.push_back(qp);
      qpn++;
    }
    return all;
  }

  static inline QpTable* current;
  sock v4 = {};
  sock v6 = {};
  sroce_device dev = {};
  sroce_device other = {};
  std::deque<Qp> qps;
};

TEST_F(QpTable, ReferenceHasAUserAHolderAndTheSockets) {
  Qp& qp = add();
  EXPECT_EQ(1u, qp.ref->users.count);
  EXPECT_EQ(1u, qp.ref->holders.count);
  EXPECT_EQ(&qp, qp.ref->qp);
  EXPECT_EQ(&v4, qp.ref->ipv4_sk);
  EXPECT_EQ(&v6, qp.ref->ipv6_sk);
  EXPECT_EQ(1, v4.refs);
  EXPECT_EQ(1u, sroce_qp_count());
}

TEST_F(QpTable, ReferenceWithoutMemoryOrSockets) {
  stand_in.fail_allocation = 1;
  sroce_qp qp = {};
  qp.dev = &dev;
  EXPECT_EQ(nullptr, sroce_qp_ref_create(&qp));
  EXPECT_EQ(0u, sroce_qp_count());
  EXPECT_EQ(0, v4.refs + v6.refs);
  stand_in_wait.v4 = stand_in_wait.v6 = nullptr;
  sroce_qp_ref* ref = sroce_qp_ref_create(&qp);
  sroce_qp_ref_put(ref);
  stand_in_grace_period();
  EXPECT_EQ(0u, sroce_qp_count());
}

// An skb in a qdisc is a holder. A lookup may have found the object before.
TEST_F(QpTable, ObjectIsFreedBehindItsLastHolder) {
  Qp& qp = add();
  sroce_qp_ref* ref = qp.ref;
  refcount_inc(&ref->holders);
  remove(qp);
  free(qp);
  EXPECT_EQ(nullptr, stand_in_wait.deferred);
  EXPECT_EQ(1u, sroce_qp_count());
  sroce_qp_ref_put(ref);
  EXPECT_EQ(1u, ref->users.count) << "until the end of the grace period";
  EXPECT_EQ(1u, sroce_qp_count());
  EXPECT_EQ(1, v4.refs);
  EXPECT_EQ(0u, stand_in_wait.wakeups);
  stand_in_grace_period();
  EXPECT_EQ(0u, sroce_qp_count());
  EXPECT_EQ(0, v4.refs);
  EXPECT_EQ(1u, stand_in_wait.wakeups);
}

TEST_F(QpTable, OneGracePeriodFreesManyObjects) {
  add();
  add();
  for (Qp& qp : qps) {
    remove(qp);
    free(qp);
  }
  EXPECT_EQ(2u, sroce_qp_count());
  stand_in_grace_period();
  EXPECT_EQ(0u, sroce_qp_count());
  EXPECT_EQ(1u, stand_in_wait.wakeups) << "by the last";
}

TEST_F(QpTable, NumbersAreUniqueAndNotUsedAgainSoon) {
  const u32 first = add().ibqp.qp_num;
  EXPECT_LT(FIRST_QPN + RANDOM, first);
  EXPECT_GT(FIRST_QPN + RANDOM + 10000, first);
  Qp& second = add();
  EXPECT_EQ(first + 1, second.ibqp.qp_num);
  remove(second);
  EXPECT_EQ(first + 2, add().ibqp.qp_num);
  EXPECT_EQ(first + 3, add(IB_QPT_RC, &other).ibqp.qp_num) << "in the module";
}

TEST_F(QpTable, FailedAddLeavesNothing) {
  Qp& qp = qps.emplace_back(&dev, IB_QPT_RC);
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_qp_table_add(&qp));
  EXPECT_TRUE(iterate().empty());
}

TEST_F(QpTable, QpIsFoundOnItsDevice) {
  Qp& qp = add();
  EXPECT_EQ(&qp, sroce_qp_get(&dev.ep, qp.ibqp.qp_num));
  EXPECT_EQ(2u, qp.ref->users.count);
  sroce_qp_put(&qp);
  EXPECT_FALSE(qp.ref->released.done);
  for (u32 other_qpn : {0u, FIRST_QPN, qp.ibqp.qp_num - 1, qp.ibqp.qp_num + 1, 0xffffffu})
    EXPECT_FALSE(is_found(other_qpn));
  EXPECT_FALSE(is_found(qp.ibqp.qp_num, &other));
  EXPECT_EQ(1u, qp.ref->users.count);
  const u32 qpn = qp.ibqp.qp_num;
  remove(qp);
  EXPECT_FALSE(is_found(qpn));
}

// ib_core lists a QP until the driver has destroyed it, and another may have its number by then.
TEST_F(QpTable, ListedQpIsItselfOrNone) {
  Qp& qp = add();
  qp.ibqp.device = &dev.ibdev;
  EXPECT_EQ(&qp, sroce_qp_get_listed(&qp.ibqp));
  EXPECT_EQ(2u, qp.ref->users.count);
  sroce_qp_put(&qp);
  ib_qp old = qp.ibqp;
  EXPECT_EQ(nullptr, sroce_qp_get_listed(&old));
  EXPECT_EQ(1u, qp.ref->users.count);
  old.qp_num++;
  EXPECT_EQ(nullptr, sroce_qp_get_listed(&old));
}

TEST_F(QpTable, GsiQpBelongsToItsDevice) {
  Qp& qp = add(IB_QPT_GSI);
  EXPECT_EQ(1u, qp.ibqp.qp_num);
  EXPECT_TRUE(is_found(1));
  EXPECT_FALSE(is_found(1, &other));
  Qp& second = qps.emplace_back(&dev, IB_QPT_GSI);
  EXPECT_EQ(-EBUSY, sroce_qp_table_add(&second));
  EXPECT_EQ(0u, second.ibqp.qp_num);
  EXPECT_EQ(qp.ref, dev.gsi) << "the first stays";
  Qp& elsewhere = add(IB_QPT_GSI, &other);
  EXPECT_EQ(&elsewhere, sroce_qp_get(&other.ep, 1));
  sroce_qp_put(&elsewhere);
  remove(qp);
  EXPECT_FALSE(is_found(1));
  EXPECT_TRUE(is_found(1, &other));
}

// A packet finds the QP at once.
TEST_F(QpTable, GsiQpHasItsNumberWhenItIsFound) {
  static u32 found;
  found = 0;
  stand_in.process = [](void*) {
    sroce_qp* qp = sroce_qp_get(&current->dev.ep, 1);
    if (!qp) return;
    found++;
    EXPECT_EQ(1u, qp->ibqp.qp_num);
    sroce_qp_put(qp);
  };
  add(IB_QPT_GSI);
  EXPECT_EQ(1u, found);
}

TEST_F(QpTable, LastUserCompletesTheRelease) {
  Qp& qp = add();
  sroce_qp* user = sroce_qp_get(&dev.ep, qp.ibqp.qp_num);
  sroce_qp_put(&qp);  // as sroce_qp_quiesce()
  EXPECT_FALSE(qp.ref->released.done);
  EXPECT_EQ(1u, qp.ref->users.count);
  sroce_qp_put(user);
  EXPECT_TRUE(qp.ref->released.done);
  EXPECT_FALSE(is_found(qp.ibqp.qp_num)) << "it is being destroyed";
}

// Destroyed between the look into the table and the reference.
TEST_F(QpTable, QpThatGoesDuringTheLookup) {
  Qp& qp = add();
  stand_in.loaded = [](void*) { sroce_qp_put(&current->qps.front()); };
  EXPECT_FALSE(is_found(qp.ibqp.qp_num));
  EXPECT_EQ(0u, qp.ref->users.count);
}

TEST_F(QpTable, IterationGoesByNumberAndKeepsToItsDevice) {
  Qp &a = add(), &foreign = add(IB_QPT_RC, &other), &b = add(), &dying = add(), &c = add();
  Qp& gsi = add(IB_QPT_GSI);
  (void)foreign;
  dying.ref->users.count = 0;
  EXPECT_EQ((std::vector<sroce_qp*>{&gsi, &a, &b, &c}), iterate());
  EXPECT_EQ((std::vector<sroce_qp*>{&b, &c}), iterate(a.ibqp.qp_num + 1));
  EXPECT_TRUE(iterate(c.ibqp.qp_num + 1).empty());
}

TEST_F(QpTable, IterationLetsOthersRun) {
  static u32 calls;
  calls = 0;
  stand_in.resched = [](void*) { calls++; };
  for (u32 i = 0; i < 3; i++) add(IB_QPT_RC, &other);
  iterate();
  EXPECT_EQ(4u, calls) << "also among the QPs of other devices";
}

TEST_F(QpTable, UnloadingWaitsForPacketsInTheStack) {
  Qp& qp = add();
  remove(qp);
  stand_in_wait.waiting = [](bool limited) {
    if (limited) return;
    free(current->qps.front());
    stand_in_grace_period();
  };
  sroce_qp_refs_wait();
  EXPECT_EQ(2u, stand_in_wait.waits) << "it reports, and waits on";
  EXPECT_EQ(0u, sroce_qp_count());
  EXPECT_EQ(1u, stand_in_wait.barriers) << "for the function that frees the last";
}

TEST_F(QpTable, UnloadingWithoutPacketsDoesNotWait) {
  sroce_qp_refs_wait();
  EXPECT_EQ(0u, stand_in_wait.waits);
}

}  // namespace
