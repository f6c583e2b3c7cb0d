// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/doctor.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>

#include "sroce/explain.h"
#include "sroce/no_response.h"
#include "sroce/path_mtu.h"
#include "sroce/ping.h"
#include "sroce/text.h"

namespace sroce {
namespace {

constexpr uint32_t only_port = 1;
constexpr uint64_t mebibyte = 1u << 20;
/// Programs lock their buffers and rings; perftest needs some 16 MiB with its defaults.
constexpr uint64_t enough_memlock_bytes = 64 * mebibyte;
/// An interface with the usual MTU of 1500 has this one.
constexpr uint32_t usual_mtu_bytes = 1024;
constexpr std::chrono::seconds peer_wait{2};
constexpr char cm_file[] = "/dev/infiniband/rdma_cm";
/// The keys that DKMS signs modules with: on Debian, on Ubuntu.
const std::vector<SigningKey> dkms_keys{
    {"/var/lib/dkms/mok.key", "/var/lib/dkms/mok.pub"},
    {"/var/lib/shim-signed/mok/MOK.priv", "/var/lib/shim-signed/mok/MOK.der"}};
const std::string signed_only = " (this kernel loads signed modules only: Secure Boot or lockdown)";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Finding examine_kernel(const Facts& facts) {
  if (facts.kernel_has_rdma == false && !facts.rdma_loaded)
    return {"kernel", Verdict::fail,
            "kernel " + facts.kernel_release + " has no RDMA (CONFIG_INFINIBAND is off)",
            guest_cure};
  if (!facts.rdma_loaded)
    return {"kernel", Verdict::fail, "RDMA is not loaded", "modprobe ib_uverbs"};
  return {
      "kernel", Verdict::ok,
      facts.kernel_release + " has RDMA" + (facts.has_ofed ? ", that of MLNX_OFED or DOCA" : "")};
}

/// The start of a command line that decompresses the module at this path, and sets the path to that
/// of the result; empty if it is not compressed.
std::string decompress(std::string& path) {
  for (const auto& [ending, program] :
       {std::pair{".xz", "unxz "}, {".zst", "unzstd --rm "}, {".gz", "gunzip "}}) {
    if (!path.ends_with(ending)) continue;
    const std::string command = program + path + " && ";
    path.resize(path.size() - std::string_view(ending).size());
    return command;
  }
  return "";
}

bool lacks_signature(const Facts& facts) {
  return facts.locked_down && facts.module == ModuleState::installed && facts.module_file &&
         !facts.module_file->is_signed;
}

/// Only a kernel that trusts the key loads the module.
Finding examine_signature(const Facts& facts) {
  const SigningKey key = facts.dkms_key.value_or(SigningKey{"KEY.pem", "CERTIFICATE.der"});
  const std::string enrol = "mokutil --import " + key.certificate + " && reboot";
  if (lacks_signature(facts)) {
    std::string path = facts.module_file->path;
    const std::string first = decompress(path);
    return {"module", Verdict::fail, "sroce is not loaded: it has no signature" + signed_only,
            first + "/lib/modules/" + facts.kernel_release + "/build/scripts/sign-file sha256 " +
                key.secret + ' ' + key.certificate + ' ' + path +
                (first.empty() ? "" : " && depmod") +
                " && modprobe sroce\nif the kernel does not know the key: " + enrol};
  }
  return {"module", Verdict::fail, "sroce is not loaded" + signed_only,
          "modprobe sroce\nif the kernel does not know the key of its signature: " + enrol};
}

Finding examine_module(const Facts& facts) {
  const std::string locked = facts.locked_down ? signed_only : "";
  if (facts.has_ofed && facts.module == ModuleState::missing)
    return {"module", Verdict::fail, explain_ofed().what(), explain_ofed().cure()};
  switch (facts.module) {
    case ModuleState::missing:
      return {"module", Verdict::fail,
              "sroce is not installed for kernel " + facts.kernel_release + locked, "make install"};
    case ModuleState::installed:
      if (facts.locked_down) return examine_signature(facts);
      return {"module", Verdict::fail, "sroce is not loaded",
              std::string("modprobe sroce") +
                  (facts.has_ofed ? "\nif it was built without the headers of OFED: make install "
                                    "&& modprobe sroce"
                                  : "")};
    case ModuleState::loaded:
      break;
  }
  const std::string version = facts.module_version.value_or("unknown");
  if (version != facts.tool_version)
    return {"module", Verdict::warn,
            "the loaded module is version " + version + ", this tool " + facts.tool_version +
                "; to load it again takes all devices away",
            "modprobe -r sroce && modprobe sroce && sroce up"};
  return {"module", Verdict::ok, "sroce " + version + " is loaded"};
}

/// Needed only to build a module that is missing, or to sign it.
std::vector<Finding> examine_headers(const Facts& facts) {
  const bool is_missing = facts.module == ModuleState::missing;
  if (!is_missing && !lacks_signature(facts)) return {};
  const std::string folder = "/lib/modules/" + facts.kernel_release + "/build";
  const std::string use = is_missing ? "built" : "signed";
  if (facts.headers_found)
    return {{"headers", Verdict::ok, "with " + folder + " it can be " + use}};
  return {{"headers", Verdict::fail,
           "it cannot be " + use + ": the kernel headers are absent, " + folder,
           "apt-get install linux-headers-" + facts.kernel_release +
               "\non Fedora and RHEL: dnf install kernel-devel-" + facts.kernel_release}};
}

Finding examine_users(const Facts& facts) {
  if (!facts.uverbs_loaded)
    return {"uverbs", Verdict::fail, "no program can use RDMA: ib_uverbs is not loaded",
            "modprobe ib_uverbs"};
  if (!facts.ucm_loaded)
    return {"uverbs", Verdict::warn,
            "programs that connect with rdma_cm, such as rping, cannot: rdma_ucm is not loaded",
            "modprobe rdma_ucm"};
  if (!facts.may_open_cm)
    return {"uverbs", Verdict::warn,
            "programs that connect with rdma_cm, such as rping, cannot: this process cannot open " +
                std::string(cm_file),
            "chmod a+rw " + std::string(cm_file) + "\nin a container: start it with --device " +
                cm_file};
  return {"uverbs", Verdict::ok, "ib_uverbs and rdma_ucm are loaded"};
}

std::vector<Finding> examine_netns(const Facts& facts) {
  if (!facts.shared) return {};
  return {{"netns", Verdict::ok,
           *facts.shared ? "every network namespace sees all RDMA devices"
                         : "each network namespace sees only its own RDMA devices"}};
}

std::vector<Finding> examine_libibverbs(const Facts& facts) {
  if (facts.has_libibverbs) return {};
  return {{"libibverbs", Verdict::warn, "libibverbs is not installed; most programs need it",
           "apt-get install libibverbs1 ibverbs-providers\n"
           "on Fedora and RHEL: dnf install libibverbs"}};
}

Finding no_provider(const DeviceFacts& device) {
  return {device.state.device, Verdict::fail, "libibverbs has no provider for it, such as librxe",
          "apt-get install ibverbs-providers\n"
          "on Fedora and RHEL: dnf install libibverbs\n"
          "for sroce's own: make userlib && make install-userlib"};
}

Finding examine_memlock(const Facts& facts) {
  if (!facts.memlock_bytes) return {"memlock", Verdict::ok, "memory may be locked without limit"};
  const std::string text =
      "this process may lock " + std::to_string(*facts.memlock_bytes / mebibyte) + " MiB";
  const std::string keep = "echo '* - memlock unlimited' > /etc/security/limits.d/rdma.conf";
  if (*facts.memlock_bytes >= enough_memlock_bytes) return {"memlock", Verdict::ok, text};
  return {"memlock", Verdict::warn, text + "; programs that register more fail with ENOMEM",
          facts.may_raise_memlock ? "ulimit -l unlimited\nto keep it: " + keep
                                  : "as root, before the next login: " + keep};
}

Finding examine_port(const Facts& facts) {
  if (!facts.port_taken) return {"port", Verdict::ok, "UDP port 4791 is free, or sroce's"};
  const std::string cure = port_cure(facts.rxe_devices, facts.rxe_loaded);
  if (facts.rxe_devices.empty())
    return {"port", Verdict::fail,
            facts.rxe_loaded ? "rdma_rxe or another program has taken UDP port 4791"
                             : "another program has taken UDP port 4791",
            cure};
  return {"port", Verdict::fail,
          "rdma_rxe has taken UDP port 4791 (devices: " + joined(facts.rxe_devices) + ")", cure};
}

Finding examine_absence(const Facts& facts) {
  if (facts.netdev)
    return {"device", Verdict::fail, "interface '" + *facts.netdev + "' has no sroce device",
            "sroce add " + shell_word(*facts.netdev)};
  return {"device", Verdict::fail, "this network namespace has no sroce device",
          std::string(
              "sroce add IF\nonly for programs on this machine: sroce add --dummy 10.99.0.1/24") +
              (facts.shared == false
                   ? "\nor, in the namespace that has the device: rdma dev set DEV netns NAME"
                   : "")};
}

Finding examine_state(const DeviceFacts& device) {
  if (const auto failure = explain_not_ready(device.state))
    return {device.state.device, Verdict::fail, failure->what(), failure->cure()};
  std::string text = "on " + device.state.netdev + ", active";
  for (const Gid& gid : device.state.gids)
    text += ", GID " + std::to_string(gid.index) + " " + gid.address;
  if (device.mtu_bytes && device.netdev_mtu_bytes)
    text += ", MTU " + std::to_string(*device.mtu_bytes) +
            " (interface: " + std::to_string(*device.netdev_mtu_bytes) + ")";
  return {device.state.device, Verdict::ok, text};
}

/// The first provider that accepts a device decides the mode of the process. The configuration of
/// libibverbs and IBV_DRIVERS give the order.
std::vector<Finding> examine_provider(const DeviceFacts& device) {
  const bool is_native = device.provider == "libsroce";
  if (!device.has_provider || (!is_native && device.provider != "librxe")) return {};
  if (!device.rejection.empty())
    return {{device.state.device, Verdict::warn, "programs use librxe: " + device.rejection,
             "with newer sources of sroce: make userlib && make install-userlib"}};
  return {{device.state.device, Verdict::ok,
           "in this environment programs use " + device.provider + ", in " +
               (is_native ? "native" : "rxe") + " mode"}};
}

/// Faults of a device that is ready, and warnings.
std::vector<Finding> examine_use(const DeviceFacts& device) {
  std::vector<Finding> findings;
  const std::string& name = device.state.device;
  if (!device.uverbs.empty() && !device.may_open)
    findings.push_back(
        {name, Verdict::fail, "this process cannot open /dev/infiniband/" + device.uverbs,
         "chmod a+rw /dev/infiniband/" + device.uverbs +
             "\nin a container: start it with --device /dev/infiniband/" + device.uverbs});
  else if (!device.has_provider)  // libibverbs does not list a device without a file
    findings.push_back(no_provider(device));
  if (device.mtu_bytes && *device.mtu_bytes < usual_mtu_bytes)
    findings.push_back({name, Verdict::warn,
                        "its MTU is " + std::to_string(*device.mtu_bytes) +
                            ", and that of a peer is hardly less than 1024",
                        "ip link set " + shell_word(device.state.netdev) + " mtu 1500"});
  if (!explain_not_ready(device.state)) {
    for (const Duplicate& duplicate : find_duplicates(device.state))
      findings.push_back({name, Verdict::warn, duplicate.text, duplicate.cure});
  }
  if (!device.same_address.empty())
    findings.push_back({name, Verdict::warn,
                        "rdma_cm may choose " + joined(device.same_address) +
                            " instead, which has the same address",
                        other_address_cure});
  if (device.reverse_path_drops)
    findings.push_back(
        {name, Verdict::warn,
         "since boot, rp_filter has dropped " + std::to_string(device.reverse_path_drops) +
             " packets, on any interface, because the route to their source leaves "
             "by another one",
         "sysctl " + shell_word("net/ipv4/conf/" + device.state.netdev + "/rp_filter=2")});
  if (device.wrong_icrcs)
    findings.push_back({name, Verdict::warn,
                        std::to_string(device.wrong_icrcs) +
                            " packets since it was added had a wrong ICRC: a NAT on the way has "
                            "changed their addresses, or they were damaged",
                        "to see whether more come: sroce stats " + shell_word(name) +
                            " -w\nat a router with NAT: nft insert rule ip TABLE CHAIN udp dport "
                            "4791 accept\n" +
                            end_of_flows});
  for (const NatRule& rule : device.nat)
    findings.push_back({name, Verdict::warn, nat_text(rule, ""), rule.cure});
  return findings;
}

/// Does what "sroce ping" does with one request.
Finding examine_peer(System& system, const std::string& host) try {
  CmQuestion question;
  question.peer = resolve_host(host);
  question.wait = peer_wait;
  const CmReply reply = system.request_connection(question);
  check_asked(system, reply);
  if (reply.error == EINTR)
    return {"peer", Verdict::warn, "interrupted before " + host + " has responded"};
  if (reply.error) {
    const Cause cause = find_cause(system, question, reply);
    return {"peer", Verdict::fail, cause.text, cause.cure};
  }
  if (reply.device_index) {
    if (const auto fault = find_mtu_fault(system, question, *reply.device_index))
      return {"peer", Verdict::warn, fault->text, fault->cure};
  }
  const std::chrono::duration<double, std::milli> time = reply.round_trip;
  return {"peer", Verdict::ok, host + " responds in " + decimal_text(time.count(), 3) + " ms"};
} catch (const Failure& failure) {
  return {"peer", Verdict::fail, failure.what(), failure.cure()};
} catch (const SubsystemAbsent&) {
  return {"peer", Verdict::fail, host + " was not asked: this host has no RDMA"};
}

std::vector<Finding> examine_firewall(const Facts& facts) {
  std::vector<Finding> findings;
  for (const Drop& drop : facts.drops)
    findings.push_back({"firewall",
                        drop.certain && drop.only.empty() ? Verdict::fail : Verdict::warn,
                        drop_text(drop, ""), drop.cure});
  if (!facts.saw_rules)
    findings.push_back({"firewall", Verdict::skip,
                        facts.may_see_rules
                            ? "neither nft nor iptables lists the rules of this host"
                            : "only root may list the rules of this host"});
  else if (facts.drops.empty())
    findings.push_back({"firewall", Verdict::ok,
                        "no rule of nft or iptables is known to drop packets to UDP port 4791"});
  return findings;
}

void append(std::vector<Finding>& findings, std::vector<Finding> more) {
  findings.insert(findings.end(), more.begin(), more.end());
}

bool shares_gid(const std::vector<Gid>& gids, const std::vector<Gid>& others) {
  return std::any_of(gids.begin(), gids.end(), [&](const Gid& gid) {
    return std::any_of(others.begin(), others.end(),
                       [&](const Gid& other) { return other.gid == gid.gid; });
  });
}

std::vector<std::string> addresses_of(const Readiness& state) {
  std::vector<std::string> addresses;
  for (const rtnl::Address& address : state.addresses)
    addresses.push_back(address_text(address.address));
  return addresses;
}

/// The interface, and VLANs on it, which have addresses of their own.
std::vector<PacketQuestion> questions_of(const Readiness& state) {
  std::map<std::string, std::vector<std::string>> addresses{{state.netdev, addresses_of(state)}};
  for (const Gid& gid : state.gids) {
    if (gid.netdev && *gid.netdev != state.netdev) addresses[*gid.netdev].push_back(gid.address);
  }
  std::vector<PacketQuestion> questions;
  for (const auto& [netdev, own] : addresses) questions.push_back({netdev, own});
  return questions;
}

/// Adds what is found for other packets. Rules that one command mends are one; a certain one is
/// preferred.
template <typename Found>
void unite(std::vector<Found>& all, const std::vector<Found>& more) {
  for (const Found& rule : more) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const Found& other) { return other.cure == rule.cure; });
    if (same == all.end())
      all.push_back(rule);
    else if (rule.certain && !same->certain)
      *same = rule;
  }
}

