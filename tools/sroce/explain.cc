// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/explain.h"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "sroce/name.h"
#include "sroce/text.h"
#include "sroce/wrap.h"

namespace sroce {
namespace {

constexpr size_t listed_max = 8;

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Appends the kernel's own message to the cause, if there is one.
Failure make_failure(ExitCode code, std::string cause, const std::string& cure,
                     const KernelError& error) {
  if (!error.message().empty()) cause += " (kernel: " + error.message() + ")";
  return {code, cause, cure};
}

/// The kernel rejected a parameter. Before 6.2 it only names the parameter; later it also says what
/// is wrong with it.
Failure rejected_parameter(const std::string& cannot, const std::string& reason,
                           const std::string& cure, const KernelError& error) {
  if (error.message().find(": ") != std::string::npos)
    return {ExitCode::bad_parameter, cannot + error.message(), cure};
  return make_failure(ExitCode::bad_parameter, cannot + reason, cure, error);
}

std::string permission_cure(bool is_root) {
  return is_root ? "root inside a container's user namespace is not enough; run it outside, with "
                   "CAP_NET_ADMIN"
                 : "run it as root, for example with sudo";
}

std::string module_cure(ModuleState module, const std::string& kernel_release) {
  if (module == ModuleState::installed)
    return "to see why: modprobe sroce; dmesg | tail\n"
           "(with Secure Boot, the kernel rejects unsigned modules)";
  return "install it for kernel " + kernel_release +
         " with: make install && modprobe sroce\n"
         "or try it without installing: make module && modprobe -a ib_uverbs rdma_ucm "
         "udp_tunnel ip6_udp_tunnel && insmod build/module/" +
         kernel_release + "/sroce.ko";
}

std::string module_cause(ModuleState module) {
  return module == ModuleState::installed
             ? "the kernel module sroce is installed, but it was not loaded"
             : "the kernel module sroce is not loaded, and modprobe does not know it";
}

std::string usual_holder(const AddAttempt& attempt) {
  return attempt.rxe_devices.empty()
             ? "usually an rdma_rxe device in the same namespace holds it; see: rdma link\n"
             : "usually rdma_rxe holds it; its devices here are: " + joined(attempt.rxe_devices) +
                   "\nto remove them: ";
}

/// The module returns EEXIST both for a taken name and for an interface in use. A device on an
/// interface of the caller's namespace is always visible, so if there is none, the name is taken.
Failure explain_exists(const KernelError& error, const AddAttempt& attempt) {
  if (attempt.name_exists || !attempt.device_on_netdev) return name_taken(attempt.name);
  return make_failure(ExitCode::interface_in_use,
                      "interface " + quoted(attempt.netdev) + " already has the device " +
                          *attempt.device_on_netdev,
                      "to see it: sroce status " + *attempt.device_on_netdev, error);
}

Failure explain_unsupported(const KernelError& error, const AddAttempt& attempt) {
  return make_failure(
      ExitCode::interface_unsupported,
      "the kernel will not attach sroce to interface " + quoted(attempt.netdev),
      "sroce supports Ethernet, loopback and tunnel interfaces; --v1 needs an Ethernet header\n"
      "for a VLAN, attach to its parent interface, which serves its VLANs too\n"
      "for the reason, see the kernel log: dmesg | tail",
      error);
}

bool is_module_installed(const std::filesystem::path& modules_alias) {
  std::ifstream file(modules_alias);
  for (std::string line; std::getline(file, line);) {
    // modprobe does not distinguish '-' from '_'.
    std::replace(line.begin(), line.end(), '_', '-');
    if (line.starts_with("alias rdma-link-sroce ")) return true;
  }
  return false;
}

}  // namespace

std::span<const ExitCodeText> exit_code_texts() {
  static constexpr std::array texts{
      ExitCodeText{ExitCode::success, "success"},
      ExitCodeText{ExitCode::other, "any other failure"},
      ExitCodeText{ExitCode::usage, "wrong command line"},
      ExitCodeText{ExitCode::module_absent, "the kernel has no sroce module loaded, or no RDMA"},
      ExitCodeText{ExitCode::no_permission, "no permission (CAP_NET_ADMIN is needed)"},
      ExitCodeText{ExitCode::no_such_interface, "no such network interface"},
      ExitCodeText{ExitCode::no_such_device, "no such RDMA device"},
      ExitCodeText{ExitCode::name_taken, "the device name is taken"},
      ExitCodeText{ExitCode::interface_in_use, "the interface already has a device"},
      ExitCodeText{ExitCode::port_taken, "UDP port 4791 is taken in this network namespace"},
      ExitCodeText{ExitCode::interface_unsupported, "the interface cannot carry RoCE"},
      ExitCodeText{ExitCode::bad_name, "the device name is not allowed"},
      ExitCodeText{ExitCode::not_sroce, "the device belongs to another driver"},
      ExitCodeText{ExitCode::bad_parameter, "no such parameter, or an invalid value"},
      ExitCodeText{ExitCode::not_ready, "the device was added, but is not ready"},
      ExitCodeText{ExitCode::bad_file, "a file of sroce up cannot be read, or has an error"},
  };
  return texts;
}

void write_cure(std::ostream& stream, const std::string& cure, const char* before) {
  std::istringstream lines(cure);
  stream << wrap_off;
  for (std::string line; std::getline(lines, line);) stream << before << printable(line) << '\n';
  stream << wrap_on;
}

void write_failure(std::ostream& stream, const Failure& failure) {
  stream << "sroce: " << printable(failure.what()) << '\n';
  write_cure(stream, failure.cure(), "  hint: ");
}

std::string failure_text(const Failure& failure) {
  std::ostringstream text;
  write_failure(text, failure);
  return text.str();
}

ModuleState module_state(const Sysfs& sysfs, const std::filesystem::path& modules_alias) {
  if (sysfs.module_loaded("sroce")) return ModuleState::loaded;
  return is_module_installed(modules_alias) ? ModuleState::installed : ModuleState::missing;
}

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "unknown";
}

