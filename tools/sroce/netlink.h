// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Netlink: messages as values, and the socket that carries them.
//
// Requests are built with libmnl. Replies are decoded with bounds-checked std::span, because
// libmnl's iterators stop silently at the first malformed attribute, and a tool that reports state
// must not mistake a truncated message for an empty one. Decoding throws MalformedMessage instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

struct mnl_socket;

namespace sroce {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

/// The kernel replied with an error; message is its extended-ack text, usually empty.
class KernelError : public std::runtime_error {
 public:
  KernelError(int error, std::string message);

  int error() const { return error_; }
  const std::string& message() const { return message_; }

 private:
  int error_;
  std::string message_;
};

/// The bytes received are not a well-formed netlink message.
class MalformedMessage : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The kernel does not support the netlink protocol. For RDMA netlink, ib_core is neither loaded
/// nor loadable.
class SubsystemAbsent : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A request message. Its sequence number is zero until the sender sets it.
class Request {
 public:
  Request(uint16_t type, uint16_t flags);
  /// Adds the family's own header after the netlink header.
  Request(uint16_t type, uint16_t flags, ByteView family_header);

  /// Each put throws std::length_error if the attribute does not fit.
  Request& put(uint16_t attribute, uint32_t value);
  Request& put(uint16_t attribute, const std::string& value);
  Request& put(uint16_t attribute, ByteView value);
  /// Adds an attribute that contains the attributes that fill adds.
  Request& put_nest(uint16_t attribute, const std::function<void(Request&)>& fill);

  ByteView bytes() const;
  void set_sequence(uint32_t sequence);

 private:
  Bytes buffer_;  // operator new aligns it for nlmsghdr
};

/// An attribute of a received message. The payload is a view into that message.
struct Attribute {
  uint16_t type;  // without the NLA_F_* bits
  ByteView payload;

  /// Each throws MalformedMessage if the payload is too short for its type.
  uint8_t u8() const;
  uint16_t u16() const;
  uint32_t u32() const;
  uint64_t u64() const;
  std::string text() const;  // must be NUL-terminated
};

/// Splits a payload into its attributes. Throws MalformedMessage if one extends past the end.
std::vector<Attribute> parse_attributes(ByteView payload);

/// The attributes of one nesting level by type. If the kernel repeats a type, the last one counts.
class AttributeMap {
 public:
  explicit AttributeMap(ByteView payload);

  /// Null if the attribute is absent.
  const Attribute* find(uint16_t type) const;
  /// Throws MalformedMessage if the attribute is absent.
  const Attribute& get(uint16_t type) const;

 private:
  std::map<uint16_t, Attribute> by_type_;
};

/// The contents of one datagram from the kernel.
struct Datagram {
  std::vector<ByteView> payloads;  // of the data messages, in order; views into the datagram
  bool complete = false;           // an acknowledgement or the end of a dump was seen
  bool interrupted = false;        // what is dumped has changed meanwhile: it may lack something
};

/// Decodes a datagram and skips messages with other sequence numbers. Throws KernelError for an
/// error reply and MalformedMessage for malformed bytes.
Datagram decode_datagram(ByteView datagram, uint32_t sequence);

/// Sends a request and collects the payloads of all reply messages.
class Channel {
 public:
  virtual ~Channel() = default;

  /// Throws KernelError, SubsystemAbsent or MalformedMessage.
  virtual std::vector<Bytes> exchange(Request request) = 0;
};

/// A channel over a netlink socket. The first exchange opens the socket, so that a command can
/// check its arguments before it needs the kernel.
class NetlinkSocket : public Channel {
 public:
  /// The protocol is NETLINK_RDMA or NETLINK_GENERIC.
  explicit NetlinkSocket(int protocol) : protocol_(protocol) {}

  /// Repeats a dump that the kernel says may lack something.
  std::vector<Bytes> exchange(Request request) override;

 private:
  struct Closer {
    void operator()(mnl_socket* socket) const;
  };

  void open();
  std::vector<Bytes> exchange_once(Request& request, bool& interrupted);
  size_t receive(std::span<std::byte> buffer);

  std::unique_ptr<mnl_socket, Closer> socket_;
  int protocol_;
  uint32_t sequence_ = 0;
};

}  // namespace sroce
