// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Attaching devices to interfaces, finding and removing them: kernel/control/attach.c.
#include "stand_in/attach.h"

#include <gtest/gtest.h>

extern "C" {
#include "control/attach.h"
#include "control/sysfs.h"
#include "datapath/device.h"
#include "uapi/sroce_abi.h"
#include "verbs/ops.h"
}

namespace {

struct Attach : testing::Test {
  Attach() {
    stand_in = {};
    stand_in_attach = {};
    stand_in_control = {};
    stand_in_attach.next_index = 1;
    stand_in_control.speed_error = -EOPNOTSUPP;
    for (net_device* each : {&netdev, &other}) {
      each->net = &net;
      each->addr_len = ETH_ALEN;
    }
    const u8 mac[] = {0x02, 0x11, 0x22, 0x33, 0x44, 0x55};
    memcpy(netdev.dev_addr, mac, sizeof(mac));
    current = this;
  }
  ~Attach() override {
    stand_in_attach.left = false;
    for (ib_device* device : stand_in_attach.registered)
      if (device) ib_unregister_device(device);
    EXPECT_EQ(0, stand_in_attach.devices);
    EXPECT_EQ(0, stand_in_attach.endpoints);
    EXPECT_EQ(0, net.refs);
    EXPECT_FALSE(stand_in.rtnl);
    EXPECT_EQ(nullptr, sroce_device_get(&netdev));
    stand_in = {};
    stand_in_control = {};
  }
  // The device that has been attached.
  sroce_device* attach(net_device& to, const char* name = "sroce0") {
    EXPECT_EQ(0, sroce_device_attach(name, &to, false));
    sroce_device* dev = sroce_device_get(&to);
    EXPECT_NE(nullptr, dev);
    ib_device_put(&dev->ibdev);
    stand_in_control.dev = dev;
    return dev;
  }
  static bool is_found(const net_device& on) {
    sroce_device* dev = sroce_device_get(&on);
    if (dev) ib_device_put(&dev->ibdev);
    return dev;
  }
  static const u8* guid(const sroce_device* dev) {
    return reinterpret_cast<const u8*>(&dev->ibdev.node_guid);
  }

  static inline Attach* current;
  ::net net = {};
  net_device netdev = {};
  net_device other = {};
};

TEST_F(Attach, DeviceIsRegisteredAndFound) {
  stand_in_control.speed_error = 0;
  stand_in_control.speed = 100;
  stand_in_control.is_running = stand_in_control.has_carrier = true;
  const sroce_device* dev = attach(netdev);
  EXPECT_STREQ("sroce0", dev->ibdev.name);
  EXPECT_EQ(&net, dev->ibdev.net);
  EXPECT_EQ(&netdev, dev->ep.netdev);
  EXPECT_EQ(u32{RDMA_DRIVER_RXE}, dev->ibdev.ops.driver_id) << "librxe opens it";
  EXPECT_EQ(u32{SROCE_ABI_VERSION_RXE}, dev->ibdev.ops.uverbs_abi_ver);
  EXPECT_EQ(&sroce_parent_group, dev->ibdev.ops.device_group);
  EXPECT_EQ(&sroce_abi_group, dev->ibdev.groups[2]);
  EXPECT_EQ(1, dev->ibdev.phys_port_cnt);
  EXPECT_EQ(u32{STAND_IN_CPUS}, dev->ibdev.num_comp_vectors);
  EXPECT_STREQ("sroce", dev->ibdev.node_desc);
  EXPECT_TRUE(dev->ibdev.uverbs_cmd_mask >> IB_USER_VERBS_CMD_POST_SEND & 1) << "the doorbell";
  EXPECT_TRUE(dev->ibdev.uverbs_cmd_mask >> IB_USER_VERBS_CMD_REQ_NOTIFY_CQ & 1);
  EXPECT_EQ(1u, stand_in_attach.named) << "udev does not rename it";
  EXPECT_EQ(1, dev->ibdev.dev.refs);
  EXPECT_LT(0u, dev->line_rate);
  EXPECT_TRUE(dev->active);
  EXPECT_EQ(1u, stand_in_control.events);
  EXPECT_TRUE(dev->selective) << "the default of a parameter";
}

TEST_F(Attach, EntriesOfItsTablesAreChargedToTheirCreators) {
  sroce_device* dev = attach(netdev);
  stand_in.uncharged = 0;
  for (xarray* table : {&dev->ahs, &dev->counter_sets}) {
    xa_store(table, 1, this, GFP_KERNEL);
    xa_erase(table, 1);
  }
  EXPECT_EQ(0u, stand_in.uncharged);
}

TEST_F(Attach, InterfaceHasOneDevice) {
  attach(netdev);
  EXPECT_EQ(-EEXIST, sroce_device_attach("sroce1", &netdev, false));
  EXPECT_EQ(1, stand_in_attach.devices);
  attach(other, "sroce1");
  EXPECT_TRUE(is_found(netdev) && is_found(other));
  EXPECT_EQ(-EEXIST, sroce_device_attach("sroce2", &netdev, false)) << "not the last on the list";
}

TEST_F(Attach, InterfaceMayHaveAnotherLater) {
  ib_unregister_device(&attach(netdev)->ibdev);
  EXPECT_FALSE(is_found(netdev));
  attach(netdev);
}

TEST_F(Attach, FailureAtAnyStepLeavesNothing) {
  net.has_ended = true;
  EXPECT_EQ(-ENODEV, sroce_device_attach("sroce0", &netdev, false));
  net.has_ended = false;
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_device_attach("sroce0", &netdev, false));
  stand_in_attach.endpoint_error = -EADDRINUSE;
  EXPECT_EQ(-EADDRINUSE, sroce_device_attach("sroce0", &netdev, false));
  stand_in_attach.endpoint_error = 0;
  stand_in_attach.register_error = -ENFILE;
  EXPECT_EQ(-ENFILE, sroce_device_attach("sroce0", &netdev, false));
  EXPECT_EQ(0, stand_in_attach.devices + stand_in_attach.endpoints);
  stand_in_attach.register_error = 0;
  attach(netdev);
}

