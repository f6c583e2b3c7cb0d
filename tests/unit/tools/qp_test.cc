// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/qp.h"

#include <gmock/gmock.h>

#include <sstream>

#include "fake_kernel.h"
#include "sroce_netlink.h"

namespace sroce {
namespace {

using genl::QueuePair;
using test::Attributes;
using test::FakeMachine;
using ::testing::HasSubstr;
using ::testing::Not;

QueuePair connected() {
  QueuePair qp{"sroce0", 4, 17, "RC", "RTS", genl::Peer{18, "10.0.0.1", "10.0.0.2", "on"}, {}, {}};
  qp.sq = {"dcqcn",
           "fast recovery",
           {{SROCE_A_WQ_RATE, 625000000},
            {SROCE_A_WQ_CNP_HANDLED, 2},
            {SROCE_A_WQ_CUTS, 1},
            {SROCE_A_WQ_WQES, 8},
            {SROCE_A_WQ_SRTT_NS, 113000},
            {SROCE_A_WQ_RTTVAR_NS, 12500},
            {SROCE_A_WQ_MIN_RTT_NS, 90000},
            {SROCE_A_WQ_INFLIGHT, 64},
            {SROCE_A_WQ_RETRANSMITS, 5}},
           {{"target", 1250000000, SROCE_NL_CC_RATE},
            {"alpha", SROCE_NL_CC_ONE / 2, SROCE_NL_CC_FRACTION}}};
  qp.rq = {"dcqcn",
           "idle",
           {{SROCE_A_WQ_REORDER_PACKETS, 3},
            {SROCE_A_WQ_REORDER_BYTES, 6912},
            {SROCE_A_WQ_ECN_MARKED, 9},
            {SROCE_A_WQ_CNP_SENT, 4}}};
  return qp;
}

QueuePair gsi() { return {"sroce0", 4, 1, "GSI", "RTS", {}, {}, {}}; }

TEST(Qp, PrintsTwoLinesForEachQueuePair) {
  const std::vector<QueuePair> qps{gsi(), connected()};
  EXPECT_EQ(
      qp_text(qps),
      "STATE  TYPE  DEVICE  LOCAL:QPN    PEER:QPN\n"
      "RTS    GSI   sroce0  *:1          *\n"
      "\t wqes:0 inflight:0 retrans:0 timeouts:0 probes:0 cnp:0 cuts:0 reorder:0/0 ce:0 "
      "cnp_sent:0\n"
      "RTS    RC    sroce0  10.0.0.1:17  10.0.0.2:18\n"
      "\t cc:dcqcn/fast recovery rate:5Gbps target:10Gbps alpha:0.5 rtt:0.113/0.013 "
      "minrtt:0.09 wqes:8 inflight:64 retrans:5 timeouts:0 probes:0 cnp:2 cuts:1 selective:on "
      "reorder:3/6912 ce:9 cnp_sent:4\n");
}

TEST(Qp, PrintsTheIncreaseOfCounts) {
  QpHistory before{{{4, 17}, connected()}};
  EXPECT_THAT(qp_text(std::vector{connected()}, before), Not(HasSubstr("(+")));
  QueuePair& last = before.at({4, 17});
  last.sq.numbers[SROCE_A_WQ_RETRANSMITS] = 3;
  last.rq.numbers[SROCE_A_WQ_ECN_MARKED] = 8;
  const std::string text = qp_text(std::vector{connected()}, before);
  EXPECT_THAT(text, HasSubstr("retrans:5(+2) timeouts:0 "));
  EXPECT_THAT(text, HasSubstr("ce:9(+1) cnp_sent:4\n"));
}

TEST(Qp, PrintsTheWindowInPackets) {
  QueuePair qp = connected();
  qp.sq = {"delay", "slow start", {{SROCE_A_WQ_CWND, 16 * 256 + 128}}};
  EXPECT_THAT(qp_text(std::span(&qp, 1)),
              HasSubstr("cc:delay/slow start cwnd:16.5 wqes:0 inflight"));
}

TEST(Qp, PrintsTheLimitOfReadResponsesOnlyIfThereIsOne) {
  QueuePair qp = connected();
  EXPECT_THAT(qp_text(std::span(&qp, 1)), Not(HasSubstr("resp_")));
  qp.rq.numbers[SROCE_A_WQ_RATE] = 125000;
  EXPECT_THAT(qp_text(std::span(&qp, 1)), HasSubstr("resp_cc:dcqcn/idle resp_rate:1Mbps reorder"));
}

TEST(Qp, PrintsTheDetailsOfAnyAlgorithm) {
  QueuePair qp = connected();
  qp.sq.cc = "other";
  qp.sq.cc_info = {{"target", 150000, SROCE_NL_CC_NS}, {"rounds", 7, SROCE_NL_CC_NUMBER}};
  EXPECT_THAT(qp_text(std::span(&qp, 1)),
              HasSubstr("cc:other/fast recovery rate:5Gbps target:0.15 rounds:7 rtt:"));
  qp.sq.cc_info.push_back({"later", 9, 250});
  EXPECT_THAT(qp_text(std::span(&qp, 1)), HasSubstr(" later:9 rtt:"));
}

TEST(Qp, JsonContainsTheDetailsOfTheAlgorithmWithTheirUnits) {
  QueuePair qp = connected();
  qp.sq.cc_info.push_back({"base", 90000, SROCE_NL_CC_NS});
  qp.sq.cc_info.push_back({"rounds", 7, SROCE_NL_CC_NUMBER});
  EXPECT_THAT(qp_json(std::span(&qp, 1)), HasSubstr(R"(      "cc_info": {
        "target_rate": 1250000000,
        "alpha": 0.5,
        "base_ns": 90000,
        "rounds": 7
      },
)"));
}

TEST(Qp, PrintsTheReceivesOfTheQueuePairOrItsSharedQueue) {
  QueuePair qp = connected();
  EXPECT_THAT(qp_text(std::span(&qp, 1)), Not(HasSubstr("rq_wqes")));
  qp.rq.numbers[SROCE_A_WQ_WQES] = 0;
  EXPECT_THAT(qp_text(std::span(&qp, 1)), HasSubstr("selective:on rq_wqes:0 reorder"));
  qp.rq.numbers.erase(SROCE_A_WQ_WQES);
  qp.srqn = 6;
  EXPECT_THAT(qp_text(std::span(&qp, 1)), HasSubstr("selective:on srq:6 reorder"));
  EXPECT_THAT(qp_json(std::span(&qp, 1)), HasSubstr("    \"srqn\": 6,\n"));
}

TEST(Qp, PutsIPv6AddressesInBrackets) {
  QueuePair qp = connected();
  qp.peer->address = "fd00::2";
  EXPECT_THAT(qp_text(std::span(&qp, 1)), HasSubstr("  [fd00::2]:18\n"));
}

TEST(Qp, PrintsNothingWithoutQueuePairs) {
  EXPECT_EQ(qp_text({}), "");
  EXPECT_EQ(qp_json({}), "[]\n");
}

TEST(Qp, JsonUsesNullForAbsentValues) {
  QueuePair qp = gsi();
  qp.rq.numbers[SROCE_A_WQ_REORDER_PACKETS] = 0;
  EXPECT_EQ(qp_json(std::span(&qp, 1)), R"([
  {
    "device": "sroce0",
    "index": 4,
    "qpn": 1,
    "type": "GSI",
    "state": "RTS",
    "srqn": null,
    "peer": null,
    "sq": {
      "cc": null,
      "cc_state": null,
      "rate": null,
      "cwnd_256ths": null,
      "cnp_handled": null,
      "cuts": null,
      "wqes": null,
      "cc_info": {},
      "srtt_ns": null,
      "rttvar_ns": null,
      "min_rtt_ns": null,
      "inflight": null,
      "retransmits": null,
      "timeouts": null,
      "probes": null
    },
    "rq": {
      "cc": null,
      "cc_state": null,
      "rate": null,
      "cwnd_256ths": null,
      "cnp_handled": null,
      "cuts": null,
      "wqes": null,
      "cc_info": {},
      "reorder_packets": 0,
      "reorder_bytes": null,
      "ecn_marked": null,
      "cnp_sent": null
    }
  }
]
)");
}

TEST(Qp, JsonContainsThePeer) {
  const QueuePair qp = connected();
  EXPECT_THAT(qp_json(std::span(&qp, 1)), HasSubstr(R"(    "peer": {
      "qpn": 18,
      "address": "10.0.0.2",
      "local_address": "10.0.0.1",
      "selective": "on"
    },
)"));
}

TEST(Qp, AsksForAllQueuePairsOrThoseOfADevice) {
  FakeMachine machine;
  std::ostringstream out;
  run_qp(machine.system, {}, out);
  run_qp(machine.system, {.device = "sroce0"}, out);
  EXPECT_EQ(out.str(), "");
  const auto wanted = [](const Attributes& attributes) {
    return test::family_request(test::fake_family, SROCE_CMD_QP_GET, NLM_F_DUMP, attributes);
  };
  EXPECT_EQ(
      machine.module.requests,
      (std::vector<Bytes>{wanted({}), wanted(Attributes().text(SROCE_A_DEV_NAME, "sroce0"))}));
}

TEST(Qp, IntervalAsksAgainAtTheInterval) {
  FakeMachine machine;
  machine.pauses_until_interrupt = 3;
  std::ostringstream out;
  run_qp(machine.system, {.interval_seconds = 0.5, .format = Format::json}, out);
  EXPECT_EQ(out.str(),
            "{\"seconds\":null,\"qps\":[]}\n{\"seconds\":0.5,\"qps\":[]}\n"
            "{\"seconds\":0.5,\"qps\":[]}\n");
  machine.pauses = 0;
  out.str("");
  run_qp(machine.system, {.interval_seconds = 0.5}, out);
  EXPECT_EQ(out.str(), "\n\n") << "without queue pairs, between three tables";
}

}  // namespace
}  // namespace sroce
