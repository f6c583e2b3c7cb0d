// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/ping.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "sroce/explain.h"
#include "sroce/no_response.h"
#include "sroce/path_mtu.h"
#include "sroce/rtnl.h"

namespace sroce {
namespace {

constexpr uint32_t only_port = 1;
constexpr std::chrono::milliseconds interval{1000};
constexpr uint32_t invalid_service_id = 8;

struct Response {
  uint32_t sequence = 0;
  double ms = 0;
  uint32_t reject_reason = 0;
};

struct Report {
  std::string host;
  std::string address;
  std::string source{};
  std::optional<std::string> device{};
  uint32_t requests = 0;
  std::vector<Response> responses{};
  std::optional<Cause> cause{};  // why there was no response, or why connections will fail
};

std::string ms_text(double ms) { return decimal_text(ms, 3); }

bool same_family(const in6_addr& a, const in6_addr& b) {
  return IN6_IS_ADDR_V4MAPPED(&a) == IN6_IS_ADDR_V4MAPPED(&b) &&
         IN6_IS_ADDR_LINKLOCAL(&a) == IN6_IS_ADDR_LINKLOCAL(&b);
}

sockaddr_storage socket_address(const in6_addr& address, uint32_t scope) {
  sockaddr_storage storage{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(storage);
    ipv4.sin_family = AF_INET;
    std::memcpy(&ipv4.sin_addr, &address.s6_addr[12], sizeof(ipv4.sin_addr));
  } else {
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(storage);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_addr = address;
    ipv6.sin6_scope_id = scope;
  }
  return storage;
}

/// The address that the kernel gives to packets for the peer, if there is a route.
std::optional<in6_addr> routed_source(System& system, const in6_addr& peer) try {
  for (const Bytes& payload : system.route.exchange(rtnl::route_request(peer, 0)))
    return rtnl::decode_route(payload).source;
  return std::nullopt;
} catch (const KernelError&) {
  return std::nullopt;
}

/// Sets the source to an address of the device of the peer's kind; that of the route if the device
/// has it. Its interface is also that of a peer on a link, unless the peer has one.
void choose_source(System& system, const std::string& name, CmQuestion& question) {
  const auto names = names_of(list_devices(system));
  if (std::find(names.begin(), names.end(), name) == names.end()) throw no_such_device(name, names);
  const in6_addr wanted = in6_of(question.peer);
  const auto routed = routed_source(system, wanted);
  std::optional<in6_addr> found;
  for (const Gid& gid : system.sysfs.gids(name, only_port)) {
    in6_addr address{};
    if (inet_pton(AF_INET6, gid.gid.c_str(), &address) != 1 || !same_family(address, wanted))
      continue;
    const bool is_routed = routed && IN6_ARE_ADDR_EQUAL(&address, &*routed);
    if (found && !is_routed) continue;
    found = address;
    question.link_index = link_index(system, gid.netdev.value_or(""));
  }
  if (!found)
    throw Failure(
        ExitCode::other,
        "device '" + name + "' has no address of the kind of " + address_text(question.peer),
        "to see its addresses: sroce status " + name);
  const bool of_link = IN6_IS_ADDR_LINKLOCAL(&wanted);
  question.source = socket_address(*found, of_link ? question.link_index : 0);
  if (!of_link) return;
  auto& peer = reinterpret_cast<sockaddr_in6&>(question.peer);
  if (peer.sin6_scope_id == 0) peer.sin6_scope_id = question.link_index;
}

std::optional<std::string> device_name(System& system, uint32_t index) {
  for (const DeviceIdentity& device : list_devices(system)) {
    if (device.index == index) return device.name;
  }
  return std::nullopt;
}

/// rdma_cm takes the first device that has the source address.
Cause other_device(const std::string& wanted, const Report& report) {
  return {"other_device",
          "rdma_cm takes " + report.device.value_or("another device") + " instead of " + wanted +
              ": both have the address " + report.source,
          other_address_cure};
}

class Ping {
 public:
  Ping(System& system, const PingOptions& options, std::ostream& out)
      : system_(system), options_(options), out_(out) {
    question_.peer = resolve_host(options.host);
    question_.wait = std::chrono::milliseconds(std::lround(options.wait_seconds * 1000));
    report_.host = options.host;
    if (options.device) choose_source(system, *options.device, question_);
    report_.address = scoped_text(system, question_.peer);
  }

  int run() {
    bool goes_on = system_.pause({});
    while (goes_on && ask())
      goes_on = out_ && report_.requests != options_.count && system_.pause(interval);
    // Once, for it takes time, and an earlier cause may no longer be true.
    if (without_response_)
      report_.cause = find_cause(system_, question_, *without_response_);
    else if (device_index_ && !report_.cause)
      report_.cause = find_mtu_fault(system_, question_, *device_index_);
    if (options_.format == Format::json)
      print_json();
    else
      print_summary();
    return report_.responses.empty() ? 1 : 0;
  }

 private:
  /// Returns false if there is no point in going on.
  bool ask() {
    const CmReply reply = system_.request_connection(question_);
    check_asked(system_, reply);
    if (reply.error == EINTR) return false;
    const uint32_t sequence = ++report_.requests;
    if (!learn_device(reply)) return false;
    without_response_.reset();
    if (reply.error == 0) {
      const std::chrono::duration<double, std::milli> time = reply.round_trip;
      report_.responses.push_back({sequence, time.count(), reply.reject_reason});
      device_index_ = reply.device_index;
      print(report_.responses.back());
      return true;
    }
    without_response_ = reply;
    if (is_table()) out_ << "no response: seq=" << sequence << std::endl;
    return reply.error == ETIMEDOUT;
  }

