// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// From what the kernel answered to what the user should know: pure functions from an errno and the
// circumstances to a Failure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sroce/failure.h"
#include "sroce/kernel_module.h"
#include "sroce/netlink.h"

namespace sroce {

/// The circumstances of a failed "sroce add", gathered after the kernel refused.
struct AddAttempt {
  std::string name;
  std::string netdev;
  bool is_root = false;
  ModuleState module = ModuleState::loaded;
  std::string kernel_release;
  bool name_exists = false;                     // a device of this name is visible
  std::optional<std::string> device_on_netdev;  // an sroce device that the interface has
  std::vector<std::string> rxe_devices;         // devices of rdma_rxe, visible from here
  bool rxe_loaded = false;
};

Failure explain_add(const KernelError& error, const AddAttempt& attempt);
Failure explain_del(const KernelError& error, const std::string& name, bool is_root);
/// A request to the module's own family was refused; verb is "show" or "set".
Failure explain_refusal(const KernelError& error, const std::string& verb, const std::string& name,
                        bool is_root);

/// The kernel does not know the module's own netlink family.
Failure explain_family_absent(ModuleState module, const std::string& kernel_release);

/// The kernel has no RDMA netlink.
Failure explain_subsystem_absent(ModuleState module, const std::string& kernel_release);

/// Names that do not exist, checked before the kernel is asked.
Failure no_such_interface(const std::string& netdev, const std::string& name,
                          const std::vector<std::string>& interfaces);
Failure no_such_device(const std::string& name, const std::vector<std::string>& devices);

Failure name_taken(const std::string& name);
Failure bad_name(const std::string& name, const std::string& objection);

}  // namespace sroce
