// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fuzz/message.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "fuzz/fuzz.h"
#include "harness/failure.h"

namespace fuzz {

namespace {

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

// More replies than that come from a dump without an end.
constexpr int most_replies = 4096;

}  // namespace

Message::Message(std::uint16_t type, std::uint16_t flags) : bytes_(sizeof(nlmsghdr)) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_flags = flags;
  std::memcpy(bytes_.data(), &head, sizeof(head));
}

Message Message::genl(std::uint16_t family, std::uint8_t cmd, std::uint16_t flags) {
  Message message(family, flags);
  message.bytes_.insert(message.bytes_.end(), {cmd, 1, 0, 0});
  return message;
}

void Message::put(int type, const void* data, std::size_t bytes) {
  const nlattr attr{static_cast<std::uint16_t>(sizeof(nlattr) + bytes),
                    static_cast<std::uint16_t>(type)};
  const auto* head = reinterpret_cast<const std::uint8_t*>(&attr);
  const auto* from = static_cast<const std::uint8_t*>(data);
  bytes_.insert(bytes_.end(), head, head + sizeof(attr));
  bytes_.insert(bytes_.end(), from, from + bytes);
  bytes_.resize(aligned(bytes_.size()));
}

std::size_t Message::begin_nest(int type) {
  const std::size_t at = bytes_.size();
  put(type, nullptr, 0);
  return at;
}

void Message::end_nest(std::size_t at) {
  const auto length = static_cast<std::uint16_t>(bytes_.size() - at);
  std::memcpy(&bytes_[at], &length, sizeof(length));
}

Bytes Message::finish(std::uint32_t seq) const {
  Bytes whole = bytes_;
  const auto length = static_cast<std::uint32_t>(whole.size());
  std::memcpy(&whole[offsetof(nlmsghdr, nlmsg_len)], &length, sizeof(length));
  std::memcpy(&whole[offsetof(nlmsghdr, nlmsg_seq)], &seq, sizeof(seq));
  return whole;
}

void each_attr(const std::uint8_t* data, std::size_t bytes,
               const std::function<void(int, const std::uint8_t*, std::size_t)>& f) {
  while (bytes >= sizeof(nlattr)) {
    nlattr attr;
    std::memcpy(&attr, data, sizeof(attr));
    harness::expect(attr.nla_len >= sizeof(attr) && attr.nla_len <= bytes,
                    "the kernel sent an attribute of wrong length");
    f(attr.nla_type & NLA_TYPE_MASK, data + sizeof(attr), attr.nla_len - sizeof(attr));
    const std::size_t step = std::min(aligned(attr.nla_len), bytes);
    data += step;
    bytes -= step;
  }
}

Socket::Socket(int protocol) : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol)) {
  if (fd_ < 0) harness::fail_errno(errno, "netlink socket");
  const int on = 1;
  setsockopt(fd_, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
}

Socket::~Socket() { close(fd_); }

void Socket::set_receive_space(int bytes) {
  setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
}

int Socket::send(const Bytes& message) {
  return ::send(fd_, message.data(), message.size(), 0) < 0 ? errno : 0;
}

Response Socket::receive(const Reading& reading) {
  Response response;
  Bytes buffer(std::max<std::size_t>(reading.buffer, 1));
  for (int i = 0; i < reading.messages; ++i) {
    if (i == most_replies) harness::fail("a dump does not end");
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0) {
      if (errno != EAGAIN) response.error = errno;
      break;
    }
    for (std::size_t at = 0; at + sizeof(nlmsghdr) <= static_cast<std::size_t>(got);) {
      nlmsghdr head;
      std::memcpy(&head, &buffer[at], sizeof(head));
      if (head.nlmsg_len < sizeof(head) || at + head.nlmsg_len > static_cast<std::size_t>(got))
        break;  // cut off
      const std::size_t body = at + sizeof(head);
      if (head.nlmsg_type == NLMSG_ERROR || head.nlmsg_type == NLMSG_DONE) {
        std::int32_t error = 0;
        if (head.nlmsg_len >= sizeof(head) + sizeof(error))
          std::memcpy(&error, &buffer[body], sizeof(error));
        response.error = -error;
      } else if (head.nlmsg_len >= sizeof(head) + GENL_HDRLEN) {
        response.replies.emplace_back(buffer.begin() + static_cast<long>(body + GENL_HDRLEN),
                                      buffer.begin() + static_cast<long>(at + head.nlmsg_len));
      }
      at += aligned(head.nlmsg_len);
    }
  }
  return response;
}

Response ask(int protocol, const Bytes& message, const Reading& reading) {
  Socket socket(protocol);
  if (reading.receive_space) socket.set_receive_space(reading.receive_space);
  const int error = socket.send(message);
  if (error) return {error, {}};
  return socket.receive(reading);
}

std::uint16_t family_id(const char* name) {
  Message message = Message::genl(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_REQUEST);
  message.put_string(CTRL_ATTR_FAMILY_NAME, name);
  std::uint16_t id = 0;
  for (const Bytes& reply : ask(NETLINK_GENERIC, message.finish(1)).replies)
    each_attr(reply.data(), reply.size(),
              [&](int type, const std::uint8_t* data, std::size_t bytes) {
                if (type == CTRL_ATTR_FAMILY_ID && bytes >= sizeof(id))
                  std::memcpy(&id, data, sizeof(id));
              });
  harness::expect(id != 0, "no netlink family ", name);
  return id;
}

}  // namespace fuzz
