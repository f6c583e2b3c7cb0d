// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One end of a connection: the engine, or a model of other hardware.
#ifndef TESTS_SIM_FABRIC_ENDPOINT_H
#define TESTS_SIM_FABRIC_ENDPOINT_H

#include <memory>
#include <vector>

#include "sim/fabric/scenario.h"

namespace fabric {

class Endpoint {
 public:
  virtual ~Endpoint() = default;
  // Appends the packets to be sent now, at most @max_packets.
  virtual void send(Ns now_ns, u32 max_packets, std::vector<sroce_packet>& out) = 0;
  virtual void receive(const Packet& packet, Ns now_ns) = 0;
  // When timeout() must be called.
  virtual Ns deadline() const { return kNever; }
  virtual void timeout(Ns) {}
  virtual bool failed() const = 0;
};

// A requester with a closed loop of messages: each one that completes is replaced.
class Requester : public Endpoint {
 public:
  virtual void start(Ns now_ns) = 0;
  virtual u64 acked_packets() const = 0;
  virtual u64 timeouts() const = 0;
  virtual u64 probes() const { return 0; }
  // Times from posting to completion, since the caller last cleared them.
  std::vector<Ns>& completion_times() { return completion_times_; }

 protected:
  std::vector<Ns> completion_times_;
};

std::unique_ptr<Requester> make_requester(const Scenario& scenario);
std::unique_ptr<Endpoint> make_responder(const Scenario& scenario);

}  // namespace fabric

#endif
