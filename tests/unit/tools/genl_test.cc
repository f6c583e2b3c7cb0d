// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/genl.h"

#include <gtest/gtest.h>
#include <linux/genetlink.h>

#include <functional>

#include "fake_module.h"
#include "sroce_netlink.h"

namespace sroce::genl {
namespace {

using test::Attributes;
using test::family_payload;
using test::family_request;

constexpr uint16_t family = 0x1b;

Bytes bytes_of(const Request& request) {
  return Bytes(request.bytes().begin(), request.bytes().end());
}

TEST(GenlRequests, LookUpTheFamily) {
  EXPECT_EQ(bytes_of(genl::family_request()),
            family_request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK,
                           Attributes().text(CTRL_ATTR_FAMILY_NAME, "sroce")));
}

TEST(GenlRequests, AskForADevice) {
  EXPECT_EQ(bytes_of(device_request(family, "sroce0")),
            family_request(family, SROCE_CMD_DEV_GET, NLM_F_ACK,
                           Attributes().text(SROCE_A_DEV_NAME, "sroce0")));
}

TEST(GenlRequests, NestEachParameterToSet) {
  const std::vector<Setting> settings{{"cc", "delay"}, {"rp_ai_rate", 5u}};
  const Attributes algorithm =
      Attributes().text(SROCE_A_PARAM_NAME, "cc").text(SROCE_A_PARAM_TEXT, "delay");
  const Attributes rate =
      Attributes().text(SROCE_A_PARAM_NAME, "rp_ai_rate").u32(SROCE_A_PARAM_VALUE, 5);
  EXPECT_EQ(bytes_of(set_request(family, "sroce0", settings)),
            family_request(family, SROCE_CMD_DEV_SET, NLM_F_ACK,
                           Attributes()
                               .text(SROCE_A_DEV_NAME, "sroce0")
                               .nest(SROCE_A_PARAM | NLA_F_NESTED, algorithm)
                               .nest(SROCE_A_PARAM | NLA_F_NESTED, rate)));
}

TEST(GenlRequests, CanSetEveryParameterAtOnce) {
  const std::vector<Setting> settings(40, {"rp_rate_reduce_monitor_period", 131071u});
  EXPECT_GT(set_request(family, "sroce0", settings).bytes().size(), 40u * 40u);
}

TEST(GenlRequests, ThrowIfTheyAreTooLong) {
  const std::vector<Setting> settings{{std::string(5000, 'x'), 1u}};
  EXPECT_THROW(set_request(family, "sroce0", settings), std::length_error);
}

TEST(GenlRequests, AskForQueuePairsOfAllDevicesOrOfOne) {
  EXPECT_EQ(bytes_of(qps_request(family, std::nullopt)),
            family_request(family, SROCE_CMD_QP_GET, NLM_F_DUMP, {}));
  EXPECT_EQ(bytes_of(qps_request(family, "sroce0")),
            family_request(family, SROCE_CMD_QP_GET, NLM_F_DUMP,
                           Attributes().text(SROCE_A_DEV_NAME, "sroce0")));
}

Bytes family_reply() {
  const uint16_t number = 0x23;
  return family_payload(Attributes()
                            .text(CTRL_ATTR_FAMILY_NAME, "sroce")
                            .raw(CTRL_ATTR_FAMILY_ID, &number, sizeof(number)));
}

Attributes algorithm() {
  return Attributes()
      .text(SROCE_A_PARAM_NAME, "cc")
      .u32(SROCE_A_PARAM_VALUE, 1)
      .u32(SROCE_A_PARAM_MIN, 0)
      .u32(SROCE_A_PARAM_MAX, 2)
      .u32(SROCE_A_PARAM_DEFAULT, 1)
      .text(SROCE_A_PARAM_CHOICE, "none")
      .text(SROCE_A_PARAM_CHOICE, "dcqcn")
      .text(SROCE_A_PARAM_CHOICE, "delay");
}

Attributes rate() {
  return Attributes()
      .text(SROCE_A_PARAM_NAME, "rp_ai_rate")
      .u32(SROCE_A_PARAM_VALUE, 5)
      .u32(SROCE_A_PARAM_MIN, 0)
      .u32(SROCE_A_PARAM_MAX, 800000)
      .u32(SROCE_A_PARAM_DEFAULT, 0)
      .text(SROCE_A_PARAM_UNIT, "Mb/s");
}

Bytes device_reply() {
  return family_payload(Attributes()
                            .u32(SROCE_A_DEV_INDEX, 4)
                            .text(SROCE_A_DEV_NAME, "sroce0")
                            .u64(SROCE_A_LINE_RATE, 1250000000)
                            .nest(SROCE_A_PARAM | NLA_F_NESTED, algorithm())
                            .nest(SROCE_A_PARAM | NLA_F_NESTED, rate()));
}

Attributes connected() {
  const unsigned char local[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
  const unsigned char peer[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  return Attributes()
      .u32(SROCE_A_PEER_QPN, 18)
      .raw(SROCE_A_LOCAL_ADDRESS, local, sizeof(local))
      .raw(SROCE_A_PEER_ADDRESS, peer, sizeof(peer))
      .u8(SROCE_A_SELECTIVE, SROCE_NL_SELECTIVE_ON);
}

Bytes qp_reply(const Attributes& peer, uint8_t type = 2) {
  const Attributes handle = Attributes()
                                .u32(SROCE_A_DEV_INDEX, 4)
                                .text(SROCE_A_DEV_NAME, "sroce0")
                                .u32(SROCE_A_QPN, 17)
                                .u8(SROCE_A_QP_TYPE, type)
                                .u8(SROCE_A_QP_STATE, 3);
  const Attributes alpha = Attributes()
                               .text(SROCE_A_CC_INFO_KEY, "alpha")
                               .raw(SROCE_A_CC_INFO_PAD, "", 0)
                               .u64(SROCE_A_CC_INFO_VALUE, SROCE_NL_CC_ONE)
                               .u8(SROCE_A_CC_INFO_FORMAT, SROCE_NL_CC_FRACTION);
  const Attributes target = Attributes()
                                .text(SROCE_A_CC_INFO_KEY, "target")
                                .u64(SROCE_A_CC_INFO_VALUE, 1250000000)
                                .u8(SROCE_A_CC_INFO_FORMAT, SROCE_NL_CC_RATE);
  const Attributes sq = Attributes()
                            .text(SROCE_A_WQ_CC, "dcqcn")
                            .text(SROCE_A_WQ_CC_STATE, "fast recovery")
                            .raw(SROCE_A_WQ_PAD, "", 0)
                            .u64(SROCE_A_WQ_RATE, 625000000)
                            .nest(SROCE_A_WQ_CC_INFO | NLA_F_NESTED, alpha)
                            .nest(SROCE_A_WQ_CC_INFO | NLA_F_NESTED, target)
                            .u32(SROCE_A_WQ_SRTT_NS, 113000);
  const Attributes queues =
      Attributes()
          .nest(SROCE_A_SQ | NLA_F_NESTED, sq)
          .nest(SROCE_A_RQ | NLA_F_NESTED, Attributes().u32(SROCE_A_WQ_REORDER_PACKETS, 3))
          .u32(SROCE_A_SRQN, 6);
  return test::operator+(test::operator+(family_payload(handle), peer.bytes()), queues.bytes());
}

TEST(GenlDecode, ReadsTheFamilyNumber) { EXPECT_EQ(decode_family(family_reply()), 0x23); }

TEST(GenlDecode, ReadsADeviceWithItsParameters) {
  const DeviceReply device = decode_device(device_reply());
  EXPECT_EQ(device.name, "sroce0");
  EXPECT_EQ(device.index, 4u);
  EXPECT_EQ(device.line_rate, 1250000000u);
  ASSERT_EQ(device.parameters.size(), 2u);
  EXPECT_EQ(device.parameters[0].choices, (std::vector<std::string>{"none", "dcqcn", "delay"}));
  EXPECT_EQ(device.parameters[1].name, "rp_ai_rate");
  EXPECT_EQ(device.parameters[1].value, 5u);
  EXPECT_EQ(device.parameters[1].max, 800000u);
  EXPECT_EQ(device.parameters[1].unit, "Mb/s");
}

TEST(GenlDecode, ReadsAConnectedQueuePair) {
  const QueuePair qp = decode_qp(qp_reply(connected()));
  EXPECT_EQ(qp.qpn, 17u);
  EXPECT_EQ(qp.type, "RC");
  EXPECT_EQ(qp.state, "RTS");
  ASSERT_TRUE(qp.peer);
  EXPECT_EQ(qp.peer->qpn, 18u);
  EXPECT_EQ(qp.peer->local_address, "10.0.0.1");
  EXPECT_EQ(qp.peer->address, "fd00::2");
  EXPECT_EQ(qp.peer->selective, "on");
  EXPECT_EQ(qp.sq.cc_state, "fast recovery");
  EXPECT_EQ(qp.sq.find(SROCE_A_WQ_RATE), 625000000u);
  EXPECT_EQ(qp.sq.find(SROCE_A_WQ_SRTT_NS), 113000u);
  EXPECT_EQ(qp.sq.find(SROCE_A_WQ_CWND), std::nullopt);
  ASSERT_EQ(qp.sq.cc_info.size(), 2u);
  EXPECT_EQ(qp.sq.cc_info[0].key, "alpha");
  EXPECT_EQ(qp.sq.cc_info[0].value, SROCE_NL_CC_ONE);
  EXPECT_EQ(qp.sq.cc_info[0].format, SROCE_NL_CC_FRACTION);
  EXPECT_EQ(qp.sq.cc_info[1].key, "target");
  EXPECT_EQ(qp.rq.cc, std::nullopt);
  EXPECT_EQ(qp.srqn, 6u);
  EXPECT_EQ(qp.rq.find(SROCE_A_WQ_REORDER_PACKETS), 3u);
}

TEST(GenlDecode, NamesTypesOfQueuePairs) {
  EXPECT_EQ(decode_qp(qp_reply({}, 4)).type, "UD");
  EXPECT_EQ(decode_qp(qp_reply({}, 5)).type, "UNKNOWN(5)");
  EXPECT_EQ(decode_qp(qp_reply({}, 9)).type, "XRC_INI");
  EXPECT_EQ(decode_qp(qp_reply({}, 10)).type, "XRC_TGT");
  EXPECT_EQ(decode_qp(qp_reply({}, 11)).type, "UNKNOWN(11)");
}

TEST(GenlDecode, ReadsAQueuePairWithoutAPeer) { EXPECT_FALSE(decode_qp(qp_reply({})).peer); }

using Decode = std::function<void(ByteView)>;

const std::vector<std::pair<Decode, Bytes>>& decoders() {
  static const std::vector<std::pair<Decode, Bytes>> all{{decode_family, family_reply()},
                                                         {decode_device, device_reply()},
                                                         {decode_qp, qp_reply(connected())}};
  return all;
}

TEST(GenlDecode, ThrowsIfARequiredAttributeIsAbsent) {
  for (const auto& [decode, whole] : decoders()) {
    EXPECT_THROW(decode({}), MalformedMessage);
    EXPECT_THROW(decode(family_payload({})), MalformedMessage);
  }
}

TEST(GenlDecode, SurvivesEveryTruncationAndEveryReplacedByte) {
  for (const auto& [decode, whole] : decoders()) {
    for (size_t i = 0; i < whole.size(); ++i) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
      try {
        decode(cut);
      } catch (const MalformedMessage&) {
      }
      for (int value = 0; value < 256; ++value) {
        Bytes hostile = whole;
        hostile[i] = static_cast<std::byte>(value);
        try {
          decode(hostile);
        } catch (const MalformedMessage&) {
        }
      }
    }
  }
}

}  // namespace
}  // namespace sroce::genl
