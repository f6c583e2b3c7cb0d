// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queue pairs that send datagrams to multicast groups and receive them.
#pragma once

#include <vector>

#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/memory.h"
#include "verbs/qp.h"

namespace mcast {

inline constexpr auto timeout = std::chrono::seconds(20);
inline constexpr auto quiet = std::chrono::milliseconds(100);
inline constexpr std::uint32_t qkey = 0x11223344;

// Datagrams go from near to far. Both GIDs are of the same family.
using verbs::Devices;

bool is_ipv4(const ibv_gid& gid);

// The group with this number, of the family of `gid`.
ibv_gid group_of(const ibv_gid& gid, unsigned number);

// A UD queue pair with a protection domain, a CQ and receives of its own.
class Member {
 public:
  Member(const verbs::Context& context, int gid_index, std::uint32_t with_qkey = qkey);
  // Detaches it from all groups.
  ~Member();
  Member(const Member&) = delete;

  verbs::Qp& qp() { return qp_; }
  ibv_gid group(unsigned number) const { return group_of(gid_, number); }

  int try_attach(const ibv_gid& group, std::uint16_t lid = 0);
  int try_detach(const ibv_gid& group, std::uint16_t lid = 0);
  void attach(unsigned number);
  void detach(unsigned number);

  // Sends a datagram, whose number determines length and bytes, and waits for the completion.
  void send(const ibv_gid& to, unsigned number, std::uint32_t qpn = 0xffffff);
  // Returns the receives of datagrams `from` to `end` - 1, each of which must come once, from
  // `sender` to `group`.
  std::vector<std::uint64_t> receive(unsigned from, unsigned end, const Member& sender,
                                     const ibv_gid& group);
  // The same; posts the receives again.
  void take(unsigned from, unsigned end, const Member& sender, const ibv_gid& group);
  // Posts again the receives that have completed.
  void drain();
  void expect_none(const std::string& what) { cq_.expect_none(quiet, what); }

  static constexpr unsigned slots = 64;

 private:
  void post(std::uint64_t slot);
  void check(const ibv_wc& wc, const ibv_gid& group) const;

  ibv_gid gid_;
  bool has_ipv4_header_;
  int gid_index_;
  verbs::Pd pd_;
  verbs::Cq cq_;
  verbs::Cq send_cq_;
  verbs::Pages pages_;
  verbs::Mr mr_;
  verbs::Qp qp_;
  std::vector<unsigned> attached_;
};

void run_traffic_cases(harness::Tap& tap, const Devices& devices);
void run_drop_cases(harness::Tap& tap, const Devices& devices);
void run_call_cases(harness::Tap& tap, const Devices& devices);

}  // namespace mcast