void query_rules(System& system, Facts& facts) {
  const std::string nft = system.nft_ruleset(), iptables = system.iptables_rules();
  facts.may_see_rules = system.is_root;
  facts.saw_rules = !nft.empty() || !iptables.empty();
  const Ruleset ruleset = read_ruleset(nft, iptables);
  for (DeviceFacts& device : facts.devices) {
    for (const PacketQuestion& question : questions_of(device.state)) {
      unite(device.nat, find_nat(ruleset, question));
      unite(facts.drops, find_drops(ruleset, question));
    }
  }
  if (facts.devices.empty())
    unite(facts.drops, find_drops(ruleset, {facts.netdev.value_or(""), {}}));
}

DeviceFacts query_device(System& system, const DeviceIdentity& device, const std::string& netdev,
                         const std::vector<DeviceIdentity>& all) {
  DeviceFacts facts;
  facts.state = query_readiness(system, device, netdev);
  if (device.uverbs) {
    facts.uverbs = device.uverbs->chardev;
    facts.may_open = system.may_open("/dev/infiniband/" + facts.uverbs);
    facts.mtu_bytes = system.active_mtu_bytes(*device.uverbs, only_port);
  }
  facts.netdev_mtu_bytes = system.sysfs.mtu(netdev);
  facts.reverse_path_drops = system.reverse_path_drops(netdev);
  const auto counters = read_counters(system, device);
  if (const auto found = counters.find("rx_icrc_encapsulated"); found != counters.end())
    facts.wrong_icrcs = found->second;
  for (const DeviceIdentity& other : all) {
    // rdma_cm looks for the address among the interfaces of its own namespace only.
    if (other.index != device.index && netdev_of(system.channel, other.index) &&
        shares_gid(facts.state.gids, system.sysfs.gids(other.name, only_port)))
      facts.same_address.push_back(other.name);
  }
  return facts;
}

