// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "harness/rendezvous.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <utility>

#include "harness/failure.h"

namespace harness {
namespace {

constexpr std::size_t longest_message = 1 << 20;

struct Frame {
  std::uint32_t kind;
  std::uint32_t length;
};

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

void wait_for(int fd, short events, Deadline deadline, const char* what) {
  pollfd wanted{fd, events, 0};
  const int ready = ::poll(&wanted, 1, deadline.left_ms());
  if (ready < 0 && errno != EINTR) fail_errno(errno, "poll");
  if (ready == 0) fail("timeout: the peer process did not ", what);
}

int connect_once(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  expect(error == 0, "cannot resolve ", host, ": ", ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  for (const addrinfo* at = list; at; at = at->ai_next) {
    Fd fd(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (fd.get() >= 0 && ::connect(fd.get(), at->ai_addr, at->ai_addrlen) == 0) return fd.release();
  }
  return -1;
}

}  // namespace

Rendezvous::Rendezvous(int socket) : socket_(socket) {
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Rendezvous::Rendezvous(Rendezvous&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

Rendezvous& Rendezvous::operator=(Rendezvous&& other) noexcept {
  std::swap(socket_, other.socket_);
  return *this;
}

Rendezvous::~Rendezvous() {
  if (socket_ >= 0) ::close(socket_);
}

Rendezvous Rendezvous::accept(std::uint16_t port, Deadline deadline) {
  const Fd listener(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (listener.get() < 0) fail_errno(errno, "socket");
  const int on = 1;
  const int off = 0;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) ||
      ::listen(listener.get(), 1))
    fail_errno(errno, "cannot listen on TCP port ", port);
  wait_for(listener.get(), POLLIN, deadline, "connect");
  const int socket = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) fail_errno(errno, "accept");
  return Rendezvous(socket);
}

Rendezvous Rendezvous::connect(const std::string& host, std::uint16_t port, Deadline deadline) {
  while (true) {
    const int socket = connect_once(host, port);
    if (socket >= 0) return Rendezvous(socket);
    if (deadline.expired()) fail_errno(errno, "cannot connect to ", host, " port ", port);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

void Rendezvous::move_bytes(std::byte* bytes, std::size_t length, bool sending, Deadline deadline) {
  while (length) {
    wait_for(socket_, sending ? POLLOUT : POLLIN, deadline, sending ? "read" : "send");
    const ssize_t moved = sending ? ::send(socket_, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT)
                                  : ::recv(socket_, bytes, length, MSG_DONTWAIT);
    if (moved < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (moved < 0) fail_errno(errno, "TCP connection to the peer process");
    expect(moved > 0, "the peer process closed the connection");
    bytes += moved;
    length -= static_cast<std::size_t>(moved);
  }
}

void Rendezvous::send(std::uint32_t kind, const void* body, std::size_t length, Deadline deadline) {
  const Frame frame{kind, static_cast<std::uint32_t>(length)};
  std::vector<std::byte> bytes(sizeof frame + length);
  std::memcpy(bytes.data(), &frame, sizeof frame);
  if (length) std::memcpy(bytes.data() + sizeof frame, body, length);
  move_bytes(bytes.data(), bytes.size(), true, deadline);
}

Rendezvous::Message Rendezvous::receive(Deadline deadline) {
  std::array<std::byte, sizeof(Frame)> head{};
  move_bytes(head.data(), head.size(), false, deadline);
  Frame frame{};
  std::memcpy(&frame, head.data(), sizeof frame);
  expect(frame.length <= longest_message, "the peer process sent a message of ", frame.length,
         " bytes");
  Message message{frame.kind, std::vector<std::byte>(frame.length)};
  move_bytes(message.body.data(), message.body.size(), false, deadline);
  return message;
}

}  // namespace harness
