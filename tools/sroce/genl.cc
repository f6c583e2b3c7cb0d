// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/genl.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "sroce/explain.h"
#include "sroce_netlink.h"

namespace sroce::genl {
namespace {

Request request(uint16_t family, uint8_t command, uint8_t version, int flags) {
  const genlmsghdr header{.cmd = command, .version = version, .reserved = 0};
  return Request(family, static_cast<uint16_t>(flags), std::as_bytes(std::span(&header, 1)));
}

/// The attributes after the generic netlink header.
ByteView attributes_of(ByteView payload) {
  if (payload.size() < GENL_HDRLEN) throw MalformedMessage("netlink: truncated message");
  return payload.subspan(GENL_HDRLEN);
}

/// Reads a u32 or a u64, because the width of an attribute may differ between module versions.
uint64_t number_of(const Attribute& attribute) {
  return attribute.payload.size() < sizeof(uint64_t) ? attribute.u32() : attribute.u64();
}

std::string address_of(const Attribute& attribute) {
  in6_addr address{};
  if (attribute.payload.size() != sizeof(address))
    throw MalformedMessage("netlink: invalid address length");
  std::memcpy(&address, attribute.payload.data(), sizeof(address));
  return address_text(address);
}

std::string name_of(uint8_t number, std::span<const char* const> names) {
  if (number < names.size() && names[number]) return names[number];
  return "UNKNOWN(" + std::to_string(number) + ")";
}

std::string type_name(uint8_t type) {
  // enum ib_qp_type. The kernel's other types do not exist in sroce.
  static constexpr std::array<const char*, 11> names{
      "SMI", "GSI", "RC", "UC", "UD", nullptr, nullptr, nullptr, nullptr, "XRC_INI", "XRC_TGT"};
  return name_of(type, names);
}

std::string state_name(uint8_t state) {
  static constexpr std::array names{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
  return name_of(state, names);
}

std::string selective_name(uint8_t mode) {
  static constexpr std::array names{"offered", "on", "off", "withdrawn"};
  return name_of(mode, names);
}

Parameter decode_parameter(ByteView payload) {
  const AttributeMap attributes(payload);
  Parameter parameter{attributes.get(SROCE_A_PARAM_NAME).text(),
                      attributes.get(SROCE_A_PARAM_VALUE).u32(),
                      attributes.get(SROCE_A_PARAM_MIN).u32(),
                      attributes.get(SROCE_A_PARAM_MAX).u32(),
                      attributes.get(SROCE_A_PARAM_DEFAULT).u32(),
                      {},
                      {}};
  if (const Attribute* unit = attributes.find(SROCE_A_PARAM_UNIT)) parameter.unit = unit->text();
  for (const Attribute& attribute : parse_attributes(payload)) {
    if (attribute.type == SROCE_A_PARAM_CHOICE) parameter.choices.push_back(attribute.text());
  }
  return parameter;
}

CcDetail decode_cc_detail(ByteView payload) {
  const AttributeMap attributes(payload);
  return {attributes.get(SROCE_A_CC_INFO_KEY).text(),
          number_of(attributes.get(SROCE_A_CC_INFO_VALUE)),
          attributes.get(SROCE_A_CC_INFO_FORMAT).u8()};
}

WorkQueue decode_work_queue(ByteView payload) {
  WorkQueue wq;
  for (const Attribute& attribute : parse_attributes(payload)) {
    switch (attribute.type) {
      case SROCE_A_WQ_PAD:
        break;
      case SROCE_A_WQ_CC:
        wq.cc = attribute.text();
        break;
      case SROCE_A_WQ_CC_STATE:
        wq.cc_state = attribute.text();
        break;
      case SROCE_A_WQ_CC_INFO:
        wq.cc_info.push_back(decode_cc_detail(attribute.payload));
        break;
      default:
        if (attribute.type <= SROCE_A_WQ_MAX) wq.numbers[attribute.type] = number_of(attribute);
    }
  }
  return wq;
}

std::optional<Peer> decode_peer(const AttributeMap& attributes) {
  const Attribute* qpn = attributes.find(SROCE_A_PEER_QPN);
  if (!qpn) return std::nullopt;
  return Peer{qpn->u32(), address_of(attributes.get(SROCE_A_LOCAL_ADDRESS)),
              address_of(attributes.get(SROCE_A_PEER_ADDRESS)),
              selective_name(attributes.get(SROCE_A_SELECTIVE).u8())};
}

uint16_t family_number(System& system) {
  try {
    const auto replies = system.generic.exchange(family_request());
    if (replies.empty()) throw MalformedMessage("netlink: no reply from the kernel");
    return decode_family(replies.front());
  } catch (const KernelError& error) {
    if (error.error() != ENOENT) throw;
    require_rdma(system);
    throw explain_family_absent(module_state(system.sysfs, system.modules_alias),
                                system.kernel_release);
  }
}

/// The kernel knows no sroce device of this name.
Failure explain_missing_device(System& system, const std::string& name) {
  const auto names = names_of(list_devices(system));
  if (std::find(names.begin(), names.end(), name) == names.end())
    return no_such_device(name, names);
  return {ExitCode::not_sroce, "'" + name + "' is not an sroce device",
          "to see it: rdma link show " + name};
}

}  // namespace

std::optional<uint64_t> WorkQueue::find(uint16_t attribute) const {
  const auto found = numbers.find(attribute);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

Request family_request() {
  return request(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_ACK)
      .put(CTRL_ATTR_FAMILY_NAME, std::string(SROCE_GENL_NAME));
}

Request device_request(uint16_t family, const std::string& device) {
  return request(family, SROCE_CMD_DEV_GET, SROCE_GENL_VERSION, NLM_F_ACK)
      .put(SROCE_A_DEV_NAME, device);
}

Request set_request(uint16_t family, const std::string& device, std::span<const Setting> settings) {
  Request message = request(family, SROCE_CMD_DEV_SET, SROCE_GENL_VERSION, NLM_F_ACK);
  message.put(SROCE_A_DEV_NAME, device);
  for (const Setting& setting : settings) {
    message.put_nest(SROCE_A_PARAM, [&](Request& nest) {
      nest.put(SROCE_A_PARAM_NAME, setting.name);
      if (const auto* number = std::get_if<uint32_t>(&setting.value))
        nest.put(SROCE_A_PARAM_VALUE, *number);
      else
        nest.put(SROCE_A_PARAM_TEXT, std::get<std::string>(setting.value));
    });
  }
  return message;
}

Request qps_request(uint16_t family, const std::optional<std::string>& device) {
  Request message = request(family, SROCE_CMD_QP_GET, SROCE_GENL_VERSION, NLM_F_DUMP);
  if (device) message.put(SROCE_A_DEV_NAME, *device);
  return message;
}

uint16_t decode_family(ByteView payload) {
  return AttributeMap(attributes_of(payload)).get(CTRL_ATTR_FAMILY_ID).u16();
}

DeviceReply decode_device(ByteView payload) {
  const ByteView inside = attributes_of(payload);
  const AttributeMap attributes(inside);
  DeviceReply reply{
      attributes.get(SROCE_A_DEV_INDEX).u32(), attributes.get(SROCE_A_DEV_NAME).text(), {}, {}};
  if (const Attribute* rate = attributes.find(SROCE_A_LINE_RATE)) reply.line_rate = rate->u64();
  for (const Attribute& attribute : parse_attributes(inside)) {
    if (attribute.type == SROCE_A_PARAM)
      reply.parameters.push_back(decode_parameter(attribute.payload));
  }
  return reply;
}

QueuePair decode_qp(ByteView payload) {
  const AttributeMap attributes(attributes_of(payload));
  const Attribute* srqn = attributes.find(SROCE_A_SRQN);
  return {attributes.get(SROCE_A_DEV_NAME).text(),
          attributes.get(SROCE_A_DEV_INDEX).u32(),
          attributes.get(SROCE_A_QPN).u32(),
          type_name(attributes.get(SROCE_A_QP_TYPE).u8()),
          state_name(attributes.get(SROCE_A_QP_STATE).u8()),
          decode_peer(attributes),
          decode_work_queue(attributes.get(SROCE_A_SQ).payload),
          decode_work_queue(attributes.get(SROCE_A_RQ).payload),
          srqn ? std::optional(srqn->u32()) : std::nullopt};
}

std::vector<Bytes> ask_module(System& system, const Command& command,
                              const std::function<Request(uint16_t family)>& make) {
  const uint16_t family = family_number(system);
  try {
    return system.generic.exchange(make(family));
  } catch (const KernelError& error) {
    if (error.error() == ENODEV && command.device)
      throw explain_missing_device(system, *command.device);
    throw explain_rejection(error, command.verb, command.device.value_or("queue pairs"),
                            system.is_root);
  }
}

}  // namespace sroce::genl