void query_providers(System& system, Facts& facts) {
  const auto shown = system.verbs_devices();
  facts.has_libibverbs = shown.has_value();
  if (!shown) return;
  for (DeviceFacts& device : facts.devices) {
    const auto found = std::find_if(shown->begin(), shown->end(), [&](const VerbsDevice& other) {
      return other.name == device.state.device;
    });
    device.has_provider = device.uverbs.empty() || found != shown->end();
    if (found == shown->end()) continue;
    device.provider = found->provider;
    device.rejection = found->rejection;
  }
}

std::optional<bool> query_shared(System& system) try {
  for (const Bytes& payload : system.channel.exchange(nldev::system_request()))
    return nldev::decode_shared(payload);
  return std::nullopt;
} catch (const KernelError&) {
  return std::nullopt;
}

/// The devices of sroce in this namespace, and the port that they need.
void query_devices(System& system, Facts& facts) try {
  const auto all = list_devices(system);
  facts.rdma_loaded = true;
  facts.shared = query_shared(system);
  bool any = false;
  for (const DeviceIdentity& device : all) {
    if (device.is_rxe) facts.rxe_devices.push_back(device.name);
    const auto netdev = device.is_sroce ? netdev_of(system.channel, device.index) : std::nullopt;
    if (!netdev) continue;
    any = true;
    if (!facts.netdev || *facts.netdev == *netdev)
      facts.devices.push_back(query_device(system, device, *netdev, all));
  }
  facts.port_taken = !any && !system.port_is_free();
  facts.rxe_loaded = system.sysfs.module_loaded("rdma_rxe");
  query_providers(system, facts);
} catch (const SubsystemAbsent&) {
  facts.rdma_loaded = false;
}

