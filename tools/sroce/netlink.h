// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Netlink messages as values: built with libmnl, taken apart with bounds-checked std::span.
// Nothing here touches a socket. libmnl's own iterators stop silently at the first malformed
// attribute; a tool that reports state must not mistake a cut message for an empty one, so
// decoding throws MalformedMessage instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sroce {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

/// The kernel answered with an error; message is its extended-ack text, mostly empty.
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

/// One request message. The sequence number is left zero for the sender to stamp.
class Request {
 public:
  Request(uint16_t type, uint16_t flags);
  /// With a header of the family behind that of netlink.
  Request(uint16_t type, uint16_t flags, ByteView family_header);

  Request& put(uint16_t attribute, uint32_t value);
  Request& put(uint16_t attribute, const std::string& value);
  /// An attribute that holds what fill puts.
  Request& put_nest(uint16_t attribute, const std::function<void(Request&)>& fill);

  ByteView bytes() const;
  void set_sequence(uint32_t sequence);

 private:
  Bytes buffer_;  // operator new aligns it for nlmsghdr
};

/// An attribute inside a received message; payload points into that message.
struct Attribute {
  uint16_t type;  // without the NLA_F_* bits
  ByteView payload;

  uint8_t u8() const;
  uint16_t u16() const;
  uint32_t u32() const;
  uint64_t u64() const;
  std::string text() const;  // a string that must be NUL-terminated
};

/// Splits a payload into its attributes. Throws MalformedMessage if one reaches past the end.
std::vector<Attribute> parse_attributes(ByteView payload);

/// What one datagram from the kernel brought.
struct Datagram {
  std::vector<ByteView> payloads;  // of the data messages, in order; views into the datagram
  bool complete = false;           // an acknowledgement or the end of a dump was seen
};

/// Decodes a datagram, skipping messages of other sequence numbers. Throws KernelError for an
/// error reply and MalformedMessage for nonsense.
Datagram decode_datagram(ByteView datagram, uint32_t sequence);

/// Sends a request and collects the payloads of all reply messages.
class Channel {
 public:
  virtual ~Channel() = default;

  /// Throws KernelError, SubsystemAbsent or MalformedMessage.
  virtual std::vector<Bytes> exchange(Request request) = 0;
};

/// The kernel does not speak RDMA netlink at all: ib_core is neither loaded nor loadable.
class SubsystemAbsent : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace sroce