std::string port_cure(const std::vector<std::string>& rxe_devices, bool rxe_loaded) {
  std::string cure;
  for (const std::string& device : rxe_devices)
    cure += (cure.empty() ? "rdma link delete " : " && rdma link delete ") + shell_word(device);
  if (!cure.empty()) cure += '\n';
  if (rxe_loaded)
    cure +=
        "before Linux 7.1 rdma_rxe holds the port as long as it is loaded, and takes sroce's "
        "devices along: modprobe -r rdma_rxe\n";
  return cure + "to see the sockets: ss -ulnp sport = :4791";
}

Failure explain_add(const KernelError& error, const AddAttempt& attempt) {
  const std::string cannot = "cannot attach to " + quoted(attempt.netdev) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(attempt.is_root), error);
    case ENODEV:
      return make_failure(ExitCode::no_such_interface, cannot + "the interface is gone", "", error);
    case ENFILE:  // ib_core: the device name is taken
      return name_taken(attempt.name);
    case EEXIST:
      return explain_exists(error, attempt);
    case EADDRINUSE:
      return make_failure(
          ExitCode::port_taken, cannot + "UDP port 4791 is taken in this network namespace",
          usual_holder(attempt) + port_cure(attempt.rxe_devices, attempt.rxe_loaded), error);
    case EOPNOTSUPP:
      return explain_unsupported(error, attempt);
    case EINVAL:
      // The kernel also returns EINVAL for an unknown link type.
      if (attempt.module == ModuleState::loaded) return explain_unsupported(error, attempt);
      return make_failure(ExitCode::module_absent, module_cause(attempt.module),
                          module_cure(attempt.module, attempt.kernel_release), error);
    default:
      return {ExitCode::other, cannot + error.what(),
              "the kernel log may have more details: dmesg | tail"};
  }
}

Failure explain_del(const KernelError& error, const std::string& name, bool is_root) {
  const std::string cannot = "cannot remove " + quoted(name) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(is_root), error);
    case EINVAL:  // the device has just disappeared
    case ENODEV:
      return make_failure(ExitCode::no_such_device, cannot + "the device is gone", "", error);
    default:
      return {ExitCode::other, cannot + error.what(),
              "the kernel log may have more details: dmesg | tail"};
  }
}

Failure explain_rejection(const KernelError& error, const std::string& verb,
                          const std::string& name, bool is_root) {
  const std::string cannot = "cannot " + verb + " " + quoted(name) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(is_root), error);
    case EINVAL:
      return rejected_parameter(cannot, "the kernel does not accept this parameter or value",
                                "to see the parameters: sroce show " + name, error);
    case ERANGE:
      return rejected_parameter(cannot, "the value is out of range",
                                "to see the ranges: sroce show " + name, error);
    default:
      return {ExitCode::other, cannot + error.what(),
              "the kernel log may have more details: dmesg | tail"};
  }
}

