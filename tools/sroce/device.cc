// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/device.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

namespace sroce {
namespace {

namespace fs = std::filesystem;

constexpr char netns_directory[] = "/run/netns";
constexpr char own_netns_path[] = "/proc/self/ns/net";

constexpr uint32_t only_port = 1;  // software RoCE devices have one port

class FileDescriptor {
 public:
  FileDescriptor(const fs::path& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC)) {}
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// The first line of a file, if it can be read. Reading an empty GID table entry fails.
std::optional<std::string> read_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

template <typename T>
std::optional<T> parse_number(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<fs::path> entries_of(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) paths.push_back(entry.path());
  return paths;
}

bool is_unused_gid(const std::string& gid) {
  return gid.find_first_not_of("0:") == std::string::npos;
}

/// Invokes a method of the uverbs device object. Returns true if the kernel accepted it.
bool invoke_method(const FileDescriptor& uverbs, uint32_t driver_id, uint16_t method,
                   std::span<const ib_uverbs_attr> attrs) {
  std::vector<std::byte> message(sizeof(ib_uverbs_ioctl_hdr) + attrs.size_bytes());
  ib_uverbs_ioctl_hdr header{};
  header.length = static_cast<uint16_t>(message.size());
  header.object_id = UVERBS_OBJECT_DEVICE;
  header.method_id = method;
  header.num_attrs = static_cast<uint16_t>(attrs.size());
  header.driver_id = driver_id;
  std::memcpy(message.data(), &header, sizeof(header));
  if (!attrs.empty()) std::memcpy(&message[sizeof(header)], attrs.data(), attrs.size_bytes());
  return ioctl(uverbs.get(), RDMA_VERBS_IOCTL, message.data()) == 0;
}

/// Keeps the thread in another network namespace for the lifetime of the object.
class NetnsStay {
 public:
  explicit NetnsStay(const fs::path& path) : home_(own_netns_path, O_RDONLY) {
    const FileDescriptor target(path, O_RDONLY);
    entered_ = home_.is_open() && target.is_open() && setns(target.get(), CLONE_NEWNET) == 0;
  }
  ~NetnsStay() {
    // Anything the tool did now would act on the interfaces of the wrong namespace.
    if (entered_ && setns(home_.get(), CLONE_NEWNET) != 0) std::terminate();
  }
  NetnsStay(const NetnsStay&) = delete;
  NetnsStay& operator=(const NetnsStay&) = delete;

  bool entered() const { return entered_; }

