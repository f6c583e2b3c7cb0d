// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// raw_flood: sends malformed RoCEv2 packets from a raw socket. The caller checks the victim's
// counters and log.
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>

#include "harness/args.h"
#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "raw_flood/kinds.h"

namespace {

using harness::expect;
using harness::fail;
using harness::fail_errno;
using raw_flood::Aim;
using raw_flood::Kind;

constexpr const char* usage =
    R"(usage: raw_flood --dst ADDRESS [--src ADDRESS] [--count N] [--seed N] [--only KIND]
                 [--not KIND] [--qpn N --psn N] [--hostile]
                 [--seconds S] [--port P]

Send N malformed packets (default 10000) to UDP port 4791 of an IPv4 or IPv6 address, every kind in
turn, and print the number of each as one line of JSON. Needs root.
  --qpn, --psn  send about 50 % of the packets to a live QP of the victim. PSN is the first that the
                QP expected. "rc_verify --duration" prints both, as qpn and rq_psn of role=in.
  --hostile     also send it the kinds that may rightly move it to ERR
  --seconds     instead of N packets, send for S seconds as fast as possible: the same 64 packets of
                each kind again and again, many in a system call
  --port        send to this port instead)";

union Address {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

Address parse_address(const std::string& text) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (::getaddrinfo(text.c_str(), nullptr, &hints, &found))
    fail("'", text, "' is not an IP address");
  Address address{};
  std::memcpy(&address, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return address;
}

socklen_t length_of(const Address& address) {
  return address.any.sa_family == AF_INET6 ? sizeof address.v6 : sizeof address.v4;
}

// The source address the kernel would choose.
Address source_towards(const Address& destination) {
  Address target = destination;
  (target.any.sa_family == AF_INET6 ? target.v6.sin6_port : target.v4.sin_port) =
      htons(wire::roce_port);
  const int fd = ::socket(target.any.sa_family, SOCK_DGRAM, 0);
  Address source{};
  socklen_t length = sizeof source;
  const bool failed =
      ::connect(fd, &target.any, length_of(target)) || ::getsockname(fd, &source.any, &length);
  const int error = errno;
  ::close(fd);
  if (failed) fail_errno(error, "no route to the destination");
  return source;
}

in6_addr raw_bytes(const Address& address) {
  in6_addr bytes{};
  if (address.any.sa_family == AF_INET6)
    bytes = address.v6.sin6_addr;
  else
    std::memcpy(&bytes, &address.v4.sin_addr, sizeof address.v4.sin_addr);
  return bytes;
}

class RawSocket {
 public:
  explicit RawSocket(const Address& destination)
      : destination_(destination), fd_(::socket(destination.any.sa_family, SOCK_RAW, IPPROTO_RAW)) {
    if (fd_ < 0) fail_errno(errno, "raw socket");
    if (destination_.any.sa_family == AF_INET6) destination_.v6.sin6_port = 0;
  }
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;
  ~RawSocket() { ::close(fd_); }

  bool send(const wire::Bytes& packet) {
    harness::Backoff backoff;
    for (int attempt = 0; attempt < 1000; ++attempt) {
      if (::sendto(fd_, packet.data(), packet.size(), 0, &destination_.any,
                   length_of(destination_)) >= 0)
        return true;
      last_error_ = errno;
      if (errno != ENOBUFS && errno != EAGAIN) return false;
      backoff.pause();
    }
    return false;
  }

  // Returns how many of the packets were sent.
  std::uint64_t send_many(std::vector<wire::Bytes>& packets) {
    std::vector<iovec> parts;
    for (wire::Bytes& packet : packets) parts.push_back({packet.data(), packet.size()});
    std::vector<mmsghdr> messages(packets.size());
    for (std::size_t i = 0; i < packets.size(); ++i)
      messages[i].msg_hdr = {&destination_, length_of(destination_), &parts[i], 1, nullptr, 0, 0};
    std::uint64_t sent = 0;
    for (std::size_t next = 0; next < messages.size();) {
      const int count =
          ::sendmmsg(fd_, &messages[next], static_cast<unsigned>(messages.size() - next), 0);
      if (count < 0) last_error_ = errno;
      // Skip a packet that is rejected.
      next += static_cast<std::size_t>(std::max(count, 1));
      sent += static_cast<std::uint64_t>(std::max(count, 0));
    }
    return sent;
  }

  int last_error() const { return last_error_; }

