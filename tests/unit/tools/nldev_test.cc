// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nldev.h"

#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <functional>

#include "message.h"

namespace sroce::nldev {
namespace {

using test::Attributes;
using test::message;

Bytes expected(uint16_t command, uint16_t flags, const Attributes& attributes) {
  return message(static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)),
                 static_cast<uint16_t>(NLM_F_REQUEST | flags), 0, attributes.bytes());
}

Bytes bytes_of(const Request& request) {
  return Bytes(request.bytes().begin(), request.bytes().end());
}

TEST(NldevRequests, AddAndDeleteADevice) {
  EXPECT_EQ(bytes_of(newlink_request("sroce0", "eth0", false)),
            expected(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK,
                     Attributes()
                         .text(RDMA_NLDEV_ATTR_DEV_NAME, "sroce0")
                         .text(RDMA_NLDEV_ATTR_LINK_TYPE, "sroce")
                         .text(RDMA_NLDEV_ATTR_NDEV_NAME, "eth0")));
  EXPECT_EQ(bytes_of(newlink_request("sroce0", "eth0", true)),
            expected(RDMA_NLDEV_CMD_NEWLINK, NLM_F_ACK,
                     Attributes()
                         .text(RDMA_NLDEV_ATTR_DEV_NAME, "sroce0")
                         .text(RDMA_NLDEV_ATTR_LINK_TYPE, "sroce_v1")
                         .text(RDMA_NLDEV_ATTR_NDEV_NAME, "eth0")));
  EXPECT_EQ(bytes_of(dellink_request(5)), expected(RDMA_NLDEV_CMD_DELLINK, NLM_F_ACK,
                                                   Attributes().u32(RDMA_NLDEV_ATTR_DEV_INDEX, 5)));
}

TEST(NldevRequests, DumpDevicesPortsAndResources) {
  EXPECT_EQ(bytes_of(devices_request()), expected(RDMA_NLDEV_CMD_GET, NLM_F_DUMP, {}));
  EXPECT_EQ(bytes_of(resources_request()), expected(RDMA_NLDEV_CMD_RES_GET, NLM_F_DUMP, {}));
  EXPECT_EQ(bytes_of(ports_request(3)), expected(RDMA_NLDEV_CMD_PORT_GET, NLM_F_DUMP,
                                                 Attributes().u32(RDMA_NLDEV_ATTR_DEV_INDEX, 3)));
}

TEST(NldevRequests, AskAboutNamespaces) {
  EXPECT_EQ(bytes_of(system_request()), expected(RDMA_NLDEV_CMD_SYS_GET, NLM_F_ACK, {}));
  const auto decoded = [](const Attributes& attributes) {
    return decode_shared(attributes.bytes());
  };
  EXPECT_EQ(decoded(Attributes().u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 1)), true);
  EXPECT_EQ(decoded(Attributes().u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, 0)), false);
  EXPECT_EQ(decoded({}), std::nullopt);
}

TEST(NldevRequests, AskAboutOneDevice) {
  EXPECT_EQ(bytes_of(uverbs_request(3)),
            expected(RDMA_NLDEV_CMD_GET_CHARDEV, NLM_F_ACK,
                     Attributes()
                         .u32(RDMA_NLDEV_ATTR_DEV_INDEX, 3)
                         .text(RDMA_NLDEV_ATTR_CHARDEV_TYPE, "uverbs")));
  EXPECT_EQ(
      bytes_of(counters_request(3, 1)),
      expected(RDMA_NLDEV_CMD_STAT_GET, NLM_F_ACK,
               Attributes().u32(RDMA_NLDEV_ATTR_DEV_INDEX, 3).u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1)));
}

Attributes handle() {
  return Attributes().u32(RDMA_NLDEV_ATTR_DEV_INDEX, 4).text(RDMA_NLDEV_ATTR_DEV_NAME, "sroce0");
}

Attributes resource(const char* name, uint64_t count) {
  return Attributes()
      .text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name)
      .u64(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
}

