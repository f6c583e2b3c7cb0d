// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Events of the interface below a device: kernel/control/netdev.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "control/netdev.h"
#include "stand_in/control.h"
}

namespace {

struct Netdev : testing::Test, QueuePair {
  Netdev() {
    stand_in_control = {};
    stand_in_control.dev = &dev;
    stand_in.rtnl = true;
  }
  ~Netdev() override { EXPECT_EQ(0, stand_in_control.refs); }

  void notify(unsigned long event) {
    EXPECT_EQ(NOTIFY_DONE,
              sroce_netdev_notifier.notifier_call(&sroce_netdev_notifier, event, &netdev));
  }
  void set_link(bool running, bool carrier) {
    stand_in_control.is_running = running;
    stand_in_control.has_carrier = carrier;
  }
  u64 read_speed(u32 speed, int error = 0) {
    stand_in_control.speed = speed;
    stand_in_control.speed_error = error;
    sroce_netdev_read_speed(&dev, false);
    return dev.line_rate;
  }
};

TEST_F(Netdev, PortIsActiveWithALinkOnly) {
  set_link(true, false);
  notify(NETDEV_UP);
  EXPECT_EQ(0u, stand_in_control.events);
  set_link(false, true);
  notify(NETDEV_CHANGE);
  EXPECT_EQ(0u, stand_in_control.events);
  set_link(true, true);
  notify(NETDEV_CHANGE);
  EXPECT_EQ(1u, stand_in_control.events);
  EXPECT_EQ(IB_EVENT_PORT_ACTIVE, stand_in_control.event.event);
  EXPECT_EQ(&dev.ibdev, stand_in_control.event.device);
  EXPECT_EQ(1u, stand_in_control.event.element.port_num);
  EXPECT_EQ(0u, count(SROCE_CTR_LINK_DOWNED));
}

// The stack has given the interface its IPv4 or IPv6 state back.
TEST_F(Netdev, MulticastMembershipsAreRenewed) {
  for (unsigned long event : {NETDEV_UP, NETDEV_CHANGEMTU}) {
    dev.mcast.renewal.queued = false;
    notify(event);
    EXPECT_TRUE(dev.mcast.renewal.queued) << event;
  }
  dev.mcast.renewal.queued = false;
  notify(NETDEV_CHANGE);
  EXPECT_FALSE(dev.mcast.renewal.queued);
}

TEST_F(Netdev, EachChangeIsReportedOnce) {
  set_link(true, true);
  notify(NETDEV_UP);
  notify(NETDEV_UP);
  EXPECT_EQ(1u, stand_in_control.events);
  set_link(false, true);
  notify(NETDEV_DOWN);
  notify(NETDEV_DOWN);
  EXPECT_EQ(2u, stand_in_control.events);
  EXPECT_EQ(IB_EVENT_PORT_ERR, stand_in_control.event.event);
  EXPECT_EQ(1u, count(SROCE_CTR_LINK_DOWNED));
}

TEST_F(Netdev, SpeedIsReadWithTheLockOfTheNotifier) {
  stand_in_control.speed = 25'000;
  notify(NETDEV_CHANGE);
  EXPECT_EQ(1u, stand_in_control.locked_reads);
  EXPECT_EQ(25'000ull * SROCE_CC_MBPS, dev.line_rate);
  stand_in_control.speed = 10'000;
  notify(NETDEV_DOWN);
  EXPECT_EQ(1u, stand_in_control.reads) << "it says nothing then";
  sroce_netdev_read_speed(&dev, false);
  EXPECT_EQ(1u, stand_in_control.locked_reads);
  EXPECT_EQ(2u, stand_in_control.reads);
}

TEST_F(Netdev, SpeedThatMeansNothingIsUnknown) {
  EXPECT_EQ(400'000ull * SROCE_CC_MBPS, read_speed(400'000)) << "more than 32 bits";
  EXPECT_EQ(0u, read_speed(SPEED_UNKNOWN));
  EXPECT_EQ(0u, read_speed(10)) << "of a tap";
  EXPECT_EQ(0u, read_speed(0));
  read_speed(100);
  EXPECT_EQ(0u, read_speed(100, -EOPNOTSUPP));
}

TEST_F(Netdev, NewAddressIsANewGuid) {
  notify(NETDEV_CHANGEADDR);
  EXPECT_EQ(1u, stand_in_control.guids);
  EXPECT_EQ(0u, stand_in_control.events + stand_in_control.reads);
}

TEST_F(Netdev, DeviceGoesWithItsInterface) {
  notify(NETDEV_UNREGISTER);
  EXPECT_EQ(1u, stand_in_control.unregistered);
}

TEST_F(Netdev, OtherEventsAndInterfacesAreIgnored) {
  set_link(true, true);
  notify(NETDEV_CHANGEMTU);
  stand_in_control.is_disabled = true;
  for (unsigned long event : {NETDEV_UP, NETDEV_UNREGISTER, NETDEV_CHANGEADDR}) notify(event);
  EXPECT_EQ(0u, stand_in_control.events + stand_in_control.guids + stand_in_control.unregistered);
}

}  // namespace
