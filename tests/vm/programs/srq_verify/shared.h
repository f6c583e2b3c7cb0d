// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A shared receive queue of this process, and the streams of messages that arrive in it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/random.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"
#include "verbs/events.h"

namespace srq {

inline constexpr auto timeout = std::chrono::seconds(60);
inline constexpr auto quiet = std::chrono::milliseconds(100);

// The far end has the SRQ.
struct Devices : verbs::Devices {
  explicit Devices(harness::Args& args) : verbs::Devices(args), seed(args.number("--seed", 1)) {}

  std::uint64_t seed;
};

// An SRQ with a protection domain and buffers of its own. A slot is a buffer; its number is the
// wr_id of the receive.
class Queue {
 public:
  Queue(const verbs::Context& context, std::uint32_t slots, std::uint32_t slot_bytes,
        std::uint32_t max_wr = 0);

  ibv_srq* get() const { return handle_.get(); }
  std::uint32_t slots() const { return static_cast<std::uint32_t>(is_posted_.size()); }
  std::uint32_t slot_bytes() const { return slot_bytes_; }
  std::uint32_t posted() const { return posted_; }
  const verbs::Pd& pd() const { return *pd_; }

  ibv_sge sge(std::uint64_t slot) const;
  int try_post(ibv_recv_wr& wr);
  void post(std::uint64_t slot);
  void post_all();
  // The receive of this slot has completed. Fails if it was not posted.
  std::span<std::byte> take(std::uint64_t slot);

  int try_modify(std::uint32_t max_wr, std::uint32_t limit, int mask);
  void modify(std::uint32_t max_wr, std::uint32_t limit, int mask);
  ibv_srq_attr query() const;

 private:
  std::uint32_t slot_bytes_;
  std::shared_ptr<verbs::Pd> pd_;
  verbs::Pages memory_;
  verbs::Mr mr_;
  verbs::Srq handle_;
  std::vector<bool> is_posted_;
  std::uint32_t posted_ = 0;
};

using verbs::Events;

struct StreamOptions {
  std::uint32_t streams = 1;
  std::uint32_t window = 4;
  std::uint32_t longest = 9000;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 1;
};

// Connections of which the far QPs use one SRQ. Each message says in its bytes whose it is.
class Streams {
 public:
  Streams(const Devices& devices, Queue& queue, const StreamOptions& options);

  verbs::Qp& near_qp(std::size_t stream) { return ends_[stream].near->qp(); }
  verbs::Qp& far_qp(std::size_t stream) { return ends_[stream].far->qp(); }
  verbs::Cq& far_cq() { return *far_cq_; }
  std::size_t size() const { return ends_.size(); }

  // Posts a message; its length is random if none is given.
  void send(std::size_t stream, std::uint32_t length = 0);
  // Sends a few packets of a message whose rest has an invalid key. Ends the near QP.
  void send_part(std::size_t stream);
  // Takes a completion of a send, if there is one. Fails if the send has.
  bool reap_send();
  // Takes a receive, if one has completed, and checks every byte. Returns its slot.
  std::optional<std::uint64_t> receive();
  // Checks a completion of the far CQ, which is a success. Returns its slot.
  std::uint64_t check(const ibv_wc& wc);
  // Sends and receives `messages` per stream, and posts each slot again. Calls `turn` with the
  // number of messages received after each of them.
  void run(std::uint32_t messages, const std::function<void(std::uint32_t)>& turn = {});
  std::uint32_t received() const { return received_; }

 private:
  struct End {
    std::unique_ptr<verbs::Endpoint> near, far;
    std::uint32_t sent = 0, reaped = 0, received = 0;
  };

  std::size_t stream_of(std::uint32_t far_qpn) const;
  std::uint32_t fill();

  Queue& queue_;
  StreamOptions options_;
  std::uint64_t seed_;
  harness::Random random_;
  std::shared_ptr<verbs::Cq> near_cq_;
  std::shared_ptr<verbs::Cq> far_cq_;
  std::vector<End> ends_;
  std::uint32_t received_ = 0;
};

// traffic_cases.cc, event_cases.cc, object_cases.cc
void run_traffic_cases(harness::Tap& tap, const Devices& devices);
void run_event_cases(harness::Tap& tap, const Devices& devices);
void run_object_cases(harness::Tap& tap, const Devices& devices);

}  // namespace srq
