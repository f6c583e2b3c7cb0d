// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Performance management: kernel/control/pma.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "control/pma.h"
}

namespace {

constexpr u32 ATTRIBUTE_AT = 40;

struct Pma : testing::Test, QueuePair {
  Pma() {
    in.mad_hdr = {.base_version = 1,
                  .mgmt_class = IB_MGMT_CLASS_PERF_MGMT,
                  .class_version = 1,
                  .method = IB_MGMT_METHOD_GET,
                  .tid = cpu_to_be64(77),
                  .attr_id = IB_PMA_PORT_COUNTERS};
    in.data[ATTRIBUTE_AT + 1] = 1;
    memset(&out, 0xff, sizeof(out));
  }
  void count(sroce_counter which, u64 value) { counters[1].value[which] = value; }
  int process() {
    return sroce_process_mad(&dev.ibdev, 0, 1, nullptr, nullptr, &in, &out, nullptr, nullptr);
  }
  u32 status_of(__be16 attribute) {
    in.mad_hdr.attr_id = attribute;
    EXPECT_EQ(IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY, process());
    return be16_to_cpu(out.mad_hdr.status);
  }
  template <typename T>
  T attribute() const {
    T value;
    memcpy(&value, out.data + ATTRIBUTE_AT, sizeof(value));
    return value;
  }

  ib_mad in = {};
  ib_mad out;
};

TEST_F(Pma, ResponseHasTheTransaction) {
  EXPECT_EQ(0u, status_of(IB_PMA_PORT_COUNTERS));
  EXPECT_EQ(IB_MGMT_METHOD_GET_RESP, out.mad_hdr.method);
  EXPECT_EQ(cpu_to_be64(77), out.mad_hdr.tid);
  EXPECT_EQ(1, attribute<ib_pma_portcounters>().port_select);
  EXPECT_EQ(0, out.data[231]) << "nothing of the kernel's memory";
}

TEST_F(Pma, DataIsCountedInWords) {
  count(SROCE_CTR_SENT_BYTES, 4003);
  count(SROCE_CTR_RCVD_BYTES, 8000);
  count(SROCE_CTR_SENT_PKTS, 5);
  count(SROCE_CTR_RCVD_PKTS, 6);
  const auto expect = [](const auto& counters, auto big_endian) {
    EXPECT_EQ(big_endian(1000), counters.port_xmit_data);
    EXPECT_EQ(big_endian(2000), counters.port_rcv_data);
    EXPECT_EQ(big_endian(5), counters.port_xmit_packets);
    EXPECT_EQ(big_endian(6), counters.port_rcv_packets);
  };
  EXPECT_EQ(0u, status_of(IB_PMA_PORT_COUNTERS));
  expect(attribute<ib_pma_portcounters>(), [](u32 value) { return cpu_to_be32(value); });
  EXPECT_EQ(0u, status_of(IB_PMA_PORT_COUNTERS_EXT));
  expect(attribute<ib_pma_portcounters_ext>(), [](u64 value) { return cpu_to_be64(value); });
}

TEST_F(Pma, ShortCountersStayAtTheirLargestValue) {
  for (sroce_counter which :
       {SROCE_CTR_SENT_BYTES, SROCE_CTR_RCVD_BYTES, SROCE_CTR_SENT_PKTS, SROCE_CTR_RCVD_PKTS})
    count(which, 1ull << 40);
  count(SROCE_CTR_LINK_DOWNED, 256);
  count(SROCE_CTR_SEND_ERR, 65536);
  count(SROCE_CTR_DROP_TRUNCATED, 65535);
  count(SROCE_CTR_RX_ICRC_ENCAPSULATED, 1);
  EXPECT_EQ(0u, status_of(IB_PMA_PORT_COUNTERS));
  const auto counters = attribute<ib_pma_portcounters>();
  for (u32 value : {counters.port_xmit_data, counters.port_rcv_data, counters.port_xmit_packets,
                    counters.port_rcv_packets})
    EXPECT_EQ(0xffffffff, value);
  EXPECT_EQ(0xff, counters.link_downed_counter);
  EXPECT_EQ(0xffff, counters.port_xmit_discards);
  EXPECT_EQ(0xffff, counters.port_rcv_errors);
  EXPECT_EQ(0u, status_of(IB_PMA_PORT_COUNTERS_EXT));
  EXPECT_EQ(cpu_to_be64(1ull << 40), attribute<ib_pma_portcounters_ext>().port_xmit_packets);
}

TEST_F(Pma, ClassTellsThatThereAreLongCounters) {
  in.data[ATTRIBUTE_AT + 1] = 0;
  EXPECT_EQ(0u, status_of(IB_PMA_CLASS_PORT_INFO));
  const auto info = attribute<ib_class_port_info>();
  EXPECT_EQ(1, info.base_version);
  EXPECT_EQ(1, info.class_version);
  EXPECT_EQ(IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF, info.capability_mask);
}

TEST_F(Pma, WrongRequestsAreRejected) {
  EXPECT_EQ(0x0cu, status_of(cpu_to_be16(0x10))) << "no such attribute";
  in.data[ATTRIBUTE_AT + 1] = 2;
  EXPECT_EQ(0x1cu, status_of(IB_PMA_PORT_COUNTERS)) << "no such port";
  EXPECT_EQ(0x1cu, status_of(IB_PMA_PORT_COUNTERS_EXT));
  in.data[ATTRIBUTE_AT + 1] = 1;
  in.mad_hdr.method = IB_MGMT_METHOD_SET;
  EXPECT_EQ(0x0cu, status_of(IB_PMA_PORT_COUNTERS)) << "counters cannot be set";
  in.mad_hdr.method = IB_MGMT_METHOD_GET;
  in.mad_hdr.class_version = 2;
  EXPECT_EQ(0x04u, status_of(IB_PMA_PORT_COUNTERS));
}

TEST_F(Pma, OtherMadsAreForOthers) {
  in.mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
  EXPECT_EQ(IB_MAD_RESULT_SUCCESS, process()) << "the response to a program";
  in.mad_hdr.method = IB_MGMT_METHOD_GET;
  in.mad_hdr.mgmt_class = 3;
  EXPECT_EQ(IB_MAD_RESULT_SUCCESS, process()) << "subnet administration";
  EXPECT_EQ(0xff, out.mad_hdr.method) << "no response";
}

}  // namespace