 private:
  FileDescriptor home_;
  bool entered_ = false;
};

bool is_own_netns(const fs::path& path) {
  struct stat own {};
  struct stat other {};
  return stat(own_netns_path, &own) == 0 && stat(path.c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/// The port states of the standard, as ibv_devinfo prints them but without the prefix.
std::string port_state_text(uint8_t state) {
  static constexpr const char* names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  if (state < std::size(names)) return names[state];
  return "UNKNOWN(" + std::to_string(state) + ")";
}

/// Sends a request about a device that may disappear or reject it. An error counts as no reply.
std::vector<Bytes> try_exchange(Channel& channel, Request request) {
  try {
    return channel.exchange(std::move(request));
  } catch (const KernelError&) {
    return {};
  }
}

std::optional<nldev::PortReply> query_port(Channel& channel, uint32_t device_index) {
  for (const Bytes& payload : try_exchange(channel, nldev::ports_request(device_index))) {
    nldev::PortReply port = nldev::decode_port(payload);
    if (port.port == only_port) return port;
  }
  return std::nullopt;
}

std::map<uint32_t, uint64_t> query_qp_counts(Channel& channel) {
  std::map<uint32_t, uint64_t> counts;
  for (const Bytes& payload : try_exchange(channel, nldev::resources_request())) {
    const nldev::ResourcesReply reply = nldev::decode_resources(payload);
    if (reply.qps) counts[reply.device_index] = *reply.qps;
  }
  return counts;
}

std::map<std::string, uint64_t> nonzero_counters(System& system, const DeviceIdentity& identity) {
  auto counters = read_counters(system, identity);
  std::erase_if(counters, [](const auto& counter) { return counter.second == 0; });
  return counters;
}

Device describe_device(System& system, const DeviceIdentity& identity) {
  Device device;
  device.name = identity.name;
  device.index = identity.index;
  device.driver = identity.is_sroce ? "sroce" : "rdma_rxe";
  if (const auto port = query_port(system.channel, identity.index)) {
    device.state = port_state_text(port->state);
    device.netdev = port->netdev;
    device.in_current_netns = port->netdev.has_value();
  }
  device.gids = system.sysfs.gids(identity.name, only_port);
  device.counters = nonzero_counters(system, identity);
  if (identity.uverbs) device.mtu_bytes = system.active_mtu_bytes(*identity.uverbs, only_port);
  return device;
}

/// Fills in the netdev and the namespace of devices whose netdev is in another namespace.
void locate_in_other_netns(System& system, std::vector<Device>& devices) {
  const auto is_unlocated = [](const Device& device) { return !device.netdev; };
  if (std::none_of(devices.begin(), devices.end(), is_unlocated)) return;
  system.visit_other_netns([&](const std::string& netns, Channel& channel) {
    for (Device& device : devices) {
      if (!is_unlocated(device)) continue;
      device.netdev = netdev_of(channel, device.index);
      if (device.netdev) device.netns = netns;
    }
    return std::any_of(devices.begin(), devices.end(), is_unlocated);
  });
}

}  // namespace

std::string address_text(const in6_addr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address))
    inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
  else
    inet_ntop(AF_INET6, &address, text.data(), text.size());
  return text.data();
}

std::string gid_address(const std::string& gid) {
  in6_addr address{};
  return inet_pton(AF_INET6, gid.c_str(), &address) == 1 ? address_text(address) : gid;
}

fs::path Sysfs::port_path(const std::string& device, uint32_t port) const {
  return root_ / "class/infiniband" / device / "ports" / std::to_string(port);
}

bool Sysfs::is_sroce(const std::string& device) const {
  std::error_code error;
  return fs::exists(root_ / "class/infiniband" / device / "sroce", error);
}

std::vector<Gid> Sysfs::gids(const std::string& device, uint32_t port) const {
  const fs::path path = port_path(device, port);
  std::vector<Gid> gids;
  for (const fs::path& entry : entries_of(path / "gids")) {
    const std::string name = entry.filename();
    const auto index = parse_number<uint32_t>(name);
    const auto gid = read_line(entry);
    if (!index || !gid || is_unused_gid(*gid)) continue;
    gids.push_back({*index, read_line(path / "gid_attrs/types" / name).value_or("-"), *gid,
                    gid_address(*gid), read_line(path / "gid_attrs/ndevs" / name)});
  }
  std::sort(gids.begin(), gids.end(), [](const Gid& a, const Gid& b) { return a.index < b.index; });
  return gids;
}

std::map<std::string, uint64_t> Sysfs::counters(const std::string& device, uint32_t port) const {
  std::map<std::string, uint64_t> counters;
  for (const fs::path& entry : entries_of(port_path(device, port) / "hw_counters")) {
    const std::string name = entry.filename();
    if (name == "lifespan") continue;  // how long the kernel caches the counters
    if (const auto line = read_line(entry)) {
      if (const auto value = parse_number<uint64_t>(*line)) counters[name] = *value;
    }
  }
  return counters;
}

std::string Sysfs::mac(const std::string& interface) const {
  const fs::path folder = root_ / "class/net" / interface;
  const bool borrowed = read_line(folder / "addr_assign_type") == "2" ||  // NET_ADDR_STOLEN
                        fs::exists(folder / "bridge");
  return borrowed ? "" : read_line(folder / "address").value_or("");
}

std::optional<size_t> Sysfs::mtu(const std::string& interface) const {
  const auto line = read_line(root_ / "class/net" / interface / "mtu");
  return line ? std::optional<size_t>(std::strtoul(line->c_str(), nullptr, 10)) : std::nullopt;
}

bool Sysfs::has_ofed() const {
  std::error_code error;
  return fs::exists(root_ / "module/mlx_compat/holders/ib_core", error);
}

bool Sysfs::module_loaded(const std::string& module) const {
  // Modules without parameters have no folder there if they are built in. These make classes.
  static const std::map<std::string, std::string> classes{{"ib_uverbs", "class/infiniband_verbs"},
                                                          {"rdma_ucm", "class/misc/rdma_cm"}};
  std::error_code error;
  const auto found = classes.find(module);
  return fs::exists(root_ / "module" / module, error) ||
         (found != classes.end() && fs::exists(root_ / found->second, error));
}

bool Sysfs::locked_down() const {
  const auto enforced = read_line(root_ / "module/module/parameters/sig_enforce");
  if (enforced == "Y") return true;
  // "none [integrity] confidentiality"
  const auto lockdown = read_line(root_ / "kernel/security/lockdown");
  return lockdown && lockdown->find('[') != std::string::npos &&
         lockdown->find("[none]") == std::string::npos;
}

std::optional<std::string> Sysfs::module_text(const std::string& module,
                                              const std::string& file) const {
  return read_line(root_ / "module" / module / file);
}

std::optional<uint32_t> mtu_bytes(uint8_t ib_mtu) {
  constexpr uint8_t smallest = 1, largest = 5;  // 256 and 4096 bytes
  if (ib_mtu < smallest || ib_mtu > largest) return std::nullopt;
  return uint32_t{128} << ib_mtu;
}

std::optional<uint32_t> query_active_mtu_bytes(const nldev::UverbsReply& uverbs, uint32_t port) {
  const FileDescriptor file("/dev/infiniband/" + uverbs.chardev, O_RDWR);
  if (!file.is_open()) return std::nullopt;
  if (!invoke_method(file, uverbs.driver_id, UVERBS_METHOD_GET_CONTEXT, {})) return std::nullopt;

  ib_uverbs_query_port_resp_ex response{};
  std::array<ib_uverbs_attr, 2> attrs{};
  attrs[0].attr_id = UVERBS_ATTR_QUERY_PORT_PORT_NUM;
  attrs[0].len = sizeof(uint64_t);  // constants are 64 bits wide and are passed inline
  attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
  attrs[0].data = port;
  attrs[1].attr_id = UVERBS_ATTR_QUERY_PORT_RESP;
  attrs[1].len = sizeof(response);
  attrs[1].flags = UVERBS_ATTR_F_MANDATORY;
  attrs[1].data = reinterpret_cast<uintptr_t>(&response);
  if (!invoke_method(file, uverbs.driver_id, UVERBS_METHOD_QUERY_PORT, attrs)) return std::nullopt;
  return mtu_bytes(response.legacy_resp.active_mtu);
}

std::optional<std::string> current_netns_name() {
  for (const fs::path& path : entries_of(netns_directory)) {
    if (is_own_netns(path)) return path.filename();
  }
  return std::nullopt;
}

void visit_other_netns(const NetnsVisitor& visitor) {
  for (const fs::path& path : entries_of(netns_directory)) {
    if (is_own_netns(path)) continue;
    const NetnsStay stay(path);
    if (!stay.entered()) continue;
    NetlinkSocket socket(NETLINK_RDMA);
    if (!visitor(path.filename(), socket)) return;
  }
}

void load_modules(const std::vector<std::string>& modules) {
  std::vector<std::string> words{"modprobe", "-a", "-q"};
  words.insert(words.end(), modules.begin(), modules.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO})  // ours say what matters
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  // A user's PATH need not have the folders of system tools.
  for (const char* path : {"/sbin/modprobe", "/usr/sbin/modprobe"}) {
    if (posix_spawn(&pid, path, &actions, nullptr, argv.data(), environ) != 0) continue;
    waitpid(pid, nullptr, 0);
    break;
  }
  posix_spawn_file_actions_destroy(&actions);
}

