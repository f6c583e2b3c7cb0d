// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// cm_cycle: with rdma_cm, connect, exchange private data, transfer, verify and disconnect, many
// times.
#include <cstdio>

#include "cm_cycle/connection.h"
#include "harness/args.h"
#include "harness/failure.h"
#include "harness/random.h"
#include "harness/tap.h"

namespace {

using cm_cycle::Connection;
using cm_cycle::Event;
using cm_cycle::EventChannel;
using cm_cycle::Hello;
using cm_cycle::Id;
using harness::Deadline;
using harness::expect;
using harness::fail;
using harness::fail_errno;
using harness::text;
using std::chrono::seconds;

constexpr const char* usage =
    R"(usage: cm_cycle --server [--port P] [--family 4|6] [--wait-limit S]
       cm_cycle --client ADDRESS [--port P] [--cycles N] [--reject-every M] [--seed N]
                [--wait-limit S]

Run N cycles (default 1000) over rdma_cm: connect, check private data, transfer data in both
directions, verify, disconnect. The server rejects every Mth connection (default 50), with private
data. It exits after the client's last cycle. A wait lasts at most S seconds (default 60).)";

struct Setup {
  bool is_server;
  std::string host;
  std::string port;
  bool is_ipv6;
  std::uint32_t cycles;
  std::uint32_t reject_every;
  std::uint64_t seed;
  seconds wait_limit;

  Deadline deadline() const { return Deadline::after(wait_limit); }
};

struct Addresses {
  rdma_addrinfo* list = nullptr;
  ~Addresses() {
    if (list) rdma_freeaddrinfo(list);
  }
};

void resolve(const Setup& setup, Addresses& found) {
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  hints.ai_flags = setup.is_server ? RAI_PASSIVE : 0;
  hints.ai_family = setup.is_server ? (setup.is_ipv6 ? AF_INET6 : AF_INET) : 0;
  const char* node = setup.is_server ? (setup.is_ipv6 ? "::" : "0.0.0.0") : setup.host.c_str();
  if (rdma_getaddrinfo(node, setup.port.c_str(), &hints, &found.list))
    fail_errno(errno, "rdma_getaddrinfo ", node);
}

rdma_conn_param parameters(const Hello& hello) {
  rdma_conn_param param{};
  param.private_data = &hello;
  param.private_data_len = sizeof hello;
  param.responder_resources = param.initiator_depth = 1;
  param.retry_count = 7;
  param.rnr_retry_count = 7;
  return param;
}

// --- client ------------------------------------------------------------------

Id routed_id(EventChannel& events, const Addresses& target, const Setup& setup) {
  constexpr int step_ms = 5000;
  Id id = events.make_id();
  if (rdma_resolve_addr(id.get(), nullptr, target.list->ai_dst_addr, step_ms))
    fail_errno(errno, "rdma_resolve_addr");
  events.expect(RDMA_CM_EVENT_ADDR_RESOLVED, setup.deadline(), "address resolution");
  if (rdma_resolve_route(id.get(), step_ms)) fail_errno(errno, "rdma_resolve_route");
  events.expect(RDMA_CM_EVENT_ROUTE_RESOLVED, setup.deadline(), "route resolution");
  return id;
}

void expect_rejection(EventChannel& events, std::uint32_t cycle, const Setup& setup) {
  const Event event = events.expect(RDMA_CM_EVENT_REJECTED, setup.deadline(), "rejection");
  const Hello hello = event.hello(cm_cycle::reject_magic);
  expect(hello.cycle == cycle, "the rejection is for cycle ", hello.cycle);
}

void client_cycle(EventChannel& events, const Addresses& target, const Setup& setup,
                  std::uint32_t cycle) {
  const bool is_last = cycle + 1 == setup.cycles;
  const bool wants_rejection =
      !is_last && setup.reject_every && cycle % setup.reject_every == setup.reject_every - 1;
  const std::uint64_t seed = harness::mix(setup.seed + cycle);
  const Id id = routed_id(events, target, setup);
  Connection connection(id.get());
  connection.post_receives();
  const std::uint32_t wants = is_last           ? cm_cycle::last_one
                              : wants_rejection ? cm_cycle::reject_me
                                                : cm_cycle::connect_me;
  const Hello hello = connection.hello(cm_cycle::client_magic, cycle, wants, seed);
  rdma_conn_param param = parameters(hello);
  if (rdma_connect(id.get(), &param)) fail_errno(errno, "rdma_connect");
  if (wants_rejection) return expect_rejection(events, cycle, setup);
  const Event event = events.expect(RDMA_CM_EVENT_ESTABLISHED, setup.deadline(), "connection");
  const Hello server = event.hello(cm_cycle::server_magic);
  expect(server.cycle == cycle && server.seed == seed, "the server's private data is of cycle ",
         server.cycle);
  connection.talk_as_client(server, seed);
  if (rdma_disconnect(id.get())) fail_errno(errno, "rdma_disconnect");
  events.expect(RDMA_CM_EVENT_DISCONNECTED, setup.deadline(), "disconnection");
}

void run_client(const Setup& setup) {
  EventChannel events;
  Addresses target;
  resolve(setup, target);
  for (std::uint32_t cycle = 0; cycle < setup.cycles; ++cycle) {
    try {
      client_cycle(events, target, setup, cycle);
    } catch (const harness::Failure& failure) {
      fail("cycle ", cycle, " of ", setup.cycles, ": ", failure.what());
    }
  }
}

// --- server ------------------------------------------------------------------

// Events of the previous connection may still arrive when the next one is requested.
Event next_request(EventChannel& events, const Setup& setup) {
  while (true) {
    Event event = events.next(setup.deadline(), "connection request");
    if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) return event;
    expect(event.type == RDMA_CM_EVENT_TIMEWAIT_EXIT || event.type == RDMA_CM_EVENT_DISCONNECTED,
           "waiting for a request: got ", rdma_event_str(event.type));
  }
}

