// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/doctor.h"

#include <gmock/gmock.h>
#include <linux/if_addr.h>

#include <sstream>

#include "fake_kernel.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char gid[] = "0000:0000:0000:0000:0000:ffff:0a00:0001";

// All is well, until a test breaks something.
class Doctor : public ::testing::Test {
 protected:
  Doctor() {
    machine.sysfs.write("module/sroce/version", "1.2.3\n");
    machine.sysfs.write("module/ib_uverbs/refcnt", "0\n");
    machine.sysfs.write("module/rdma_ucm/refcnt", "0\n");
    machine.route.links[1].addresses = {{"10.0.0.1"}};
    machine.add_device({.index = 0, .name = "sroce0", .netdev = "eth0"}, is_sroce);
    machine.add_gid("sroce0", 0, gid, "eth0");
  }

  int examine(const DoctorOptions& options = {}) {
    std::ostringstream out;
    const int status = run_doctor(machine.system, options, out);
    text = out.str();
    return status;
  }
  // A line of a verdict and a check that has the text, and the command that mends it.
  void expect(Verdict verdict, const std::string& check, const std::string& found,
              const std::string& cure) {
    EXPECT_EQ(examine(), static_cast<int>(verdict)) << text;
    std::istringstream lines(text);
    bool any = false;
    for (std::string line, next; std::getline(lines, line);) {
      const bool bad = line.starts_with(verdict == Verdict::warn ? "warn  " : "fail  ");
      if (!bad || line.substr(6).find(check) != 0 || line.find(found) == std::string::npos)
        continue;
      any = true;
      std::getline(lines, next);
      EXPECT_THAT(next, HasSubstr(cure));
    }
    EXPECT_TRUE(any) << text;
  }

  FakeMachine machine;
  std::string text;
};

TEST_F(Doctor, FindsNothing) {
  EXPECT_EQ(examine(), 0) << text;
  EXPECT_THAT(text, HasSubstr("ok    sroce0    on eth0, active, GID 0 10.0.0.1\n"));
  EXPECT_EQ(examine({.target = "eth0"}), 0) << text;
  machine.system.active_mtu_bytes = [](const nldev::UverbsReply&, uint32_t) { return 1024; };
  machine.sysfs.write("class/net/eth0/mtu", "1500\n");
  EXPECT_EQ(examine(), 0) << text;
  EXPECT_THAT(text, HasSubstr("GID 0 10.0.0.1, MTU 1024 (interface: 1500)\n"));
}

TEST_F(Doctor, SaysWhoSeesTheDevices) {
  EXPECT_EQ(examine(), 0);
  EXPECT_THAT(text, HasSubstr("ok    netns     every network namespace sees"));
  machine.kernel.shared = false;
  EXPECT_EQ(examine(), 0);
  EXPECT_THAT(text, HasSubstr("ok    netns     each network namespace sees only"));
  machine.kernel.devices.clear();
  EXPECT_EQ(examine(), 2);
  EXPECT_THAT(text, HasSubstr("rdma dev set DEV netns NAME"));
  machine.kernel.shared.reset();
  EXPECT_EQ(examine(), 2);
  EXPECT_THAT(text, Not(HasSubstr("netns")));
}

TEST_F(Doctor, KernelHasNoRdma) {
  machine.kernel.has_rdma = false;
  machine.configured_with_rdma = false;
  expect(Verdict::fail, "kernel", "CONFIG_INFINIBAND is off", "scripts/run");
  EXPECT_THAT(text, Not(HasSubstr("module")));
}

TEST_F(Doctor, HostIsNotAskedWithoutRdma) {
  machine.kernel.has_rdma = false;
  machine.cm_replies = {{.stage = CmStage::open, .error = ENOENT}};
  EXPECT_EQ(examine({.target = "127.0.0.1"}), 2) << text;
  EXPECT_THAT(text, HasSubstr("RDMA is not loaded"));
  EXPECT_THAT(text, HasSubstr("fail  peer      127.0.0.1 was not asked: this host has no RDMA\n"));
}