Failure explain_family_absent(ModuleState module, const std::string& kernel_release) {
  if (module == ModuleState::loaded)
    return {ExitCode::module_absent, "the loaded kernel module sroce does not support this command",
            "it is older than this tool: modprobe -r sroce && modprobe sroce"};
  return {ExitCode::module_absent, "the kernel module sroce is not loaded",
          module == ModuleState::installed ? "load it: modprobe sroce"
                                           : module_cure(module, kernel_release)};
}

Failure explain_subsystem_absent(ModuleState module, const std::string& kernel_release,
                                 std::optional<bool> has_rdma) {
  if (has_rdma == false)
    return {ExitCode::module_absent,
            "this kernel (" + kernel_release + ") has no RDMA: CONFIG_INFINIBAND is off",
            guest_cure};
  if (module == ModuleState::installed)
    return {ExitCode::module_absent, "RDMA is not loaded in the kernel", "load it: modprobe sroce"};
  return {ExitCode::module_absent,
          "kernel " + kernel_release + " has neither RDMA loaded nor the module sroce installed",
          "load RDMA itself first (ib_core, CONFIG_INFINIBAND): modprobe ib_uverbs\n" +
              module_cure(module, kernel_release)};
}

Failure explain_ofed() {
  return {
      ExitCode::module_absent,
      "RDMA is that of MLNX_OFED or DOCA (mlx_compat), and no module sroce has been built for it",
      "with its headers, mlnx-ofa_kernel-devel or mlnx-ofed-kernel-dkms: make install && "
      "modprobe sroce\n"
      "or, to run one command with RDMA: scripts/run -- COMMAND"};
}

Failure explain_dummy(const KernelError& error, const std::string& netdev, bool is_root) {
  const std::string cannot = "cannot make the dummy interface " + quoted(netdev) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(is_root), error);
    case EOPNOTSUPP:
      return make_failure(ExitCode::other, cannot + "the kernel has no module dummy",
                          "use another interface: sroce add IF", error);
    default:
      return {ExitCode::other, cannot + error.what(), ""};
  }
}

Failure no_such_interface(const std::string& netdev, const std::string& name,
                          const std::vector<std::string>& interfaces) {
  std::string cure;
  const auto near = near_names(netdev, interfaces);
  if (std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end())
    cure = "the interface comes first: sroce add " + shell_word(name) + ' ' + shell_word(netdev);
  else if (!near.empty())
    cure = "did you mean " + joined(near) + "?";
  else if (interfaces.size() <= listed_max)
    cure = "the interfaces here are: " + joined(interfaces);
  else
    cure = "see: ip -br link";
  return {ExitCode::no_such_interface,
          "no network interface " + quoted(netdev) + " in this network namespace", cure};
}

Failure no_such_device(const std::string& name, const std::vector<std::string>& devices) {
  const auto near = near_names(name, devices);
  std::string cure = "see: sroce status";
  if (!near.empty())
    cure = "did you mean " + joined(near) + "?";
  else if (devices.empty())
    cure = "there are no RDMA devices; to add one: sroce add IF";
  return {ExitCode::no_such_device, "no RDMA device " + quoted(name), cure};
}

Failure name_taken(const std::string& name) {
  return {ExitCode::name_taken, "an RDMA device " + quoted(name) + " already exists",
          "omit the name to get the next free one\n"
          "to see the devices: rdma link (devices in other namespaces may be hidden)"};
}

Failure bad_name(const std::string& name, const std::string& objection) {
  return {ExitCode::bad_name, quoted(name) + " is not a valid device name: " + objection,
          "choose another name, or omit it to get the next free sroceN"};
}

Failure unknown_command(const std::string& word, const std::vector<std::string>& commands) {
  const auto near = near_names(word, commands);
  return {ExitCode::usage, "unknown command " + quoted(word),
          (near.empty() ? "" : "did you mean " + joined(near) + "?\n") + "see: sroce --help"};
}

Failure ambiguous_command(const std::string& word, const std::vector<std::string>& commands) {
  return {ExitCode::usage, quoted(word) + " may be any of " + joined(commands),
          "see: sroce --help"};
}

std::vector<DeviceIdentity> chosen_devices(System& system, const std::optional<std::string>& name) {
  const auto devices = list_devices(system);
  std::vector<DeviceIdentity> chosen;
  for (const DeviceIdentity& device : devices) {
    if (name ? device.name == *name : device.is_sroce) chosen.push_back(device);
  }
  if (chosen.empty() && name) throw no_such_device(*name, names_of(devices));
  return chosen;
}

}  // namespace sroce