std::optional<bool> kernel_has(const std::string& release, const std::string& option) {
  const std::string text = "{ zcat /proc/config.gz || cat /boot/config-" + release +
                           " /lib/modules/" + release + "/config; } 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(text.c_str(), "re"), pclose);
  if (!pipe) return std::nullopt;
  bool any = false, found = false;
  std::array<char, 512> line{};
  while (fgets(line.data(), line.size(), pipe.get())) {
    any = true;
    found = found || std::string_view(line.data()).starts_with("CONFIG_" + option + "=");
  }
  return any ? std::optional(found) : std::nullopt;
}

std::optional<std::string> port_state(Channel& channel, uint32_t device_index) {
  const auto port = query_port(channel, device_index);
  return port ? std::optional(port_state_text(port->state)) : std::nullopt;
}

std::optional<std::string> netdev_of(Channel& channel, uint32_t device_index) {
  const auto port = query_port(channel, device_index);
  return port ? port->netdev : std::nullopt;
}

std::map<std::string, uint64_t> read_counters(System& system, const DeviceIdentity& identity) {
  // Netlink works from every namespace, but its reply is limited to one page. Sysfs has no limit.
  const auto replies =
      try_exchange(system.channel, nldev::counters_request(identity.index, only_port));
  return replies.empty() ? system.sysfs.counters(identity.name, only_port)
                         : nldev::decode_counters(replies.front());
}

std::vector<DeviceIdentity> list_devices(System& system) {
  std::vector<DeviceIdentity> devices;
  for (const Bytes& payload : system.channel.exchange(nldev::devices_request())) {
    const nldev::DeviceReply reply = nldev::decode_device(payload);
    DeviceIdentity identity{reply.index, reply.name, {}, system.sysfs.is_sroce(reply.name)};
    const auto uverbs = try_exchange(system.channel, nldev::uverbs_request(reply.index));
    if (!uverbs.empty()) identity.uverbs = nldev::decode_uverbs(uverbs.front());
    const uint32_t driver_id = identity.uverbs ? identity.uverbs->driver_id : 0;
    // Devices of sroce have this id too.
    identity.is_rxe = driver_id == RDMA_DRIVER_RXE && !identity.is_sroce;
    devices.push_back(std::move(identity));
  }
  return devices;
}

void require_rdma(System& system) { system.channel.exchange(nldev::devices_request()); }

std::vector<Device> describe_devices(System& system,
                                     const std::vector<DeviceIdentity>& identities) {
  const auto qp_counts = query_qp_counts(system.channel);
  const auto own_netns = system.current_netns_name();
  std::vector<Device> devices;
  for (const DeviceIdentity& identity : identities) {
    Device device = describe_device(system, identity);
    if (const auto count = qp_counts.find(identity.index); count != qp_counts.end())
      device.qps = count->second;
    if (device.in_current_netns) device.netns = own_netns;
    devices.push_back(std::move(device));
  }
  locate_in_other_netns(system, devices);
  return devices;
}

std::vector<std::string> names_of(const std::vector<DeviceIdentity>& devices) {
  std::vector<std::string> names;
  for (const DeviceIdentity& device : devices) names.push_back(device.name);
  return names;
}

}  // namespace sroce