TEST_F(Doctor, RdmaIsNotLoaded) {
  machine.kernel.has_rdma = false;
  expect(Verdict::fail, "kernel", "RDMA is not loaded", "modprobe ib_uverbs");
}

TEST_F(Doctor, RdmaIsNotThatOfTheKernel) {
  machine.sysfs.write("module/mlx_compat/refcnt", "1\n");
  EXPECT_EQ(examine(), 0) << "only its driver of Ethernet: " << text;
  machine.sysfs.write("module/mlx_compat/holders/ib_core", "");
  EXPECT_EQ(examine(), 0) << "the module has been built for it: " << text;
  EXPECT_THAT(text, HasSubstr("has RDMA, that of MLNX_OFED or DOCA\n"));
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  expect(Verdict::fail, "module", "no module sroce has been built for it", "mlnx-ofa_kernel-devel");
  machine.sysfs.write("modules.alias", "alias rdma-link-sroce sroce\n");
  expect(Verdict::fail, "module", "sroce is not loaded", "modprobe sroce");
  EXPECT_THAT(text, HasSubstr("if it was built without the headers of OFED: make install"));
}

TEST_F(Doctor, ModuleIsNotLoaded) {
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  expect(Verdict::fail, "module", "not installed", "make install");
  machine.sysfs.write("modules.alias", "alias rdma-link-sroce sroce\n");
  expect(Verdict::fail, "module", "not loaded", "modprobe sroce");
  machine.sysfs.write("kernel/security/lockdown", "none [integrity] confidentiality\n");
  expect(Verdict::fail, "module", "signed modules only", "modprobe sroce");
  machine.sysfs.write("kernel/security/lockdown", "[none] integrity confidentiality\n");
  expect(Verdict::fail, "module", "not loaded", "modprobe sroce");
  machine.sysfs.write("module/module/parameters/sig_enforce", "Y\n");
  expect(Verdict::fail, "module", "signed modules only", "modprobe sroce");
}

TEST_F(Doctor, ModuleHasNoSignature) {
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  machine.sysfs.write("modules.alias", "alias rdma-link-sroce sroce\n");
  machine.sysfs.write("module/module/parameters/sig_enforce", "Y\n");
  const std::string sign = "/lib/modules/6.1.0-test/build/scripts/sign-file sha256 ";
  machine.module_file = {"/lib/sroce.ko", false};
  expect(Verdict::fail, "module", "it has no signature",
         sign + "/var/lib/dkms/mok.key /var/lib/dkms/mok.pub /lib/sroce.ko && modprobe sroce");
  EXPECT_THAT(text, HasSubstr("if the kernel does not know the key: mokutil --import "
                              "/var/lib/dkms/mok.pub && reboot\n"));
  EXPECT_THAT(text, HasSubstr("it cannot be signed: the kernel headers are absent"));
  machine.sysfs.write("build/Makefile", "");
  machine.module_file = {"/lib/sroce.ko.xz", false};
  expect(Verdict::fail, "module", "it has no signature",
         "unxz /lib/sroce.ko.xz && " + sign +
             "/var/lib/dkms/mok.key /var/lib/dkms/mok.pub /lib/sroce.ko && depmod && modprobe "
             "sroce");
  machine.module_file = {"/lib/sroce.ko", false};
  machine.unreadable = {"/var/lib/dkms/mok.pub"};
  expect(Verdict::fail, "module", "it has no signature",
         sign + "/var/lib/shim-signed/mok/MOK.priv /var/lib/shim-signed/mok/MOK.der /lib/");
  machine.unreadable.push_back("/var/lib/shim-signed/mok/MOK.priv");
  expect(Verdict::fail, "module", "it has no signature",
         sign + "KEY.pem CERTIFICATE.der /lib/sroce.ko && modprobe sroce");
  machine.module_file->is_signed = true;
  expect(Verdict::fail, "module", "sroce is not loaded (this kernel loads signed modules only",
         "modprobe sroce");
  EXPECT_THAT(text, HasSubstr("if the kernel does not know the key of its signature: mokutil "
                              "--import CERTIFICATE.der && reboot\n"));
}

