// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_kernel.h"

#include <rdma/rdma_netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "message.h"

namespace sroce::test {
namespace {

std::map<uint16_t, Attribute> attributes_of(const Request& request) {
  std::map<uint16_t, Attribute> attributes;
  for (const Attribute& attribute : parse_attributes(request.bytes().subspan(sizeof(nlmsghdr))))
    attributes.emplace(attribute.type, attribute);
  return attributes;
}

nlmsghdr header_of(const Request& request) {
  nlmsghdr header{};
  std::memcpy(&header, request.bytes().data(), sizeof(header));
  return header;
}

Attributes handle_of(const FakeDevice& device) {
  return Attributes()
      .u32(RDMA_NLDEV_ATTR_DEV_INDEX, device.index)
      .text(RDMA_NLDEV_ATTR_DEV_NAME, device.name);
}

}  // namespace

const FakeDevice& FakeChannel::find(uint32_t index) const {
  for (const FakeDevice& device : kernel_.devices) {
    if (device.index == index && device.visible) return device;
  }
  throw KernelError(EINVAL, "");
}

std::vector<Bytes> FakeChannel::get_devices() const {
  std::vector<Bytes> replies;
  for (const FakeDevice& device : kernel_.devices) {
    if (!device.visible) continue;
    replies.push_back(handle_of(device).u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1).bytes());
  }
  return replies;
}

std::vector<Bytes> FakeChannel::get_ports(uint32_t index) const {
  const FakeDevice& device = find(index);
  Attributes port = handle_of(device);
  port.u32(RDMA_NLDEV_ATTR_PORT_INDEX, 1).u8(RDMA_NLDEV_ATTR_PORT_STATE, device.state);
  if (device.netns == netns_) port.text(RDMA_NLDEV_ATTR_NDEV_NAME, device.netdev);
  return {port.bytes()};
}

std::vector<Bytes> FakeChannel::get_resources() const {
  std::vector<Bytes> replies;
  for (const FakeDevice& device : kernel_.devices) {
    Attributes summary;
    for (const auto& [name, count] :
         std::map<std::string, uint64_t>{{"pd", 3}, {"qp", device.qps}, {"mr", 9}}) {
      summary.nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY,
                   Attributes()
                       .text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name)
                       .u64(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count));
    }
    replies.push_back(handle_of(device).nest(RDMA_NLDEV_ATTR_RES_SUMMARY, summary).bytes());
  }
  return replies;
}

std::vector<Bytes> FakeChannel::get_uverbs(uint32_t index) const {
  const FakeDevice& device = find(index);
  return {Attributes()
              .text(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs" + std::to_string(index))
              .u32(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, device.driver_id)
              .bytes()};
}

std::vector<Bytes> FakeChannel::get_counters(uint32_t index) const {
  if (kernel_.counters_error) throw KernelError(kernel_.counters_error, "");
  Attributes table;
  for (const auto& [name, value] : find(index).counters) {
    table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
               Attributes()
                   .text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name)
                   .u64(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value));
  }
  return {Attributes().nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS | NLA_F_NESTED, table).bytes()};
}

void FakeChannel::new_link(const std::string& name, const std::string& type,
                           const std::string& netdev) {
  if (type != "sroce" && type != "sroce_v1") throw KernelError(EINVAL, "");
  if (kernel_.newlink_error) throw KernelError(kernel_.newlink_error, kernel_.extended_ack);
  for (const FakeDevice& device : kernel_.devices) {  // visible or not
    if (device.name == name) throw KernelError(kernel_.name_clash_error, "");
  }
  FakeDevice device;
  device.index = static_cast<uint32_t>(kernel_.devices.size());
  device.name = name;
  device.netdev = netdev;
  device.state = kernel_.new_device_state;
  kernel_.devices.push_back(device);
  kernel_.attached.push_back(netdev + (type == "sroce_v1" ? " v1" : ""));
  if (kernel_.on_new_link) kernel_.on_new_link(name);
}

void FakeChannel::delete_link(uint32_t index) {
  if (kernel_.dellink_error) throw KernelError(kernel_.dellink_error, kernel_.extended_ack);
  find(index);
  std::erase_if(kernel_.devices, [&](const FakeDevice& device) { return device.index == index; });
}