Attributes counter(const char* name, uint64_t value) {
  return Attributes()
      .text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name)
      .u64(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
}

Attributes port() {
  return handle()
      .u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1)
      .u8(RDMA_NLDEV_ATTR_PORT_STATE, 4)
      .u8(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5)
      .u32(RDMA_NLDEV_ATTR_NDEV_INDEX, 2)
      .text(RDMA_NLDEV_ATTR_NDEV_NAME, "eth0");
}

Attributes resources() {
  return handle().nest(RDMA_NLDEV_ATTR_RES_SUMMARY,
                       Attributes()
                           .nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, resource("pd", 2))
                           .nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, resource("qp", 17)));
}

Attributes uverbs() {
  return Attributes()
      .u32(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, 0x53524f43)
      .u64(RDMA_NLDEV_ATTR_CHARDEV, 0xe700)
      .text(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs2");
}

Attributes counters() {
  return handle().nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED,
                       Attributes()
                           .nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, counter("sent_pkts", 9))
                           .nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, counter("send_err", 0)));
}

TEST(DecodeDevice, ReadsIndexAndName) {
  const DeviceReply reply = decode_device(handle().bytes());
  EXPECT_EQ(reply.index, 4u);
  EXPECT_EQ(reply.name, "sroce0");
}

TEST(DecodePort, ReadsStateAndNetdev) {
  const PortReply reply = decode_port(port().bytes());
  EXPECT_EQ(reply.port, 1u);
  EXPECT_EQ(reply.state, 4);
  EXPECT_EQ(reply.netdev, "eth0");
}

TEST(DecodePort, HasNoNetdevIfTheKernelOmitsIt) {
  const Attributes hidden =
      Attributes().u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1).u8(RDMA_NLDEV_ATTR_PORT_STATE, 1);
  EXPECT_EQ(decode_port(hidden.bytes()).netdev, std::nullopt);
}

TEST(DecodeResources, FindsTheQpCountAmongOtherResources) {
  const ResourcesReply reply = decode_resources(resources().bytes());
  EXPECT_EQ(reply.device_index, 4u);
  EXPECT_EQ(reply.qps, 17u);
}

TEST(DecodeResources, HasNoQpCountIfTheKernelOmitsIt) {
  const Attributes empty = handle().nest(RDMA_NLDEV_ATTR_RES_SUMMARY, {});
  EXPECT_EQ(decode_resources(empty.bytes()).qps, std::nullopt);
}

TEST(DecodeUverbs, ReadsTheCharacterDeviceAndTheDriver) {
  const UverbsReply reply = decode_uverbs(uverbs().bytes());
  EXPECT_EQ(reply.chardev, "uverbs2");
  EXPECT_EQ(reply.driver_id, 0x53524f43u);
}

TEST(DecodeCounters, ReadsNamesAndValues) {
  EXPECT_EQ(decode_counters(counters().bytes()), (Counters{{"send_err", 0}, {"sent_pkts", 9}}));
}

using Decode = std::function<void(ByteView)>;

const std::vector<std::pair<Decode, Bytes>>& decoders() {
  static const std::vector<std::pair<Decode, Bytes>> all{{decode_device, handle().bytes()},
                                                         {decode_port, port().bytes()},
                                                         {decode_resources, resources().bytes()},
                                                         {decode_uverbs, uverbs().bytes()},
                                                         {decode_counters, counters().bytes()}};
  return all;
}

TEST(NldevDecoders, ThrowIfARequiredAttributeIsAbsent) {
  for (const auto& [decode, whole] : decoders()) EXPECT_THROW(decode({}), MalformedMessage);
}

TEST(NldevDecoders, SurviveEveryTruncation) {
  for (const auto& [decode, whole] : decoders()) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      try {
        decode(cut);
      } catch (const MalformedMessage&) {
      }
    }
  }
}

TEST(NldevDecoders, SurviveEveryReplacedByte) {
  for (const auto& [decode, whole] : decoders()) {
    for (size_t i = 0; i < whole.size(); ++i) {
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
}  // namespace sroce::nldev