// It moves to another namespace between the sockets and the registration.
TEST_F(Attach, InterfaceThatGoesMeanwhile) {
  stand_in_attach.registering = [](ib_device*) { stand_in_attach.left = true; };
  EXPECT_EQ(-ENODEV, sroce_device_attach("sroce0", &netdev, false));
  EXPECT_EQ(0, stand_in_attach.devices + stand_in_attach.endpoints);
  EXPECT_FALSE(is_found(netdev));
}

// `rdma link delete` comes before the device is on the list.
TEST_F(Attach, DeviceRemovedBeforeItIsPublished) {
  stand_in_attach.registering = [](ib_device* ibdev) { ib_unregister_device(ibdev); };
  EXPECT_EQ(0, sroce_device_attach("sroce0", &netdev, false));
  EXPECT_EQ(0, stand_in_attach.devices);
  EXPECT_FALSE(is_found(netdev));
  EXPECT_EQ(0u, stand_in_control.reads) << "nothing of it is read any more";
}

// ib_core enables a new device when it has registered it. publish_device() does the rest.
TEST_F(Attach, NewDeviceHasMissedNoEvent) {
  stand_in_attach.left = true;
  EXPECT_EQ(-ENODEV, sroce_device_attach("sroce0", &netdev, false));
  EXPECT_EQ(0u, stand_in_control.unregistered);
}

TEST_F(Attach, DeviceThatIsEnabledAgainCatchesUp) {
  sroce_device* dev = attach(netdev);
  netdev.dev_addr[5] = 0x99;
  stand_in_control.speed_error = 0;
  stand_in_control.speed = 1000;
  stand_in_control.is_running = stand_in_control.has_carrier = true;
  EXPECT_EQ(0, dev->ibdev.ops.enable_driver(&dev->ibdev));
  EXPECT_EQ(0x99, guid(dev)[7]);
  EXPECT_EQ(dev->ibdev.node_guid, dev->ibdev.attrs.sys_image_guid);
  EXPECT_LT(0u, dev->line_rate);
  EXPECT_TRUE(dev->active);
  EXPECT_EQ(0u, stand_in_control.unregistered);
  stand_in_attach.left = true;
  EXPECT_EQ(0, dev->ibdev.ops.enable_driver(&dev->ibdev));
  EXPECT_EQ(1u, stand_in_control.unregistered) << "the interface went meanwhile";
}

