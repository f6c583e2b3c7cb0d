// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The module's own generic netlink family (kernel/uapi/sroce_netlink.h): encodes the requests that
// the tool sends, decodes their replies, and exchanges them with the module.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sroce/device.h"
#include "sroce/netlink.h"

namespace sroce::genl {

/// Asks the kernel for the family number, which the other requests need.
Request family_request();

/// A parameter to set, by number or by the name of a choice.
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
  std::vector<std::string> choices;  // names of the values from 0, if the values have names
};

struct DeviceReply {
  uint32_t index = 0;
  std::string name;
  std::optional<uint64_t> line_rate;  // bytes/s
  std::vector<Parameter> parameters;
};

/// A value that only one congestion-control algorithm has, with the format that the kernel gives
/// it.
struct CcDetail {
  std::string key;
  uint64_t value = 0;
  uint8_t format = 0;  // enum sroce_nl_cc_format
};

/// A send queue or a receive queue: its congestion control state and its statistics. Fields that
/// the kernel did not send (no such limit, or unknown) are not in the map.
struct WorkQueue {
  std::optional<std::string> cc;
  std::optional<std::string> cc_state;
  std::map<uint16_t, uint64_t> numbers{};  // by SROCE_A_WQ_*
  std::vector<CcDetail> cc_info{};         // in the order of the kernel

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
  std::optional<Peer> peer;  // only of a connected queue pair
  WorkQueue sq;
  WorkQueue rq;
  std::optional<uint32_t> srqn{};  // of the shared receive queue that it uses
};

/// Each throws MalformedMessage if a required attribute is absent.
uint16_t decode_family(ByteView payload);
DeviceReply decode_device(ByteView payload);
QueuePair decode_qp(ByteView payload);

/// The subcommand that sends a request, for the message if the request fails.
struct Command {
  std::string verb;  // "show" or "set"
  std::optional<std::string> device{};
};

/// Looks up the family number and sends the request that make builds with it. Throws Failure.
std::vector<Bytes> ask_module(System& system, const Command& command,
                              const std::function<Request(uint16_t family)>& make);

}  // namespace sroce::genl