std::vector<Bytes> FakeChannel::exchange(Request request) {
  if (!kernel_.has_rdma) throw SubsystemAbsent("Protocol not supported");
  const nlmsghdr header = header_of(request);
  const auto attributes = attributes_of(request);
  if (RDMA_NL_GET_CLIENT(header.nlmsg_type) != RDMA_NL_NLDEV) throw KernelError(EINVAL, "");

  const auto index = [&] { return attributes.at(RDMA_NLDEV_ATTR_DEV_INDEX).u32(); };
  switch (RDMA_NL_GET_OP(header.nlmsg_type)) {
    case RDMA_NLDEV_CMD_GET:
      return get_devices();
    case RDMA_NLDEV_CMD_PORT_GET:
      return get_ports(index());
    case RDMA_NLDEV_CMD_RES_GET:
      return get_resources();
    case RDMA_NLDEV_CMD_GET_CHARDEV:
      return get_uverbs(index());
    case RDMA_NLDEV_CMD_STAT_GET:
      return get_counters(index());
    case RDMA_NLDEV_CMD_SYS_GET:
      if (!kernel_.shared) throw KernelError(EINVAL, "");
      return {Attributes().u8(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, *kernel_.shared).bytes()};
    case RDMA_NLDEV_CMD_NEWLINK:
      new_link(attributes.at(RDMA_NLDEV_ATTR_DEV_NAME).text(),
               attributes.at(RDMA_NLDEV_ATTR_LINK_TYPE).text(),
               attributes.at(RDMA_NLDEV_ATTR_NDEV_NAME).text());
      return {};
    case RDMA_NLDEV_CMD_DELLINK:
      delete_link(index());
      return {};
    default:
      throw KernelError(EINVAL, "");
  }
}

FakeMachine::FakeMachine()
    : system{.channel = channel,
             .generic = module,
             .route = route,
             .sysfs = Sysfs(sysfs.root()),
             .modules_alias = sysfs.root() / "modules.alias",
             .kernel_release = "6.1.0-test",
             .is_root = true,
             .interfaces = [this] { return interfaces; },
             .active_mtu_bytes = [](const nldev::UverbsReply&, uint32_t) { return 1024; },
             .current_netns_name = [] { return std::optional<std::string>(); },
             .visit_other_netns =
                 [this](const NetnsVisitor& visitor) {
                   for (const std::string& name : other_netns) {
                     FakeChannel inside(kernel, name);
                     if (!visitor(name, inside)) return;
                   }
                 },
             .load_modules =
                 [this](const std::vector<std::string>& modules) { loaded_modules = modules; },
             .kernel_has = [this](const std::string&) { return configured_with_rdma; },
             .sleep =
                 [this](std::chrono::milliseconds) {
                   ++sleeps;
                   if (on_sleep) on_sleep();
                 },
             .version = "1.2.3",
             .memlock_bytes = [this] { return memlock_bytes; },
             .may_raise_memlock = [this] { return may_raise_memlock; },
             .may_open =
                 [this](const std::string& path) {
                   return std::count(unreadable.begin(), unreadable.end(), path) == 0;
                 },
             .module_file = [this] { return module_file; },
             .port_is_free = [this] { return port_is_free; },
             .nft_ruleset = [this] { return nft_ruleset; },
             .iptables_rules = [this] { return iptables_rules; },
             .reverse_path_drops = [this](const std::string&) { return reverse_path_drops; },
             .verbs_devices = [this] { return verbs_devices; },
             .request_connection =
                 [this](const CmQuestion& question) {
                   cm_questions.push_back(question);
                   return cm_replies.at(std::min(cm_questions.size(), cm_replies.size()) - 1);
                 },
             .probe_port =
                 [this](const CmQuestion& question) {
                   probes.push_back(question);
                   return icmp_error;
                 },
             .find_largest_echo =
                 [this](const CmQuestion&, const std::vector<size_t>& sizes) {
                   echo_sizes.push_back(sizes);
                   return largest_echo;
                 },
             .pause =
                 [this](std::chrono::milliseconds time) {
                   now += time;
                   if (on_pause) on_pause();
                   return pauses++ < pauses_until_interrupt;
                 },
             .now = [this] { return now; }} {
  sysfs.write("module/sroce/refcnt", "0\n");
}

FakeDevice& FakeMachine::add_device(FakeDevice device, bool belongs_to_sroce) {
  if (belongs_to_sroce)
    sysfs.write("class/infiniband/" + device.name + "/sroce/abi_version", "103\n");
  kernel.devices.push_back(std::move(device));
  return kernel.devices.back();
}

void FakeMachine::add_gid(const std::string& device, int index, const std::string& gid,
                          const std::string& netdev) {
  const std::string port = "class/infiniband/" + device + "/ports/1/";
  const std::string number = std::to_string(index);
  sysfs.write(port + "gids/" + number, gid + '\n');
  sysfs.write(port + "gid_attrs/types/" + number, "RoCE v2\n");
  sysfs.write(port + "gid_attrs/ndevs/" + number, netdev + '\n');
}

}  // namespace sroce::test
