// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/netlink.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace sroce {
namespace {

// Enough for the longest request, which sets every parameter of a device.
constexpr size_t request_bytes_max = 4096;

// The kernel fills at most 32 KiB per datagram of a dump.
constexpr size_t datagram_bytes_max = 32768;

template <typename T>
T read(ByteView bytes) {
  if (bytes.size() < sizeof(T)) throw MalformedMessage("netlink: truncated message");
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

/// The view without its first bytes and the padding that follows them, if any.
ByteView after(ByteView view, size_t length) {
  if (length >= view.size()) return {};
  // NLMSG_ALIGN has a 32-bit mask, so the length must be known to be small.
  return view.subspan(std::min<size_t>(view.size(), NLMSG_ALIGN(length)));
}

/// The extended-ack text after an nlmsgerr. An uncapped error echoes the whole request first.
std::string extended_ack(const nlmsghdr& header, ByteView payload) {
  if (!(header.nlmsg_flags & NLM_F_ACK_TLVS)) return {};
  const auto error = read<nlmsgerr>(payload);
  size_t skip = sizeof(nlmsgerr);
  if (error.error != 0 && !(header.nlmsg_flags & NLM_F_CAPPED)) {
    if (error.msg.nlmsg_len < sizeof(nlmsghdr))
      throw MalformedMessage("netlink: invalid error echo");
    skip += error.msg.nlmsg_len - sizeof(nlmsghdr);
  }
  for (const Attribute& attribute : parse_attributes(after(payload, skip))) {
    if (attribute.type == NLMSGERR_ATTR_MSG) return attribute.text();
  }
  return {};
}

/// Throws if the message reports an error; a zero code is an acknowledgement.
void check_error(const nlmsghdr& header, ByteView payload) {
  // The end of a dump need not have a code.
  if (header.nlmsg_type == NLMSG_DONE && payload.size() < sizeof(int)) return;
  const int error = read<int>(payload);
  if (error == 0 || (header.nlmsg_type == NLMSG_DONE && error > 0)) return;
  // Negating INT_MIN is undefined. 4095 is the kernel's MAX_ERRNO.
  if (error > 0 || error < -4095) throw MalformedMessage("netlink: error code out of range");
  const bool has_text = header.nlmsg_type == NLMSG_ERROR;
  throw KernelError(-error, has_text ? extended_ack(header, payload) : std::string());
}

}  // namespace

KernelError::KernelError(int error, std::string message)
    : std::runtime_error(std::strerror(error) + (message.empty() ? "" : " (" + message + ")")),
      error_(error),
      message_(std::move(message)) {}

Request::Request(uint16_t type, uint16_t flags) : buffer_(request_bytes_max) {
  nlmsghdr* header = mnl_nlmsg_put_header(buffer_.data());
  header->nlmsg_type = type;
  header->nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
}

Request::Request(uint16_t type, uint16_t flags, ByteView family_header) : Request(type, flags) {
  auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data());
  void* place = mnl_nlmsg_put_extra_header(header, family_header.size());
  std::memcpy(place, family_header.data(), family_header.size());
}

Request& Request::put(uint16_t attribute, uint32_t value) {
  auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data());
  if (!mnl_attr_put_u32_check(header, buffer_.size(), attribute, value))
    throw std::length_error("netlink request too long");
  return *this;
}

Request& Request::put(uint16_t attribute, const std::string& value) {
  auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data());
  if (!mnl_attr_put_strz_check(header, buffer_.size(), attribute, value.c_str()))
    throw std::length_error("netlink request too long");
  return *this;
}

Request& Request::put(uint16_t attribute, ByteView value) {
  auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data());
  if (!mnl_attr_put_check(header, buffer_.size(), attribute, value.size(), value.data()))
    throw std::length_error("netlink request too long");
  return *this;
}

Request& Request::put_nest(uint16_t attribute, const std::function<void(Request&)>& fill) {
  auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data());
  nlattr* nest = mnl_attr_nest_start_check(header, buffer_.size(), attribute);
  if (!nest) throw std::length_error("netlink request too long");
  fill(*this);
  mnl_attr_nest_end(header, nest);
  return *this;
}

ByteView Request::bytes() const {
  return ByteView(buffer_).first(reinterpret_cast<const nlmsghdr*>(buffer_.data())->nlmsg_len);
}

void Request::set_sequence(uint32_t sequence) {
  reinterpret_cast<nlmsghdr*>(buffer_.data())->nlmsg_seq = sequence;
}

uint8_t Attribute::u8() const { return read<uint8_t>(payload); }
uint16_t Attribute::u16() const { return read<uint16_t>(payload); }
uint32_t Attribute::u32() const { return read<uint32_t>(payload); }
uint64_t Attribute::u64() const { return read<uint64_t>(payload); }

