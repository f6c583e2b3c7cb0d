// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Netlink messages, also malformed ones, and a socket that never blocks.
#pragma once

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace fuzz {

using Bytes = std::vector<std::uint8_t>;

class Message {
 public:
  Message(std::uint16_t type, std::uint16_t flags);
  static Message genl(std::uint16_t family, std::uint8_t cmd, std::uint16_t flags);

  void put(int type, const void* data, std::size_t bytes);
  void put_u32(int type, std::uint32_t value) { put(type, &value, sizeof(value)); }
  void put_string(int type, const std::string& value) {
    put(type, value.c_str(), value.size() + 1);
  }
  std::size_t begin_nest(int type);
  void end_nest(std::size_t at);
  Bytes finish(std::uint32_t seq) const;

  Bytes& bytes() { return bytes_; }

 private:
  Bytes bytes_;
};

// Calls f(type, data, bytes) for each attribute.
void each_attr(const std::uint8_t* data, std::size_t bytes,
               const std::function<void(int, const std::uint8_t*, std::size_t)>& f);

struct Response {
  int error = -1;              // errno, 0: accepted, -1: no response
  std::vector<Bytes> replies;  // attributes, after the generic netlink header
};

// How a response is read.
struct Reading {
  std::size_t buffer = 32768;  // smaller ones cut replies off
  int messages = 1 << 20;      // then the socket is closed
  int receive_space = 0;       // SO_RCVBUF, 0: the default
};

class Socket {
 public:
  explicit Socket(int protocol);
  ~Socket();
  Socket(const Socket&) = delete;

  void set_receive_space(int bytes);
  int send(const Bytes& message);  // errno
  Response receive(const Reading& reading);

 private:
  int fd_;
};

Response ask(int protocol, const Bytes& message, const Reading& reading = {});

std::uint16_t family_id(const char* name);

}  // namespace fuzz