  /// Returns false if it is not the device that was asked for.
  bool learn_device(const CmReply& reply) {
    if (report_.device || !reply.device_index) return true;
    report_.device = device_name(system_, *reply.device_index);
    report_.source = address_text(reply.source);
    if (options_.device && report_.device != options_.device) {
      report_.cause = other_device(*options_.device, report_);
      return false;
    }
    if (is_table())
      out_ << "RoCE ping " << report_.host
           << (report_.host == report_.address ? "" : " (" + report_.address + ")") << " from "
           << report_.source << " (" << report_.device.value_or("-") << ")" << std::endl;
    return true;
  }

  bool is_table() const { return options_.format == Format::table; }

  void print(const Response& response) {
    if (!is_table()) return;
    out_ << "response from " << report_.address << ": seq=" << response.sequence
         << " time=" << ms_text(response.ms) << " ms";
    if (response.reject_reason != invalid_service_id)
      out_ << (response.reject_reason
                   ? " (REJ, reason " + std::to_string(response.reject_reason) + ")"
                   : " (REP)");
    out_ << std::endl;
  }

  /// 0 only if none is lost, and 100 only if all are.
  uint64_t lost_percent() const {
    const uint64_t requests = report_.requests, lost = requests - report_.responses.size();
    if (lost == 0 || lost == requests) return lost ? 100 : 0;
    return std::clamp<uint64_t>((200 * lost + requests) / (2 * requests), 1, 99);
  }

  void print_summary() {
    out_ << report_.requests << (report_.requests == 1 ? " request, " : " requests, ")
         << report_.responses.size() << (report_.responses.size() == 1 ? " response" : " responses")
         << ", " << lost_percent() << "% lost";
    if (!report_.responses.empty()) {
      const auto [least, mean, most] = times();
      out_ << "; time min/avg/max " << ms_text(least) << '/' << ms_text(mean) << '/'
           << ms_text(most) << " ms";
    }
    out_ << '\n';
    if (!report_.cause) return;
    out_ << report_.cause->text << '\n';
    write_cure(out_, report_.cause->cure, "  hint: ");
  }

  std::array<double, 3> times() const {
    double least = report_.responses.front().ms, most = least, sum = 0;
    for (const Response& response : report_.responses) {
      least = std::min(least, response.ms);
      most = std::max(most, response.ms);
      sum += response.ms;
    }
    return {least, sum / static_cast<double>(report_.responses.size()), most};
  }

  void print_json() {
    Json responses = Json::array();
    for (const Response& response : report_.responses)
      responses.push_back({{"seq", response.sequence},
                           {"ms", response.ms},
                           {"reject_reason", response.reject_reason}});
    Json cause = nullptr;
    if (report_.cause)
      cause = {{"name", report_.cause->name},
               {"text", report_.cause->text},
               {"cure", report_.cause->cure.empty() ? Json(nullptr) : Json(report_.cause->cure)}};
    out_ << json_text({{"host", report_.host},
                       {"address", report_.address},
                       {"source", report_.source.empty() ? Json(nullptr) : Json(report_.source)},
                       {"device", or_null(report_.device)},
                       {"requests", report_.requests},
                       {"responses", std::move(responses)},
                       {"cause", std::move(cause)}});
  }

  System& system_;
  const PingOptions& options_;
  std::ostream& out_;
  CmQuestion question_;
  Report report_;
  std::optional<CmReply> without_response_{};  // to the last request
  std::optional<uint32_t> device_index_{};     // of the last response
};

}  // namespace

sockaddr_storage resolve_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error)
    throw Failure(ExitCode::usage, host + ": " + gai_strerror(error), "see: getent ahosts " + host);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  sockaddr_storage address{};
  std::memcpy(&address, list->ai_addr, list->ai_addrlen);
  return address;
}

void check_asked(System& system, const CmReply& reply) {
  if (reply.stage > CmStage::create || reply.error == 0) return;
  if (reply.stage == CmStage::create)
    throw Failure(ExitCode::other,
                  "rdma_cm makes no identifier: " + std::generic_category().message(reply.error),
                  "the kernel log may have more details: dmesg | tail");
  const std::string cannot = "cannot open /dev/infiniband/rdma_cm: ";
  if (reply.error == EACCES || reply.error == EPERM)
    throw Failure(ExitCode::no_permission, cannot + "no permission",
                  "as root: chmod a+rw /dev/infiniband/rdma_cm");
  require_rdma(system);
  if (!system.sysfs.module_loaded("rdma_ucm"))
    throw Failure(ExitCode::module_absent, "the kernel module rdma_ucm is not loaded",
                  "load it: modprobe rdma_ucm");
  throw Failure(ExitCode::other, cannot + std::generic_category().message(reply.error),
                "in a container: give it the folder /dev/infiniband and its devices");
}

int run_ping(System& system, const PingOptions& options, std::ostream& out) {
  return Ping(system, options, out).run();
}

}  // namespace sroce
