// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nldev.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

namespace sroce::nldev {
namespace {

constexpr char link_type[] = "sroce", v1_link_type[] = "sroce_v1";

Request request(uint32_t command, int flags) {
  return Request(static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)),
                 static_cast<uint16_t>(flags));
}

/// A request for at most one reply message. The acknowledgement that follows marks the end.
Request one(uint32_t command) { return request(command, NLM_F_ACK); }
Request dump(uint32_t command) { return request(command, NLM_F_DUMP); }

}  // namespace

Request newlink_request(const std::string& name, const std::string& netdev, bool roce_v1) {
  return one(RDMA_NLDEV_CMD_NEWLINK)
      .put(RDMA_NLDEV_ATTR_DEV_NAME, name)
      .put(RDMA_NLDEV_ATTR_LINK_TYPE, std::string(roce_v1 ? v1_link_type : link_type))
      .put(RDMA_NLDEV_ATTR_NDEV_NAME, netdev);
}

Request dellink_request(uint32_t device_index) {
  return one(RDMA_NLDEV_CMD_DELLINK).put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index);
}

Request devices_request() { return dump(RDMA_NLDEV_CMD_GET); }

Request ports_request(uint32_t device_index) {
  return dump(RDMA_NLDEV_CMD_PORT_GET).put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index);
}

Request resources_request() { return dump(RDMA_NLDEV_CMD_RES_GET); }

Request uverbs_request(uint32_t device_index) {
  return one(RDMA_NLDEV_CMD_GET_CHARDEV)
      .put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index)
      .put(RDMA_NLDEV_ATTR_CHARDEV_TYPE, std::string("uverbs"));
}

Request counters_request(uint32_t device_index, uint32_t port) {
  return one(RDMA_NLDEV_CMD_STAT_GET)
      .put(RDMA_NLDEV_ATTR_DEV_INDEX, device_index)
      .put(RDMA_NLDEV_ATTR_PORT_INDEX, port);
}

Request system_request() { return one(RDMA_NLDEV_CMD_SYS_GET); }

DeviceReply decode_device(ByteView payload) {
  const AttributeMap attributes(payload);
  return {attributes.get(RDMA_NLDEV_ATTR_DEV_INDEX).u32(),
          attributes.get(RDMA_NLDEV_ATTR_DEV_NAME).text()};
}

PortReply decode_port(ByteView payload) {
  const AttributeMap attributes(payload);
  PortReply reply{attributes.get(RDMA_NLDEV_ATTR_PORT_INDEX).u32(),
                  attributes.get(RDMA_NLDEV_ATTR_PORT_STATE).u8(),
                  {}};
  if (const Attribute* netdev = attributes.find(RDMA_NLDEV_ATTR_NDEV_NAME))
    reply.netdev = netdev->text();
  return reply;
}

ResourcesReply decode_resources(ByteView payload) {
  const AttributeMap attributes(payload);
  ResourcesReply reply{attributes.get(RDMA_NLDEV_ATTR_DEV_INDEX).u32(), {}};
  const Attribute& summary = attributes.get(RDMA_NLDEV_ATTR_RES_SUMMARY);
  for (const Attribute& entry : parse_attributes(summary.payload)) {
    if (entry.type != RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY) continue;
    const AttributeMap fields(entry.payload);
    if (fields.get(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME).text() == "qp")
      reply.qps = fields.get(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR).u64();
  }
  return reply;
}

UverbsReply decode_uverbs(ByteView payload) {
  const AttributeMap attributes(payload);
  return {attributes.get(RDMA_NLDEV_ATTR_CHARDEV_NAME).text(),
          attributes.get(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID).u32()};
}

Counters decode_counters(ByteView payload) {
  const AttributeMap attributes(payload);
  Counters counters;
  const Attribute& table = attributes.get(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  for (const Attribute& entry : parse_attributes(table.payload)) {
    if (entry.type != RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY) continue;
    const AttributeMap fields(entry.payload);
    counters[fields.get(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME).text()] =
        fields.get(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE).u64();
  }
  return counters;
}

std::optional<bool> decode_shared(ByteView payload) {
  const AttributeMap attributes(payload);
  const Attribute* mode = attributes.find(RDMA_NLDEV_SYS_ATTR_NETNS_MODE);
  return mode ? std::optional(mode->u8() != 0) : std::nullopt;
}

}  // namespace sroce::nldev
