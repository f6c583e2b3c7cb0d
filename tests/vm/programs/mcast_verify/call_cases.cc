// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Wrong calls, and the limits of the device.
#include <cerrno>
#include <cstring>
#include <deque>

#include "mcast_verify/member.h"
#include "verbs/endpoint.h"

namespace mcast {

using harness::expect;

namespace {

void expect_error(int error, int wanted, const std::string& what) {
  expect(error == wanted, what, ": ", std::strerror(error), " instead of ", std::strerror(wanted));
}

void wrong_groups(const Devices& devices) {
  Member member(devices.far, devices.far_gid);
  expect_error(member.try_attach(devices.near.gid(devices.near_gid)), EINVAL, "the GID of a host");
  expect_error(member.try_attach(ibv_gid{}), EINVAL, "GID 0");
  expect_error(member.try_detach(member.group(1)), EINVAL, "detaching what is not attached");
}

void attached_again(const Devices& devices) {
  Member member(devices.far, devices.far_gid);
  member.attach(1);
  // uverbs knows the pair of GID and LID.
  expect_error(member.try_attach(member.group(1)), 0, "the same pair");
  expect_error(member.try_attach(member.group(1), 7), EEXIST, "another LID");
  expect_error(member.try_detach(member.group(1), 7), EINVAL, "another LID");
}

void connected_qp(const Devices& devices) {
  const ibv_gid group = group_of(devices.far.gid(devices.far_gid), 1);
  for (const ibv_qp_type type : {IBV_QPT_RC, IBV_QPT_UC}) {
    verbs::EndpointOptions options;
    options.qp.type = type;
    verbs::Endpoint end(devices.far, devices.far_gid, options, 1);
    expect_error(ibv_attach_mcast(end.qp().get(), &group, 0) ? errno : 0, EINVAL, "a connected QP");
  }
}

void destroyed_while_attached(const Devices& devices) {
  Member member(devices.far, devices.far_gid);
  member.attach(1);
  expect_error(ibv_destroy_qp(member.qp().get()), EBUSY, "an attached QP");
}

void qps_of_a_group(const Devices& devices) {
  const int limit = devices.far.device().max_mcast_qp_attach;
  std::deque<Member> members;
  for (int i = 0; i < limit; ++i) members.emplace_back(devices.far, devices.far_gid).attach(1);
  Member last(devices.far, devices.far_gid);
  expect_error(last.try_attach(last.group(1)), ENOSPC, "one more than max_mcast_qp_attach");
  last.attach(2);
  members.pop_front();
  last.attach(1);
}

void groups_of_a_device(const Devices& devices) {
  const auto limit = static_cast<unsigned>(devices.far.device().max_mcast_grp);
  Member member(devices.far, devices.far_gid), other(devices.far, devices.far_gid);
  for (unsigned i = 0; i < limit; ++i) member.attach(i);
  expect_error(other.try_attach(other.group(limit)), ENOSPC, "one more than max_mcast_grp");
  other.attach(5);
}

}  // namespace

void run_call_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("only groups can be attached to", [&] { wrong_groups(devices); });
  tap.run("a QP is attached once", [&] { attached_again(devices); });
  tap.run("only UD QPs can be attached", [&] { connected_qp(devices); });
  tap.run("an attached QP cannot be destroyed", [&] { destroyed_while_attached(devices); });
  tap.run("max_mcast_qp_attach holds", [&] { qps_of_a_group(devices); });
  tap.run("max_mcast_grp holds", [&] { groups_of_a_device(devices); });
}

}  // namespace mcast