TEST_F(Doctor, ModuleHasAnotherVersion) {
  machine.sysfs.write("module/sroce/version", "1.2.2\n");
  expect(Verdict::warn, "module", "version 1.2.2, this tool 1.2.3", "modprobe -r sroce");
}

TEST_F(Doctor, ModulesForProgramsAreNotLoaded) {
  std::filesystem::remove_all(machine.sysfs.root() / "module/rdma_ucm");
  expect(Verdict::warn, "uverbs", "rdma_ucm is not loaded", "modprobe rdma_ucm");
  std::filesystem::remove_all(machine.sysfs.root() / "module/ib_uverbs");
  expect(Verdict::fail, "uverbs", "ib_uverbs is not loaded", "modprobe ib_uverbs");
}

TEST_F(Doctor, LittleMemoryMayBeLocked) {
  machine.memlock_bytes = 64u << 20;
  EXPECT_EQ(examine(), 0) << text;
  machine.memlock_bytes = 8u << 20;
  expect(Verdict::warn, "memlock", "8 MiB", "ulimit -l unlimited");
  machine.may_raise_memlock = false;
  expect(Verdict::warn, "memlock", "8 MiB", "as root, before the next login: echo '* - memlock");
}

TEST_F(Doctor, PortIsTaken) {
  machine.port_is_free = false;
  EXPECT_EQ(examine(), 0) << "sroce has it: " << text;
  machine.kernel.devices.clear();
  expect(Verdict::fail, "port", "another program has taken UDP port 4791", "ss -ulnp");
  machine.sysfs.write("module/rdma_rxe/refcnt", "0\n");
  expect(Verdict::fail, "port", "rdma_rxe or another program", "modprobe -r rdma_rxe");
  machine.add_device({.index = 1, .name = "rxe_b", .netdev = "eth1"});
  expect(Verdict::fail, "port", "rdma_rxe has taken", "rdma link delete rxe_b");
  EXPECT_THAT(text, HasSubstr("before Linux 7.1")) << "the port stays taken there";
}

TEST_F(Doctor, InterfaceHasNoDevice) {
  EXPECT_EQ(examine({.target = "eth1"}), 2);
  EXPECT_THAT(text, HasSubstr("sroce add eth1"));
  try {
    examine({.target = "eth9"});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no network interface 'eth9'"));
    EXPECT_THAT(failure.what(), HasSubstr("and no such host: eth9: "));
    EXPECT_THAT(failure.cure(), HasSubstr("getent ahosts eth9"));
  }
  machine.kernel.devices.clear();
  expect(Verdict::fail, "device", "has no sroce device", "sroce add IF");
}

TEST_F(Doctor, DeviceIsNotReady) {
  machine.route.links[1].addresses.clear();
  expect(Verdict::fail, "sroce0", "no IP address", "ip address add");
  machine.route.links[1].up = false;
  expect(Verdict::fail, "sroce0", "is down", "ip link set eth0 up");
}

TEST_F(Doctor, AnotherHostHasAnAddress) {
  auto& addresses = machine.route.links[1].addresses;
  addresses.push_back({"fd00::2", IFA_F_TENTATIVE | IFA_F_DADFAILED});
  expect(Verdict::warn, "sroce0", "another host has its address fd00::2",
         "ip address flush to fd00::2 dev eth0");
  addresses.erase(addresses.begin());
  expect(Verdict::fail, "sroce0", "another host has its address fd00::2",
         "ip address flush to fd00::2 dev eth0");
}

