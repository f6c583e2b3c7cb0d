// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/diagnosis.h"

#include <algorithm>
#include <cerrno>

#include "sroce/name.h"

namespace sroce {
namespace {

constexpr size_t listed_max = 8;

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Adds what the kernel itself had to say.
Failure make_failure(ExitCode code, std::string cause, const std::string& cure,
                     const KernelError& error) {
  if (!error.message().empty()) cause += " (kernel: " + error.message() + ")";
  return {code, cause, cure};
}

/// A parameter that was refused. Kernels before 6.2 name it; later ones say what is wrong with it.
Failure refused_parameter(const std::string& cannot, const std::string& otherwise,
                          const std::string& cure, const KernelError& error) {
  if (error.message().find(": ") != std::string::npos)
    return {ExitCode::bad_parameter, cannot + error.message(), cure};
  return make_failure(ExitCode::bad_parameter, cannot + otherwise, cure, error);
}

std::string permission_cure(bool is_root) {
  return is_root ? "root inside a container's user namespace is not enough; run it outside, with "
                   "CAP_NET_ADMIN"
                 : "run it as root, for example with sudo";
}

std::string module_cure(ModuleState module, const std::string& kernel_release) {
  if (module == ModuleState::installed)
    return "see why with: modprobe sroce; dmesg | tail\n"
           "(a kernel under Secure Boot refuses modules that are not signed)";
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

std::string port_cure(const AddAttempt& attempt) {
  std::string cure;
  if (!attempt.rxe_devices.empty())
    cure = "the usual holder is rdma_rxe, and it has: " + joined(attempt.rxe_devices) +
           "\nremove such a device with: rdma link delete " + attempt.rxe_devices.front() + '\n';
  else
    cure = "the usual holder is an rdma_rxe device in the same namespace; see: rdma link\n";
  if (attempt.rxe_loaded)
    cure +=
        "before Linux 7.1 rdma_rxe holds the port from the moment it is loaded: "
        "modprobe -r rdma_rxe\n";
  return cure + "to see the sockets: ss -ulnp sport = :4791";
}

/// The module answers alike for a name and for an interface in use. A device on an interface of
/// the caller's namespace is always visible, so where there is none it is the name.
Failure explain_exists(const KernelError& error, const AddAttempt& attempt) {
  if (attempt.name_exists || !attempt.device_on_netdev) return name_taken(attempt.name);
  return make_failure(ExitCode::interface_in_use,
                      "interface " + quoted(attempt.netdev) + " already has the device " +
                          *attempt.device_on_netdev,
                      "look at it with: sroce status " + *attempt.device_on_netdev, error);
}

Failure explain_unsupported(const KernelError& error, const AddAttempt& attempt) {
  return make_failure(ExitCode::interface_unsupported,
                      "the kernel will not attach sroce to interface " + quoted(attempt.netdev),
                      "it takes Ethernet, loopback and tunnel interfaces\n"
                      "for a VLAN, attach to the interface below it, which serves its VLANs too\n"
                      "the kernel log has the reason: dmesg | tail",
                      error);
}

}  // namespace

Failure explain_add(const KernelError& error, const AddAttempt& attempt) {
  const std::string cannot = "cannot attach to " + quoted(attempt.netdev) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(attempt.is_root), error);
    case ENODEV:
      return make_failure(ExitCode::no_such_interface, cannot + "the interface has gone", "",
                          error);
    case ENFILE:  // how ib_core says that a device name is in use
      return name_taken(attempt.name);
    case EEXIST:
      return explain_exists(error, attempt);
    case EADDRINUSE:
      return make_failure(ExitCode::port_taken,
                          cannot + "UDP port 4791 is taken in this network namespace",
                          port_cure(attempt), error);
    case EOPNOTSUPP:
      return explain_unsupported(error, attempt);
    case EINVAL:
      // The kernel's answer to an unknown link type as well.
      if (attempt.module == ModuleState::loaded) return explain_unsupported(error, attempt);
      return make_failure(ExitCode::module_absent, module_cause(attempt.module),
                          module_cure(attempt.module, attempt.kernel_release), error);
    default:
      return {ExitCode::other, cannot + error.what(), "the kernel log may say more: dmesg | tail"};
  }
}

Failure explain_del(const KernelError& error, const std::string& name, bool is_root) {
  const std::string cannot = "cannot remove " + quoted(name) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(is_root), error);
    case EINVAL:  // the device was there a moment ago
    case ENODEV:
      return make_failure(ExitCode::no_such_device, cannot + "the device has gone", "", error);
    default:
      return {ExitCode::other, cannot + error.what(), "the kernel log may say more: dmesg | tail"};
  }
}

Failure explain_refusal(const KernelError& error, const std::string& verb, const std::string& name,
                        bool is_root) {
  const std::string cannot = "cannot " + verb + " " + quoted(name) + ": ";
  switch (error.error()) {
    case EPERM:
    case EACCES:
      return make_failure(ExitCode::no_permission, cannot + "no permission",
                          permission_cure(is_root), error);
    case EINVAL:
      return refused_parameter(cannot, "the kernel takes no such parameter or value",
                               "see what there is: sroce show " + name, error);
    case ERANGE:
      return refused_parameter(cannot, "the value is out of range",
                               "see the ranges: sroce show " + name, error);
    default:
      return {ExitCode::other, cannot + error.what(), "the kernel log may say more: dmesg | tail"};
  }
}

Failure explain_family_absent(ModuleState module, const std::string& kernel_release) {
  if (module == ModuleState::loaded)
    return {ExitCode::module_absent, "the kernel module sroce that is loaded does not know this",
            "it is older than this tool: modprobe -r sroce && modprobe sroce"};
  return {ExitCode::module_absent, "the kernel module sroce is not loaded",
          module == ModuleState::installed ? "load it: modprobe sroce"
                                           : module_cure(module, kernel_release)};
}

Failure explain_subsystem_absent(ModuleState module, const std::string& kernel_release) {
  if (module == ModuleState::installed)
    return {ExitCode::module_absent, "RDMA is not loaded in the kernel", "load it: modprobe sroce"};
  return {ExitCode::module_absent,
          "kernel " + kernel_release + " has no RDMA loaded, and no module sroce installed",
          "RDMA itself (ib_core, CONFIG_INFINIBAND) must be there first: modprobe ib_uverbs\n" +
              module_cure(module, kernel_release)};
}

Failure no_such_interface(const std::string& netdev, const std::string& name,
                          const std::vector<std::string>& interfaces) {
  std::string cure;
  const auto near = near_names(netdev, interfaces);
  if (std::find(interfaces.begin(), interfaces.end(), name) != interfaces.end())
    cure = "the interface comes first: sroce add " + name + ' ' + netdev;
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
    cure = "there is no RDMA device at all; make one with: sroce add IF";
  return {ExitCode::no_such_device, "no RDMA device " + quoted(name), cure};
}

Failure name_taken(const std::string& name) {
  return {ExitCode::name_taken, "an RDMA device " + quoted(name) + " exists already",
          "leave the name out, and the next free one is taken\n"
          "see the devices with: rdma link (one in another namespace may be out of sight)"};
}

Failure bad_name(const std::string& name, const std::string& objection) {
  return {ExitCode::bad_name, quoted(name) + " cannot name a device: " + objection,
          "choose another name, or leave it out for the next free sroceN"};
}

}  // namespace sroce