Facts query_facts(System& system, const std::optional<std::string>& netdev) {
  Facts facts;
  facts.tool_version = system.version;
  facts.kernel_release = system.kernel_release;
  facts.kernel_has_rdma = system.kernel_has("INFINIBAND");
  facts.module = module_state(system.sysfs, system.modules_alias);
  facts.module_version = system.sysfs.module_text("sroce", "version");
  facts.headers_found =
      std::filesystem::exists(system.modules_alias.parent_path() / "build/Makefile");
  facts.locked_down = system.sysfs.locked_down();
  if (facts.locked_down) facts.module_file = system.module_file();
  for (const SigningKey& key : dkms_keys)
    if (!facts.dkms_key && system.may_open(key.secret) && system.may_open(key.certificate))
      facts.dkms_key = key;
  facts.has_ofed = system.sysfs.has_ofed();
  facts.uverbs_loaded = system.sysfs.module_loaded("ib_uverbs");
  facts.ucm_loaded = system.sysfs.module_loaded("rdma_ucm");
  facts.may_open_cm = system.may_open(cm_file);
  facts.memlock_bytes = system.memlock_bytes();
  facts.may_raise_memlock = system.may_raise_memlock();
  facts.netdev = netdev;
  query_devices(system, facts);
  query_rules(system, facts);
  return facts;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::skip:
      return "skip";
    case Verdict::ok:
      return "ok";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      return "fail";
  }
  return "";
}