TEST_F(Doctor, FileOfRdmaCmCannotBeOpened) {
  machine.system.may_open = [](const std::string& path) {
    return path != "/dev/infiniband/rdma_cm";
  };
  expect(Verdict::warn, "uverbs", "cannot open /dev/infiniband/rdma_cm",
         "chmod a+rw /dev/infiniband/rdma_cm");
}

TEST_F(Doctor, DeviceCannotBeOpened) {
  machine.system.may_open = [](const std::string& path) {
    return path != "/dev/infiniband/uverbs0";
  };
  expect(Verdict::fail, "sroce0", "cannot open /dev/infiniband/uverbs0",
         "chmod a+rw /dev/infiniband/uverbs0");
}

TEST_F(Doctor, MtuIsSmall) {
  machine.system.active_mtu_bytes = [](const nldev::UverbsReply&, uint32_t) { return 512; };
  expect(Verdict::warn, "sroce0", "MTU is 512", "ip link set eth0 mtu 1500");
}

TEST_F(Doctor, AnotherDeviceHasTheAddress) {
  machine.add_device({.index = 3, .name = "mana_0", .driver_id = 1, .netdev = "eth0"});
  machine.add_gid("mana_0", 2, gid, "eth0");
  expect(Verdict::warn, "sroce0", "rdma_cm may choose mana_0", "--dummy");
}

TEST_F(Doctor, AnotherNamespaceMayHaveTheAddress) {
  machine.add_device({.index = 3, .name = "rxe_b", .netdev = "eth0", .netns = "b"});
  machine.add_gid("rxe_b", 2, gid, "eth0");
  EXPECT_EQ(examine(), 0) << text;
}

TEST_F(Doctor, PacketsComeInByAnInterfaceThatIsNotThatOfTheirRoute) {
  machine.reverse_path_drops = 7;
  expect(Verdict::warn, "sroce0", "rp_filter has dropped 7 packets",
         "sysctl net/ipv4/conf/eth0/rp_filter=2");
}

TEST_F(Doctor, QuotesNamesInCommands) {
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "ip", "table": "t", "name": "c;id", "type": "filter",)"
      R"( "hook": "input", "policy": "drop"}}]})";
  expect(Verdict::fail, "firewall", "drops", "nft insert rule ip t 'c;id' udp dport 4791 accept");
  machine.nft_ruleset.clear();
  machine.route.links[1].up = false;
  machine.kernel.devices[0].netdev = "e;id\033[m";
  machine.route.links[1].name = "e;id\033[m";
  expect(Verdict::fail, "sroce0", "is down", "ip link set 'e;id?[m' up");
}

TEST_F(Doctor, PacketsHadAWrongIcrc) {
  machine.kernel.devices[0].counters = {{"rx_icrc_encapsulated", 0}, {"sent_pkts", 9}};
  EXPECT_EQ(examine(), 0);
  EXPECT_THAT(text, Not(HasSubstr("ICRC")));
  machine.kernel.devices[0].counters["rx_icrc_encapsulated"] = 7;
  expect(Verdict::warn, "sroce0", "7 packets since it was added had a wrong ICRC: a NAT",
         "sroce stats sroce0 -w");
}

TEST_F(Doctor, SaysWhetherItSawTheFirewall) {
  machine.system.is_root = false;
  EXPECT_EQ(examine(), 0) << text;
  EXPECT_THAT(text, HasSubstr("skip  firewall  only root may list the rules of this host\n"));
  machine.system.is_root = true;
  EXPECT_EQ(examine(), 0) << text;
  EXPECT_THAT(text, HasSubstr("skip  firewall  neither nft nor iptables lists the rules"));
  machine.nft_ruleset = R"({"nftables": []})";
  EXPECT_EQ(examine(), 0) << text;
  EXPECT_THAT(text, HasSubstr("ok    firewall  no rule of nft or iptables is known to drop"));
}

