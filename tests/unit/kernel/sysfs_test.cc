// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Files in /sys/class/infiniband/DEV: kernel/control/sysfs.c.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "stand_in/attach.h"

extern "C" {
#include "control/sysfs.h"
#include "uapi/sroce_abi.h"
}

namespace {

struct Sysfs : testing::Test {
  Sysfs() {
    dev.ibdev.coredev.owner = &dev.ibdev;
    dev.ep.netdev = &netdev;
    for (const attribute_group* group : {&sroce_parent_group, &sroce_abi_group})
      for (attribute** file = group->attrs; *file; file++)
        files[(group->name ? group->name + std::string("/") : "") + (*file)->name] =
            container_of(*file, device_attribute, attr);
  }
  std::string read(const char* path, device* from) {
    std::vector<char> page(PAGE_SIZE);
    device_attribute* file = files.at(path);
    const ssize_t bytes = file->show(from, file, page.data());
    return {page.data(), static_cast<size_t>(bytes)};
  }
  std::string read(const char* path) { return read(path, &dev.ibdev.dev); }

  net_device netdev = {.name = "eth5"};
  sroce_device dev = {};
  std::map<std::string, device_attribute*> files;
};

TEST_F(Sysfs, DeviceHasTwoFiles) {
  EXPECT_EQ(2u, files.size());
  EXPECT_TRUE(files.contains("parent"));
  EXPECT_TRUE(files.contains("sroce/abi_version"));
}

TEST_F(Sysfs, ParentIsTheInterface) {
  strcpy(dev.ibdev.name, "sroce0");
  EXPECT_EQ("eth5\n", read("parent"));
  netdev.name = "lan";
  EXPECT_EQ("lan\n", read("parent")) << "it has been renamed";
}

// `rdma system set netns shared` shows a device in all namespaces.
TEST_F(Sysfs, ParentIsTheSameInEachNamespace) {
  net_device other = {.name = "other"};
  sroce_device around = {};
  around.ep.netdev = &other;
  around.ibdev.coredev.owner = &dev.ibdev;
  EXPECT_EQ("eth5\n", read("parent", &around.ibdev.dev)) << "only the owner counts";
}

TEST_F(Sysfs, VersionIsThatOfTheNativeInterface) {
  EXPECT_EQ(std::to_string(SROCE_ABI_VERSION) + "\n", read("sroce/abi_version"));
}

}  // namespace
