// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The questions that "sroce doctor" asks the machine, apart from the sources in device.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sroce {

/// How much memory this process may lock; empty if without limit.
std::optional<uint64_t> memlock_bytes();

/// Whether this process may lift that limit itself.
bool may_raise_memlock();

/// Whether this process may read and write a device file.
bool may_open(const std::string& path);

/// The file of sroce that modprobe would load, and whether it has a signature; empty without kmod
/// or such a file.
struct ModuleFile {
  std::string path;
  bool is_signed = false;
};
std::optional<ModuleFile> module_file();

/// Whether no socket in this network namespace has UDP port 4791.
bool port_is_free();

/// The rules of nftables as JSON; empty without nft or without the right to list them.
std::string nft_ruleset();

/// The rules of iptables and ip6tables as their -save commands print them, each line after the name
/// of its command: of the variants "-legacy" and "-nft", or else of the only one. Empty as above.
std::string iptables_rules();

/// How many IPv4 packets rp_filter has dropped in this network namespace since boot, because the
/// route to their source leaves by another interface than the one they came in by. The kernel
/// counts those of all interfaces together. 0 unless the interface is checked strictly.
uint64_t reverse_path_drops(const std::string& netdev);

/// A device that libibverbs shows.
struct VerbsDevice {
  std::string name;
  std::string provider;     // its library: "libsroce"; empty if it is not known
  std::string rejection{};  // why it is not libsroce, which is installed
};

/// A device by the file of its provider. libibverbs loads only providers whose names end in the
/// version of its private ABI: librxe-rdmav34.so.
VerbsDevice describe_provider(const std::string& device, const std::filesystem::path& library);

/// Why libsroce refuses this libibverbs, in what it wrote to standard error; empty if it does not.
std::string rejection_in(const std::string& output);

/// The devices that libibverbs shows to programs, because it has a provider for them; empty without
/// libibverbs.
std::optional<std::vector<VerbsDevice>> verbs_devices();

}  // namespace sroce