TEST_F(Doctor, FirewallDropsPackets) {
  const std::string chain =
      R"({"chain": {"family": "ip", "table": "t", "name": "c", "type": "filter",)"
      R"( "hook": "input", "policy": ")";
  const auto rule = [](const std::string& condition, const std::string& verdict) {
    return R"(, {"rule": {"family": "ip", "table": "t", "chain": "c", "handle": 3, "expr":)"
           R"( [{"match": {"op": "==", "left": )" +
           condition + "}}, {\"" + verdict + "\": null}]}}";
  };
  const std::string to_port =
      R"({"payload": {"protocol": "udp", "field": "dport"}}, "right": 4791)";
  const std::string from =
      R"({"payload": {"protocol": "ip", "field": "saddr"}}, "right": "10.9.0.1")";
  const auto set = [&](const std::string& policy, const std::string& rules) {
    machine.nft_ruleset = R"({"nftables": [)" + chain + policy + "\"}}" + rules + "]}";
  };
  set("drop", "");
  expect(Verdict::fail, "firewall", "the policy of 'ip t c' drops incoming RoCE packets",
         "nft insert rule ip t c udp dport 4791 accept");
  set("drop", rule(from, "accept"));
  expect(Verdict::warn, "firewall", "the policy of 'ip t c' may drop incoming RoCE packets",
         "nft insert rule ip t c udp dport 4791 accept");
  set("accept", rule(to_port, "drop"));
  expect(Verdict::fail, "firewall", "a rule of 'ip t c' drops incoming RoCE packets",
         "nft delete rule ip t c handle 3");
}

TEST_F(Doctor, FirewallOfIptablesDropsPackets) {
  machine.iptables_rules =
      "iptables-legacy *filter\niptables-legacy :INPUT ACCEPT [0:0]\n"
      "iptables-legacy -A INPUT -p udp --dport 4791 -j DROP\n";
  expect(Verdict::fail, "firewall", "a rule of 'iptables-legacy INPUT' drops incoming RoCE packets",
         "iptables-legacy -D INPUT -p udp --dport 4791 -j DROP");
}

// The two tables of ufw, for IPv4 and IPv6.
TEST_F(Doctor, FirewallOfTwoFamiliesThatOneCommandMendsIsNamedOnce) {
  for (const std::string& command : {std::string("iptables-nft"), std::string("ip6tables-nft")})
    machine.iptables_rules += command + " *filter\n" + command + " :INPUT DROP [0:0]\n" + command +
                              " :ufw" + (command == "iptables-nft" ? "" : "6") +
                              "-user-input - [0:0]\n";
  machine.route.links[1].addresses.push_back({"fd00::1"});
  expect(Verdict::fail, "firewall", "drops incoming RoCE packets", "ufw allow 4791/udp");
  EXPECT_EQ(text.find("firewall"), text.rfind("firewall")) << text;
}

TEST_F(Doctor, FirewallIsJudgedForTheInterface) {
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "inet", "table": "t", "name": "c", "type": "filter",)"
      R"( "hook": "input", "policy": "accept"}}, {"rule": {"family": "inet", "table": "t",)"
      R"( "chain": "c", "expr": [{"match": {"op": "==", "left": {"meta": {"key": "iifname"}},)"
      R"( "right": "eth0"}}, {"drop": null}]}}]})";
  expect(Verdict::fail, "firewall", "a rule of 'inet t c' drops", "nft insert rule inet t c udp");
  machine.nft_ruleset.replace(machine.nft_ruleset.find("eth0"), 4, "eth1");
  EXPECT_EQ(examine(), 0) << text;
  EXPECT_EQ(examine({.target = "eth1"}), 2);
  EXPECT_THAT(text, HasSubstr("a rule of 'inet t c' drops")) << "eth1 has no device";
  machine.nft_ruleset.replace(machine.nft_ruleset.find("eth1"), 4, "eth0.5");
  machine.add_gid("sroce0", 7, "0000:0000:0000:0000:0000:ffff:0a00:0501", "eth0.5");
  expect(Verdict::fail, "firewall", "a rule of 'inet t c' drops", "nft insert rule inet t c udp");
}