TEST_F(Attach, GuidIsThatOfTheAddress) {
  const sroce_device* dev = attach(netdev);
  const u8 expected[] = {0x00, 0x11, 0x22, 0xff, 0xfe, 0x33, 0x44, 0x55};
  EXPECT_EQ(0, memcmp(expected, guid(dev), sizeof(expected)));
}

TEST_F(Attach, InterfaceWithoutAnAddressKeepsARandomGuid) {
  netdev.addr_len = 0;
  sroce_device* dev = attach(netdev);
  EXPECT_EQ(0x50, guid(dev)[0]);
  const_cast<u8*>(guid(dev))[7] = 1;
  sroce_device_set_guid(dev);
  EXPECT_EQ(1, guid(dev)[7]);
  netdev.addr_len = ETH_ALEN;
  memset(netdev.dev_addr, 0, ETH_ALEN);
  sroce_device_set_guid(dev);
  EXPECT_EQ(1, guid(dev)[7]) << "an address of zeros is none";
}

TEST_F(Attach, ParentIsThatOfTheInterfaceButNoPciFunction) {
  device parent = {};
  netdev.dev.parent = other.dev.parent = &parent;
  EXPECT_EQ(&parent, attach(netdev)->ibdev.dev.parent);
  parent.is_pci = true;
  EXPECT_EQ(nullptr, attach(other, "sroce1")->ibdev.dev.parent);
}

TEST_F(Attach, DeviceThatGoesIsNotFound) {
  sroce_device* dev = attach(netdev);
  dev->ibdev.is_registered = false;
  EXPECT_EQ(nullptr, sroce_device_get(&netdev));
  EXPECT_EQ(nullptr, sroce_device_get_next(&net, 0));
  dev->ibdev.is_registered = true;
  EXPECT_EQ(dev, sroce_device_get(&netdev));
  EXPECT_EQ(1, dev->ibdev.users);
  ib_device_put(&dev->ibdev);
}

TEST_F(Attach, IterationGoesByIndex) {
  sroce_device* first = attach(netdev);
  sroce_device* second = attach(other, "sroce1");
  net_device last = other;
  sroce_device* third = attach(last, "sroce2");
  std::swap(first->ibdev.index, third->ibdev.index);  // the list has another order
  for (sroce_device* expected : {third, second, first}) {
    sroce_device* dev = sroce_device_get_next(&net, expected->ibdev.index);
    ASSERT_EQ(expected, dev);
    EXPECT_EQ(1, first->ibdev.users + second->ibdev.users + third->ibdev.users);
    ib_device_put(&dev->ibdev);
  }
  EXPECT_EQ(nullptr, sroce_device_get_next(&net, 4));
  stand_in_attach.hidden = &third->ibdev;
  sroce_device* dev = sroce_device_get_next(&net, 0);
  EXPECT_EQ(second, dev);
  ib_device_put(&dev->ibdev);
  std::swap(first->ibdev.index, third->ibdev.index);
}

// ib_core would otherwise remove rdma_rxe's devices, too.
TEST_F(Attach, UnloadingRemovesOurDevicesOnly) {
  attach(netdev);
  attach(other, "sroce1");
  auto* rxe = static_cast<ib_device*>(stand_in_alloc_device(sizeof(ib_device)));
  rxe->ops.driver_id = RDMA_DRIVER_RXE;
  rxe->ops.enable_driver = [](ib_device*) { return 0; };
  ASSERT_EQ(0, ib_register_device(rxe, "rxe0", nullptr));
  sroce_devices_fini();
  EXPECT_EQ(1, stand_in_attach.devices);
  EXPECT_TRUE(rxe->is_registered);
  EXPECT_FALSE(is_found(netdev) || is_found(other));
}

// Another CPU is in dealloc_device(): unloading waits for it by the id.
TEST_F(Attach, DeviceThatIsBeingRemovedHasThePrivateId) {
  sroce_device* dev = attach(netdev);
  get_device(&dev->ibdev.dev);
  ib_unregister_device(&dev->ibdev);
  EXPECT_NE(u32{RDMA_DRIVER_RXE}, dev->ibdev.ops.driver_id);
  EXPECT_TRUE(dev->detached);
  put_device(&dev->ibdev.dev);
}

}  // namespace
