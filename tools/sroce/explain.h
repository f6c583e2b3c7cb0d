// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// How the tool fails: one exit code per cause, and a message that names the cause and the remedy.
// The explain functions turn an errno and the circumstances into such a failure. They are pure.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sroce/device.h"
#include "sroce/netlink.h"

namespace sroce {

/// Where another RDMA device has the address of one of sroce.
inline constexpr char other_address_cure[] = "use another address: sroce add --dummy 10.99.0.1/24";

/// Where the kernel has no RDMA.
inline constexpr char guest_cure[] =
    "boot a kernel with RDMA, or run the program in a guest that has it, from sroce's sources: "
    "scripts/run -- COMMAND";

/// Exit status of the process. Scripts depend on the numbers: append, never renumber.
enum class ExitCode : int {
  success = 0,
  other = 1,
  usage = 2,
  module_absent = 3,
  no_permission = 4,
  no_such_interface = 5,
  no_such_device = 6,
  name_taken = 7,
  interface_in_use = 8,
  port_taken = 9,
  interface_unsupported = 10,
  bad_name = 11,
  not_sroce = 12,
  bad_parameter = 13,
  not_ready = 14,
  bad_file = 15,
};

struct ExitCodeText {
  ExitCode code;
  const char* text;
};

/// Every exit code with its meaning, in numeric order, for --help.
std::span<const ExitCodeText> exit_code_texts();

/// A failure that the user can act on: what() is the cause, and cure() is the remedy, which may be
/// empty or have several lines.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& cause, std::string cure)
      : std::runtime_error(cause), code_(code), cure_(std::move(cure)) {}

  ExitCode code() const { return code_; }
  const std::string& cure() const { return cure_; }

 private:
  ExitCode code_;
  std::string cure_;
};

/// Each line of a cure, after the same words. They are not wrapped, because people copy commands.
void write_cure(std::ostream& stream, const std::string& cure, const char* before);

void write_failure(std::ostream& stream, const Failure& failure);

/// The text that write_failure() writes.
std::string failure_text(const Failure& failure);

enum class ModuleState { loaded, installed, missing };

/// Whether sroce.ko is loaded or can be loaded. The kernel does not tell: it rejects an unknown
/// link type with a bare EINVAL. modules_alias is depmod's list, in which an installed module
/// provides the link type sroce.
ModuleState module_state(const Sysfs& sysfs, const std::filesystem::path& modules_alias);

/// The release of the running kernel, as in /lib/modules/RELEASE.
std::string kernel_release();

/// The circumstances of a failed "sroce add", collected after the kernel rejected it.
struct AddAttempt {
  std::string name;
  std::string netdev;
  bool is_root = false;
  ModuleState module = ModuleState::loaded;
  std::string kernel_release;
  bool name_exists = false;                     // a device of this name is visible
  std::optional<std::string> device_on_netdev;  // the sroce device of the interface, if visible
  std::vector<std::string> rxe_devices;         // the visible devices of rdma_rxe
  bool rxe_loaded = false;
};

/// How to free UDP port 4791: the commands that remove these devices of rdma_rxe come first.
std::string port_cure(const std::vector<std::string>& rxe_devices, bool rxe_loaded);

Failure explain_add(const KernelError& error, const AddAttempt& attempt);
Failure explain_del(const KernelError& error, const std::string& name, bool is_root);

/// The module rejected a request to its own netlink family; verb is "show" or "set".
Failure explain_rejection(const KernelError& error, const std::string& verb,
                          const std::string& name, bool is_root);

/// The kernel does not know the module's own netlink family.
Failure explain_family_absent(ModuleState module, const std::string& kernel_release);

/// The kernel has no RDMA netlink. has_rdma says whether it was configured with RDMA, if known.
Failure explain_subsystem_absent(ModuleState module, const std::string& kernel_release,
                                 std::optional<bool> has_rdma);

/// RDMA is not that of the kernel, see Sysfs::has_ofed(), and the module is not loaded.
Failure explain_ofed();

/// The kernel does not make the dummy interface of "sroce add --dummy".
Failure explain_dummy(const KernelError& error, const std::string& netdev, bool is_root);

/// Failures that are found before the kernel is asked.
Failure no_such_interface(const std::string& netdev, const std::string& name,
                          const std::vector<std::string>& interfaces);
Failure no_such_device(const std::string& name, const std::vector<std::string>& devices);
Failure name_taken(const std::string& name);
Failure bad_name(const std::string& name, const std::string& objection);
Failure unknown_command(const std::string& word, const std::vector<std::string>& commands);
Failure ambiguous_command(const std::string& word, const std::vector<std::string>& commands);

/// The device of that name, of any driver, or all of sroce. Throws no_such_device().
std::vector<DeviceIdentity> chosen_devices(System& system, const std::optional<std::string>& name);

}  // namespace sroce