std::string Attribute::text() const {
  const auto end = std::find(payload.begin(), payload.end(), std::byte{0});
  if (end == payload.end()) throw MalformedMessage("netlink: unterminated string");
  return {reinterpret_cast<const char*>(payload.data()),
          static_cast<size_t>(end - payload.begin())};
}

std::vector<Attribute> parse_attributes(ByteView payload) {
  std::vector<Attribute> attributes;
  while (!payload.empty()) {
    const auto header = read<nlattr>(payload);
    if (header.nla_len < sizeof(nlattr) || header.nla_len > payload.size())
      throw MalformedMessage("netlink: invalid attribute length");
    attributes.push_back({static_cast<uint16_t>(header.nla_type & NLA_TYPE_MASK),
                          payload.first(header.nla_len).subspan(sizeof(nlattr))});
    payload = after(payload, header.nla_len);
  }
  return attributes;
}

AttributeMap::AttributeMap(ByteView payload) {
  for (const Attribute& attribute : parse_attributes(payload))
    by_type_.insert_or_assign(attribute.type, attribute);
}

const Attribute* AttributeMap::find(uint16_t type) const {
  const auto found = by_type_.find(type);
  return found == by_type_.end() ? nullptr : &found->second;
}

const Attribute& AttributeMap::get(uint16_t type) const {
  const Attribute* attribute = find(type);
  if (!attribute) throw MalformedMessage("netlink: attribute missing from the kernel's reply");
  return *attribute;
}

Datagram decode_datagram(ByteView datagram, uint32_t sequence) {
  Datagram result;
  while (!datagram.empty() && !result.complete) {
    const auto header = read<nlmsghdr>(datagram);
    if (header.nlmsg_len < sizeof(nlmsghdr) || header.nlmsg_len > datagram.size())
      throw MalformedMessage("netlink: invalid message length");
    const ByteView payload = datagram.first(header.nlmsg_len).subspan(sizeof(nlmsghdr));
    datagram = after(datagram, header.nlmsg_len);
    if (header.nlmsg_seq != sequence) continue;
    if (header.nlmsg_flags & NLM_F_DUMP_INTR) result.interrupted = true;

    switch (header.nlmsg_type) {
      case NLMSG_NOOP:
        break;
      case NLMSG_OVERRUN:
        throw KernelError(ENOBUFS, "");
      case NLMSG_ERROR:
      case NLMSG_DONE:
        check_error(header, payload);
        result.complete = true;
        break;
      default:
        result.payloads.push_back(payload);
    }
  }
  return result;
}

void NetlinkSocket::Closer::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

void NetlinkSocket::open() {
  socket_.reset(mnl_socket_open2(protocol_, SOCK_CLOEXEC));
  if (!socket_) {
    if (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT)
      throw SubsystemAbsent(std::strerror(errno));
    throw KernelError(errno, "");
  }
  if (mnl_socket_bind(socket_.get(), 0, MNL_SOCKET_AUTOPID) < 0) throw KernelError(errno, "");
  // Both options only improve error texts, so failure to set them is not an error.
  int on = 1;
  mnl_socket_setsockopt(socket_.get(), NETLINK_EXT_ACK, &on, sizeof(on));
  mnl_socket_setsockopt(socket_.get(), NETLINK_CAP_ACK, &on, sizeof(on));
}

size_t NetlinkSocket::receive(std::span<std::byte> buffer) {
  for (;;) {
    const ssize_t length = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (length > 0) return static_cast<size_t>(length);
    if (length == 0) throw MalformedMessage("netlink: the kernel closed the socket");
    if (errno != EINTR) throw KernelError(errno, "");
  }
}

std::vector<Bytes> NetlinkSocket::exchange(Request request) {
  constexpr int attempts_max = 8;
  std::vector<Bytes> replies;
  bool interrupted = true;
  for (int attempt = 0; interrupted && attempt < attempts_max; ++attempt)
    replies = exchange_once(request, interrupted);
  return replies;
}

std::vector<Bytes> NetlinkSocket::exchange_once(Request& request, bool& interrupted) {
  if (!socket_) open();
  request.set_sequence(++sequence_);
  interrupted = false;
  const ByteView bytes = request.bytes();
  if (mnl_socket_sendto(socket_.get(), bytes.data(), bytes.size()) < 0)
    throw KernelError(errno, "");

  std::vector<Bytes> replies;
  Bytes buffer(datagram_bytes_max);
  for (bool complete = false; !complete;) {
    const Datagram datagram = decode_datagram(ByteView(buffer).first(receive(buffer)), sequence_);
    for (const ByteView payload : datagram.payloads)
      replies.emplace_back(payload.begin(), payload.end());
    complete = datagram.complete;
    interrupted |= datagram.interrupted;
  }
  return replies;
}

}  // namespace sroce