void print_table(const std::vector<Finding>& findings, std::ostream& out) {
  std::vector<Row> rows{{"fail", "", ""}};  // for the width, not printed
  for (const Finding& finding : findings)
    rows.push_back({verdict_text(finding.verdict), finding.check, finding.text});
  const auto lines = align(rows);
  for (size_t i = 0; i < findings.size(); i++) {
    out << lines[i + 1] << '\n';
    write_cure(out, findings[i].cure, "        ");
  }
}

void print_json(const std::vector<Finding>& findings, std::ostream& out) {
  Json list = Json::array();
  for (const Finding& finding : findings) {
    Json object;
    object["check"] = finding.check;
    object["verdict"] = verdict_text(finding.verdict);
    object["text"] = finding.text;
    object["cure"] = finding.cure.empty() ? Json(nullptr) : Json(finding.cure);
    list.push_back(std::move(object));
  }
  out << json_text(list);
}

/// The target if it is an interface; empty if it is a host. Throws Failure if it is neither.
std::optional<std::string> interface_of(System& system, const DoctorOptions& options) {
  if (!options.target) return std::nullopt;
  const auto interfaces = system.interfaces();
  if (std::find(interfaces.begin(), interfaces.end(), *options.target) != interfaces.end())
    return options.target;
  try {
    resolve_host(*options.target);
  } catch (const Failure& host) {
    const Failure absent = no_such_interface(*options.target, "", interfaces);
    throw Failure(absent.code(), std::string(absent.what()) + ", and no such host: " + host.what(),
                  absent.cure() + '\n' + host.cure());
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> examine(const Facts& facts) {
  std::vector<Finding> findings{examine_kernel(facts)};
  if (facts.kernel_has_rdma == false && !facts.rdma_loaded) return findings;
  findings.push_back(examine_module(facts));
  append(findings, examine_headers(facts));
  findings.push_back(examine_users(facts));
  append(findings, examine_libibverbs(facts));
  findings.push_back(examine_memlock(facts));
  findings.push_back(examine_port(facts));
  append(findings, examine_netns(facts));
  if (facts.devices.empty()) findings.push_back(examine_absence(facts));
  for (const DeviceFacts& device : facts.devices) {
    findings.push_back(examine_state(device));
    append(findings, examine_provider(device));
    append(findings, examine_use(device));
  }
  append(findings, examine_firewall(facts));
  return findings;
}

int run_doctor(System& system, const DoctorOptions& options, std::ostream& out) {
  const auto netdev = interface_of(system, options);
  auto findings = examine(query_facts(system, netdev));
  if (options.target && !netdev) findings.push_back(examine_peer(system, *options.target));
  if (options.format == Format::json)
    print_json(findings, out);
  else
    print_table(findings, out);
  Verdict worst = Verdict::ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return static_cast<int>(worst);
}

}  // namespace sroce
