// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Names and sums of the counters: kernel/net/counters.c and counters.h.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "stand_in/verbs.h"

extern "C" {
#include "net/counters.h"
}

namespace {

struct Counters : testing::Test {
  u64 sum(sroce_counter which) { return sroce_counter_sum(counters, which); }

  sroce_counters counters[STAND_IN_CPUS] = {};
};

TEST_F(Counters, NamesAreThoseThatToolsLookFor) {
  const std::pair<sroce_counter, const char*> names[] = {
      {SROCE_CTR_SENT_PKTS, "sent_pkts"},
      {SROCE_CTR_RCVD_PKTS, "rcvd_pkts"},
      {SROCE_CTR_RDMA_SEND, "rdma_sends"},
      {SROCE_CTR_OUT_OF_SEQUENCE, "out_of_sequence"},
      {SROCE_CTR_NP_ECN_MARKED, "np_ecn_marked_roce_packets"},
      {SROCE_CTR_ROCE_ADP_RETRANS, "roce_adp_retrans"},
      {SROCE_CTR_DROP_NO_ROUTE, "drop_no_route"},
  };
  for (auto [which, name] : names) EXPECT_STREQ(name, sroce_counter_descs[which].name);
}

TEST_F(Counters, EachHasANameOfItsOwn) {
  std::set<std::string> names;
  for (const rdma_stat_desc& desc : sroce_counter_descs) {
    const std::string name = desc.name;
    EXPECT_TRUE(std::all_of(name.begin(), name.end(),
                            [](char c) { return islower(c) || isdigit(c) || c == '_'; }))
        << name << " is not the name of a file like others";
    names.insert(name);
  }
  EXPECT_EQ(size_t{SROCE_CTR_COUNT}, names.size());
}

TEST_F(Counters, SumIsOfAllCpus) {
  for (sroce_counters& cpu : counters) cpu.value[SROCE_CTR_RCVD_PKTS] = 3;
  counters[0].value[SROCE_CTR_RCVD_PKTS] = 40;
  EXPECT_EQ(40u + 3 * (STAND_IN_CPUS - 1), sum(SROCE_CTR_RCVD_PKTS));
  EXPECT_EQ(0u, sum(SROCE_CTR_SENT_PKTS));
  EXPECT_EQ(0u, sum(SROCE_CTR_DUPLICATE_REQUEST));
}

TEST_F(Counters, SumExceeds32Bits) {
  for (sroce_counters& cpu : counters) cpu.value[SROCE_CTR_SENT_BYTES] = 1ull << 32;
  EXPECT_EQ(u64{STAND_IN_CPUS} << 32, sum(SROCE_CTR_SENT_BYTES));
}

TEST_F(Counters, EventsAddUp) {
  sroce_count(counters, SROCE_CTR_RCVD_PKTS);
  sroce_count(counters, SROCE_CTR_RCVD_PKTS);
  sroce_count_add(counters, SROCE_CTR_RCVD_PKTS, 10);
  sroce_count_add(counters, SROCE_CTR_RCVD_PKTS, 1ull << 32);
  EXPECT_EQ((1ull << 32) + 12, sum(SROCE_CTR_RCVD_PKTS));
  EXPECT_EQ(0u, sum(SROCE_CTR_SENT_PKTS));
}

}  // namespace
