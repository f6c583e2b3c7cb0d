// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The queue pairs that receive a datagram to a group.
#include <deque>

#include "mcast_verify/member.h"

namespace mcast {
namespace {

constexpr unsigned burst = 32, datagrams = 192;

// Sends datagrams to group `number`. Each of `members` must get every one of them once.
void exchange(Member& sender, unsigned number, const std::vector<Member*>& members,
              unsigned count = datagrams) {
  const ibv_gid group = sender.group(number);
  for (unsigned from = 0; from < count; from += burst) {
    for (unsigned i = from; i < from + burst; ++i) sender.send(group, i);
    for (Member* member : members) member->take(from, from + burst, sender, group);
  }
  for (Member* member : members) member->expect_none("a second copy");
}

void peer_members(const Devices& devices) {
  Member sender(devices.near, devices.near_gid);
  Member a(devices.far, devices.far_gid), b(devices.far, devices.far_gid),
      c(devices.far, devices.far_gid), stranger(devices.far, devices.far_gid);
  for (Member* member : {&a, &b, &c}) member->attach(1);
  exchange(sender, 1, {&a, &b, &c});
  stranger.expect_none("a datagram to a QP that is not attached");
  sender.expect_none("a datagram to a sender that is not attached");
}

void own_members(const Devices& devices) {
  Member sender(devices.near, devices.near_gid), own(devices.near, devices.near_gid);
  Member far(devices.far, devices.far_gid);
  for (Member* member : {&sender, &own, &far}) member->attach(1);
  exchange(sender, 1, {&sender, &own, &far});
}

void detached_member(const Devices& devices) {
  Member sender(devices.near, devices.near_gid);
  Member stays(devices.far, devices.far_gid), leaves(devices.far, devices.far_gid);
  for (Member* member : {&stays, &leaves}) member->attach(1);
  exchange(sender, 1, {&stays, &leaves}, burst);
  leaves.detach(1);
  exchange(sender, 1, {&stays}, burst);
  leaves.expect_none("a datagram to a QP that has been detached");
  leaves.attach(1);
  exchange(sender, 1, {&stays, &leaves}, burst);
}

void wrong_qkey(const Devices& devices) {
  Member sender(devices.near, devices.near_gid);
  Member wrong(devices.far, devices.far_gid, qkey + 1), right(devices.far, devices.far_gid);
  for (Member* member : {&wrong, &right}) member->attach(1);
  exchange(sender, 1, {&right}, burst);
  wrong.expect_none("a datagram with a wrong Q_Key");
}

void groups_apart(const Devices& devices) {
  Member sender(devices.near, devices.near_gid);
  Member a(devices.far, devices.far_gid), b(devices.far, devices.far_gid),
      both(devices.far, devices.far_gid);
  for (Member* member : {&a, &both}) member->attach(1);
  for (Member* member : {&b, &both}) member->attach(2);
  exchange(sender, 1, {&a, &both}, burst);
  exchange(sender, 2, {&b, &both}, burst);
  a.expect_none("a datagram to another group");
}

// Datagrams of which only the first half find a receive. Receives are not posted again, because
// rdma_rxe may handle the second half later than another QP has its copies.
void member_without_receives(const Devices& devices) {
  Member sender(devices.near, devices.near_gid);
  Member slow(devices.far, devices.far_gid), fast(devices.far, devices.far_gid);
  for (Member* member : {&slow, &fast}) member->attach(1);
  const ibv_gid group = sender.group(1);
  for (unsigned from = 0; from < 2 * Member::slots; from += burst) {
    for (unsigned i = from; i < from + burst; ++i) sender.send(group, i);
    fast.take(from, from + burst, sender, group);
  }
  slow.receive(0, Member::slots, sender, group);
}

// A member that was attached later gets its copy first.
void datagram_without_receive(const Devices& devices) {
  Member sender(devices.near, devices.near_gid);
  Member witness(devices.far, devices.far_gid), member(devices.far, devices.far_gid);
  for (Member* each : {&witness, &member}) each->attach(1);
  const ibv_gid group = sender.group(1);
  for (unsigned from = 0; from < Member::slots + burst; from += burst) {
    for (unsigned i = from; i < from + burst; ++i) sender.send(group, i);
    witness.take(from, from + burst, sender, group);
  }
  member.take(0, Member::slots, sender, group);
  member.expect_none("a datagram that waited for a receive");
}

void unicast_to_group(const Devices& devices) {
  Member sender(devices.near, devices.near_gid), member(devices.far, devices.far_gid);
  member.attach(1);
  sender.send(sender.group(1), 1, member.qp().number());
  member.expect_none("a datagram to a group with the number of a QP");
}

void group_to_host(const Devices& devices) {
  Member sender(devices.near, devices.near_gid), member(devices.far, devices.far_gid);
  member.attach(1);
  sender.send(devices.far.gid(devices.far_gid), 1);
  member.expect_none("a datagram to a host with the number of groups");
}

void group_without_qp(const Devices& devices) {
  Member sender(devices.near, devices.near_gid), member(devices.far, devices.far_gid);
  member.attach(1);
  sender.send(sender.group(3), 1);
  member.expect_none("a datagram to another group");
}

}  // namespace

void run_traffic_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("each of three QPs gets each datagram once", [&] { peer_members(devices); });
  tap.run("QPs of the sending device, and the sender, get copies", [&] { own_members(devices); });
  tap.run("a QP that has been detached gets nothing", [&] { detached_member(devices); });
  tap.run("a QP with another Q_Key gets nothing", [&] { wrong_qkey(devices); });
  tap.run("groups are apart", [&] { groups_apart(devices); });
  tap.run("a QP without receives does not disturb others",
          [&] { member_without_receives(devices); });
}

void run_drop_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("a datagram does not wait for a receive", [&] { datagram_without_receive(devices); });
  tap.run("a QP's number is invalid in a datagram to a group", [&] { unicast_to_group(devices); });
  tap.run("the number of groups is invalid in a datagram to a host",
          [&] { group_to_host(devices); });
  tap.run("a group without a QP is no error for the sender", [&] { group_without_qp(devices); });
}

}  // namespace mcast
