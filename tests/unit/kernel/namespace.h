// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A network namespace with two interfaces, on which a test opens endpoints.
#ifndef TESTS_UNIT_KERNEL_NAMESPACE_H
#define TESTS_UNIT_KERNEL_NAMESPACE_H

#include "unit/kernel/packets.h"

extern "C" {
#include "net/demux.h"
#include "stand_in/stack.h"
}

#include <functional>
#include <set>

struct Namespace {
  Namespace() {
    stand_in = {};
    stand_in_stack = {};
    stand_in_routes = {};
    stand_in_routes.netdev = &netdev;
    current = this;
    net.generic = generic;
    netdev.net = other.net = &net;
    netdev.ifindex = 3;
    other.ifindex = 4;
    EXPECT_EQ(0, sroce_net_init(receive, release_routes));
    EXPECT_LE(stand_in_stack.pernet->size, sizeof(generic));
  }
  ~Namespace() {
    stand_in_stack.grace = nullptr;
    while (!opened.empty()) fini(**opened.begin());
    if (stand_in_stack.pernet) sroce_net_fini();
    EXPECT_EQ(nullptr, stand_in_stack.frames);
    EXPECT_FALSE(stand_in_stack.v4.is_open || stand_in_stack.v6.is_open);
    stand_in = {};
    stand_in_routes = {};
  }
  Namespace(const Namespace&) = delete;

  static void receive(sroce_rx* rx) { current->on_receive(rx); }
  static void release_routes(sroce_endpoint* ep) {
    stand_in_event("routes");
    current->released.insert(ep);
  }

  int init(sroce_endpoint& endpoint, net_device& dev) {
    endpoint = {};
    const int err = sroce_endpoint_init(&endpoint, &dev, &net);
    if (!err) opened.insert(&endpoint);
    return err;
  }
  void fini(sroce_endpoint& endpoint) {
    opened.erase(&endpoint);
    sroce_endpoint_fini(&endpoint);
  }
  void end() { stand_in_stack.pernet->exit(&net); }
  void* net_sockets() { return generic[0]; }
  // The sockets, as their user data has them.
  const sroce_sockets* sockets() {
    return static_cast<const sroce_sockets*>(stand_in_stack.v4.own.user_data);
  }

  static inline Namespace* current;
  void* generic[4] = {};
  ::net net = {};
  net_device netdev = {};
  net_device other = {};
  sroce_endpoint ep = {};
  sroce_endpoint other_ep = {};
  std::set<sroce_endpoint*> opened;
  std::set<sroce_endpoint*> released;
  std::function<void(sroce_rx*)> on_receive;
};

#endif
