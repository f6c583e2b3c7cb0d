// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// "sroce doctor": why programs cannot use RDMA here, and the command that mends it.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sroce/device.h"
#include "sroce/explain.h"
#include "sroce/firewall.h"
#include "sroce/nat.h"
#include "sroce/output.h"
#include "sroce/ready.h"

namespace sroce {

/// In the order of severity. That of the worst is the exit status, but 0 if it is skip.
enum class Verdict : int { skip = -1, ok = 0, warn = 1, fail = 2 };

struct Finding {
  std::string check;  // one word
  Verdict verdict = Verdict::ok;
  std::string text;
  std::string cure{};  // commands, one per line
};

/// A device of sroce in this namespace, and what else bears on its use.
struct DeviceFacts {
  Readiness state;
  std::string uverbs;  // "uverbs0"; empty if ib_uverbs has not made one
  bool may_open = false;
  bool has_provider = true;  // libibverbs shows it
  std::string provider;      // "libsroce", "librxe"; empty if it is not known
  std::string rejection;     // as VerbsDevice
  std::optional<uint32_t> mtu_bytes;
  std::optional<size_t> netdev_mtu_bytes;
  std::vector<std::string> same_address;  // other RDMA devices with one of its GIDs
  std::vector<NatRule> nat;
  uint64_t reverse_path_drops = 0;  // as the function of host_facts.h
  uint64_t wrong_icrcs = 0;         // packets
};

/// The files of a key for modules, and of its certificate.
struct SigningKey {
  std::string secret, certificate;
};

/// The state of the machine: everything that examine() judges.
struct Facts {
  std::string tool_version;
  std::string kernel_release;
  std::optional<bool> kernel_has_rdma;
  bool rdma_loaded = false;
  bool has_ofed = false;  // RDMA is not that of this kernel
  ModuleState module = ModuleState::missing;
  std::optional<std::string> module_version;
  bool headers_found = false;             // ... of the running kernel, for the build of a module
  bool locked_down = false;               // the kernel loads signed modules only
  std::optional<ModuleFile> module_file;  // only if the kernel is locked down
  std::optional<SigningKey> dkms_key;     // which this process may open
  bool uverbs_loaded = false;
  bool ucm_loaded = false;
  bool may_open_cm = true;                // the file of rdma_cm
  std::optional<uint64_t> memlock_bytes;  // empty: unlimited
  bool may_raise_memlock = false;
  std::optional<std::string> netdev;  // the interface that was asked for
  std::optional<bool> shared;         // each network namespace sees the RDMA devices of all
  std::vector<DeviceFacts> devices;
  bool has_libibverbs = true;
  bool port_taken = false;  // UDP port 4791, and no device of sroce in this namespace
  std::vector<std::string> rxe_devices;
  bool rxe_loaded = false;
  std::vector<Drop> drops;
  bool may_see_rules = false;  // of firewalls and NAT
  bool saw_rules = false;      // nft or iptables has listed them, perhaps none
};

std::vector<Finding> examine(const Facts& facts);

struct DoctorOptions {
  /// An interface, or else a host. Absent: every device in this namespace.
  std::optional<std::string> target{};
  Format format = Format::table;
};

/// Prints the findings. Returns the exit status, that of the worst finding. Throws Failure.
int run_doctor(System& system, const DoctorOptions& options, std::ostream& out);

}  // namespace sroce