 private:
  Address destination_;
  int fd_;
  int last_error_ = 0;
};

struct Plan {
  Aim aim;
  std::uint64_t count;
  std::uint64_t seed;
  std::string only;
  std::string unwanted;
  bool is_hostile;
  std::chrono::seconds duration;
};

Aim make_aim(const Address& source, const Address& destination) {
  Aim aim;
  aim.flow.is_ipv6 = destination.any.sa_family == AF_INET6;
  aim.flow.source = raw_bytes(source);
  aim.flow.destination = raw_bytes(destination);
  aim.stranger = aim.flow;
  aim.stranger.source.s6_addr[aim.flow.is_ipv6 ? 15 : 3] ^= 0x2a;
  return aim;
}

struct Sent {
  std::map<std::string, std::uint64_t> by_kind;
  std::uint64_t total = 0;
  std::uint64_t rejected = 0;
};

std::vector<const Kind*> chosen_kinds(const Plan& plan) {
  std::vector<const Kind*> chosen;
  for (const Kind& kind : raw_flood::kinds())
    if ((plan.only.empty() || plan.only == kind.name) && plan.unwanted != kind.name)
      chosen.push_back(&kind);
  expect(!chosen.empty(), "no kind '", plan.only, "'");
  return chosen;
}

wire::Bytes make_packet(const Plan& plan, const Kind& kind, harness::Random& random) {
  Aim aim = plan.aim;
  aim.has_qp = aim.has_qp && (kind.is_harmless || plan.is_hostile);
  aim.flow.identification = static_cast<std::uint16_t>(random.between(1, 0xffff));
  aim.flow.source_port = static_cast<std::uint16_t>(random.between(0xc000, 0xffff));
  return kind.make(random, aim);
}

// The sender must not be slower than the receiver, so it makes all packets first.
Sent flood_fast(RawSocket& socket, const Plan& plan) {
  constexpr std::size_t packets_of_kind = 64;
  harness::Random random(plan.seed);
  std::map<std::string, std::vector<wire::Bytes>> packets;
  for (const Kind* kind : chosen_kinds(plan))
    for (std::size_t i = 0; i < packets_of_kind; ++i)
      packets[kind->name].push_back(make_packet(plan, *kind, random));
  Sent sent;
  const auto end = harness::Deadline::after(plan.duration);
  while (!end.expired()) {
    for (auto& [name, some] : packets) {
      const std::uint64_t count = socket.send_many(some);
      sent.by_kind[name] += count;
      sent.total += count;
      sent.rejected += some.size() - count;
    }
  }
  return sent;
}

Sent flood(RawSocket& socket, const Plan& plan) {
  constexpr std::uint64_t packets_per_yield = 64;  // the victim may need our CPU
  const std::vector<const Kind*> chosen = chosen_kinds(plan);
  harness::Random random(plan.seed);
  Sent sent;
  for (std::uint64_t i = 0; i < plan.count; ++i) {
    const Kind& kind = *chosen[i % chosen.size()];
    if (socket.send(make_packet(plan, kind, random)))
      ++sent.by_kind[kind.name];
    else
      ++sent.rejected;
    if (i % packets_per_yield == 0) ::sched_yield();
  }
  for (const auto& [name, count] : sent.by_kind) sent.total += count;
  return sent;
}

void print_json(const Plan& plan, const Sent& sent) {
  std::printf("{\"seed\":%llu,\"total\":%llu,\"rejected_by_kernel\":%llu,\"kinds\":{",
              static_cast<unsigned long long>(plan.seed),
              static_cast<unsigned long long>(sent.total),
              static_cast<unsigned long long>(sent.rejected));
  const char* separator = "";
  for (const auto& [name, count] : sent.by_kind) {
    std::printf("%s\"%s\":%llu", separator, name.c_str(), static_cast<unsigned long long>(count));
    separator = ",";
  }
  std::printf("}}\n");
}

void run(harness::Args& args, harness::Tap& tap) {
  const Address destination = parse_address(args.required("--dst"));
  const std::string source_text = args.text("--src", "");
  const Address source =
      source_text.empty() ? source_towards(destination) : parse_address(source_text);
  expect(source.any.sa_family == destination.any.sa_family,
         "--src and --dst are of different families");
  Plan plan{make_aim(source, destination),
            args.number("--count", 10000),
            args.number("--seed", 1),
            args.text("--only", ""),
            args.text("--not", ""),
            args.flag("--hostile"),
            std::chrono::seconds(args.number("--seconds", 0))};
  const auto port = static_cast<std::uint16_t>(args.number("--port", wire::roce_port));
  plan.aim.flow.destination_port = plan.aim.stranger.destination_port = port;
  const std::uint64_t unset = ~0ULL;
  const std::uint64_t qpn = args.number("--qpn", unset);
  plan.aim.has_qp = qpn != unset;
  plan.aim.qpn = static_cast<std::uint32_t>(qpn & 0xffffff);
  plan.aim.psn = static_cast<std::uint32_t>(args.number("--psn", 0) & 0xffffff);
  args.finish();

  harness::note(harness::text("seed ", plan.seed));
  RawSocket socket(destination);
  const Sent sent = plan.duration.count() ? flood_fast(socket, plan) : flood(socket, plan);
  print_json(plan, sent);
  // The sender's kernel rejects the few packets that exceed the MTU. More mean a broken setup.
  tap.run(harness::text(sent.total, " malformed packets are sent"), [&] {
    expect(sent.total > 0 && sent.rejected * 20 <= sent.total + sent.rejected, sent.rejected,
           " of ", sent.total + sent.rejected,
           " were rejected, last: ", std::strerror(socket.last_error()));
  });
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  if (!tap.completes([&] { run(args, tap); })) return 1;
  return tap.finish();
}