TEST_F(Doctor, FirewallIsJudgedWithoutADevice) {
  test::FakeMachine other;
  std::ostringstream out;
  other.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "inet", "table": "t", "name": "c", "type": "filter",)"
      R"( "hook": "output", "policy": "drop"}}]})";
  run_doctor(other.system, {}, out);
  EXPECT_THAT(out.str(),
              HasSubstr("the policy of 'inet t c' drops outgoing RoCE packets (UDP port 4791)"));
}

TEST_F(Doctor, NatChangesAddresses) {
  machine.nft_ruleset =
      R"({"nftables": [{"chain": {"family": "ip", "table": "nat", "name": "out", "type": "nat",)"
      R"( "hook": "postrouting"}}, {"rule": {"family": "ip", "table": "nat", "chain": "out",)"
      R"( "expr": [{"match": {"op": "==", "left": {"meta": {"key": "oifname"}}, "right": "eth0"}},)"
      R"( {"snat": {"addr": "192.0.2.1"}}]}}]})";
  expect(Verdict::warn, "sroce0",
         "'ip nat out' changes the source address of RoCE packets (snat to 192.0.2.1)",
         "nft insert rule ip nat out udp dport 4791 accept");
  machine.nft_ruleset.replace(machine.nft_ruleset.find("eth0"), 4, "eth0.5");
  EXPECT_EQ(examine(), 0) << text;
  machine.add_gid("sroce0", 7, "0000:0000:0000:0000:0000:ffff:0a00:0501", "eth0.5");
  expect(Verdict::warn, "sroce0",
         "'ip nat out' changes the source address of RoCE packets (snat to 192.0.2.1)",
         "nft insert rule ip nat out udp dport 4791 accept");
}

// Each base chain needs a cure of its own.
TEST_F(Doctor, NatOfTwoBaseChainsIsNamedTwice) {
  std::string objects;
  for (const std::string hook : {"output", "prerouting"})
    objects += R"({"chain": {"family": "ip", "table": "nat", "name": ")" + hook +
               R"(", "type": "nat", "hook": ")" + hook +
               R"("}}, {"rule": {"family": "ip", "table": "nat", "chain": ")" + hook +
               R"(", "expr": [{"jump": {"target": "shared"}}]}}, )";
  machine.nft_ruleset =
      R"({"nftables": [)" + objects +
      R"({"rule": {"family": "ip", "table": "nat", "chain": "shared", "expr": [{"dnat": )"
      R"({"port": 5000}}]}}]})";
  EXPECT_EQ(examine(), 1);
  for (const char* cure :
       {"nft insert rule ip nat output udp", "nft insert rule ip nat prerouting udp"})
    EXPECT_THAT(text, HasSubstr(cure));
}

TEST_F(Doctor, ProviderIsMissing) {
  machine.verbs_devices = {{{"mlx5_0", "libmlx5"}}};
  expect(Verdict::fail, "sroce0", "no provider for it", "apt-get install ibverbs-providers");
  machine.verbs_devices.reset();
  expect(Verdict::warn, "libibverbs", "not installed", "apt-get install libibverbs1");
}

TEST_F(Doctor, ProviderTellsTheMode) {
  EXPECT_EQ(examine(), 0);
  EXPECT_THAT(text,
              HasSubstr("ok    sroce0    in this environment programs use librxe, in rxe mode\n"));
  machine.verbs_devices = {{{"sroce0", "libsroce"}}};
  EXPECT_EQ(examine(), 0);
  EXPECT_THAT(
      text,
      HasSubstr("ok    sroce0    in this environment programs use libsroce, in native mode\n"));
  for (const char* other : {"", "libibverbs.so.1"}) {
    machine.verbs_devices = {{{"sroce0", other}}};
    EXPECT_EQ(examine(), 0);
    EXPECT_THAT(text, Not(HasSubstr("mode")));
  }
}