void reject(const Id& id, Hello hello) {
  hello.magic = cm_cycle::reject_magic;
  if (rdma_reject(id.get(), &hello, sizeof hello)) fail_errno(errno, "rdma_reject");
}

void serve(EventChannel& events, const Id& id, const Hello& client, const Setup& setup) {
  Connection connection(id.get());
  connection.post_receives();
  const Hello hello = connection.hello(cm_cycle::server_magic, client.cycle, 0, client.seed);
  rdma_conn_param param = parameters(hello);
  if (rdma_accept(id.get(), &param)) fail_errno(errno, "rdma_accept");
  events.expect(RDMA_CM_EVENT_ESTABLISHED, setup.deadline(), "connection");
  connection.talk_as_server(client.seed);
  events.expect(RDMA_CM_EVENT_DISCONNECTED, setup.deadline(), "disconnection");
  rdma_disconnect(id.get());  // replies to the peer's DREQ
}

void run_server(const Setup& setup) {
  EventChannel events;
  Addresses local;
  resolve(setup, local);
  const Id listener = events.make_id();
  if (rdma_bind_addr(listener.get(), local.list->ai_src_addr) || rdma_listen(listener.get(), 16))
    fail_errno(errno, "cannot listen");
  std::uint32_t expected = 0;
  for (bool is_last = false; !is_last; ++expected) {
    const Event request = next_request(events, setup);
    const Id id(request.id);
    const Hello client = request.hello(cm_cycle::client_magic);
    expect(client.cycle == expected, "a request of cycle ", client.cycle, ", wanted ", expected);
    is_last = client.wants == cm_cycle::last_one;
    try {
      if (client.wants == cm_cycle::reject_me)
        reject(id, client);
      else
        serve(events, id, client, setup);
    } catch (const harness::Failure& failure) {
      fail("cycle ", expected, ": ", failure.what());
    }
  }
  harness::note(text("served ", expected, " requests"));
}

Setup parse(harness::Args& args) {
  Setup setup{};
  setup.is_server = args.flag("--server");
  setup.host = setup.is_server ? "" : args.required("--client");
  setup.port = args.text("--port", "18516");
  setup.is_ipv6 = args.number("--family", 4) == 6;
  setup.cycles = static_cast<std::uint32_t>(args.number("--cycles", 1000));
  setup.reject_every = static_cast<std::uint32_t>(args.number("--reject-every", 50));
  setup.seed = args.number("--seed", 1);
  setup.wait_limit = seconds(args.number("--wait-limit", 60));
  args.finish();
  return setup;
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  const Setup setup = parse(args);
  const std::string name =
      setup.is_server ? "every connection is served" : text(setup.cycles, " connection cycles");
  const auto begin = Deadline::Clock::now();
  tap.run(name, [&] { setup.is_server ? run_server(setup) : run_client(setup); });
  tap.run("every object can be closed",
          [] { expect(verbs::close_failures() == 0, verbs::close_failures(), " cannot"); });
  const std::chrono::duration<double> took = Deadline::Clock::now() - begin;
  harness::note(text(took.count(), " s"));
  return tap.finish();
}
