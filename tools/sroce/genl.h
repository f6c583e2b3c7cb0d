// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The module's own generic netlink family (kernel/uapi/sroce_netlink.h): the requests the tool
// makes and the replies it understands; pure encoding and decoding.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sroce/netlink.h"

namespace sroce::genl {

/// Asks the kernel for the number of the family, which the others need.
Request family_request();

/// A parameter to be set, by number or by the name of a choice.
struct Setting {
  std::string name;
  std::variant<uint32_t, std::string> value;
};

Request device_request(uint16_t family, const std::string& device);
Request set_request(uint16_t family, const std::string& device, std::span<const Setting> settings);
Request qps_request(uint16_t family, const std::optional<std::string>& device);

struct Parameter {
  std::string name;
  uint32_t value = 0;
  uint32_t min = 0;
  uint32_t max = 0;
  uint32_t default_value = 0;
  std::string unit;                  // empty: a plain number
  std::vector<std::string> choices;  // names of the values from 0 on, if they have names
};

struct DeviceReply {
  uint32_t index = 0;
  std::string name;
  std::optional<uint64_t> line_rate;  // bytes/s
  std::vector<Parameter> parameters;
};

/// Half of a queue pair: what limits it, and what has happened to it. Fields that the kernel did
/// not send (no such limit, not known) are not in the map.
struct Half {
  std::optional<std::string> cc;
  std::optional<std::string> cc_state;
  std::map<uint16_t, uint64_t> numbers;  // by SROCE_A_HALF_*

  std::optional<uint64_t> find(uint16_t attribute) const;
  uint64_t get(uint16_t attribute) const { return find(attribute).value_or(0); }
};

struct Peer {
  uint32_t qpn = 0;
  std::string local_address;
  std::string address;
  std::string selective;
};

struct QueuePair {
  std::string device;
  uint32_t index = 0;
  uint32_t qpn = 0;
  std::string type;
  std::string state;
  std::optional<Peer> peer;  // of a connected one
  Half send;
  Half recv;
};

/// A number of a half, as JSON names it.
struct HalfField {
  uint16_t attribute;
  const char* name;
};

/// Those of both halves, those of the send half only, and of the receive half only.
std::span<const HalfField> pace_fields();
std::span<const HalfField> send_fields();
std::span<const HalfField> recv_fields();

/// Each throws MalformedMessage if an attribute it cannot do without is missing.
uint16_t decode_family(ByteView payload);
DeviceReply decode_device(ByteView payload);
QueuePair decode_qp(ByteView payload);

}  // namespace sroce::genl