TEST_F(Doctor, ProviderIsForAnotherLibibverbs) {
  machine.verbs_devices = {{{"sroce0", "librxe", "libsroce has a reason"}}};
  expect(Verdict::warn, "sroce0", "programs use librxe: libsroce has a reason",
         "with newer sources of sroce: make userlib");
}

TEST_F(Doctor, HeadersAreMissingForTheBuild) {
  EXPECT_EQ(examine(), 0);
  EXPECT_THAT(text, Not(HasSubstr("headers"))) << "the module is loaded";
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  expect(Verdict::fail, "headers", "cannot be built", "apt-get install linux-headers-6.1.0-test");
  machine.sysfs.write("build/Makefile", "");
  EXPECT_EQ(examine(), 2);
  EXPECT_THAT(text, HasSubstr("ok    headers   with "));
}

TEST_F(Doctor, PacketsOfTheActiveMtuDoNotArriveAtAHost) {
  CmReply reply;
  reply.stage = CmStage::connect;
  reply.device_index = 0;
  machine.cm_replies = {reply};
  machine.system.active_mtu_bytes = [](const nldev::UverbsReply&, uint32_t) { return 2048; };
  machine.route.destinations["10.0.0.2"] = {2, "", "10.0.0.1"};
  machine.largest_echo = 20 + 48 + 1024;
  EXPECT_EQ(examine({.target = "10.0.0.2"}), 1) << text;
  EXPECT_THAT(text,
              HasSubstr("warn  peer      packets for the path MTU 2048 do not arrive at 10.0.0.2"
                        " (ICMP echo), those for 1024 do; connections fail or stall\n"
                        "        ip link set eth0 mtu 1500\n"));
}

TEST_F(Doctor, AsksAHost) {
  CmReply reply;
  reply.stage = CmStage::connect;
  reply.round_trip = std::chrono::microseconds(250);
  machine.cm_replies = {reply};
  EXPECT_EQ(examine({.target = "10.0.0.2"}), 0);
  EXPECT_THAT(text, HasSubstr("ok    peer      10.0.0.2 responds in 0.25 ms\n"));
  machine.cm_replies[0].error = ETIMEDOUT;
  machine.icmp_error = ECONNREFUSED;
  EXPECT_EQ(examine({.target = "10.0.0.2"}), 2);
  EXPECT_THAT(text, HasSubstr("fail  peer      port unreachable (ICMP)"));
  EXPECT_THAT(text, HasSubstr("at the peer: sroce add IF"));
  machine.cm_replies[0].error = EINTR;
  EXPECT_EQ(examine({.target = "10.0.0.2"}), 1);
  EXPECT_THAT(text, HasSubstr("warn  peer      interrupted before 10.0.0.2 has responded\n"));
  machine.cm_replies[0].stage = CmStage::open;
  machine.cm_replies[0].error = EACCES;
  EXPECT_EQ(examine({.target = "10.0.0.2"}), 2);
  EXPECT_THAT(text, HasSubstr("no permission"));
}

TEST_F(Doctor, PrintsJson) {
  machine.memlock_bytes = 1;
  EXPECT_EQ(examine({.format = Format::json}), 1);
  const Json list = Json::parse(text);
  EXPECT_EQ(list[0]["check"], "kernel");
  EXPECT_EQ(list[0]["verdict"], "ok");
  EXPECT_TRUE(list[0]["cure"].is_null());
  EXPECT_EQ(list[3]["verdict"], "warn");
  EXPECT_THAT(list[3]["cure"].get<std::string>(), HasSubstr("ulimit"));
}

}  // namespace
}  // namespace sroce
